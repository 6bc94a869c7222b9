// SPDX-License-Identifier: Apache-2.0
// Two studies of the same jobs, held against each other on the seeds of their last rounds.

#include <weft/result/put.h>
#include <weft/tune/pareto.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "inside.h"

static int refuse_pair(struct refusal *refusal, const char *text)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s", text);
	return -EINVAL;
}

static int check_pair(const struct tune *a, const struct tune *b, struct refusal *refusal)
{
	const struct tune_plan *first = &a->plan, *second = &b->plan;
	if (a->result.finalist_count == 0 || b->result.finalist_count == 0)
		return refuse_pair(refusal,
				   "a study that has nothing to tune cannot be a side of this");
	if (first->scenario_count != second->scenario_count)
		return refuse_pair(refusal,
				   "the studies have not as many scenarios: job by job they are "
				   "held against each other");
	if (first->seed != second->seed || first->fresh_seeds != second->fresh_seeds)
		return refuse_pair(refusal,
				   "the studies met other fresh seeds: give both the same --seed "
				   "and --fresh-seeds");
	bool is_same = first->aim.goal_count == second->aim.goal_count;
	for (uint32_t i = 0; is_same && i < first->aim.goal_count; i++)
		is_same = first->aim.goals[i].figure == second->aim.goals[i].figure;
	return is_same ? 0 : refuse_pair(refusal, "the studies have not the same --aim");
}

static const char *setting_of(const struct tune *tune)
{
	return tune->result.recommended != NULL ? tune->result.recommended->name
						: TUNE_DEFAULT_NAME;
}

// Logarithms of b over a, seed by seed.
static void ratio_of(struct spread_figures *ret, const double *a, const double *b, uint32_t count)
{
	double pairs[TUNE_BLOCKS_MAX];
	for (uint32_t i = 0; i < count; i++)
		pairs[i] = a[i] > 0 && b[i] > 0 ? log(b[i] / a[i]) : NAN;
	spread_of(ret, pairs, count);
}

// NAN: a run failed, and the mean of the others would flatter.
static double mean_of(const double *values, uint32_t count)
{
	struct spread_figures spread;
	spread_of(&spread, values, count);
	return spread.count == count ? spread.mean : NAN;
}

static int fill_row(struct tune_ab_row *row, const struct tune_ab *ab, struct refusal *refusal)
{
	double defaults[2][TUNE_BLOCKS_MAX], tuned[2][TUNE_BLOCKS_MAX];
	uint32_t seeds = ab->studies[0]->plan.fresh_seeds;
	struct spread_figures spread;
	for (int i = 0; i < 2; i++) {
		const struct tune *tune = ab->studies[i];
		int rc = tune_values_of(&tune->plan, row->scenario, TUNE_DEFAULT_NAME, true, seeds,
					row->figure, defaults[i], refusal);
		if (rc == 0)
			rc = tune_values_of(&tune->plan, row->scenario, setting_of(tune), true,
					    seeds, row->figure, tuned[i], refusal);
		if (rc < 0)
			return rc;
		row->defaults[i] = mean_of(defaults[i], seeds);
		row->tuned[i] = mean_of(tuned[i], seeds);
	}
	ratio_of(&spread, defaults[0], defaults[1], seeds);
	row->of_defaults = spread.count > 0 ? exp(spread.mean) : NAN;
	ratio_of(&spread, tuned[0], tuned[1], seeds);
	row->ratio = spread.count > 0 ? exp(spread.mean) : NAN;
	row->low = row->high = NAN;
	if (spread.count < 2)
		return 0;
	double half = student_bound((1 - TUNE_CONFIDENCE) / ab->count, spread.count - 1) *
		spread.sd / sqrt(spread.count);
	row->low = exp(spread.mean - half);
	row->high = exp(spread.mean + half);
	return 0;
}

