// SPDX-License-Identifier: Apache-2.0
// See delays.h.

#include <weft/core/order.h>
#include <weft/result/delays.h>

#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
#include <weft/world/world_delays.h>

#include "paths.h"
#include "sections.h"
#include <weft/result/figures.h>
#include <weft/result/put.h>

#define NOT_TIMED "not measured: watch.delays is false"
#define IN_ORDER_ONLY "RoCEv2 takes packets in order only"
#define TOO_MANY_PAIRS "not kept: more than 16,384 pairs of NICs"
static_assert(DELAY_PAIRS_MAX == 16384, "the text says so");

// ---------------------------------------------------------------- packets

static json_t *row_of(json_t *array, const char *what, const char *by, const char *which)
{
	json_t *row = row_in(array);
	put_text(row, "what", what);
	put_text(row, "by", by);
	put_text(row, "which", which);
	return row;
}

static void put_planes(json_t *array, const char *what, const struct hist *planes, uint32_t count,
		       bool is_sample)
{
	for (uint32_t i = 0; i < count; i++) {
		char which[16];
		if (planes[i].total == 0)
			continue;
		snprintf(which, sizeof(which), "%u", i);
		json_t *row = row_of(array, what, "plane", which);
		quantiles_json(row, &planes[i], "ns", is_sample, NO_PACKETS);
		put_count(row, "above_range", planes[i].over);
	}
}

static void put_rows(json_t *to, const struct delays *delays, const struct report_input *input)
{
	bool is_sample = is_sampled(input), has_frames = input->ports.name != NULL;
	json_t *array = array_in(to, "rows");
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		const struct hist *hist = &delays->one_way_ns[i];
		json_t *row = row_of(array, "one_way", "pair", pair_class_name((enum pair_class)i));
		quantiles_json(row, hist, "ns", is_sample,
			       has_frames ? FRAMES_SAY_NOTHING : NO_PACKETS);
		put_count(row, "above_range", hist->over);
	}
	put_planes(array, "one_way", delays->one_way_plane_ns, delays->planes, is_sample);
	paths_rows_json(array, input, PATHS_ONE_WAY);
	put_planes(array, "round_trip", delays->rtt_plane_ns, delays->planes, is_sample);
	paths_rows_json(array, input, PATHS_ROUND_TRIP);
}

static void put_order(json_t *to, const struct delays *delays, const struct report_input *input)
{
	const struct hist *hist = &delays->order_packets;
	bool is_rc = input->world->transport.kind == TRANSPORT_RC;
	json_t *order = object_in(to, "order");
	quantiles_json(order, hist, "packets", is_sampled(input),
		       is_rc ? IN_ORDER_ONLY : NO_PACKETS);
	put_count(order, "overtaken", hist->total - hist->counts[0]);
	quantiles_json(object_in(to, "incast"), &delays->incast, "connections", is_sampled(input),
		       NO_MESSAGES);
}

// ---------------------------------------------------------------- pairs

// By the slowest message; of equal ones the first.
void worst_pairs_find(struct worst_pairs *worst, const struct world_delays *delays)
{
	*worst = (struct worst_pairs){0};
	for (uint32_t i = 0; i < delays->pair_count; i++) {
		const struct pair_delay *pair = &delays->pairs[i];
		uint32_t at = worst->count;
		if (pair->message_ns.total == 0)
			continue;
		worst->talked++;
		while (at > 0 && worst->list[at - 1]->message_ns.max < pair->message_ns.max)
			at--;
		if (at == PAIRS_WORST)
			continue;
		uint32_t last = worst->count < PAIRS_WORST ? worst->count++ : PAIRS_WORST - 1;
		memmove(&worst->list[at + 1], &worst->list[at], (last - at) * sizeof(*worst->list));
		worst->list[at] = pair;
	}
}

static bool is_listed(const struct worst_pairs *worst, const struct pair_delay *pair)
{
	for (uint32_t i = 0; i < worst->count; i++)
		if (worst->list[i] == pair)
			return true;
	return false;
}

