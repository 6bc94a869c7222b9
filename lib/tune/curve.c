// SPDX-License-Identifier: Apache-2.0
// What each knob does to the aim: moved alone from the best setting, on fresh seeds, or as the
// search met it, where the other knobs differ from setting to setting.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
#include <weft/core/order.h>
#include <weft/result/put.h>
#include <weft/scenario/scenario_key.h>

#define BINS 10 // of a range, for what the search met

// ---------------------------------------------------------------- axes

// What an axis counts a knob in, and its factor.
static const char *axis_of(const struct tune_knob *knob, double *ret_factor)
{
	static const struct {
		const char *unit, *axis;
		double factor;
	} axes[] = {{"time", "us", 1e-6},
		    {"bytes", "kB", 1e-3},
		    {"rate", "Gb/s", 1e-9},
		    {"share", "", 1e-9}};
	struct refusal none;
	*ret_factor = 1;
	if (knob->base != TUNE_PLAIN)
		return tune_base_suffix(knob->base);
	if (knob->scale == TUNE_WORDS)
		return "";
	const char *unit = scenario_key_of(knob->key, &none)->unit;
	for (size_t i = 0; i < sizeof(axes) / sizeof(*axes); i++)
		if (strcmp(axes[i].unit, unit) == 0) {
			*ret_factor = axes[i].factor;
			return axes[i].axis;
		}
	return "";
}

static json_t *begin_knob(json_t *list, const struct tune_knob *knob)
{
	double factor;
	char range[256];
	json_t *one = row_in(list);
	tune_knob_text(knob, range, sizeof(range));
	put_text(one, "knob", knob->key);
	put_text(one, "range", range);
	put_text(one, "axis", axis_of(knob, &factor));
	put(one, "log", json_boolean(knob->scale == TUNE_LOG));
	put(one, "words", json_boolean(knob->scale == TUNE_WORDS));
	return one;
}

static json_t *put_point(json_t *points, const struct tune_space *space, uint32_t knob,
			 double value)
{
	double factor;
	char text[TUNE_VALUE_BYTES];
	json_t *point = row_in(points);
	axis_of(&space->knobs[knob], &factor);
	tune_value_text(space, knob, value, text, sizeof(text));
	put_text(point, "value", text);
	put(point, "x", tune_number(value * factor));
	return point;
}

static void put_interval(json_t *point, double ratio, double low, double high, uint32_t count)
{
	put(point, "ratio", tune_number(ratio));
	put(point, "low", tune_number(low));
	put(point, "high", tune_number(high));
	put_count(point, "count", count);
}

// ---------------------------------------------------------------- moved alone

// Places over a knob's range, each of them another value; how many there are.
static uint32_t places_of(const struct tune_space *space, const double *from, uint32_t index,
			  uint32_t points, double *ret)
{
	const struct tune_knob *knob = &space->knobs[index];
	double at[TUNE_KNOBS_MAX], last = NAN;
	uint32_t count = 0, tries = knob->scale == TUNE_WORDS ? knob->word_count : points;
	memcpy(at, from, sizeof(at));
	for (uint32_t i = 0; i < tries; i++) {
		at[index] = knob->scale == TUNE_WORDS ? (i + 0.5) / tries : (double)i / (tries - 1);
		double value = tune_space_value(space, at, index);
		if (isnan(value) || value == last) // its gate is shut, or a count has few values
			continue;
		ret[count++] = at[index];
		last = value;
	}
	return count;
}

static int measure_knob(json_t *list, struct tune *tune, const double *from, uint32_t index,
			uint32_t points)
{
	const struct tune_space *space = &tune->plan.space;
	double places[TUNE_CURVE_POINTS_MAX];
	struct tune_candidate *moved[TUNE_CURVE_POINTS_MAX], *all;
	uint32_t count = places_of(space, from, index, points, places);
	json_t *one = begin_knob(list, &space->knobs[index]), *found = array_in(one, "points");
	if (count == 0)
		return 0;
	all = calloc(count, sizeof(*all));
	if (all == NULL)
		return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
	for (uint32_t i = 0; i < count; i++) {
		moved[i] = &all[i];
		memcpy(all[i].at, from, sizeof(all[i].at));
		all[i].at[index] = places[i];
		tune_space_name(space, all[i].at, all[i].name);
	}
	int rc = tune_meet(tune, moved, count, true, tune->plan.fresh_seeds);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		struct tune_standing standing;
		tune_standing_of(&standing, &all[i].fresh, TUNE_CONFIDENCE);
		json_t *point = put_point(found, space, index,
					  tune_space_value(space, all[i].at, index));
		put_interval(point, standing.ratio, standing.low, standing.high, standing.count);
		put_text(point, "breaks",
			 standing.violation > 0 ? tune_aim_breach(&tune->plan.aim, standing.breach)
						: NULL);
	}
	free(all);
	return rc;
}

