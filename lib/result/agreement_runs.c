// SPDX-License-Identifier: Apache-2.0
// What a study says, against its runs; what a book says, against its cases.

#include "agreement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 // results have 12 digits

static bool disagrees(struct schema_fault *fault, const char *path, size_t at, const char *text)
{
	snprintf(fault->path, sizeof(fault->path), path, at);
	snprintf(fault->text, sizeof(fault->text), "%s", text);
	return false;
}

static const char *text_at(const json_t *at, const char *key)
{
	const char *text = json_string_value(json_object_get(at, key));
	return text == NULL ? "" : text;
}

static size_t count_at(const json_t *at, const char *key)
{
	return (size_t)json_integer_value(json_object_get(at, key));
}

static bool is_done(const json_t *run)
{
	return strcmp(text_at(run, "end"), "done") == 0;
}

// ---------------------------------------------------------------- a study

// Each point has each seed once at most.
static bool run_is_new(struct schema_fault *fault, const json_t *study, const json_t *run,
		       size_t index, bool *seen)
{
	const json_t *points = json_object_get(study, "points");
	size_t point = count_at(run, "point"), seeds = count_at(study, "seeds");
	uint64_t first = strtoull(text_at(study, "seed_first"), NULL, 10);
	uint64_t seed = strtoull(text_at(run, "seed"), NULL, 10) - first;
	if (point >= json_array_size(points))
		return disagrees(fault, "runs[%zu].point", index, "is of no point");
	if (seed >= seeds)
		return disagrees(fault, "runs[%zu].seed", index, "is not one of the study's seeds");
	if (seen[point * seeds + seed])
		return disagrees(fault, "runs[%zu]", index, "appears twice: one point, one seed");
	seen[point * seeds + seed] = true;
	return true;
}

// A run has a number or a null for each figure of the study, and no other.
static bool run_is_whole(struct schema_fault *fault, const json_t *study, const json_t *run,
			 size_t index)
{
	const json_t *figures = json_object_get(study, "figures"), *each;
	const json_t *own = json_object_get(run, "figures");
	const char *key;
	json_t *value;
	size_t i, known = 0;
	json_array_foreach(figures, i, each)
	{
		if (json_object_get(own, text_at(each, "name")) == NULL)
			return disagrees(fault, "runs[%zu].figures", index,
					 "lacks a figure of the study");
	}
	json_object_foreach((json_t *)own, key, value)
	{
		const char *reason = strstr(key, "_reason");
		known += reason == NULL || reason[strlen("_reason")] != '\0';
	}
	return known == json_array_size(figures) ||
		disagrees(fault, "runs[%zu].figures", index,
			  "has a figure that is not the study's");
}

static bool runs_hold(struct schema_fault *fault, const json_t *study)
{
	const json_t *each;
	size_t i, room = json_array_size(json_object_get(study, "points"));
	size_t seeds = count_at(study, "seeds");
	if (seeds > 100000 || room > 100000)
		return disagrees(fault, "seeds", 0, "are more than a study has");
	bool *seen = calloc(room * seeds + 1, sizeof(*seen)), is_good = seen != NULL;
	if (seen == NULL)
		return disagrees(fault, "seeds", 0, "are too many for the system's memory");
	json_array_foreach(json_object_get(study, "runs"), i, each)
	{
		is_good = is_good && run_is_new(fault, study, each, i, seen) &&
			run_is_whole(fault, study, each, i);
	}
	free(seen);
	return is_good;
}

// What the runs of a point that came to their end make of a figure.
struct mean {
	double sum;
	size_t count;
};

// Of each point; of the runs alone where `name` is NULL.
static void add_runs(struct mean *means, const json_t *study, const char *name)
{
	const json_t *each;
	size_t i;
	memset(means, 0, json_array_size(json_object_get(study, "points")) * sizeof(*means));
	json_array_foreach(json_object_get(study, "runs"), i, each)
	{
		const json_t *value = json_object_get(json_object_get(each, "figures"), name);
		struct mean *mean = &means[count_at(each, "point")];
		if (!is_done(each) || (name != NULL && !json_is_number(value)))
			continue;
		mean->count++;
		mean->sum += name != NULL ? json_number_value(value) : 0;
	}
}

