// SPDX-License-Identifier: Apache-2.0
// Ways to choose EVs other than MRC's states, to compare with: EVs that came back clean are used
// again (REPS), EVs that came back marked pay for it (bitmap), both (mixed), or dice (random). What
// they know of an EV comes from the SACKs and NACKs that name it. Sources: REPS (EuroSys 2026) and
// uet-htsim's load balancers of these names, rebuilt from their description.
#pragma once

#include "path.h"

enum balance_feedback {
	BALANCE_CLEAN,	 // a packet over this EV came through unmarked
	BALANCE_MARKED,	 // marked
	BALANCE_TRIMMED, // trimmed, not at the last hop
	BALANCE_LOST,	 // held lost
};

// The flowlet that a QP has on a plane: the packets since it paused for a gap.
struct flowlet {
	ps_t last_at; // its newest packet
	uint32_t index;
	bool is_begun;
};

// What a QP keeps for it.
struct balance {
	uint8_t *penalties; // [active] bitmap, mixed: turns that an EV has to pass
	uint16_t *recycled; // [planes][mask + 1] reps, mixed: EVs to be used again, oldest first
	uint32_t mask;
	uint32_t head[PLANES_MAX], tail[PLANES_MAX]; // of each plane's ring, running numbers
	uint32_t walked;	  // legacy: packets of the first window that have left
	uint32_t explore;	  // reps: so many packets take random EVs, whatever is recycled
	bool is_frozen;		  // reps: after a loss nothing is explored
	ps_t thaws_at;		  // until feedback comes then, or later
	struct flowlet *flowlets; // [planes] flowlet
	ps_t now;		  // flowlet: of the packet that takes the next EV
};

// Whether a policy is one of these.
static inline bool balance_is_for(enum path_policy policy)
{
	return policy >= PATH_RANDOM;
}

// Bytes of a QP's balance; 0 for the other policies.
uint64_t balance_bytes(const struct path_shape *shape);

// Starts it in zeroed memory of balance_bytes().
struct balance *balance_init(const struct path_shape *shape, void *memory);

// The EV number that the next packet on `plane` takes.
uint32_t balance_next(struct path_set *set, uint32_t plane);

// The next packet takes its EV at `now`.
static inline void balance_at(struct path_set *set, ps_t now)
{
	if (__builtin_expect(set->balance != NULL, 0))
		set->balance->now = now;
}

// What became of a packet over this EV. Does nothing under the other policies.
void balance_feed(struct path_set *set, uint32_t index, enum balance_feedback feedback, ps_t now);
