// SPDX-License-Identifier: Apache-2.0
// See paths.h.

#include "paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
#include <weft/world/world_delays.h>

#include "sections.h"
#include <weft/result/delays.h>
#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

#define EVS_OF_PROFILES "not told apart: values of a profile do not say their numbers"
#define EVS_OF_FAULTS "not told apart: a fault gives a host other EVs"
#define ONE_PATH "connections have one path"

const char *paths_what_name(enum paths_what what)
{
	return what == PATHS_ONE_WAY ? "one_way" : "round_trip";
}

const struct paths *paths_of(const struct report_input *input, enum paths_what what)
{
	const struct delays *delays = input->world->delays->whole;
	return what == PATHS_ONE_WAY ? &delays->one_way_paths_ns : &delays->rtt_paths_ns;
}

static bool is_single(const struct report_input *input)
{
	const struct transport_config *transport = &input->world->transport;
	return transport->kind == TRANSPORT_RC || ev_universe(transport) == 1;
}

const char *paths_unknown(const struct report_input *input, enum paths_what what)
{
	if (is_single(input))
		return ONE_PATH;
	if (what == PATHS_ROUND_TRIP)
		return NULL;
	if (input->ports.name != NULL)
		return FRAMES_SAY_NOTHING;
	if (input->world->delays->whole->ev_mask != 0)
		return NULL;
	return input->world->transport.ev_mode == EV_AUTO ? EVS_OF_FAULTS : EVS_OF_PROFILES;
}

// By the slowest packet; of equal ones the first.
void worst_paths_find(struct worst_paths *worst, const struct paths *paths)
{
	*worst = (struct worst_paths){0};
	for (uint32_t i = 0; i < paths->count; i++) {
		uint32_t at = worst->count;
		if (paths->sums[i].total == 0)
			continue;
		worst->used++;
		while (at > 0 && paths->sums[worst->list[at - 1]].max < paths->sums[i].max)
			at--;
		if (at == PATHS_WORST)
			continue;
		uint32_t last = worst->count < PATHS_WORST ? worst->count++ : PATHS_WORST - 1;
		memmove(&worst->list[at + 1], &worst->list[at], (last - at) * sizeof(*worst->list));
		worst->list[at] = i;
	}
}

void paths_scratch(struct hist *ret, const struct paths *paths)
{
	paths_shape(paths, ret);
	ret->counts = calloc(ret->cells, sizeof(*ret->counts));
	check_memory(ret->counts != NULL);
}

// ---------------------------------------------------------------- rows

static json_t *row_of(json_t *rows, enum paths_what what, const char *which)
{
	json_t *row = row_in(rows);
	put_text(row, "what", paths_what_name(what));
	put_text(row, "by", "ev");
	put_text(row, "which", which);
	return row;
}

static void put_path(json_t *rows, const struct report_input *input, enum paths_what what,
		     uint32_t path, struct hist *scratch)
{
	const struct paths *paths = paths_of(input, what);
	char which[16];
	hist_empty(scratch);
	bool is_whole = paths_read(paths, path, scratch);
	snprintf(which, sizeof(which), "%" PRIu32, path);
	json_t *row = row_of(rows, what, which);
	if (is_whole)
		quantiles_json(row, scratch, "ns", is_sampled(input), NO_PACKETS);
	else
		quantiles_none_json(row, paths->sums[path].total, "ns", PATHS_CELL_FULL);
	put_count(row, "above_range", paths->sums[path].over);
}

// A QP of one path: what all planes have is of number 0.
static void put_single(json_t *rows, const struct report_input *input, enum paths_what what)
{
	const struct delays *delays = input->world->delays->whole;
	const struct hist *planes = what == PATHS_ONE_WAY ? delays->one_way_plane_ns
							  : delays->rtt_plane_ns;
	struct hist all = planes[0];
	all.counts = calloc(all.cells, sizeof(*all.counts));
	check_memory(all.counts != NULL);
	hist_empty(&all);
	for (uint32_t i = 0; i < delays->planes; i++)
		hist_merge(&all, &planes[i]);
	json_t *row = row_of(rows, what, "0");
	quantiles_json(row, &all, "ns", is_sampled(input),
		       input->ports.name != NULL && what == PATHS_ONE_WAY ? FRAMES_SAY_NOTHING
									  : NO_PACKETS);
	put_count(row, "above_range", all.over);
	free(all.counts);
}

