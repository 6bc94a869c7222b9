// SPDX-License-Identifier: Apache-2.0
// See load.h.
#include "load.h"

#include "history.h"

#define FAST_LOG 106u // three quarters, in 256ths of octaves

uint64_t load_bytes(const struct path_shape *shape)
{
	if (!shape->has_load)
		return 0;
	uint64_t bytes = sizeof(struct load) + shape->planes * sizeof(struct load_plane);
	return (bytes + 7) / 8 * 8;
}

struct load *load_init(const struct path_shape *shape, void *memory)
{
	struct load *load = memory;
	load->weights = shape->planes * LOAD_FULL;
	for (uint32_t plane = 0; plane < shape->planes; plane++)
		load->planes[plane].weight = LOAD_FULL;
	return load;
}

void load_weigh(struct path_set *set, uint32_t index, bool is_marked)
{
	struct load *load = set->load;
	struct load_plane *plane = &load->planes[index % set->shape->planes];
	uint32_t before = plane->weight, after = before + LOAD_GAIN;
	if (is_marked)
		after = before - (before >> LOAD_LOSS_SHIFT);
	if (after < LOAD_LEAST)
		after = LOAD_LEAST;
	if (after > LOAD_FULL)
		after = LOAD_FULL;
	plane->weight = after;
	load->weights += after - before;
}

// Sum of the weights of the planes that are open.
static uint64_t open_weights(const struct path_set *set)
{
	const struct path_shape *shape = set->shape;
	bool is_any_shut = set->closed > 0 || set->bad >= shape->per_plane ||
		(shape->ports_down | set->peer_down) != 0;
	if (!is_any_shut)
		return set->load->weights;
	uint64_t sum = 0;
	for (uint32_t plane = 0; plane < shape->planes; plane++)
		if (!path_is_shut(set, plane))
			sum += set->load->planes[plane].weight;
	return sum;
}

static bool is_below_mean(const struct path_set *set, uint32_t plane)
{
	const struct load *load = set->load;
	return (uint64_t)set->shape->planes * load->planes[plane].weight < load->weights;
}

// Whether marks took weight from most planes, while about as much goes over this one as over the
// one with most: a full fabric marks so, and this plane lost nothing.
static bool is_full_fabric(const struct path_set *set, uint32_t plane)
{
	const struct load_plane *planes = set->load->planes;
	uint32_t rate = history_rate(set, plane, planes[plane].flying), below = 0;
	for (uint32_t other = 0; other < set->shape->planes; other++) {
		if (history_rate(set, other, planes[other].flying) > rate + FAST_LOG)
			return false;
		below += is_below_mean(set, other);
	}
	return rate > 0 && below * 2 > set->shape->planes;
}

// Beside a plane that a dead cable left half empty, full ones are as heavy as all are in the mean.
static uint64_t weight_of(const struct path_set *set, uint32_t plane)
{
	if (is_below_mean(set, plane) && is_full_fabric(set, plane))
		return set->load->weights / set->shape->planes;
	return set->load->planes[plane].weight;
}

bool load_is_above(const struct qp *qp, uint32_t plane)
{
	const struct load_plane *load = &qp->path.load->planes[plane];
	if (load->flying < LOAD_PACKETS * qp->full_bytes)
		return false;
	// what is heard of and not known by PSN still counts as in flight
	uint64_t window = (uint64_t)qp->cc.window_bytes + (qp->heard_bytes - qp->settled_bytes);
	if (qp->inflight >= window) // it closes all lines, but to a packet that asks for a SACK
		return false;
	return open_weights(&qp->path) * load->flying >
		LOAD_SLACK * window * weight_of(&qp->path, plane);
}