int tune_ab_of(struct tune_ab *ret, const struct tune *a, const struct tune *b,
	       struct refusal *refusal)
{
	uint32_t goals = a->plan.aim.goal_count;
	*ret = (struct tune_ab){.studies = {a, b}, .count = a->plan.scenario_count * goals};
	int rc = check_pair(a, b, refusal);
	if (rc < 0)
		return rc;
	ret->rows = calloc(ret->count, sizeof(*ret->rows));
	if (ret->rows == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for rows");
	for (uint32_t i = 0; rc == 0 && i < ret->count; i++) {
		ret->rows[i].scenario = i / goals;
		ret->rows[i].figure = a->plan.aim.goals[i % goals].figure;
		rc = fill_row(&ret->rows[i], ret, refusal);
	}
	if (rc < 0)
		tune_ab_free(ret);
	return rc;
}

void tune_ab_free(struct tune_ab *ab)
{
	free(ab->rows);
	ab->rows = NULL;
}

// ---------------------------------------------------------------- shown

static void side_lines(FILE *to, const struct tune *tune, const char *name)
{
	const struct tune_standing *best = &tune->result.standings[0];
	fprintf(to, "%s: %" PRIu64 " runs of at most %" PRIu64 ", %s\n", name, tune->result.runs,
		tune->plan.budget,
		tune->result.recommended != NULL ? setting_of(tune) : "the default");
	if (best->violation > 0)
		fprintf(to, "   breaks %s, by %.3g of its bound on average\n",
			tune_aim_breach(&tune->plan.aim, best->breach), best->violation);
}

static void row_line(FILE *to, const struct tune_ab *ab, const struct tune_ab_row *row)
{
	struct text texts[4];
	char ratio[64];
	snprintf(ratio, sizeof(ratio), "%.3f (%.3f to %.3f)", row->ratio, row->low, row->high);
	fprintf(to, "%-26s %-14s %12s %12s %12s %12s  %-24s %6.3f\n",
		ab->studies[0]->plan.scenarios[row->scenario],
		report_study_figure_name(row->figure),
		report_study_figure_text(&texts[0], row->figure, row->defaults[0]),
		report_study_figure_text(&texts[1], row->figure, row->tuned[0]),
		report_study_figure_text(&texts[2], row->figure, row->defaults[1]),
		report_study_figure_text(&texts[3], row->figure, row->tuned[1]), ratio,
		row->of_defaults);
}

void tune_ab_show(FILE *to, const struct tune_ab *ab)
{
	const struct tune_plan *a = &ab->studies[0]->plan, *b = &ab->studies[1]->plan;
	side_lines(to, ab->studies[0], "A");
	side_lines(to, ab->studies[1], "B");
	if (a->budget != b->budget)
		fprintf(to, "NOT ALIKE: the budgets differ\n");
	fprintf(to, "\n%-26s %-14s %12s %12s %12s %12s  %-24s %6s\n", "job", "figure", "A default",
		"A tuned", "B default", "B tuned", "B over A, tuned (95 %)", "as is");
	for (uint32_t i = 0; i < ab->count; i++)
		row_line(to, ab, &ab->rows[i]);
	for (uint32_t i = 0; i < a->scenario_count; i++)
		if (strcmp(a->scenarios[i], b->scenarios[i]) != 0)
			fprintf(to, "job %u: %s against %s\n", i + 1, a->scenarios[i],
				b->scenarios[i]);
	fprintf(to,
		"Means over %u seeds that neither search met; ratios seed by seed, their intervals "
		"hold together.\n",
		a->fresh_seeds);
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

int tune_ab_json(FILE *to, const struct tune_ab *ab)
{
	json_t *rows = json_array();
	for (uint32_t i = 0; i < ab->count; i++) {
		const struct tune_ab_row *row = &ab->rows[i];
		json_array_append_new(
			rows,
			json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a",
				  ab->studies[0]->plan.scenarios[row->scenario], "b",
				  ab->studies[1]->plan.scenarios[row->scenario], "figure",
				  report_study_figure_name(row->figure), "a_default",
				  number(row->defaults[0]), "a_tuned", number(row->tuned[0]),
				  "b_default", number(row->defaults[1]), "b_tuned",
				  number(row->tuned[1]), "ratio", number(row->ratio), "low",
				  number(row->low), "high", number(row->high), "ratio_of_defaults",
				  number(row->of_defaults)));
	}
	json_t *all = json_pack("{s:s, s:s, s:b, s:o}", "a_setting", setting_of(ab->studies[0]),
				"b_setting", setting_of(ab->studies[1]), "same_budget",
				ab->studies[0]->plan.budget == ab->studies[1]->plan.budget, "rows",
				rows);
	for (int i = 0; i < 2; i++)
		if (ab->studies[i]->plan.other_version != NULL)
			json_object_set_new(all, i == 0 ? "a_other_version" : "b_other_version",
					    json_string(ab->studies[i]->plan.other_version));
	return document_print(to, all, 0);
}
