// SPDX-License-Identifier: Apache-2.0
// What happened between two points, of packets whose mates and way are known.

#include <stdlib.h>

#include "matching.h"
#include <weft/core/order.h>

static void note_changes(struct between_way *way, const struct sighting *in,
			 const struct sighting *out)
{
	uint32_t hops = in->hop_limit >= out->hop_limit ? in->hop_limit - out->hop_limit : 0;
	way->hops_min = way->arrived == 0 || hops < way->hops_min ? hops : way->hops_min;
	way->hops_max = hops > way->hops_max ? hops : way->hops_max;
	way->arrived++;
	bool is_trimmed = out->is_trimmed && !in->is_trimmed;
	way->trimmed += is_trimmed;
	way->marked += out->ecn == 3 && in->ecn != 3;
	if (out->dscp != in->dscp && !out->is_trimmed && !out->is_damaged && way->remarked++ == 0) {
		way->first_remarked = in->number;
		way->dscp_in = in->dscp;
		way->dscp_out = out->dscp;
	}
	way->damaged += out->is_damaged && !in->is_damaged;
}

// A time by the clock of one point to that of the other.
static int64_t elsewhere(const struct matching *all, int which, int64_t at_ns)
{
	int64_t drift_ns = (int64_t)(all->drift * (double)(at_ns - all->from_ns));
	int64_t apart_ns = all->ret->offset_ns + drift_ns;
	return which == 0 ? at_ns + apart_ns : at_ns - apart_ns;
}

// Whether the capture ran at a time by its own clock.
static bool ran_at(const struct matching *all, int which, int64_t at_ns)
{
	return at_ns >= all->first_ns[which] && at_ns <= all->last_ns[which];
}

// One way: `in` is where its packets enter. What should have arrived when the other capture did not
// run says nothing.
static void count_way(struct matching *all, int in)
{
	struct between_way *way = &all->ret->ways[in];
	const struct sightings *from = &all->both[in], *to = &all->both[1 - in];
	int64_t delay_ns = way->shortest_ns + way->above_p99_ns;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct sighting *of = &from->list[i];
		bool is_alone = of->mate == ALONE;
		if (of->way != in ||
		    (is_alone && !ran_at(all, 1 - in, elsewhere(all, in, of->at_ns) + delay_ns)))
			continue;
		way->sent++;
		if (!is_alone) {
			note_changes(way, of, &to->list[of->mate]);
		} else {
			way->lost++;
			way->first_lost = way->first_lost == 0 ? of->number : way->first_lost;
		}
	}
}

// Copies that entered fewer times were made between; others never entered.
static void count_extra(struct matching *all, int in)
{
	struct between_way *way = &all->ret->ways[in];
	const struct sightings *to = &all->both[1 - in];
	const uint32_t *order = all->orders[1 - in];
	for (uint32_t i = 0, end; i < to->count; i = end) {
		bool has_mate = false;
		for (end = i;
		     end < to->count && to->list[order[end]].name == to->list[order[i]].name; end++)
			has_mate |= to->list[order[end]].mate != ALONE;
		for (uint32_t k = i; k < end; k++) {
			const struct sighting *of = &to->list[order[k]];
			int64_t entered_ns = elsewhere(all, 1 - in, of->at_ns) - way->shortest_ns;
			if (of->way != in || of->mate != ALONE || !ran_at(all, in, entered_ns))
				continue;
			way->doubled += has_mate;
			way->unsent += !has_mate;
		}
	}
}

static bool count_order(struct matching *all, int in)
{
	struct between_way *way = &all->ret->ways[in];
	const struct sightings *to = &all->both[1 - in];
	uint32_t streams = 0;
	for (uint32_t i = 0; i < to->count; i++)
		streams = to->list[i].stream >= streams ? to->list[i].stream + 1 : streams;
	uint32_t *newest = calloc(streams + 1u, sizeof(*newest)); // + 1
	for (uint32_t i = 0; newest != NULL && i < to->count; i++) {
		const struct sighting *of = &to->list[i];
		if (of->way != in || of->mate == ALONE)
			continue;
		uint32_t at = of->mate + 1, *most = &newest[of->stream];
		if (at > *most) {
			*most = at;
			continue;
		}
		uint64_t by = 0; // packets of its QP that entered later and are here already
		for (uint32_t k = of->mate + 1; k < *most; k++) {
			const struct sighting *later = &all->both[in].list[k];
			by += later->stream == of->stream && later->mate != ALONE &&
				later->mate < i;
		}
		way->overtaken++;
		way->overtaken_most = by > way->overtaken_most ? by : way->overtaken_most;
	}
	bool is_good = newest != NULL;
	free(newest);
	return is_good;
}

static void find_delays(struct matching *all, int in)
{
	struct between_way *way = &all->ret->ways[in];
	uint32_t count = 0;
	for (uint32_t i = 0; i < all->both[0].count; i++) {
		const struct sighting *of = &all->both[0].list[i];
		if (of->mate == ALONE || of->way != in)
			continue;
		int64_t off_ns = level(all, of) - all->ret->offset_ns;
		all->values[count++] = in == 0 ? off_ns : -off_ns;
	}
	if (count == 0)
		return;
	qsort(all->values, count, sizeof(int64_t), order_int64);
	way->shortest_ns = all->values[0];
	way->above_p50_ns = all->values[count / 2] - way->shortest_ns;
	way->above_p99_ns = all->values[(uint32_t)(0.99 * (count - 1) + 0.5)] - way->shortest_ns;
	way->above_max_ns = all->values[count - 1] - way->shortest_ns;
}

bool matching_count(struct matching *all)
{
	bool is_good = true;
	for (int in = 0; in < 2 && is_good; in++) {
		find_delays(all, in);
		count_way(all, in);
		count_extra(all, in);
		is_good = count_order(all, in);
	}
	return is_good;
}
