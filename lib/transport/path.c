// SPDX-License-Identifier: Apache-2.0
// Rotation over the EVs of a plane, and their health. A round costs one random number; a turn
// costs an XOR while all EVs of the plane are good. See path.h.
#include "path.h"

#include <weft/check.h>

#define RETRY_SHIFT 20 // retry times are kept in units of 2^20 ps: 32 bits last 75 minutes

struct path_shape path_shape_of(const struct transport_config *config)
{
	uint32_t bits = 0;
	while ((UINT64_C(1) << bits) < config->ev_count)
		bits++;
	uint32_t index_mask = (uint32_t)((UINT64_C(1) << bits) - 1);
	bool is_port = config->ev_bits == 16;
	return (struct path_shape){
		.planes = config->planes,
		.per_plane = config->ev_count / config->planes,
		.index_mask = index_mask,
		.drawn_mask = (is_port ? EVS_OF_PORT_MAX - 1 : UINT32_MAX) & ~index_mask,
		.fixed = is_port ? PATH_PORT_FIRST : 0,
		.policy = config->kind == TRANSPORT_RC ? PATH_SINGLE : config->path_policy,
		.retry_ps = config->path_retry_ps,
	};
}

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
	set->upper = shape->fixed | ((uint32_t)rng_next(&set->rng) & shape->drawn_mask);
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

static uint32_t retry_units(ps_t at)
{
	return (uint32_t)(at >> RETRY_SHIFT);
}

static bool is_due(uint32_t units, ps_t now)
{
	return (int32_t)(retry_units(now) - units) >= 0;
}

static void recover(struct path_set *set, uint32_t index)
{
	struct path_plane *plane = &set->planes[index % set->shape->planes];
	if (set->states[index] == PATH_ASSUMED_BAD) {
		plane->bad--;
		set->bad--;
	}
	plane->unusable--;
	set->states[index] = PATH_GOOD;
}

// Sends a packet over an EV that is held bad. It stays so until the packet is known to have
// arrived; the next one may try it only a retry time later.
static struct path_choice try_again(struct path_set *set, uint32_t index, ps_t now)
{
	uint32_t next = retry_units(now + set->shape->retry_ps) + 1;
	set->retry_at[index] = next;
	set->planes[index % set->shape->planes].trial_at = next;
	return (struct path_choice){index, true};
}

// Whether this turn's EV may be used. A skipped EV has now lost its turn.
static bool take_turn(struct path_set *set, uint32_t index)
{
	if (set->states[index] == PATH_SKIP) {
		recover(set, index);
		return false;
	}
	return set->states[index] == PATH_GOOD;
}

static bool is_shut(const struct path_set *set, const struct path_plane *plane)
{
	return plane->is_closed || plane->bad == set->shape->per_plane;
}

static bool has_open_plane(const struct path_set *set)
{
	for (uint32_t plane = 0; plane < set->shape->planes; plane++)
		if (!is_shut(set, &set->planes[plane]))
			return true;
	return false;
}

bool path_is_closed(const struct path_set *set, uint32_t plane_number, ps_t now)
{
	const struct path_plane *plane = &set->planes[plane_number];
	return is_shut(set, plane) && !is_due(plane->trial_at, now) && has_open_plane(set);
}

struct path_choice path_pick(struct path_set *set, uint32_t plane_number, uint32_t avoid, ps_t now)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy == PATH_SINGLE)
		return (struct path_choice){set->single, false};
	struct path_plane *plane = &set->planes[plane_number];
	uint32_t index = turn(set, plane_number);
	if (is_shut(set, plane))
		return try_again(set, index, now);
	if (plane->unusable == 0 && index != avoid)
		return (struct path_choice){index, false};
	// two rounds meet every EV of the plane, whatever its state
	for (uint32_t left = 2 * shape->per_plane; left > 0; left--) {
		if (take_turn(set, index) && index != avoid)
			return (struct path_choice){index, false};
		if (set->states[index] == PATH_ASSUMED_BAD && is_due(set->retry_at[index], now))
			return try_again(set, index, now);
		index = turn(set, plane_number);
	}
	if (set->states[index] == PATH_ASSUMED_BAD)
		return try_again(set, index, now);
	return (struct path_choice){index, false};
}

uint32_t path_control(struct path_set *set, uint32_t plane)
{
	const struct path_shape *shape = set->shape;
	if (shape->policy == PATH_SINGLE)
		return path_value(set, set->single);
	uint32_t in_plane = (uint32_t)rng_next(&set->control_rng) & (shape->per_plane - 1);
	return path_value(set, in_plane * shape->planes + plane);
}

void path_plane_alive(struct path_set *set, uint32_t plane)
{
	set->lost -= set->planes[plane].lost;
	set->planes[plane].lost = 0;
	set->planes[plane].is_closed = false;
}

bool path_arrived(struct path_set *set, uint32_t index)
{
	path_heard(set, index);
	if (set->states[index] != PATH_ASSUMED_BAD)
		return false;
	recover(set, index);
	return true;
}

// Counts a loss on a plane; too many in a row close it.
static void lose_on(struct path_set *set, struct path_plane *plane, ps_t now)
{
	if (plane->lost < PATH_PLANE_LOSSES) {
		plane->lost++;
		set->lost++;
	}
	if (plane->lost < PATH_PLANE_LOSSES || plane->is_closed)
		return;
	plane->is_closed = true;
	plane->trial_at = retry_units(now + set->shape->retry_ps) + 1;
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
	if (shape->policy != PATH_MRC)
		return false;
	struct path_plane *plane = &set->planes[index % shape->planes];
	lose_on(set, plane, now);
	if (set->states[index] == PATH_ASSUMED_BAD)
		return false;
	// a quarter of the EVs, and at least one, stays in use; a whole plane may go
	uint32_t count = shape->planes * shape->per_plane, left = count - set->bad - 1;
	if (left == 0 || left * 4 < count)
		return false;
	if (set->states[index] == PATH_GOOD)
		plane->unusable++;
	plane->bad++;
	set->bad++;
	set->states[index] = PATH_ASSUMED_BAD;
	set->retry_at[index] = retry_units(now + shape->retry_ps) + 1;
	plane->trial_at = set->retry_at[index];
	return true;
}
