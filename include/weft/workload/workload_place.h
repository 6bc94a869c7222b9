// SPDX-License-Identifier: Apache-2.0
// Where the rings of a job stand, and how they are taken further, for those who leave out steps
// (world_fast_forward.h).
#pragma once

#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where a channel stands in its running collective.
struct ring_place {
	uint64_t loop;
	uint64_t step;	  // of the loop, that it sends next
	uint64_t steps;	  // of the loop
	uint32_t slices;  // of a step in this loop
	int64_t received; // slices of this loop; below 0: some of the loop before are missing
	uint64_t step_bytes;
};

// False when the channel has sent all: it stands nowhere.
bool ring_place(const struct ring *ring, uint32_t channel, struct ring_place *ret);

// Takes the next `steps` steps of the loop on `channel` for done, sent and received alike. Slices
// and credits that are under way keep their meaning when the neighbours do the same at once. At
// least one step of the loop must be left to send behind them.
void ring_fast_forward(struct ring *ring, uint32_t channel, uint64_t steps);

// Data packets of at most `payload_bytes` that one step of the loop makes, and those of the whole
// collective.
uint64_t ring_step_packets(const struct ring *ring, uint32_t channel, uint64_t payload_bytes);
uint64_t ring_packets(const struct ring *ring, uint32_t channel, uint64_t payload_bytes);

#ifdef __cplusplus
}
#endif
