// SPDX-License-Identifier: Apache-2.0

#include <weft/core/order.h>
#include <weft/result/put.h>
#include <weft/tune/pareto.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "inside.h"

#define SHOWN_MAX 20

int tune_values_of(const struct tune_plan *plan, uint32_t scenario, const char *setting,
		   bool is_fresh, uint32_t blocks, uint32_t figure, double *ret,
		   struct refusal *refusal)
{
	for (uint32_t i = 0; i < blocks; i++) {
		const struct tune_run_key key = {plan->scenarios[scenario], setting,
						 tune_seed_of(plan, is_fresh, i)};
		struct study_run run;
		int found = tune_store_find(plan->store, &key, &run, refusal);
		if (found < 0)
			return found;
		ret[i] = found == 1 && run.is_complete ? run.figures[figure] : NAN;
	}
	return 0;
}

// Means of one scenario, of a setting and of the default, over the seeds on which the default came
// to its end.
static int means_of(double *ret_own, double *ret_default, const struct tune *tune,
		    uint32_t scenario, const struct tune_front_point *point, const char *setting,
		    uint32_t figure, struct refusal *refusal)
{
	double own[TUNE_BLOCKS_MAX], other[TUNE_BLOCKS_MAX];
	struct spread_figures of_own, of_default;
	int rc = tune_values_of(&tune->plan, scenario, setting, point->is_fresh, point->seeds,
				figure, own, refusal);
	if (rc == 0)
		rc = tune_values_of(&tune->plan, scenario, TUNE_DEFAULT_NAME, point->is_fresh,
				    point->seeds, figure, other, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < point->seeds; i++)
		if (isnan(other[i]))
			own[i] = NAN;
	spread_of(&of_own, own, point->seeds);
	spread_of(&of_default, other, point->seeds);
	*ret_own = of_own.count > 0 ? of_own.mean : NAN;
	*ret_default = of_default.count > 0 ? of_default.mean : NAN;
	return 0;
}

// One figure of a point, over the suite.
static int value_of(struct tune_front_point *point, const struct tune_front *front,
		    const struct tune *tune, uint32_t index, struct refusal *refusal)
{
	const char *setting = point->candidate != NULL ? point->candidate->name : TUNE_DEFAULT_NAME;
	uint32_t scenarios = tune->plan.scenario_count;
	point->values[index] = 0;
	for (uint32_t i = 0; i < scenarios; i++) {
		double own, other;
		int rc = means_of(&own, &other, tune, i, point, setting, front->figures[index],
				  refusal);
		if (rc < 0)
			return rc;
		point->values[index] += front->is_ratio[index] ? own / other / scenarios : own;
	}
	return 0;
}

// What all of them had: so points are compared on like terms, as far as the study goes.
static struct tune_front_point point_of(const struct tune_candidate *candidate)
{
	bool is_fresh = candidate->fresh.count > 0;
	return (struct tune_front_point){.candidate = candidate,
					 .is_fresh = is_fresh,
					 .seeds = is_fresh ? candidate->fresh.count
							   : candidate->met.count};
}

static int find_ratios(struct tune_front *front, const struct tune *tune, struct refusal *refusal)
{
	struct tune_front_point point = {.seeds = tune->default_blocks[0]};
	for (uint32_t i = 0; i < front->figure_count; i++) {
		front->is_ratio[i] = true;
		for (uint32_t j = 0; j < tune->plan.scenario_count; j++) {
			double mean, same;
			int rc = means_of(&mean, &same, tune, j, &point, TUNE_DEFAULT_NAME,
					  front->figures[i], refusal);
			if (rc < 0)
				return rc;
			if (isnan(mean)) {
				snprintf(refusal->text, sizeof(refusal->text),
					 "%s: the run of the default has no such figure",
					 report_study_figure_name(front->figures[i]));
				return -EINVAL;
			}
			front->is_ratio[i] &= mean > 0;
		}
	}
	return 0;
}

// Whether `a` is no worse in any figure, and better in one. What met fresh seeds is not beaten by
// what did not: the luckiest of the search look better than they are.
static bool beats(const struct tune_front *front, const struct tune_front_point *a,
		  const struct tune_front_point *b)
{
	bool is_better = false;
	if (b->is_fresh && !a->is_fresh)
		return false;
	for (uint32_t i = 0; i < front->figure_count; i++) {
		double over = a->values[i] - b->values[i];
		if (report_study_figure_is_gain(front->figures[i]))
			over = -over;
		if (over > 0 || isnan(over))
			return false;
		is_better |= over < 0;
	}
	return is_better;
}

static int by_first_figure(const void *a, const void *b)
{
	const struct tune_front_point *first = a, *second = b;
	if (first->is_beaten != second->is_beaten)
		return first->is_beaten ? 1 : -1;
	if (first->is_fresh != second->is_fresh)
		return first->is_fresh ? -1 : 1;
	return ORDER(first->values[0], second->values[0]);
}

// Those that none beats come first.
static void sift(struct tune_front *front)
{
	struct tune_front_point *points = front->points;
	for (uint32_t i = 0; i < front->compared; i++)
		for (uint32_t j = 0; j < front->compared && !points[i].is_beaten; j++)
			points[i].is_beaten = beats(front, &points[j], &points[i]);
	qsort(points, front->compared, sizeof(*points), by_first_figure);
	while (front->count < front->compared && !points[front->count].is_beaten)
		front->count++;
}