void paths_rows_json(json_t *rows, const struct report_input *input, enum paths_what what)
{
	const struct paths *paths = paths_of(input, what);
	const char *reason = paths_unknown(input, what);
	struct worst_paths worst;
	struct hist scratch;
	if (is_single(input)) {
		put_single(rows, input, what);
		return;
	}
	worst_paths_find(&worst, paths);
	if (reason != NULL || worst.used == 0) {
		json_t *row = row_of(rows, what, "all");
		quantiles_none_json(row, 0, "ns", reason != NULL ? reason : NO_PACKETS);
		put_count(row, "above_range", 0);
		return;
	}
	paths_scratch(&scratch, paths);
	for (uint32_t i = 0; paths->count <= PATHS_LISTED && i < paths->count; i++)
		if (paths->sums[i].total > 0)
			put_path(rows, input, what, i, &scratch);
	for (uint32_t i = 0; paths->count > PATHS_LISTED && i < worst.count; i++)
		put_path(rows, input, what, worst.list[i], &scratch);
	free(scratch.counts);
}

// ---------------------------------------------------------------- the rest

static bool is_listed(const struct worst_paths *worst, uint32_t path)
{
	for (uint32_t i = 0; i < worst->count; i++)
		if (worst->list[i] == path)
			return true;
	return false;
}

// The paths of a plane that are not listed, as one.
static void put_rest(json_t *array, const struct report_input *input, enum paths_what what,
		     const struct worst_paths *worst, uint32_t plane, struct hist *rest)
{
	const struct paths *paths = paths_of(input, what);
	uint32_t planes = input->world->delays->whole->planes;
	uint64_t evs = 0, packets = 0;
	bool is_whole = true;
	hist_empty(rest);
	for (uint32_t i = plane; i < paths->count; i += planes) {
		if (paths->sums[i].total == 0 || is_listed(worst, i))
			continue;
		is_whole &= paths_read(paths, i, rest);
		packets += paths->sums[i].total;
		evs++;
	}
	if (evs == 0)
		return;
	json_t *row = row_in(array);
	put_text(row, "what", paths_what_name(what));
	put_count(row, "plane", plane);
	put_count(row, "evs", evs);
	if (is_whole)
		quantiles_json(row, rest, "ns", is_sampled(input), NO_PACKETS);
	else
		quantiles_none_json(row, packets, "ns", PATHS_CELL_FULL);
}

static void put_rests(json_t *array, const struct report_input *input, enum paths_what what)
{
	const struct paths *paths = paths_of(input, what);
	struct worst_paths worst;
	struct hist rest;
	if (paths_unknown(input, what) != NULL || paths->count <= PATHS_LISTED)
		return;
	worst_paths_find(&worst, paths);
	paths_scratch(&rest, paths);
	for (uint32_t i = 0; i < input->world->delays->whole->planes; i++)
		put_rest(array, input, what, &worst, i, &rest);
	free(rest.counts);
}

// ---------------------------------------------------------------- balance

// How evenly packets were spread over the EVs of their QPs' profiles, over all QPs.
struct balance {
	double jain, max_to_mean;
	uint32_t evs, used;
	const char *reason; // NULL: they hold
};

static void balance_of(struct balance *ret, const struct report_input *input)
{
	const struct paths *paths = paths_of(input, PATHS_ONE_WAY);
	double sum = 0, squares = 0, most = 0;
	*ret = (struct balance){.reason = paths_unknown(input, PATHS_ONE_WAY)};
	ret->evs = is_single(input) ? 1 : ev_universe(&input->world->transport);
	for (uint32_t i = 0; ret->reason == NULL && i < paths->count; i++) {
		double packets = (double)paths->sums[i].total;
		sum += packets;
		squares += packets * packets;
		most = packets > most ? packets : most;
		ret->used += packets > 0;
	}
	if (ret->reason == NULL && sum == 0)
		ret->reason = NO_PACKETS;
	if (ret->reason != NULL)
		return;
	ret->jain = jain_of(sum, squares, ret->evs);
	ret->max_to_mean = most * ret->evs / sum;
}

void paths_json(json_t *to, const struct report_input *input)
{
	struct balance balance;
	json_t *paths = object_in(to, "paths"), *rests = array_in(to, "evs_rest");
	balance_of(&balance, input);
	put_count(paths, "evs", balance.evs);
	put_count(paths, "digits", balance.evs <= PATHS_FINE_MAX ? 2 : 1);
	if (balance.reason != NULL) {
		put_reason(paths, "used", balance.reason);
		put_reason(paths, "jain", balance.reason);
		put_reason(paths, "max_to_mean", balance.reason);
	} else {
		put_count(paths, "used", balance.used);
		put_real(paths, "jain", balance.jain);
		put_real(paths, "max_to_mean", balance.max_to_mean);
	}
	for (int what = 0; what < PATHS_WHAT_COUNT; what++)
		put_rests(rests, input, (enum paths_what)what);
}
