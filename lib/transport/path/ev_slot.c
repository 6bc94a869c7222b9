// SPDX-License-Identifier: Apache-2.0
// States and places of EVs. The counts of a plane are kept with each change, so that a turn reads
// no state while all is well. See ev_slot.h.
#include "ev_slot.h"

#include <weft/core/check.h>

// Adds an EV that has a place to the counts, or takes it out of them.
static void weigh(struct path_set *set, uint32_t index, int sign)
{
	struct path_plane *plane = ev_slot_plane(set, index);
	bool bad = ev_slot_is_blocked(set, index), unusable = path_state(set, index) != PATH_GOOD;
	plane->bad = (uint16_t)(plane->bad + sign * bad);
	plane->unusable = (uint16_t)(plane->unusable + sign * unusable);
	set->bad += (uint32_t)(sign * bad);
}

void ev_slot_set_state(struct path_set *set, uint32_t index, enum path_state state)
{
	bool is_active = !ev_slot_is_backup(set, index);
	if (is_active)
		weigh(set, index, -1);
	set->held += (uint32_t)((state == PATH_ASSUMED_BAD) -
				(path_state(set, index) == PATH_ASSUMED_BAD));
	set->denied += (uint32_t)((state == PATH_DENIED) - (path_state(set, index) == PATH_DENIED));
	set->states[index] = (uint8_t)(state | (is_active ? 0 : STATE_BACKUP));
	if (is_active)
		weigh(set, index, 1);
}

void ev_slot_give(struct path_set *set, uint32_t out, uint32_t in)
{
	uint32_t place = out % set->shape->planes;
	check(in % set->shape->planes == place); // as many per plane as before
	while (set->ev_slots[place] != out) {
		place += set->shape->planes;
		check(place < ev_slot_count(set->shape));
	}
	weigh(set, out, -1);
	set->states[out] |= STATE_BACKUP;
	set->states[in] &= (uint8_t)~STATE_BACKUP;
	weigh(set, in, 1);
	set->ev_slots[place] = (uint16_t)in;
	ev_slot_plane(set, out)->is_moved = true;
}

uint32_t ev_slot_backup(const struct path_set *set, uint32_t index, enum path_state state)
{
	const struct path_shape *shape = set->shape;
	uint32_t step = shape->planes, other = index;
	if (!ev_slot_has_backups(shape))
		return PATH_NO_EV;
	for (uint32_t left = shape->universe / step; left > 0; left--) {
		other = (other + step) % shape->universe;
		if (ev_slot_is_backup(set, other) && path_state(set, other) == state)
			return other;
	}
	return PATH_NO_EV;
}

uint32_t ev_slot_usable_backup(const struct path_set *set, uint32_t index)
{
	uint32_t backup = ev_slot_backup(set, index, PATH_GOOD);
	return backup != PATH_NO_EV ? backup : ev_slot_backup(set, index, PATH_SKIP);
}

void ev_slot_reinstate(struct path_set *set, uint32_t index, enum path_state state)
{
	const struct path_shape *shape = set->shape;
	ev_slot_set_state(set, index, state);
	if (!ev_slot_is_backup(set, index) || ev_slot_plane(set, index)->bad == 0)
		return;
	for (uint32_t place = index % shape->planes; place < ev_slot_count(shape);
	     place += shape->planes) {
		if (ev_slot_is_blocked(set, set->ev_slots[place])) {
			ev_slot_give(set, set->ev_slots[place], index);
			return;
		}
	}
}

void ev_slot_keep(struct path_set *set, const uint16_t *numbers, uint32_t count)
{
	const struct path_shape *shape = set->shape;
	uint64_t least = (uint64_t)shape->min_active * count / ev_slot_count(shape);
	for (uint32_t index = 0; index < shape->universe; index++)
		ev_slot_set_state(set, index, PATH_DENIED);
	for (uint32_t plane = 0; plane < shape->planes; plane++)
		set->planes[plane].is_denied = true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = numbers != NULL ? numbers[i] : i;
		ev_slot_set_state(set, index, PATH_GOOD);
		ev_slot_plane(set, index)->is_denied = false;
	}
	set->min_active = (uint32_t)least;
}
