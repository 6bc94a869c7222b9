// SPDX-License-Identifier: Apache-2.0
// See balance.h. A plane has its own ring of recycled EVs and its own turns: the line that is free
// chooses the plane, as for every policy.
#include "balance.h"

#include <string.h>

#include "ev_slot.h"

// Penalties of the bitmap, in turns.
#define PENALTY_MARKED 1
#define PENALTY_TRIMMED 4
#define PENALTY_LOST 15
#define PENALTY_MAX 15

// REPS: EVs remembered, and what follows a loss that was no trim.
#define REPS_PLACES 8u
#define REPS_FREEZE_PS (10 * PS_PER_MS)
#define REPS_EXPLORE 16u
#define REPS_USED 0x8000u // an entry that was used since it came: only a frozen ring gives it again

// The list of the others has no end in htsim; there cannot be more clean packets than are in
// flight, so as many places do.
#define LIST_PLACES 1024u

static bool has_penalties(enum path_policy policy)
{
	return policy == PATH_BITMAP || policy == PATH_MIXED;
}

static uint32_t places_of(enum path_policy policy)
{
	if (policy == PATH_REPS)
		return REPS_PLACES;
	return policy == PATH_REPS_LEGACY || policy == PATH_MIXED ? LIST_PLACES : 0;
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + 7) & ~UINT64_C(7);
}

uint64_t balance_bytes(const struct path_shape *shape)
{
	if (!balance_is_for(shape->policy))
		return 0;
	uint64_t bytes = round_up(sizeof(struct balance));
	if (has_penalties(shape->policy))
		bytes += round_up((uint64_t)shape->planes * shape->per_plane);
	if (shape->policy == PATH_FLOWLET)
		bytes += shape->planes * sizeof(struct flowlet);
	return bytes + (uint64_t)shape->planes * places_of(shape->policy) * sizeof(uint16_t);
}

struct balance *balance_init(const struct path_shape *shape, void *memory)
{
	struct balance *balance = memory;
	uint8_t *at = (uint8_t *)memory + round_up(sizeof(*balance));
	if (has_penalties(shape->policy)) {
		balance->penalties = at;
		at += round_up((uint64_t)shape->planes * shape->per_plane);
	}
	if (places_of(shape->policy) > 0) {
		balance->recycled = (uint16_t *)(void *)at;
		balance->mask = places_of(shape->policy) - 1;
	}
	if (shape->policy == PATH_FLOWLET)
		balance->flowlets = (struct flowlet *)(void *)at;
	return balance;
}

static uint32_t random_ev(struct path_set *set, uint32_t plane)
{
	const struct path_shape *shape = set->shape;
	return rng_below(&set->rng, shape->per_plane) * shape->planes + plane;
}

// --- the rings

static uint16_t *entry_at(const struct balance *balance, uint32_t plane, uint32_t number)
{
	return &balance->recycled[plane * (balance->mask + 1) + (number & balance->mask)];
}

// Remembers a clean EV; a full ring forgets its oldest.
static void recycle(struct balance *balance, uint32_t plane, uint32_t index)
{
	*entry_at(balance, plane, balance->tail[plane]++) = (uint16_t)index;
	if (balance->tail[plane] - balance->head[plane] > balance->mask + 1)
		balance->head[plane]++;
}

// Takes the oldest EV of a list. False when there is none.
static bool take_oldest(struct balance *balance, uint32_t plane, uint32_t *ret_index)
{
	if (balance->head[plane] == balance->tail[plane])
		return false;
	*ret_index = *entry_at(balance, plane, balance->head[plane]++);
	return true;
}

// --- REPS

// The oldest EV that was not used since it came, which is now.
static bool take_unused(struct balance *balance, uint32_t plane, uint32_t *ret_index)
{
	for (uint32_t at = balance->head[plane]; at != balance->tail[plane]; at++) {
		uint16_t *entry = entry_at(balance, plane, at);
		if (*entry & REPS_USED)
			continue;
		*ret_index = *entry;
		*entry |= REPS_USED;
		return true;
	}
	return false;
}

// A frozen ring goes round: the oldest becomes the newest.
static bool take_round(struct balance *balance, uint32_t plane, uint32_t *ret_index)
{
	uint32_t oldest;
	if (!take_oldest(balance, plane, &oldest))
		return false;
	*ret_index = oldest & (REPS_USED - 1);
	*entry_at(balance, plane, balance->tail[plane]++) = (uint16_t)(*ret_index | REPS_USED);
	return true;
}

