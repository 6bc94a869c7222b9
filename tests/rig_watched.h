// SPDX-License-Identifier: Apache-2.0
// That two worlds of one scenario measured the same with watch.delays, watch.links and watch.halve,
// cell by cell. After rig.h.
#pragma once

#include <weft/world/world_delays.h>

#include "rig.h"

static void watched_hist(const struct hist *a, const struct hist *b)
{
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->over, b->over);
	assert_int_equal(a->sum, b->sum);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	assert_int_equal(a->cells, b->cells);
	assert_memory_equal(a->counts, b->counts, a->cells * sizeof(*a->counts));
}

struct watched_list {
	struct hist *hists[2 * PAIR_CLASS_COUNT + 2 * PLANES_MAX + 2];
	uint32_t count;
};

static void watched_take(void *context, struct hist *hist)
{
	struct watched_list *list = context;
	list->hists[list->count++] = hist;
}

static void watched_paths(const struct paths *a, const struct paths *b)
{
	assert_int_equal(a->count, b->count);
	assert_memory_equal(a->sums, b->sums, a->count * sizeof(*a->sums));
	assert_memory_equal(a->counts, b->counts, (size_t)a->count * a->cells * sizeof(*a->counts));
}

static void watched_tail(const struct tail *a, const struct tail *b)
{
	assert_int_equal(a == NULL, b == NULL);
	if (a == NULL)
		return;
	assert_int_equal(a->cables, b->cables);
	assert_memory_equal(a->packets, b->packets, sizeof(a->packets));
	assert_memory_equal(a->counts, b->counts,
			    TAIL_LEVELS * (size_t)a->cables * sizeof(*a->counts));
}

static void watched_delays(const struct world_delays *a, const struct world_delays *b,
			   uint32_t nics)
{
	struct watched_list one = {0}, other = {0};
	delays_visit(a->whole, watched_take, &one);
	delays_visit(b->whole, watched_take, &other);
	assert_int_equal(one.count, other.count);
	for (uint32_t i = 0; i < one.count; i++)
		watched_hist(one.hists[i], other.hists[i]);
	watched_paths(&a->whole->one_way_paths_ns, &b->whole->one_way_paths_ns);
	watched_paths(&a->whole->rtt_paths_ns, &b->whole->rtt_paths_ns);
	assert_true(a->whole->one_way_ns[PAIR_ACROSS_T1].total > 0);
	assert_true(a->whole->rtt_plane_ns[0].total > 0);
	assert_true(a->whole->order_packets.total > 0 && a->whole->incast.total > 0);
	watched_tail(a->tail, b->tail);
	for (uint32_t i = 0; i < nics; i++)
		assert_memory_equal(&a->incasts[i], &b->incasts[i], sizeof(*a->incasts));
	assert_int_equal(a->pair_count, b->pair_count);
	for (uint32_t i = 0; i < a->pair_count; i++) {
		assert_int_equal(a->pairs[i].from_nic, b->pairs[i].from_nic);
		assert_int_equal(a->pairs[i].to_nic, b->pairs[i].to_nic);
		watched_hist(&a->pairs[i].message_ns, &b->pairs[i].message_ns);
	}
}

static void watched_depths(const struct world *a, const struct world *b)
{
	for (int group = 0; group < LINK_GROUP_COUNT; group++)
		watched_hist(&a->links.depth[group], &b->links.depth[group]);
	assert_true(a->links.depth[LINK_NIC_DOWN].total > 0);
	for (uint32_t i = 0; i < a->topology.switch_count; i++)
		for (uint32_t port = 0; port < a->topology.switches[i].port_count; port++)
			assert_memory_equal(switch_port_depth(a->switches[i], port)->series,
					    switch_port_depth(b->switches[i], port)->series,
					    sizeof(struct depth_series));
}

static void watched_same(const struct world *a, const struct world *b)
{
	const struct series *one = &a->outcome->series, *other = &b->outcome->series;
	assert_int_equal(one->bin_ps, other->bin_ps);
	assert_memory_equal(one->bins, other->bins, one->count * sizeof(*one->bins));
	watched_delays(a->delays, b->delays, a->topology.nics);
	watched_depths(a, b);
}
