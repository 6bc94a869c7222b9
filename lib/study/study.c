// SPDX-License-Identifier: Apache-2.0
// A study: what is run, and what each run came to. See study.h.

#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>

#include <weft/result/expect.h>
#include <weft/result/figures.h>
#include <weft/result/warnings.h>

// ---------------------------------------------------------------- the plan

uint64_t study_places(const struct study_plan *plan)
{
	uint64_t places = plan->variants;
	for (uint32_t i = 0; i < plan->sweep_count; i++) // 16 * 64^8 fits
		places *= plan->sweeps[i].count;
	return places;
}

uint64_t study_points(const struct study_plan *plan)
{
	return plan->kept != NULL ? plan->kept_count : study_places(plan);
}

uint32_t study_place(const struct study_plan *plan, uint32_t point)
{
	return plan->kept != NULL ? plan->kept[point] : point;
}

uint32_t study_point_at(const struct study_plan *plan, uint32_t place)
{
	uint32_t point = 0;
	if (plan->kept == NULL)
		return place;
	while (point < plan->kept_count && plan->kept[point] != place)
		point++;
	return point < plan->kept_count ? point : UINT32_MAX;
}

uint32_t study_value_at(const struct study_plan *plan, uint32_t point, uint32_t sweep)
{
	uint32_t at = study_place(plan, point) / plan->variants;
	for (uint32_t i = plan->sweep_count; i-- > sweep + 1;)
		at /= plan->sweeps[i].count;
	return at % plan->sweeps[sweep].count;
}

uint32_t study_variant_at(const struct study_plan *plan, uint32_t point)
{
	return study_place(plan, point) % plan->variants;
}

// The variant and the swept values of a point, each value with its key or without.
static void name_point(const struct study_plan *plan, const struct scenario_variant *variants,
		       uint32_t point, bool has_keys, char *ret, size_t bytes)
{
	const char *variant = plan->variants > 1 ? variants[study_variant_at(plan, point)].name
						 : "";
	size_t used = (size_t)snprintf(ret, bytes, "%s", variant);
	for (uint32_t i = 0; i < plan->sweep_count && used < bytes; i++) {
		const struct study_sweep *sweep = &plan->sweeps[i];
		used += (size_t)snprintf(ret + used, bytes - used, "%s%s%s%s", used > 0 ? " " : "",
					 has_keys ? sweep->key : "", has_keys ? "=" : "",
					 sweep->values[study_value_at(plan, point, i)]);
	}
	if (used == 0)
		snprintf(ret, bytes, "all");
}

void study_point_name(const struct study_plan *plan, const struct scenario *scenario,
		      uint32_t point, char *ret, size_t bytes)
{
	name_point(plan, scenario->variants, point, true, ret, bytes);
}

void study_name(const struct report_study *study, uint32_t point, char ret[STUDY_NAME_BYTES])
{
	name_point(&study->plan, study->variants, point, true, ret, STUDY_NAME_BYTES);
}

void study_label(const struct report_study *study, uint32_t point, char ret[STUDY_NAME_BYTES])
{
	name_point(&study->plan, study->variants, point, false, ret, STUDY_NAME_BYTES);
}

// ---------------------------------------------------------------- memory

struct report_study *report_study_create(const struct study_plan *plan,
					 const struct scenario *scenario, const char *version,
					 const char *command)
{
	uint64_t points = study_points(plan);
	check(points > 0 && points <= STUDY_POINTS_MAX && plan->seeds > 0 &&
	      plan->seeds <= STUDY_SEEDS_MAX);
	struct report_study *study = calloc(1, sizeof(*study));
	if (study == NULL)
		return NULL;
	study->plan = *plan;
	study->version = version;
	study->command = command;
	study->points = (uint32_t)points;
	memcpy(study->scenario, scenario->name, sizeof(study->scenario));
	study->variant_count = scenario->variant_count;
	memcpy(study->variants, scenario->variants, sizeof(study->variants));
	study->expectation_count = scenario->expectation_count;
	memcpy(study->expectations, scenario->expectations, sizeof(study->expectations));
	study->runs = calloc(points * plan->seeds, sizeof(*study->runs));
	study->is_taken = calloc(points * plan->seeds, sizeof(*study->is_taken));
	study->row = calloc(plan->seeds, sizeof(*study->row));
	study->other = calloc(plan->seeds, sizeof(*study->other));
	if (study->runs != NULL && study->is_taken != NULL && study->row != NULL &&
	    study->other != NULL)
		return study;
	report_study_free(study);
	return NULL;
}

void report_study_free(struct report_study *study)
{
	if (study == NULL)
		return;
	free(study->runs);
	free(study->is_taken);
	free(study->row);
	free(study->other);
	free(study);
}

