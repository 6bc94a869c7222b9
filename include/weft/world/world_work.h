// SPDX-License-Identifier: Apache-2.0
// How much of a world's work is one host's.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct world;

#ifdef __cplusplus
extern "C" {
#endif

// Ends that host `host` sees: of flows at either end, collectives of its ranks, operations of its
// ranks. They add up to world->work_total, but for a collective stream, whose messages are made as
// it goes (a bug to ask).
uint64_t world_work_of(const struct world *world, uint32_t host);

// Marks those hosts, of all of them, that exchange packets with host `host`.
void world_peers(struct world *world, uint32_t host, bool *ret);

#ifdef __cplusplus
}
#endif