int tune_curves_measure(json_t *list, struct tune *tune, const struct tune_curves *curves)
{
	struct tune_result *result = &tune->result, before = *result;
	if (result->verdict == TUNE_UNFINISHED || result->verdict == TUNE_PART)
		return refuse(tune->refusal, -ENODATA,
			      "this study is not at its end; go on with it: weft tune resume");
	if (result->finalist_count == 0)
		return refuse(tune->refusal, -EINVAL,
			      "no knob does anything here: there are no curves");
	const double *from = result->finalists[0]->at;
	int rc = 0;
	tune->plan.runs = curves->runs;
	tune->plan.runs_context = curves->runs_context;
	for (uint32_t i = 0; rc == 0 && i < tune->plan.space.count; i++)
		rc = measure_knob(list, tune, from, i, curves->points);
	result->runs = before.runs; // the study's own are those without the curves
	result->runs_made = before.runs_made;
	result->ended_early = before.ended_early;
	result->cpu_s = before.cpu_s;
	return rc;
}

// ---------------------------------------------------------------- as the search met it

struct met { // a setting in one knob
	double value, place, cost;
};

static int lower_place_first(const void *a, const void *b)
{
	const struct met *first = a, *second = b;
	return ORDER(first->place, second->place);
}

// Those in `from` to `from` + `count`: one point of the curve.
static void put_bin(json_t *points, const struct tune_space *space, uint32_t index,
		    const struct met *met, uint32_t count)
{
	double *costs = calloc(count, sizeof(*costs));
	struct spread_figures spread;
	check_memory(costs != NULL);
	for (uint32_t i = 0; i < count; i++)
		costs[i] = met[i].cost;
	spread_of(&spread, costs, count);
	free(costs);
	json_t *point = put_point(points, space, index, met[count / 2].value);
	put_interval(point, exp(spread.mean), exp(spread.mean - spread.half),
		     exp(spread.mean + spread.half), count);
	put_text(point, "breaks", NULL);
}

// Words and short counts have a bin for each value.
static uint32_t bins_of(const struct tune_knob *knob)
{
	if (knob->scale == TUNE_WORDS)
		return knob->word_count;
	return knob->is_whole && knob->high - knob->low < BINS
		? (uint32_t)(knob->high - knob->low) + 1
		: BINS;
}

static void slice_knob(json_t *list, const struct tune *tune, uint32_t index, struct met *met)
{
	const struct tune_space *space = &tune->plan.space;
	json_t *one = begin_knob(list, &space->knobs[index]), *points = array_in(one, "points");
	uint32_t count = 0, first = 0, bins = bins_of(&space->knobs[index]);
	for (uint32_t i = 0; i < tune->result.different; i++) {
		const struct tune_candidate *candidate = tune->result.candidates[i];
		struct tune_standing standing;
		double place = tune_space_place(space, candidate->at, index);
		tune_standing_of(&standing, &candidate->met, TUNE_CONFIDENCE);
		if (!isnan(place) && standing.violation == 0 && isfinite(standing.ratio))
			met[count++] = (struct met){tune_space_value(space, candidate->at, index),
						    place, log(standing.ratio)};
	}
	qsort(met, count, sizeof(*met), lower_place_first);
	for (uint32_t i = 1; i <= count; i++)
		if (i == count ||
		    fmin(floor(met[i].place * bins), bins - 1) !=
			    fmin(floor(met[first].place * bins), bins - 1)) {
			put_bin(points, space, index, met + first, i - first);
			first = i;
		}
}

void tune_curves_slice(json_t *list, const struct tune *tune)
{
	struct met *met = calloc(tune->result.different + 1, sizeof(*met));
	check_memory(met != NULL);
	for (uint32_t i = 0; i < tune->plan.space.count; i++)
		slice_knob(list, tune, i, met);
	free(met);
}
