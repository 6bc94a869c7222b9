// SPDX-License-Identifier: Apache-2.0
// The data of a program's ranks: what frames carry is read from the sender's buffer when they leave
// its NIC (a retransmission reads again), and is put or added where the receive says when its NIC
// places it. So at the end the buffers hold what the program computes, byte by byte through the
// frames.
#pragma once

#include <stdint.h>

#include <weft/ports/ports.h>
#include <weft/world/world.h>

#ifdef __cplusplus
extern "C" {
#endif

struct payload_store;

// An empty one. NULL when the system refuses.
struct payload_store *payload_store_create(void);
void payload_store_free(struct payload_store *payload_store);

// Lets a run keep its data there: sets fill, store, move and their context. One lane.
void payload_store_hook(struct payload_store *payload_store, struct ports_options *ports);

// Takes the world that was built with such options: its program's ranks get zeroed buffers of
// buffer_bytes each. Sums add unsigned integers of `element_bytes` (1, 2, 4, 8), low byte first.
// -EINVAL without a program, or where packets would cut elements; -ENOMEM.
int payload_store_attach(struct payload_store *payload_store, const struct world *world,
			 uint32_t element_bytes, struct refusal *refusal);

// The same in memory of the caller's, for the ranks from `first` on that this process runs:
// `rank_bytes` for each rank, one behind the other, at least as many as its buffer has. The payload
// store keeps it as it is, and the caller frees it after the payload store.
int payload_store_attach_to(struct payload_store *payload_store, const struct world *world,
			    uint32_t element_bytes, uint32_t first, uint8_t *memory,
			    uint64_t rank_bytes, struct refusal *refusal);

// The buffer of a rank, to be written before the run and read after it.
uint8_t *payload_store_buffer(struct payload_store *payload_store, uint32_t rank);

#ifdef __cplusplus
}
#endif