// ---------------------------------------------------------------- runs

// Expectations of this run: of its variant, or of any. A ratio is settled when both have run.
static void measure_expectations(struct study_run *ret, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	for (uint32_t i = 0; i < SCENARIO_EXPECTATIONS_MAX; i++)
		ret->expected[i] = ret->measured[i] = NAN;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expect *expectation = &scenario->expectations[i];
		struct expect_row row;
		bool is_ours = expectation->measure == EXPECT_RATIO ? scenario->variant > 0 &&
				strcmp(expectation->run,
				       scenario->variants[scenario->variant - 1].name) == 0
								    : expect_applies(scenario, i);
		if (!is_ours)
			continue;
		expect_of(&row, input, i);
		ret->expected[i] = row.expected;
		ret->measured[i] = row.measured;
	}
}

void report_study_measure(struct study_run *ret, const struct report_input *input)
{
	*ret = (struct study_run){.digest = input->run.digest,
				  .is_complete = !input->is_partial,
				  .is_sample = input->world->plan.sample.is_on,
				  .is_mrc = input->world->scenario->transport.kind == TRANSPORT_MRC,
				  .cpu_s = input->run.cpu_s};
	snprintf(ret->end, sizeof(ret->end), "%s", input->end);
	for (uint32_t i = 0; i < STUDY_FIGURES_MAX; i++)
		ret->figures[i] = NAN;
	for (uint32_t i = 0; ret->is_complete && i < study_figure_count(); i++)
		ret->figures[i] = study_figure_of(study_figure(i), input);
	ret->is_imprecise = report_imprecise(input) > 0;
	ret->warned = warnings_bits(input->world);
	measure_expectations(ret, input);
}

void report_study_take(struct report_study *study, const struct study_run *run)
{
	check(run->point < study->points && run->seed < study->plan.seeds);
	size_t at = (size_t)run->point * study->plan.seeds + run->seed;
	check(!study->is_taken[at]);
	if (run->is_interrupted)
		return;
	study->runs[at] = *run;
	study->is_taken[at] = true;
	study->taken++;
	study->complete += run->is_complete;
	study->imprecise += run->is_imprecise;
	for (uint32_t i = 0; run->is_complete && i < study_figure_count(); i++) {
		study->has[i] |= !isnan(run->figures[i]);
		study->has_other[i] |= !isnan(run->figures[i]) && run->figures[i] != 0;
	}
}

// Runs of a point that was left out are not complete: no figure is of them.
void report_study_keep(struct report_study *study, const uint32_t *points, uint32_t count,
		       const uint32_t *places, const char *why)
{
	uint32_t seeds = study->plan.seeds;
	check(count > 0 && count <= study->points);
	study->taken = 0;
	for (uint32_t i = 0; i < count; i++) {
		size_t to = (size_t)i * seeds, from = (size_t)points[i] * seeds;
		memmove(study->runs + to, study->runs + from, seeds * sizeof(*study->runs));
		memmove(study->is_taken + to, study->is_taken + from, seeds * sizeof(bool));
		for (uint32_t seed = 0; seed < seeds; seed++) {
			study->runs[to + seed].point = i;
			study->taken += study->is_taken[to + seed];
		}
	}
	study->points = count;
	study->plan.kept = places;
	study->plan.kept_count = count;
	study->plan.left_out_why = why;
}

uint32_t report_study_taken(const struct report_study *study)
{
	return study->taken;
}

uint32_t report_study_complete(const struct report_study *study)
{
	return study->complete;
}

uint32_t report_study_imprecise(const struct report_study *study)
{
	return study->imprecise;
}

const struct study_run *study_run_at(const struct report_study *study, uint32_t point,
				     uint32_t seed)
{
	size_t at = (size_t)point * study->plan.seeds + seed;
	return study->is_taken[at] ? &study->runs[at] : NULL;
}

uint32_t study_complete_at(const struct report_study *study, uint32_t point)
{
	uint32_t count = 0;
	for (uint32_t seed = 0; seed < study->plan.seeds; seed++) {
		const struct study_run *run = study_run_at(study, point, seed);
		count += run != NULL && run->is_complete;
	}
	return count;
}

uint32_t study_warned_at(const struct report_study *study, uint32_t point)
{
	uint32_t bits = 0;
	for (uint32_t seed = 0; seed < study->plan.seeds; seed++) {
		const struct study_run *run = study_run_at(study, point, seed);
		bits |= run != NULL ? run->warned : 0;
	}
	return bits;
}

// ---------------------------------------------------------------- figures

