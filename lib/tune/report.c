// SPDX-License-Identifier: Apache-2.0
// The document of a study: what show_json.c has, and all that a page draws.

#include <weft/core/order.h>
#include <weft/tune/report.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/result/put.h>
#include <weft/tune/pareto.h>

#include "inside.h"

// ---------------------------------------------------------------- words

// Lines that a function writes, without what they are indented by.
static void put_lines(json_t *to, const char *key, const struct tune_plan *plan,
		      const struct tune_result *result,
		      void (*write)(FILE *to, const struct tune_plan *plan,
				    const struct tune_result *result))
{
	char *text = NULL, *rest;
	size_t bytes = 0;
	FILE *lines = open_memstream(&text, &bytes);
	json_t *list = array_in(to, key);
	check_memory(lines != NULL);
	write(lines, plan, result);
	check(fclose(lines) == 0);
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (strcmp(line, "In words") != 0)
			json_array_append_new(list, json_string(line + strspn(line, " ")));
	free(text);
}

// ---------------------------------------------------------------- settings

// Where each setting lies in the space, for people to see which of them are good: in the order of
// proposal.
static int lower_number_first(const void *a, const void *b)
{
	const struct tune_candidate *first = *(struct tune_candidate *const *)a,
				    *second = *(struct tune_candidate *const *)b;
	return ORDER(first->number, second->number);
}

static double value_of(const struct tune_plan *plan, const struct tune_candidate *candidate)
{
	struct tune_series met = candidate->met;
	uint32_t breach;
	if (met.count > plan->search_seeds) // as the search knew it, before the race
		met.count = plan->search_seeds;
	return tune_violation(&met, &breach) > 0 ? NAN : exp(tune_value(&met));
}

static void put_settings(json_t *document, const struct tune *tune,
			 struct tune_candidate *const *order)
{
	const struct tune_space *space = &tune->plan.space;
	json_t *list = array_in(document, "settings");
	for (uint32_t i = 0; i < tune->result.different; i++) {
		json_t *one = row_in(list), *places = array_in(one, "places");
		put_text(one, "setting", order[i]->name);
		put(one, "ratio", tune_number(value_of(&tune->plan, order[i])));
		for (uint32_t j = 0; j < space->count; j++) {
			double place = tune_space_place(space, order[i]->at, j);
			json_array_append_new(places,
					      isnan(place) ? json_null() : json_real(place));
		}
	}
}

// ---------------------------------------------------------------- how soon

// The best so far over the runs of the search, the first point behind the default's.
static void put_progress(json_t *document, const struct tune *tune,
			 struct tune_candidate *const *order)
{
	static const double within[] = {1.1, 1.05, 1.02, 1.01};
	const struct tune_plan *plan = &tune->plan;
	json_t *search = object_in(document, "search"), *steps = array_in(search, "best_so_far"),
	       *targets = array_in(search, "runs_to");
	uint64_t each = (uint64_t)plan->search_seeds * plan->scenario_count;
	uint64_t first = (uint64_t)tune->default_blocks[0] * plan->scenario_count, runs = first;
	double best = INFINITY, last = INFINITY;
	uint32_t near = 0, kept = 0;
	for (uint32_t i = 0; i < tune->result.different; i++) {
		double value = value_of(plan, order[i]);
		last = fmin(last, isnan(value) ? INFINITY : value);
		kept += !isnan(value);
	}
	for (uint32_t i = 0; i < tune->result.different; i++) {
		double value = value_of(plan, order[i]);
		runs = order[i]->run > 0 ? order[i]->run : runs + each;
		near += value <= last * 1.02;
		if (!(value < best))
			continue;
		best = value;
		json_t *step = json_array();
		json_array_append_new(step, json_integer((json_int_t)runs));
		json_array_append_new(step, json_real(best));
		json_array_append_new(steps, step);
	}
	put_count(search, "runs", runs);
	put_count(search, "settings", tune->result.different);
	put_count(search, "kept_constraints", kept);
	put_count(search, "within_2_percent", near);
	for (size_t i = 0; i < sizeof(within) / sizeof(*within); i++) {
		const json_t *step;
		size_t j;
		json_t *one = row_in(targets);
		put(one, "within", tune_number(within[i] - 1));
		put(one, "runs", json_null());
		json_array_foreach(steps, j, step) if (json_real_value(json_array_get(step, 1)) <=
						       last * within[i])
		{
			put(one, "runs", json_incref(json_array_get(step, 0)));
			break;
		}
	}
}

