// SPDX-License-Identifier: Apache-2.0
// Where the messages of a program land: each receive has a stretch of its NIC's memory of its own,
// as NCCL's messages lie in buffers of a connection before they are added up. So a payload's
// address tells whose it is, and a driver that has the bytes can keep every rank's data.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct world;

// The receive that lands at address `va` of a NIC, and how many bytes into it. False where none
// does. Only with a world->program.
bool world_write_target(const struct world *world, uint32_t nic, uint64_t va, uint32_t *ret_receive,
			uint64_t *ret_offset);

// Orders with RKEY_MOVED that one call of a host may leave at most. 0 without a world->program.
uint32_t world_moves_max(const struct world *world);

#ifdef __cplusplus
}
#endif
