// SPDX-License-Identifier: Apache-2.0
// Which path an answer is of. See pair.h.
#include "pair.h"

uint32_t pair_find(const struct path_set *set, uint32_t ev, uint32_t plane)
{
	if (set->shape->profile)
		return profile_find_on(set->shape->profile, ev, plane);
	uint32_t index = path_index(set, ev);
	return index != PATH_NO_EV && index % set->shape->planes == plane ? index : PATH_NO_EV;
}

// On how many planes a value is, and the last of these paths.
static uint32_t count_of(const struct path_set *set, uint32_t ev, uint32_t *ret_index)
{
	uint32_t count = 0;
	for (uint32_t plane = 0; plane < set->shape->planes; plane++) {
		uint32_t index = profile_find_on(set->shape->profile, ev, plane);
		count += index != PATH_NO_EV;
		*ret_index = index != PATH_NO_EV ? index : *ret_index;
	}
	return count;
}

// Where the packet went that was sent once, that is certain. Of one that was sent again the answer
// may be to either: it comes in where the packet did, unless that plane is shut.
uint32_t pair_of(const struct endpoint *endpoint, const struct qp *qp, uint32_t ev, uint32_t psn,
		 uint32_t plane)
{
	const struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
	bool is_kept = qp->psn_next - psn - 1 <= endpoint->mpr_mask && (slot->flags & SLOT_USED);
	uint32_t sent = is_kept ? slot->ev_index : PATH_NO_EV, only = PATH_NO_EV;
	bool is_sent = is_kept && sent < qp->path.shape->universe &&
		path_value(&qp->path, sent) == ev;
	if (is_sent && !(slot->flags & SLOT_RTX))
		return sent;
	uint32_t there = profile_find_on(qp->path.shape->profile, ev, plane);
	if (there != PATH_NO_EV)
		return there;
	if (count_of(&qp->path, ev, &only) <= 1)
		return only;
	return is_sent ? sent : PATH_NO_EV;
}
