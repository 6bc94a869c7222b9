// SPDX-License-Identifier: Apache-2.0
// A study as JSON: docs/howto/tune.md names the fields.

#include "inside.h"

#include <math.h>

#include <jansson.h>
#include <weft/result/put.h>

json_t *tune_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *settings_of(const struct tune_plan *plan, const double *at, enum tune_digits digits)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < plan->scenario_count; i++) {
		json_t *sets = json_array();
		for (uint32_t j = 0; j < plan->space.count; j++) {
			char set[TUNE_VALUE_BYTES];
			if (tune_space_set_to(&plan->space, at, j, &plan->fabrics[i], digits, set))
				json_array_append_new(sets, json_string(set));
		}
		json_array_append_new(
			list, json_pack("{s:s, s:o}", "scenario", plan->scenarios[i], "set", sets));
	}
	return list;
}

static json_t *standing_of(const struct tune_plan *plan, const struct tune_standing *standing)
{
	json_t *one = json_pack("{s:i, s:i, s:o, s:o, s:o, s:o}", "seeds", (int)standing->count,
				"failed", (int)standing->failed, "ratio",
				tune_number(standing->ratio), "low", tune_number(standing->low),
				"high", tune_number(standing->high), "violation",
				tune_number(standing->violation));
	if (standing->violation > 0)
		json_object_set_new(one, "binding",
				    json_string(tune_aim_breach(&plan->aim, standing->breach)));
	return one;
}

static json_t *candidate_of(const struct tune_plan *plan, const struct tune_candidate *candidate)
{
	struct tune_standing standing;
	tune_standing_of(&standing, &candidate->met, TUNE_CONFIDENCE);
	json_t *one = json_pack("{s:s, s:i, s:b, s:o}", "setting", candidate->name, "number",
				(int)candidate->number, "dropped", candidate->is_dropped, "search",
				standing_of(plan, &standing));
	return one;
}

static json_t *finalist_of(const struct tune_plan *plan, const struct tune_result *result,
			   uint32_t index)
{
	json_t *one = candidate_of(plan, result->finalists[index]);
	json_object_set_new(one, "fresh", standing_of(plan, &result->standings[index]));
	json_object_set_new(one, "sets",
			    settings_of(plan, result->finalists[index]->at, TUNE_AS_FOUND));
	return one;
}

// What is set, and what each way to round costs.
static json_t *rounded_of(const struct tune_plan *plan, const struct tune_result *result)
{
	static const char *const names[] = {
		[TUNE_AS_FOUND] = "as found", [TUNE_ROUND] = "round", [TUNE_TWO_DIGITS] = "two"};
	json_t *tried = json_array();
	for (uint32_t i = 0; i < result->round_count; i++) {
		const struct tune_rounding *one = &result->rounds[i];
		json_array_append_new(
			tried,
			json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "digits",
				  names[one->digits], "sets",
				  settings_of(plan, one->candidate->at, one->digits), "fresh",
				  standing_of(plan, &one->standing), "cost", tune_number(one->cost),
				  "low", tune_number(one->low), "high", tune_number(one->high),
				  "share", tune_number(one->share), "taken", one->is_taken));
	}
	return json_pack("{s:s, s:o, s:o}", "digits", names[result->digits], "sets",
			 settings_of(plan, result->recommended->at, result->digits), "tried",
			 tried);
}

