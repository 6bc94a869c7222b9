// SPDX-License-Identifier: Apache-2.0
// The slowest hundredth of all steps whose times were kept, and between which NICs they were: what
// a culprit's share of them is taken of. A step is what one rank waits for at a time: of a ring
// (watch.messages) the slices of one ring step on one channel, of a program (watch.operations) one
// message.
//
// A step's time is its own: none of it was spent waiting for other steps. Of a ring it is how long
// the receiver stood for its slices, each from when it had been posted and the one before it was
// there. Of a program it is from when the last message that its sender waited for was there, or had
// been sent, until it is there: what the sender computed in between counts, as a straggler is late
// with that. In a ring its first step of a collective has what its sender began later than planned.
#pragma once

#include <weft/world/world.h>

struct worst_step {
	ps_t took_ps;
	uint32_t from_nic, to_nic;
};

struct worst_steps {
	const char *reason;	 // why there are none; NULL: there are
	struct worst_step *list; // [count], the slowest first
	uint32_t count, count_max;
	uint32_t worst; // of them: a hundredth, at least one, and all that took as long as its last
	uint64_t left_out; // that came, but their times were not kept
};

// To be given back by worst_steps_free().
void worst_steps_find(struct worst_steps *ret, const struct world *world);
void worst_steps_free(struct worst_steps *steps);