// The pairs of a class that are not listed, as one.
static void put_rest(json_t *array, const struct world_delays *delays,
		     const struct worst_pairs *worst, enum pair_class pair, bool is_sample)
{
	struct hist rest = delays->pairs[0].message_ns;
	uint64_t pairs = 0;
	rest.counts = calloc(rest.cells, sizeof(*rest.counts));
	check_memory(rest.counts != NULL);
	hist_empty(&rest);
	for (uint32_t i = 0; i < delays->pair_count; i++) {
		const struct pair_delay *one = &delays->pairs[i];
		if (one->pair != pair || one->message_ns.total == 0 || is_listed(worst, one))
			continue;
		hist_merge(&rest, &one->message_ns);
		pairs++;
	}
	if (pairs > 0) {
		json_t *row = row_in(array);
		put_text(row, "pair", pair_class_name(pair));
		put_count(row, "pairs", pairs);
		quantiles_json(row, &rest, "ns", is_sample, NO_MESSAGES);
	}
	free(rest.counts);
}

static void put_pairs(json_t *to, const struct world_delays *delays, bool is_sample)
{
	struct worst_pairs worst;
	worst_pairs_find(&worst, delays);
	if (delays->has_qp_pool)
		put_reason(to, "pairs_talked", MADE_AS_THEY_GO);
	else if (delays->pairs_all > DELAY_PAIRS_MAX)
		put_reason(to, "pairs_talked", TOO_MANY_PAIRS);
	else
		put_count(to, "pairs_talked", worst.talked);
	json_t *array = array_in(to, "pairs");
	for (uint32_t i = 0; i < worst.count; i++) {
		json_t *row = row_in(array);
		put_count(row, "from_nic", worst.list[i]->from_nic);
		put_count(row, "to_nic", worst.list[i]->to_nic);
		put_text(row, "pair", pair_class_name(worst.list[i]->pair));
		quantiles_json(row, &worst.list[i]->message_ns, "ns", is_sample, NO_MESSAGES);
	}
	array = array_in(to, "pairs_rest");
	for (int i = 0; delays->pair_count > 0 && i < PAIR_CLASS_COUNT; i++)
		put_rest(array, delays, &worst, (enum pair_class)i, is_sample);
}

// ---------------------------------------------------------------- collectives

// The smallest of `count` sorted times with at least `share` of them at or below it.
static ps_t nearest_rank(const ps_t *times, uint32_t count, uint32_t percent)
{
	uint32_t rank = (uint32_t)(((uint64_t)count * percent + 99) / 100);
	return times[rank > 0 ? rank - 1 : 0];
}

static void put_kind(json_t *array, const struct report_input *input, enum collective_kind kind,
		     ps_t *times)
{
	static const struct {
		const char *key;
		uint32_t percent;
	} rows[] = {{"min_ps", 0}, {"p50_ps", 50}, {"p95_ps", 95}, {"p99_ps", 99}, {"max_ps", 100}};
	uint32_t count = 0, all = 0;
	for (uint32_t i = 0; i < input->world->outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, input->world, i);
		all += one.bucket->kind == kind;
		if (one.bucket->kind == kind && one.is_finished)
			times[count++] = one.outcome->whole_ps;
	}
	if (all == 0)
		return;
	qsort(times, count, sizeof(*times), order_int64);
	json_t *row = row_in(array);
	put_text(row, "kind", collective_kind_name(kind));
	put_count(row, "count", count);
	put_count(row, "unfinished", all - count);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (is_sampled(input))
			put_reason(row, rows[i].key, NOT_IN_SAMPLE);
		else if (count == 0)
			put_reason(row, rows[i].key, NOT_FINISHED);
		else
			put_time(row, rows[i].key, nearest_rank(times, count, rows[i].percent));
	}
}

static void put_collective_times(json_t *root, const struct report_input *input)
{
	json_t *array = array_in(root, "collective_times");
	ps_t *times = calloc(input->world->outcome->collective_count + 1, sizeof(*times));
	check_memory(times != NULL);
	for (int kind = 0; kind < COLLECTIVE_KIND_COUNT; kind++)
		put_kind(array, input, (enum collective_kind)kind, times);
	free(times);
}

// ---------------------------------------------------------------- outputs

void delays_json(json_t *root, const struct report_input *input)
{
	const struct world_delays *delays = input->world->delays;
	put_collective_times(root, input);
	if (delays == NULL) {
		put_reason(root, "delays", NOT_TIMED);
		return;
	}
	json_t *to = object_in(root, "delays");
	put_rows(to, delays->whole, input);
	paths_json(to, input);
	put_order(to, delays->whole, input);
	incast_json(to, input);
	put_pairs(to, delays, is_sampled(input));
}