// The finalists on each scenario that the search did not see.
static json_t *holdouts_of(const struct tune_plan *plan, const struct tune_result *result)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < result->holdout_count; i++) {
		const struct tune_holdout *holdout = &result->holdouts[i];
		json_t *finalists = json_array();
		for (uint32_t j = 0; j < result->finalist_count; j++) {
			json_t *one = standing_of(plan, &holdout->standings[j]);
			json_object_set_new(one, "setting",
					    json_string(result->finalists[j]->name));
			json_array_append_new(finalists, one);
		}
		json_t *one = json_pack("{s:s, s:b, s:o}", "scenario",
					plan->scenarios[plan->scenario_count + i], "worse",
					holdout->is_worse, "finalists", finalists);
		if (holdout->round.count > 0)
			json_object_set_new(one, "rounded", standing_of(plan, &holdout->round));
		if (holdout->default_breach != TUNE_BREACH_NONE)
			json_object_set_new(
				one, "default_breaks",
				json_string(tune_aim_breach(&plan->aim, holdout->default_breach)));
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *goals_of(const struct tune_plan *plan)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < plan->aim.goal_count; i++)
		json_array_append_new(
			list, json_string(report_study_figure_name(plan->aim.goals[i].figure)));
	return list;
}

static json_t *knobs_of(const struct tune_plan *plan, const struct tune_result *result)
{
	json_t *list = json_array();
	for (uint32_t i = 0; result->screened > 0 && i < plan->space.count; i++) {
		const struct tune_index *index = &result->indices[i];
		json_array_append_new(
			list,
			json_pack("{s:s, s:b, s:i, s:o, s:o, s:o, s:o, s:o}", "knob",
				  plan->space.knobs[i].key, "flat", index->is_flat, "hidden",
				  (int)index->hidden, "effect", tune_number(index->effect), "share",
				  tune_number(index->share), "low", tune_number(index->low), "high",
				  tune_number(index->high), "chance", tune_number(index->chance)));
	}
	return list;
}

json_t *tune_document(const struct tune_plan *plan, const struct tune_result *result)
{
	static const char *const verdicts[] = {"better",     "not better", "constant",
					       "infeasible", "unfinished", "part"};
	json_t *finalists = json_array(), *candidates = json_array();
	for (uint32_t i = 0; i < result->finalist_count && result->verdict != TUNE_UNFINISHED; i++)
		json_array_append_new(finalists, finalist_of(plan, result, i));
	for (uint32_t i = 0; i < result->different; i++)
		json_array_append_new(candidates, candidate_of(plan, result->candidates[i]));
	json_t *all = json_pack(
		"{s:s, s:o, s:s, s:I, s:I, s:i, s:i, s:i, s:b, s:b, s:s?, s:s?, s:o, s:o, s:o}",
		"verdict", verdicts[result->verdict], "aim", goals_of(plan), "engine",
		plan->engine->name, "runs", (json_int_t)result->runs, "ended_early",
		(json_int_t)result->ended_early, "proposed", (int)result->candidate_count,
		"different", (int)result->different, "raced", (int)result->raced, "random",
		result->is_random, "exhausted", result->is_exhausted, "recommended",
		result->recommended != NULL ? result->recommended->name : NULL, "best_seen",
		result->best_seen != NULL ? result->best_seen->name : NULL, "finalists", finalists,
		"candidates", candidates, "knobs", knobs_of(plan, result));
	if (result->off != NULL) {
		json_t *off = standing_of(plan, &result->off_standing);
		json_object_set_new(off, "cost", tune_number(result->off_cost));
		json_object_set_new(off, "same", json_integer(result->off_same));
		json_object_set_new(all, "off", off);
		json_object_set_new(all, "off_is_best", json_boolean(result->is_off_best));
	}
	if (result->finalist_count > 0 && result->verdict != TUNE_UNFINISHED &&
	    result->default_breach != TUNE_BREACH_NONE)
		json_object_set_new(
			all, "default_breaks",
			json_string(tune_aim_breach(&plan->aim, result->default_breach)));
	if (result->default_failed > 0)
		json_object_set_new(all, "default_failed", json_integer(result->default_failed));
	if (plan->other_version != NULL)
		json_object_set_new(all, "other_version", json_string(plan->other_version));
	if (plan->holdout_count > 0)
		json_object_set_new(all, "holdouts", holdouts_of(plan, result));
	if (result->round_count > 0)
		json_object_set_new(all, "rounded", rounded_of(plan, result));
	return all;
}

int tune_show_json(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	return document_print(to, tune_document(plan, result), 0);
}
