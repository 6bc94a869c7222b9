// SPDX-License-Identifier: Apache-2.0
// Which point of a sweep is done first, how sure that is, and a picture of one or two keys.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study.h"

#define BAR_COLUMNS 40

struct field {
	const struct report_study *study;
	uint32_t figure; // done_s
	double *mean;	 // of each point; NAN: a run did not come to its end
	uint32_t best, worst;
};

static double mean_of(const struct field *field, uint32_t point)
{
	const struct report_study *study = field->study;
	struct spread_figures spread;
	if (study_complete_at(study, point) < study->plan.seeds)
		return NAN;
	study_values(study, point, field->figure, study->row);
	spread_of(&spread, study->row, study->plan.seeds);
	return spread.count == study->plan.seeds ? spread.mean : NAN;
}

// Two points at least that are complete.
static bool find_ends(struct field *field)
{
	uint32_t count = 0;
	for (uint32_t point = 0; point < field->study->points; point++) {
		double mean = field->mean[point] = mean_of(field, point);
		if (isnan(mean))
			continue;
		if (count == 0 || mean < field->mean[field->best])
			field->best = point;
		if (count == 0 || mean > field->mean[field->worst])
			field->worst = point;
		count++;
	}
	return count >= 2;
}

// Points that differ from the best no more than seeds do.
static uint32_t as_good(const struct field *field)
{
	const struct report_study *study = field->study;
	uint32_t count = 0;
	for (uint32_t point = 0; point < study->points; point++) {
		struct spread_difference difference;
		if (point == field->best || isnan(field->mean[point]))
			continue;
		study_values(study, field->best, field->figure, study->row);
		study_values(study, point, field->figure, study->other);
		spread_difference_of(&difference, study->row, study->other, study->plan.seeds,
				     study->points - 1);
		count += difference.verdict != SPREAD_DIFFERS;
	}
	return count;
}

static void say_best(FILE *to, const struct field *field)
{
	const struct report_study *study = field->study;
	char name[STUDY_NAME_BYTES];
	struct text text;
	double best = field->mean[field->best];
	study_name(study, field->best, name);
	if (field->mean[field->worst] == best) {
		fprintf(to, "\nAll points are done at the same time, %s%s\n",
			study_number(&text, STUDY_TIME, best),
			study->plan.seeds > 1 ? " on average" : "");
		return;
	}
	fprintf(to, "\nDone first: %s, %s%s; the last takes %.2f %% longer\n", name,
		study_number(&text, STUDY_TIME, best), study->plan.seeds > 1 ? " on average" : "",
		100 * (field->mean[field->worst] / best - 1));
	if (study->plan.seeds == 1)
		fprintf(to, "of one seed: how much of that is chance is not known (--seeds N)\n");
	else if (study->points == 2)
		fprintf(to, "the other point is %s beyond chance\n",
			as_good(field) > 0 ? "not later" : "later");
	else
		fprintf(to, "not later beyond chance: %u of the other %u points\n", as_good(field),
			study->points - 1);
}

// A best at the end of a range of three values or more may not be the best there is.
static void say_bounds(FILE *to, const struct field *field)
{
	const struct study_plan *plan = &field->study->plan;
	for (uint32_t i = 0; i < plan->sweep_count; i++) {
		uint32_t value = study_value_at(plan, field->best, i);
		bool is_end = value == 0 || value + 1 == plan->sweeps[i].count;
		if (is_end && plan->sweeps[i].count > 2 &&
		    field->mean[field->worst] > field->mean[field->best])
			fprintf(to,
				"%s=%s is an end of its values: what lies beyond was not tried\n",
				plan->sweeps[i].key, plan->sweeps[i].values[value]);
	}
}

static void draw_bars(FILE *to, const struct field *field)
{
	const struct study_sweep *sweep = &field->study->plan.sweeps[0];
	fprintf(to, "\n%s, when it is done\n", sweep->key);
	for (uint32_t point = 0; point < field->study->points; point++) {
		double mean = field->mean[point], part = mean / field->mean[field->worst];
		struct text text;
		int width = isnan(mean) ? 0 : (int)lround(part * BAR_COLUMNS);
		fprintf(to, "  %-12s ", sweep->values[point]);
		for (int i = 0; i < BAR_COLUMNS; i++)
			fputc(i < width ? '#' : ' ', to);
		fprintf(to, " %s%s\n",
			isnan(mean) ? "not complete" : study_number(&text, STUDY_TIME, mean),
			point == field->best ? "  first" : "");
	}
}

// In percent above the best.
static void draw_grid(FILE *to, const struct field *field)
{
	const struct study_plan *plan = &field->study->plan;
	const struct study_sweep *rows = &plan->sweeps[0], *columns = &plan->sweeps[1];
	fprintf(to, "\n%s down, %s across: how much later than the first, in %%\n  %-10s",
		rows->key, columns->key, "");
	for (uint32_t column = 0; column < columns->count; column++)
		fprintf(to, " %8s", columns->values[column]);
	for (uint32_t place = 0; place < rows->count * columns->count; place++) {
		uint32_t point = study_point_at(plan, place);
		double mean = point != UINT32_MAX ? field->mean[point] : NAN;
		if (place % columns->count == 0)
			fprintf(to, "\n  %-10s", rows->values[place / columns->count]);
		if (isnan(mean))
			fprintf(to, " %8s", point != UINT32_MAX ? "-" : "");
		else
			fprintf(to, " %8.2f", 100 * (mean / field->mean[field->best] - 1));
	}
	fputc('\n', to);
}

void study_best_lines(FILE *to, const struct report_study *study)
{
	struct field field = {.study = study};
	const struct study_plan *plan = &study->plan;
	while (strcmp(study_figure(field.figure)->name, "done_s") != 0)
		field.figure++;
	if (plan->sweep_count == 0 || plan->variants > 1)
		return;
	field.mean = calloc(study->points, sizeof(*field.mean));
	if (field.mean != NULL && find_ends(&field)) {
		say_best(to, &field);
		say_bounds(to, &field);
		if (plan->sweep_count == 1)
			draw_bars(to, &field);
		else if (plan->sweep_count == 2)
			draw_grid(to, &field);
	}
	free(field.mean);
}
