// SPDX-License-Identifier: Apache-2.0
// Whether a ring has come to a steady state: decided from what two neighbouring blocks of its steps
// looked like. Pure counting; who jumps over steps, and how, is the world's (world_fast_forward.h).
//
// A state is more than a pace. Steps may take equal times for a while and yet not go on so: while
// ranks drift apart, while packets pile up, or because the pattern is longer than what was looked
// at. So beside the times of the steps it is asked how far each rank came meanwhile, and how many
// packets were under way.
//
// Where the lines of the NICs were full all the time, ranks have no room to come apart: none can be
// faster than its line. Where they are not, ranks may drift so slowly that two blocks do not show
// it, and the last one falls behind over hundreds of steps. So there the others must not be farther
// ahead of the last one than they were when a quarter to a half as many blocks had been seen; of
// five at least.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STEADY_BLOCK_MAX 128u // steps of a block
#define STEADY_BLOCKS_MIN 5u  // that are seen where lines have room
#define STEADY_MARKS 32u

// What two blocks of steps came to.
enum steady_verdict {
	STEADY,	       // the second block repeats the first
	STEADY_PACE,   // the second is faster or slower than the first
	STEADY_JITTER, // steps differ too much for their mean to be known to the tolerance
	STEADY_APART,  // ranks came further than the last of them, or less far: they drift
	STEADY_QUEUES, // more packets are under way, or fewer
	STEADY_SLACK,  // lines have room, and too few blocks were seen to know that nobody drifts
	STEADY_VERDICT_COUNT
};

struct steady {
	uint32_t block; // steps of one
	uint32_t tolerance_ppm;
	uint32_t count; // steps kept: two blocks at most
	ps_t begin_at, last_at;
	ps_t step_ps[2 * STEADY_BLOCK_MAX];
	uint64_t held[2 * STEADY_BLOCK_MAX]; // packets under way when the step ended
	uint32_t blocks;		     // that were begun in all
	uint64_t lead;			     // of the newest: the sum of `ahead`
	uint64_t marks[STEADY_MARKS];	     // that of block 1, 2, 4, ...
};

// How far the lines (a channel of a rank each) came over both blocks, in slices: the sum over all
// of them, and the most that one is away from what so many steps are.
struct steady_lines {
	uint64_t lines;
	uint64_t step_slices;
	uint64_t gain, off_most;
	ps_t line_ps; // what a step's bytes take on the line of the NIC that has most
};

// Steps that are to be left out at the pace of those that were seen.
struct steady_jump {
	uint64_t steps;
	ps_t time_ps;
	ps_t error_ps; // of time_ps, stated as in sample_error.c
};

// Blocks of `block` steps, 2 to STEADY_BLOCK_MAX; the tolerance in millionths.
void steady_init(struct steady *steady, uint32_t block, uint32_t tolerance_ppm);

// Forgets all steps; the next one begins at `at`.
void steady_begin(struct steady *steady, ps_t at);

// A step ended at `at`, with `held` packets under way, and all lines together `ahead` slices beyond
// it. With two blocks full, forgets the older one.
void steady_step(struct steady *steady, ps_t at, uint64_t held, uint64_t ahead);

// Whether a block, or the second of two, has just been filled.
bool steady_has_block(const struct steady *steady);
bool steady_has_both(const struct steady *steady);

// Judges two full blocks. Of `jump` the steps are given; the rest is written whatever the verdict
// is.
enum steady_verdict steady_judge(const struct steady *steady, const struct steady_lines *lines,
				 struct steady_jump *jump);

#ifdef __cplusplus
}
#endif