static bool figure_holds(struct schema_fault *fault, const json_t *figure, size_t index,
			 const struct mean *means, size_t count)
{
	const json_t *points = json_object_get(figure, "points"), *each;
	size_t i;
	if (json_array_size(points) != count)
		return disagrees(fault, "figures[%zu].points", index,
				 "are not as many as the study's");
	json_array_foreach(points, i, each)
	{
		double said = json_number_value(json_object_get(each, "mean"));
		double mean = means[i].sum / (double)means[i].count;
		bool is_null = json_is_null(json_object_get(each, "mean"));
		if (means[i].count != count_at(each, "runs") || is_null != (means[i].count == 0))
			return disagrees(fault, "figures[%zu].points[].runs", index,
					 "are not as many runs as have the figure");
		if (!is_null && !(fabs(said - mean) <= SLACK * fmax(fabs(said), fabs(mean))))
			return disagrees(fault, "figures[%zu].points[].mean", index,
					 "is not the mean of its runs");
	}
	return true;
}

static bool means_hold(struct schema_fault *fault, const json_t *study, struct mean *means)
{
	const json_t *points = json_object_get(study, "points"), *each;
	size_t i;
	add_runs(means, study, NULL);
	json_array_foreach(points, i, each)
	{
		if (means[i].count != count_at(each, "complete"))
			return disagrees(fault, "points[%zu].complete", i,
					 "is not how many of its runs are done");
	}
	json_array_foreach(json_object_get(study, "figures"), i, each)
	{
		add_runs(means, study, text_at(each, "name"));
		if (!figure_holds(fault, each, i, means, json_array_size(points)))
			return false;
	}
	return true;
}

bool agreement_study(struct schema_fault *ret, const json_t *study)
{
	size_t points = json_array_size(json_object_get(study, "points"));
	if (!runs_hold(ret, study))
		return false;
	struct mean *means = calloc(points + 1, sizeof(*means));
	if (means == NULL)
		return disagrees(ret, "points", 0, "are too many for the system's memory");
	bool is_good = means_hold(ret, study, means);
	free(means);
	return is_good;
}

// ---------------------------------------------------------------- a book

static size_t cases_that(const json_t *acceptance, const char *state)
{
	const json_t *each;
	size_t i, count = 0;
	json_array_foreach(json_object_get(acceptance, "cases"), i, each)
	{
		count += strcmp(text_at(each, "state"), state) == 0;
	}
	return count;
}

bool agreement_acceptance(struct schema_fault *ret, const json_t *acceptance)
{
	const json_t *each;
	size_t i, failed = cases_that(acceptance, "fail"), passed = cases_that(acceptance, "pass");
	size_t open = cases_that(acceptance, "open"), invalid = cases_that(acceptance, "not_valid");
	const char *verdict = text_at(acceptance, "verdict");
	if (open > 0 && !json_is_true(json_object_get(acceptance, "partial")))
		return disagrees(ret, "partial", 0, "is false, and a case is open");
	if (strcmp(verdict, "pass") == 0 && (passed == 0 || failed + open + invalid > 0))
		return disagrees(ret, "verdict", 0, "is pass, and not every case passes");
	if (strcmp(verdict, "fail") == 0 && failed == 0)
		return disagrees(ret, "verdict", 0, "is fail, and no case fails");
	json_array_foreach(json_object_get(acceptance, "cases"), i, each)
	{
		bool has_figures = strcmp(text_at(each, "state"), "pass") == 0 ||
			strcmp(text_at(each, "state"), "fail") == 0;
		if (has_figures && *text_at(each, "digest") == '\0')
			return disagrees(ret, "cases[%zu].digest", i,
					 "is missing, and the case has run");
	}
	return true;
}
