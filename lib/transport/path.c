// SPDX-License-Identifier: Apache-2.0
// Rotation over the EVs of a plane, and their health. A round costs one random number; a turn
// costs an XOR while all EVs of the plane are good. See path.h.
#include "path.h"

#include <weft/check.h>

#define RETRY_SHIFT 20 // retry times are kept in units of 2^20 ps: 32 bits last 75 minutes

uint64_t path_bytes(const struct path_shape *shape)
{
	uint64_t count = (uint64_t)shape->planes * shape->per_plane;
	return count * sizeof(uint32_t) + count;
}

static void new_round(struct path_set *set, struct path_plane *plane)
{
	plane->at = 0;
	plane->mask = (uint16_t)(rng_next(&set->rng) & (set->shape->per_plane - 1));
}

void path_init(struct path_set *set, const struct path_shape *shape, void *memory, struct rng rng)
{
	uint32_t count = shape->planes * shape->per_plane;
	set->shape = shape;
	set->rng = rng;
	set->control_rng.state = rng_next(&set->rng);
	set->upper = (uint32_t)rng_next(&set->rng) & ~shape->index_mask;
	set->single = rng_below(&set->rng, count);
	set->retry_at = memory;
	set->states = (uint8_t *)(set->retry_at + count);
	for (uint32_t plane = 0; plane < shape->planes; plane++)
		new_round(set, &set->planes[plane]);
}

// The EV number of the plane's next turn.
static uint32_t turn(struct path_set *set, uint32_t plane_number)
{
	struct path_plane *plane = &set->planes[plane_number];
	uint32_t in_plane = plane->at ^ plane->mask;
	if (++plane->at == set->shape->per_plane)
		new_round(set, plane);
	return in_plane * set->shape->planes + plane_number;
}

static void recover(struct path_set *set, struct path_plane *plane, uint32_t index)
{
	if (set->states[index] == PATH_ASSUMED_BAD)
		plane->bad--;
	plane->unusable--;
	set->states[index] = PATH_GOOD;
}

// Whether this turn's EV may be used. A skipped EV has now lost its turn; a bad one whose time has
// come is used as a trial.
static bool take_turn(struct path_set *set, struct path_plane *plane, uint32_t index, ps_t now)
{
	enum path_state state = set->states[index];
	if (state == PATH_GOOD)
		return true;
	if (state == PATH_SKIP) {
		recover(set, plane, index);
		return false;
	}
	if ((int32_t)((uint32_t)(now >> RETRY_SHIFT) - set->retry_at[index]) < 0)
		return false;
	recover(set, plane, index);
	return true;
}

uint32_t path_pick(struct path_set *set, uint32_t plane_number, uint32_t avoid, ps_t now)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy == PATH_SINGLE)
		return set->single;
	struct path_plane *plane = &set->planes[plane_number];
	uint32_t index = turn(set, plane_number);
	// two rounds meet every EV of the plane, whatever its state
	for (uint32_t left = 2 * shape->per_plane; left > 0; left--) {
		bool is_usable = plane->unusable == 0 || take_turn(set, plane, index, now);
		if (is_usable && index != avoid)
			return index;
		index = turn(set, plane_number);
	}
	return index;
}

uint32_t path_control(struct path_set *set, uint32_t plane)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy == PATH_SINGLE)
		return path_value(set, set->single);
	uint32_t in_plane = (uint32_t)rng_next(&set->control_rng) & (shape->per_plane - 1);
	return path_value(set, in_plane * shape->planes + plane);
}

bool path_skip(struct path_set *set, uint32_t index)
{
	if (set->shape->policy != PATH_MRC || set->states[index] != PATH_GOOD)
		return false;
	set->states[index] = PATH_SKIP;
	set->planes[index % set->shape->planes].unusable++;
	return true;
}

bool path_retire(struct path_set *set, uint32_t index, ps_t now)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy != PATH_MRC || set->states[index] == PATH_ASSUMED_BAD)
		return false;
	struct path_plane *plane = &set->planes[index % shape->planes];
	// a quarter of the plane's EVs, and at least one, stays in use
	uint32_t left = shape->per_plane - plane->bad - 1;
	if (left == 0 || left * 4 < shape->per_plane)
		return false;
	if (set->states[index] == PATH_GOOD)
		plane->unusable++;
	plane->bad++;
	set->states[index] = PATH_ASSUMED_BAD;
	set->retry_at[index] = (uint32_t)((now + shape->retry_ps) >> RETRY_SHIFT) + 1;
	return true;
}