int tune_front_of(struct tune_front *ret, const struct tune *tune, const struct tune_goal *goals,
		  uint32_t goal_count, struct refusal *refusal)
{
	const struct tune_result *result = &tune->result;
	*ret = (struct tune_front){.figure_count = goal_count,
				   .other_version = tune->plan.other_version};
	for (uint32_t i = 0; i < goal_count; i++)
		ret->figures[i] = goals[i].figure;
	int rc = find_ratios(ret, tune, refusal);
	if (rc < 0)
		return rc;
	ret->points = calloc(result->different + 1, sizeof(*ret->points));
	if (ret->points == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for settings");
	ret->points[ret->compared++] = (struct tune_front_point){
		.is_fresh = tune->default_blocks[1] > 0,
		.seeds = tune->default_blocks[tune->default_blocks[1] > 0]};
	for (uint32_t i = 0; i < result->different; i++) {
		struct tune_front_point point = point_of(result->candidates[i]);
		uint32_t breach;
		if (point.seeds > 0 &&
		    tune_violation(point.is_fresh ? &point.candidate->fresh : &point.candidate->met,
				   &breach) == 0)
			ret->points[ret->compared++] = point;
	}
	for (uint32_t i = 0; rc == 0 && i < ret->compared; i++)
		for (uint32_t j = 0; rc == 0 && j < goal_count; j++)
			rc = value_of(&ret->points[i], ret, tune, j, refusal);
	if (rc == 0)
		sift(ret);
	else
		tune_front_free(ret);
	return rc;
}

void tune_front_free(struct tune_front *front)
{
	free(front->points);
	front->points = NULL;
}

// ---------------------------------------------------------------- shown

static bool is_alike(const struct tune_front *front, const struct tune_front_point *a,
		     const struct tune_front_point *b)
{
	return a->is_fresh == b->is_fresh && a->seeds == b->seeds &&
		memcmp(a->values, b->values, front->figure_count * sizeof(*a->values)) == 0;
}

// A point, and how many of those behind it have the same figures. Returns the next one's place.
static uint32_t point_line(FILE *to, const struct tune_front *front, uint32_t place)
{
	const struct tune_front_point *point = &front->points[place];
	uint32_t next = place + 1;
	for (uint32_t j = 0; j < front->figure_count; j++) {
		struct text text;
		if (front->is_ratio[j])
			fprintf(to, "%22.4f", point->values[j]);
		else
			fprintf(to, "%22s",
				report_study_figure_text(&text, front->figures[j],
							 point->values[j]));
	}
	fprintf(to, "  %2u %-6s %s\n", point->seeds, point->is_fresh ? "fresh" : "",
		point->candidate != NULL ? point->candidate->name : "the default");
	while (next < front->count && is_alike(front, point, &front->points[next]))
		next++;
	if (next > place + 1)
		fprintf(to, "%*s%u more with the same figures\n",
			22 * (int)front->figure_count + 13, "", next - place - 1);
	return next;
}

void tune_front_show(FILE *to, const struct tune_front *front)
{
	fprintf(to, "%u of %u settings are beaten by no other in all of these at once\n\n",
		front->count, front->compared);
	for (uint32_t i = 0; i < front->figure_count; i++)
		fprintf(to, "%22s", report_study_figure_name(front->figures[i]));
	fprintf(to, "  seeds     setting\n");
	for (uint32_t i = 0; i < front->figure_count; i++)
		fprintf(to, "%22s", front->is_ratio[i] ? "of the default" : "its value");
	fputc('\n', to);
	uint32_t place = 0;
	for (uint32_t lines = 0; place < front->count && lines < SHOWN_MAX; lines++)
		place = point_line(to, front, place);
	if (front->count > place)
		fprintf(to, "  and %u more: --json has all\n", front->count - place);
	fprintf(to,
		"\nSeeds that are not fresh are the search's: the luckiest of many look better "
		"there than they are.\n");
}

json_t *tune_front_document(const struct tune_front *front, bool has_all)
{
	json_t *figures = json_array(), *points = json_array();
	uint32_t count = has_all ? front->compared : front->count;
	for (uint32_t i = 0; i < front->figure_count; i++)
		json_array_append_new(figures,
				      json_pack("{s:s, s:b}", "figure",
						report_study_figure_name(front->figures[i]),
						"ratio", front->is_ratio[i]));
	for (uint32_t i = 0; i < count; i++) {
		const struct tune_front_point *point = &front->points[i];
		json_t *values = json_array();
		for (uint32_t j = 0; j < front->figure_count; j++)
			json_array_append_new(values, tune_number(point->values[j]));
		json_array_append_new(
			points,
			json_pack("{s:s?, s:i, s:b, s:o}", "setting",
				  point->candidate != NULL ? point->candidate->name : NULL, "seeds",
				  (int)point->seeds, "fresh", point->is_fresh, "values", values));
	}
	return json_pack("{s:i, s:i, s:o, s:o}", "compared", (int)front->compared, "unbeaten",
			 (int)front->count, "figures", figures, has_all ? "points" : "front",
			 points);
}

int tune_front_json(FILE *to, const struct tune_front *front)
{
	json_t *all = tune_front_document(front, false);
	if (front->other_version != NULL)
		json_object_set_new(all, "other_version", json_string(front->other_version));
	return document_print(to, all, 0);
}
