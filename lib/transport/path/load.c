// SPDX-License-Identifier: Apache-2.0
// See load.h.
#include "load.h"

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

bool load_is_above(const struct qp *qp, uint32_t plane)
{
	const struct load_plane *load = &qp->path.load->planes[plane];
	if (load->flying < LOAD_PACKETS * qp->full_bytes)
		return false;
	// what is heard of and not known by PSN still counts as in flight
	uint64_t window = (uint64_t)qp->cc.window_bytes + (qp->heard_bytes - qp->settled_bytes);
	if (qp->inflight >= window) // it closes all lines, but to a packet that asks for a SACK
		return false;
	return open_weights(&qp->path) * load->flying > LOAD_SLACK * window * load->weight;
}
