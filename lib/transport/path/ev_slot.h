// SPDX-License-Identifier: Apache-2.0
// Who has which place in the rotation of a path set: the state of each EV, the counts that follow
// from it, and the exchange of a bad EV for a backup of its plane. When that is done is for path.c.
#pragma once

#include "path.h"

// path_set.states: an enum path_state, and
enum {
	STATE_ROW_SHIFT = 2, // 4 bits: probes in a row that came back; of an EV in use: losses
	STATE_ROW_MAX = 15,
	STATE_BACKUP = 1 << 7, // has no place in the rotation
};

// An EV is held bad after so many losses with no arrival, though fewer of its plane are left than
// should be: on a plane that only loses packets now and then each EV has some that arrive.
#define PATH_EV_LOSSES 5

#define HISTORY_ROW \
	15u // path_set.history: an EV's row of marks; above it how often it came back in vain
#define HISTORY_RETRY_MAX_PS \
	(100 * PS_PER_S) // a wait that grows ends there: units come round after 45

static inline uint32_t ev_slot_count(const struct path_shape *shape)
{
	return shape->planes * shape->per_plane;
}

static inline bool ev_slot_has_backups(const struct path_shape *shape)
{
	return shape->universe > ev_slot_count(shape);
}

static inline struct path_plane *ev_slot_plane(struct path_set *set, uint32_t index)
{
	return &set->planes[index % set->shape->planes];
}

static inline bool ev_slot_is_blocked(const struct path_set *set, uint32_t index)
{
	return path_state(set, index) >= PATH_ASSUMED_BAD;
}

static inline bool ev_slot_is_backup(const struct path_set *set, uint32_t index)
{
	return set->states[index] & STATE_BACKUP;
}

static inline uint32_t ev_slot_row(const struct path_set *set, uint32_t index)
{
	return set->states[index] >> STATE_ROW_SHIFT & STATE_ROW_MAX;
}

static inline void ev_slot_lengthen_row(struct path_set *set, uint32_t index)
{
	set->states[index] = (uint8_t)(set->states[index] + (1u << STATE_ROW_SHIFT));
}

static inline void ev_slot_end_row(struct path_set *set, uint32_t index)
{
	set->states[index] &= (uint8_t) ~(STATE_ROW_MAX << STATE_ROW_SHIFT);
}

// Every change of a state ends the row.
void ev_slot_set_state(struct path_set *set, uint32_t index, enum path_state state);

// Gives the place of `out` to the backup `in`.
void ev_slot_give(struct path_set *set, uint32_t out, uint32_t in);

// A backup in `state` for the place of `index`, from the next number of its plane on; PATH_NO_EV
// when there is none.
uint32_t ev_slot_backup(const struct path_set *set, uint32_t index, enum path_state state);

// One that can carry packets; those that lost no turn before others.
uint32_t ev_slot_usable_backup(const struct path_set *set, uint32_t index);

// Denies all EVs but those of these numbers, which have places; NULL: the first `count`. Of these
// as large a part stays in use as of all. In a set that has not been used.
void ev_slot_keep(struct path_set *set, const uint16_t *numbers, uint32_t count);

// Takes an EV back. One that has lost its place takes that of a blocked one, if there is one; else
// it is a backup from now on.
void ev_slot_reinstate(struct path_set *set, uint32_t index, enum path_state state);

#define ROUNDS_MEAN 8 // marks of a round are averaged over about so many, and kept times that

// The plane's next round: it costs one random number.
static inline void ev_slot_begin_round(struct path_set *set, struct path_plane *plane)
{
	plane->at = 0;
	plane->round++;
	plane->marked_mean = (uint16_t)(plane->marked_mean + plane->marked -
					plane->marked_mean / ROUNDS_MEAN);
	plane->marked = 0;
	plane->mask = (uint16_t)(rng_next(&set->rng) & (set->shape->per_plane - 1));
}

// The EV number of the plane's next turn, whatever is known of it: an XOR while all EVs of the
// plane are good.
static inline uint32_t ev_slot_turn(struct path_set *set, uint32_t plane_number)
{
	struct path_plane *plane = &set->planes[plane_number];
	uint32_t in_plane = plane->at ^ plane->mask;
	if (++plane->at == set->shape->per_plane)
		ev_slot_begin_round(set, plane);
	uint32_t place = in_plane * set->shape->planes + plane_number;
	return plane->is_moved ? set->ev_slots[place] : place;
}
