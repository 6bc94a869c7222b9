// SPDX-License-Identifier: Apache-2.0
// Which swept keys change nothing: each value of a key against the key's first value that goes with
// the others, everything else and the seed being the same. The time when all is done, which each
// line of the table has a verdict on, counts as there; all other figures share one confidence.

#include "study.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// What was seen of a sweep so far.
struct view {
	const struct report_study *study;
	uint32_t sweep;
	uint32_t comparisons; // verdicts that are asked for together
	uint32_t pairs;
	bool is_digest_equal, is_figure_equal, is_beyond_noise;
};

// How far apart in places two neighbouring values of a sweep are.
static uint32_t stride_of(const struct study_plan *plan, uint32_t sweep)
{
	uint32_t stride = plan->variants;
	for (uint32_t i = sweep + 1; i < plan->sweep_count; i++)
		stride *= plan->sweeps[i].count;
	return stride;
}

static bool is_equal(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void see_seed(struct view *view, uint32_t first, uint32_t point, uint32_t seed)
{
	const struct study_run *a = study_run_at(view->study, first, seed);
	const struct study_run *b = study_run_at(view->study, point, seed);
	if (a == NULL || b == NULL || !a->is_complete || !b->is_complete)
		return;
	view->pairs++;
	view->is_digest_equal &= a->digest == b->digest;
	for (uint32_t i = 0; i < study_figure_count(); i++)
		view->is_figure_equal &= is_equal(a->figures[i], b->figures[i]);
}

static void see_spread(struct view *view, uint32_t first, uint32_t point)
{
	const struct report_study *study = view->study;
	struct spread_difference difference;
	for (uint32_t i = 0; i < study_figure_count(); i++) {
		bool is_done = strcmp(study_figure(i)->name, "done_s") == 0;
		study_values(study, first, i, study->row);
		study_values(study, point, i, study->other);
		spread_difference_of(&difference, study->row, study->other, study->plan.seeds,
				     is_done ? study_comparisons(study) : view->comparisons);
		view->is_beyond_noise |= difference.verdict == SPREAD_DIFFERS;
	}
}

static void see_point(struct view *view, uint32_t point)
{
	const struct study_plan *plan = &view->study->plan;
	uint32_t value = study_value_at(plan, point, view->sweep), first = UINT32_MAX;
	for (uint32_t below = value; below > 0 && first == UINT32_MAX; below--)
		first = study_point_at(
			plan, study_place(plan, point) - below * stride_of(plan, view->sweep));
	if (first == UINT32_MAX)
		return;
	for (uint32_t seed = 0; seed < plan->seeds; seed++)
		see_seed(view, first, point, seed);
	see_spread(view, first, point);
}

enum study_flatness study_flatness_of(const struct report_study *study, uint32_t sweep)
{
	struct view view = {.study = study,
			    .sweep = sweep,
			    .comparisons = study->points * study_figure_count(),
			    .is_digest_equal = true,
			    .is_figure_equal = true};
	for (uint32_t point = 0; point < study->points; point++)
		see_point(&view, point);
	if (view.pairs == 0 || study->complete < study->points * study->plan.seeds)
		return STUDY_UNKNOWN;
	if (view.is_figure_equal)
		return view.is_digest_equal ? STUDY_NOTHING : STUDY_FLAT;
	return study->plan.seeds > 1 && !view.is_beyond_noise ? STUDY_NOISE : STUDY_CHANGES;
}

const char *study_flatness_name(enum study_flatness flatness)
{
	static const char *const names[] = {"unknown", "changes", "noise", "flat", "nothing"};
	static_assert(sizeof(names) / sizeof(*names) == STUDY_NOTHING + 1, "a name for each");
	return flatness <= STUDY_NOTHING ? names[flatness] : "unknown";
}
