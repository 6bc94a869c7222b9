// SPDX-License-Identifier: Apache-2.0
// Jumping over what repeats: steps of a loop (fast_forward.c), and whole collectives
// (fast_forward_whole.c).
#pragma once

#include <weft/workload/workload_place.h>
#include <weft/workload/workload_steady.h>
#include <weft/world/world.h>

#include <weft/host/host.h>

// The collective of each group that ran before the one that is looked at.
struct fast_forward_last {
	bool is_known;	 // it came to a steady state in its first loop
	ps_t pace_ps;	 // of a step there
	uint32_t bucket; // its number in its groups
};

struct fast_forward {
	struct world_fast_forward of; // first: world.skipped points here
	struct steady steady;
	uint32_t bucket; // number in its group of the collective that is looked at
	struct ring_plan plan;
	bool is_alike; // all groups have the same one there
	uint64_t loop; // of that collective
	uint64_t step; // of that loop: the next that the last rank is to have whole
	ps_t pace_ps;  // of a step of the first loop, 0 = it was not steady
	struct fast_forward_last last;
	// In this loop there was a jump behind step `from`, which ended at from_at.
	bool has_jumped;
	uint64_t from;
	ps_t from_at;
	struct steady_jump jump;
	uint32_t lines;	   // a channel of a rank each
	int64_t *begin[2]; // [lines] slices received of the loop when the two blocks began
	int64_t *now;	   // [lines] the same where a block ends
	bool has_begin[2]; // all lines were in the loop then
	uint32_t *ranks;   // [groups] that are of this process
};

static inline struct fast_forward *fast_forward_of(const struct world *world)
{
	return (struct fast_forward *)world->skipped;
}

// Draws what skipping needs; nothing when the scenario skips nothing. After the hosts. -ENOMEM.
int fast_forward_build(struct world *world, struct refusal *refusal);

// The first start and the last end of a collective, over all groups.
struct fast_forward_span {
	ps_t start, end;
};

// How far the lines are in the loop that is looked at.
struct fast_forward_extent {
	bool is_inside;	   // all lines are in it
	uint64_t step_max; // no line has begun a later step
	struct steady_lines lines;
};

// What is seen of the step that is waited for: by one process, then by all together. All have the
// same view and the same skip, so that all do the same.
struct fast_forward_view {
	bool has_front; // the last rank has it; nothing else counts where it has not
	ps_t at;	// since when
	uint64_t held;	// packets under way
	uint64_t ahead; // see fast_forward_ahead()
	struct fast_forward_extent extent; // where a block ends or begins
	bool is_done;			   // the collective before
	struct fast_forward_span before, here;
};

// The record of the machines that this process runs.
struct record *fast_forward_record(const struct world *world);

// The clock of a group's collective.
struct collective_clock *fast_forward_clock(const struct world *world, uint32_t group,
					    uint32_t bucket);

// Whether ranks write a credit for each slice.
static inline bool fast_forward_has_credits(const struct world *world)
{
	return world->job.ring.form != RING_BARRIER;
}

// How far all lines together are beyond step skip->step of the loop, in slices. A line that is in
// no collective, or in another loop, is not counted.
uint64_t fast_forward_ahead(const struct world *world, const struct fast_forward *fast_forward);

// What the bytes of a step take on the lines of the NIC that has most to send: data, credits, and
// answers to what it receives.
ps_t fast_forward_line_ps(const struct world *world);

// In a steady state in the first loop, and the collective before was the same: jumps to the same
// place in the last of those that follow and are the same, too. Times of collectives that are left
// out are written down. Returns the time that was jumped over, 0: nothing was.
ps_t fast_forward_whole(struct world *world, struct fast_forward *fast_forward,
			const struct fast_forward_view *view);

// Start and end of collective `bucket` as this process knows them, and whether all its ranks have
// ended it.
struct fast_forward_span fast_forward_span(const struct world *world, uint32_t bucket);
bool fast_forward_is_done(const struct world *world, const struct fast_forward *fast_forward,
			  uint32_t bucket);

// fast_forward_view.c: what this process sees, the front alone or all of it; what all see together,
// of what each one does, in the order of their ranks.
void fast_forward_see_front(const struct world *world, const struct fast_forward *fast_forward,
			    struct fast_forward_view *ret);
void fast_forward_see(const struct world *world, const struct fast_forward *fast_forward,
		      struct fast_forward_view *ret);
void fast_forward_merge(struct fast_forward_view *all, const struct fast_forward_view *more);

// Whether the step that ends now begins the first block; whether it ends one.
bool fast_forward_begins_block(const struct world *world, const struct fast_forward *fast_forward);
bool fast_forward_is_in_block(const struct world *world, const struct fast_forward *fast_forward);
