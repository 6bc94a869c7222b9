// SPDX-License-Identifier: Apache-2.0
// What an operator says of EVs: denied, and allowed again. See path.h.
#include "ev_slot.h"
#include "path.h"

// Whether every EV of a plane is denied. Its places are the last that are given to such.
static void note_denied(struct path_set *set, uint32_t plane)
{
	const struct path_shape *shape = set->shape;
	uint32_t index = plane;
	while (index < shape->universe && path_state(set, index) == PATH_DENIED)
		index += shape->planes;
	set->planes[plane].is_denied = index >= shape->universe;
}

bool path_deny(struct path_set *set, uint32_t index)
{
	if (path_state(set, index) == PATH_DENIED)
		return true;
	if (set->denied + 1 == set->shape->universe)
		return false;
	ev_slot_set_state(set, index, PATH_DENIED);
	uint32_t backup = ev_slot_is_backup(set, index) ? PATH_NO_EV
							: ev_slot_usable_backup(set, index);
	if (backup == PATH_NO_EV && !ev_slot_is_backup(set, index))
		backup = ev_slot_backup(set, index, PATH_ASSUMED_BAD);
	if (backup != PATH_NO_EV)
		ev_slot_give(set, index, backup);
	note_denied(set, index % set->shape->planes);
	return true;
}

void path_allow(struct path_set *set, uint32_t index)
{
	if (path_state(set, index) != PATH_DENIED)
		return;
	uint32_t plane = index % set->shape->planes;
	if (set->planes[plane].is_denied) // nothing was probed there meanwhile
		path_plane_alive(set, plane);
	ev_slot_reinstate(set, index, PATH_GOOD);
	note_denied(set, plane);
}
