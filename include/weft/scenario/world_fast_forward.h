// SPDX-License-Identifier: Apache-2.0
// Steps of rings that are jumped over, because they would be like those before
// (fast_forward.steady; see docs/howto/fast-forward-steady-states.md and docs/decisions/0020).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/time.h>

// How states are compared. Blocks are counted in ring steps.
struct fast_forward_config {
	bool is_on;
	uint32_t fill;		// steps at the begin of a loop that are looked at by nobody
	uint32_t block;		// steps of a block; two that are alike are a steady state
	uint32_t tolerance_ppb; // how far they may differ, parts in 10^9
};

// Why a state was not jumped from, each time that it was looked at.
enum fast_forward_refusal {
	FAST_FORWARD_PACE,   // the second block was faster or slower than the first
	FAST_FORWARD_JITTER, // steps differed too much among each other
	FAST_FORWARD_APART,  // ranks drifted apart
	FAST_FORWARD_QUEUES, // packets piled up, or became fewer
	FAST_FORWARD_SLACK,  // lines had room, and too few blocks were seen to know that nobody
			     // drifts
	FAST_FORWARD_FAULT,  // a fault was at work, or lay ahead
	FAST_FORWARD_UNLIKE, // not all groups were in the same loop of equal collectives
	FAST_FORWARD_SHORT,  // too few steps were left, or limits.time
	FAST_FORWARD_REFUSAL_COUNT
};

// "jitter", for tables.
const char *fast_forward_refusal_name(enum fast_forward_refusal refusal);

// What was jumped over in a run, and not run.
struct world_fast_forward {
	uint64_t jumps;
	uint64_t steps;	      // ring steps, of a loop of a collective each; of those left out, too
	uint64_t collectives; // collectives (of a group each) that were left out from here to there
	uint64_t packets;     // data packets that these would have been
	uint64_t payload_bytes;
	ps_t time_ps;	    // virtual time that they take
	ps_t error_ps;	    // of time_ps, the stated errors of all jumps
	uint64_t confirmed; // jumps behind which the steps went on at the same pace
	uint64_t refused[FAST_FORWARD_REFUSAL_COUNT];
};

struct world;

#ifdef __cplusplus
extern "C" {
#endif

// Virtual time that was jumped over. Machines know nothing of it: their clocks go on from where
// they were, and their reported times are later by so much.
ps_t world_skipped_ps(const struct world *world);

// Between two windows: jumps if the world's rings are in a steady state.
//
// Where processes share a world, all call it at the same window, when all have a front, and see all
// that any of them sees: `share` gives each one what each of them has, `bytes` from all, in the
// order of their ranks. NULL in one process.
typedef void world_share_fn(void *context, const void *mine, void *all, size_t bytes);
void world_fast_forward_look(struct world *world, world_share_fn *share, void *context);

// Whether the ranks of this process have the step whose front is waited for; false when nothing is
// ever skipped.
bool world_fast_forward_has_front(const struct world *world);

#ifdef __cplusplus
}
#endif