static uint32_t reps_next(struct path_set *set, uint32_t plane)
{
	struct balance *balance = set->balance;
	uint32_t index;
	if (balance->explore > 0) {
		balance->explore--;
		return random_ev(set, plane);
	}
	if (take_unused(balance, plane, &index))
		return index;
	if (balance->is_frozen && take_round(balance, plane, &index))
		return index;
	return random_ev(set, plane);
}

static uint32_t legacy_next(struct path_set *set, uint32_t plane)
{
	struct balance *balance = set->balance;
	const struct path_shape *shape = set->shape;
	uint32_t index;
	if (balance->walked < shape->first_window) // in order
		return balance->walked++ / shape->planes % shape->per_plane * shape->planes + plane;
	return take_oldest(balance, plane, &index) ? index : random_ev(set, plane);
}

// --- flowlets

// A gap after which packets that take another way can hardly overtake those before it (S. Sinha, S.
// Kandula, D. Katabi, "Harnessing TCP's Burstiness with Flowlet Switching", 2004).
static uint32_t flowlet_next(struct path_set *set, uint32_t plane)
{
	struct flowlet *flowlet = &set->balance->flowlets[plane];
	ps_t now = set->balance->now;
	if (!flowlet->is_begun || now - flowlet->last_at > set->shape->flowlet_gap_ps)
		flowlet->index = random_ev(set, plane);
	flowlet->is_begun = true;
	flowlet->last_at = now;
	return flowlet->index;
}

// --- bitmap

// The next turn whose EV has no penalty left. The first one passed over pays a turn, those behind
// it none: a plane on which most paths are punished does not forget all of it in one packet. When a
// whole round is passed over the next one is used all the same.
static uint32_t bitmap_turn(struct path_set *set, uint32_t plane)
{
	uint8_t *penalties = set->balance->penalties;
	for (uint32_t passed = 0;; passed++) {
		uint32_t index = ev_slot_turn(set, plane);
		if (penalties[index] == 0 || passed == set->shape->per_plane)
			return index;
		if (passed == 0)
			penalties[index]--;
	}
}

uint32_t balance_next(struct path_set *set, uint32_t plane)
{
	uint32_t index;
	switch (set->shape->policy) {
	case PATH_REPS:
		return reps_next(set, plane);
	case PATH_REPS_LEGACY:
		return legacy_next(set, plane);
	case PATH_BITMAP:
		return bitmap_turn(set, plane);
	case PATH_MIXED:
		if (take_oldest(set->balance, plane, &index))
			return index;
		return bitmap_turn(set, plane);
	case PATH_FLOWLET:
		return flowlet_next(set, plane);
	case PATH_RANDOM:
		return random_ev(set, plane);
	default:
		check(false); // a policy without a case here
		return 0;
	}
}

// --- feedback

static void punish(struct balance *balance, uint32_t index, enum balance_feedback feedback)
{
	static const uint8_t turns[] = {
		[BALANCE_MARKED] = PENALTY_MARKED,
		[BALANCE_TRIMMED] = PENALTY_TRIMMED,
		[BALANCE_LOST] = PENALTY_LOST,
	};
	uint32_t penalty = balance->penalties[index] + turns[feedback];
	balance->penalties[index] = (uint8_t)(penalty < PENALTY_MAX ? penalty : PENALTY_MAX);
}

// A loss that was no trim says that some path is dead: only EVs that came back are used for a
// while, then a few random ones.
static void freeze(struct balance *balance, enum balance_feedback feedback, ps_t now)
{
	bool is_ack = feedback == BALANCE_CLEAN || feedback == BALANCE_MARKED;
	if (is_ack && balance->is_frozen && now >= balance->thaws_at) {
		balance->is_frozen = false;
		balance->explore = REPS_EXPLORE;
	}
	if (feedback == BALANCE_LOST && !balance->is_frozen && balance->explore == 0) {
		balance->is_frozen = true;
		balance->thaws_at = now + REPS_FREEZE_PS;
	}
}

void balance_feed(struct path_set *set, uint32_t index, enum balance_feedback feedback, ps_t now)
{
	struct balance *balance = set->balance;
	if (!balance)
		return;
	if (set->shape->policy == PATH_REPS)
		freeze(balance, feedback, now);
	if (feedback != BALANCE_CLEAN && balance->penalties)
		punish(balance, index, feedback);
	else if (feedback == BALANCE_CLEAN && balance->recycled)
		recycle(balance, index % set->shape->planes, index);
}