void study_values(const struct report_study *study, uint32_t point, uint32_t figure, double *ret)
{
	for (uint32_t seed = 0; seed < study->plan.seeds; seed++) {
		const struct study_run *run = study_run_at(study, point, seed);
		ret[seed] = run != NULL && run->is_complete ? run->figures[figure] : NAN;
	}
}

static const char *missing(bool has_runs, uint32_t figure)
{
	const char *why = study_figure(figure)->missing;
	if (!has_runs)
		return "no run finished";
	return why != NULL ? why : "not of these runs";
}

const char *study_missing(const struct report_study *study, uint32_t point, uint32_t figure)
{
	return missing(study_complete_at(study, point) > 0, figure);
}

const char *study_missing_in(const struct study_run *run, uint32_t figure)
{
	return run->is_complete ? missing(true, figure) : "the run did not come to its end";
}

const char *study_missing_all(const struct report_study *study, uint32_t figure)
{
	return missing(study->complete > 0, figure);
}

bool study_has(const struct report_study *study, uint32_t figure)
{
	return study->has[figure];
}

bool study_is_zero(const struct report_study *study, uint32_t figure)
{
	return study->has[figure] && !study->has_other[figure];
}

void study_spread(const struct report_study *study, uint32_t point, uint32_t figure,
		  struct spread_figures *ret)
{
	study_values(study, point, figure, study->row);
	spread_of(ret, study->row, study->plan.seeds);
}

uint32_t study_comparisons(const struct report_study *study)
{
	return study->points > 1 ? study->points - 1 : 1;
}

void study_difference(const struct report_study *study, uint32_t point, uint32_t figure,
		      struct spread_difference *ret)
{
	study_values(study, 0, figure, study->row);
	study_values(study, point, figure, study->other);
	spread_difference_of(ret, study->row, study->other, study->plan.seeds,
			     study_comparisons(study));
}

// ---------------------------------------------------------------- expectations

// Goodput is the first figure; a ratio's other side has the same swept values and the same seed.
static double goodput_of_variant(const struct report_study *study, uint32_t point, uint32_t seed,
				 const char *name)
{
	const struct study_plan *plan = &study->plan;
	uint32_t first = study_place(plan, point) - study_variant_at(plan, point);
	for (uint32_t i = 0; i < plan->variants; i++) {
		uint32_t other = study_point_at(plan, first + i);
		const struct study_run *run = other != UINT32_MAX ? study_run_at(study, other, seed)
								  : NULL;
		if (strcmp(study->variants[i].name, name) == 0)
			return run != NULL && run->is_complete ? run->figures[0] : NAN;
	}
	return NAN;
}

static bool expect_pair(const struct report_study *study, uint32_t index, uint32_t point,
			uint32_t seed, struct expect_row *ret)
{
	const struct scenario_expect *expectation = &study->expectations[index];
	const struct study_run *run = study_run_at(study, point, seed);
	if (run == NULL || !run->is_complete || isnan(run->expected[index]))
		return false;
	if (expectation->measure == EXPECT_RATIO && study->plan.variants < 2)
		return false; // as of one run alone: there is nothing to compare it with
	*ret = (struct expect_row){.bound = expectation->bound,
				   .tolerance = expectation->tolerance_ppb / 1e9,
				   .expected = run->expected[index],
				   .measured = run->measured[index]};
	if (expectation->measure == EXPECT_RATIO)
		ret->measured /= goodput_of_variant(study, point, seed, expectation->to);
	ret->is_inside = expect_is_inside(ret);
	return true;
}

void study_expected(const struct report_study *study, uint32_t index, struct study_expected *ret)
{
	const struct scenario_expect *expectation = &study->expectations[index];
	uint32_t all = study->points * study->plan.seeds;
	double *values = calloc(2 * (size_t)all, sizeof(*values));
	check_memory(values != NULL);
	*ret = (struct study_expected){.name = expectation->name[0] != '\0'
					       ? expectation->name
					       : expect_measure_name(expectation->measure),
				       .variant = expectation->run,
				       .measure = expectation->measure};
	for (uint32_t at = 0; at < all; at++) {
		struct expect_row row;
		if (!expect_pair(study, index, at / study->plan.seeds, at % study->plan.seeds,
				 &row))
			continue;
		values[ret->runs] = row.expected;
		values[all + ret->runs++] = row.measured;
		ret->inside += row.is_inside;
	}
	spread_of(&ret->expected, values, ret->runs);
	spread_of(&ret->measured, values + all, ret->runs);
	free(values);
}

bool report_study_is_expected(const struct report_study *study)
{
	bool is_inside = true;
	for (uint32_t i = 0; i < study->expectation_count; i++) {
		struct study_expected expected;
		study_expected(study, i, &expected);
		is_inside &= expected.inside == expected.runs;
	}
	return is_inside;
}