// ---------------------------------------------------------------- Pareto

// The aims, or the aim and what is bounded.
static uint32_t goals_of(const struct tune_aim *aim, struct tune_goal ret[TUNE_GOALS_MAX])
{
	uint32_t count = aim->goal_count;
	memcpy(ret, aim->goals, sizeof(aim->goals));
	for (uint32_t i = 0; i < aim->limit_count && count < TUNE_GOALS_MAX; i++) {
		uint32_t same = 0;
		while (same < count && ret[same].figure != aim->limits[i].figure)
			same++;
		if (same == count)
			ret[count++] = (struct tune_goal){aim->limits[i].figure, 1};
	}
	return count;
}

static int put_front(json_t *document, const struct tune *tune, struct refusal *refusal)
{
	struct tune_goal goals[TUNE_GOALS_MAX];
	struct tune_front front;
	uint32_t count = goals_of(&tune->plan.aim, goals);
	if (count < 2) {
		put_reason(document, "pareto", "one aim and no bound has a best, and no front");
		return 0;
	}
	if (tune->default_blocks[0] == 0) {
		put_reason(document, "pareto", "the default has not run yet");
		return 0;
	}
	int rc = tune_front_of(&front, tune, goals, count, refusal);
	if (rc < 0)
		return rc;
	put(document, "pareto", tune_front_document(&front, true));
	tune_front_free(&front);
	return 0;
}

// ---------------------------------------------------------------- whole

static int put_curves(json_t *document, struct tune *tune, const struct tune_curves *curves)
{
	json_t *object = object_in(document, "curves"), *list = array_in(object, "knobs");
	bool is_measured = curves->points > 0;
	put(object, "alone", json_boolean(is_measured));
	put_count(object, "seeds", is_measured ? tune->plan.fresh_seeds : tune->plan.search_seeds);
	put_text(object, "from",
		 is_measured && tune->result.finalist_count > 0 ? tune->result.finalists[0]->name
								: NULL);
	if (is_measured)
		return tune_curves_measure(list, tune, curves);
	tune_curves_slice(list, tune);
	return 0;
}

int tune_report_of(json_t **ret, struct tune *tune, const struct tune_curves *curves,
		   struct refusal *refusal)
{
	const struct tune_plan *plan = &tune->plan;
	uint32_t count = tune->result.different;
	struct tune_candidate **order = calloc(count + 1, sizeof(*order));
	json_t *document = tune_document(plan, &tune->result);
	check_memory(order != NULL && document != NULL);
	tune->refusal = refusal;
	memcpy(order, tune->result.candidates, count * sizeof(*order));
	qsort(order, count, sizeof(*order), lower_number_first);
	json_t *suite = array_in(document, "scenarios"), *limits = array_in(document, "limits");
	for (uint32_t i = 0; i < plan->scenario_count; i++)
		json_array_append_new(suite, json_string(plan->scenarios[i]));
	for (uint32_t i = 0; i < plan->aim.limit_count; i++)
		json_array_append_new(limits, json_string(plan->aim.limits[i].text));
	put(document, "cpu_s", tune_number(tune->result.cpu_s));
	put_lines(document, "alerts", plan, &tune->result, tune_show_alerts);
	put_lines(document, "head", plan, &tune->result, tune_show_head);
	put_lines(document, "says", plan, &tune->result, tune_show_verdict);
	put_lines(document, "words", plan, &tune->result, tune_advise);
	put_settings(document, tune, order);
	put_progress(document, tune, order);
	free(order);
	int rc = put_front(document, tune, refusal);
	if (rc == 0)
		rc = put_curves(document, tune, curves);
	*ret = document;
	if (rc < 0)
		json_decref(document);
	return rc;
}
