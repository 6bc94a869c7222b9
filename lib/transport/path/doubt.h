// SPDX-License-Identifier: Apache-2.0
// Planes that lose so much that a QP would rather leave them alone: half of their EVs are blocked.
// Such a plane is not dead, and at full load what it still carries is worth more than what it
// loses; what the sound planes can soon take is left to them.
#pragma once

#include "path.h"

// Whether half of the EVs of `plane` and more are blocked, or it is down or held dead.
static inline bool path_is_doubtful(const struct path_set *set, uint32_t plane)
{
	return set->planes[plane].is_closed ||
		2u * set->planes[plane].bad >= set->shape->per_plane || path_is_down(set, plane);
}

// Where no more EVs are left than are kept whatever they lose (min_active), these may be the dead
// ones. Then what would tell, answers to probes too, is lost over them: of control packets one in
// four goes by any.
static inline bool path_is_in_doubt(const struct path_set *set, uint32_t plane)
{
	const struct path_shape *shape = set->shape;
	uint32_t kept = set->min_active / shape->planes, bad = set->planes[plane].bad;
	return bad > 0 && shape->per_plane - bad <= (kept > 1 ? kept : 1);
}

// Whether a QP that has `waiting` bytes not sent yet leaves a doubtful plane alone: it is closed,
// or the sound ones have them out in about a round trip. Sends only lower what waits, and nothing
// else here changes but by an arrival or a timer: a line that found nothing finds nothing until
// then.
static inline bool path_is_left(const struct path_set *set, uint32_t plane, uint64_t waiting,
				uint32_t window)
{
	uint32_t other = 0;
	if (path_is_closed(set, plane))
		return true;
	while (other < set->shape->planes && path_is_doubtful(set, other))
		other++;
	return other < set->shape->planes && waiting <= window;
}
