// SPDX-License-Identifier: Apache-2.0
// A result held against a profile.

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <weft/verdict/report_verdict.h>

#include "metric.h"
#include <weft/result/result.h>

#define BASELINE "baseline"

static bool holds(const struct bound *bound, double value, double limit)
{
	double slack = fabs(limit) * 1e-11; // result.json has 12 digits
	switch (bound->kind) {
	case BOUND_AT_LEAST:
		return value >= limit - slack;
	case BOUND_AT_MOST:
		return value <= limit + slack;
	default:
		return fabs(value - limit) <= slack;
	}
}

// The worst of the figures: for "is" the one that is farthest off.
static void choose_worst(struct metric *metric)
{
	bool is_low = metric->check->bound.kind == BOUND_AT_LEAST ||
		(metric->check->bound.kind == BOUND_IS &&
		 metric->limit - metric->least > metric->most - metric->limit);
	metric->finding->measured = is_low ? metric->least : metric->most;
	strcpy(metric->finding->where, is_low ? metric->where_least : metric->where_most);
}

static void choose(struct metric *metric)
{
	struct finding *finding = metric->finding;
	const char *statistic = metric->check->statistic;
	if (strcmp(statistic, "min") == 0) {
		finding->measured = metric->least;
		strcpy(finding->where, metric->where_least);
	} else if (strcmp(statistic, "max") == 0) {
		finding->measured = metric->most;
		strcpy(finding->where, metric->where_most);
	} else if (strcmp(statistic, "mean") == 0) {
		finding->measured = metric->sum / finding->values;
	} else if (strcmp(statistic, "sum") == 0) {
		finding->measured = metric->sum;
	} else if (strcmp(statistic, "count") == 0) {
		finding->measured = finding->values;
		finding->dimension = DIMENSION_NONE;
	} else {
		choose_worst(metric);
	}
}

// The same figure of another result, times the bound's share. NAN with the reason when it has none.
static double limit_beside(const json_t *baseline, const struct profile_check *check,
			   struct finding *finding)
{
	struct finding other = {0};
	struct metric metric = {.check = check, .finding = &other};
	if (baseline == NULL) {
		metric_lacks(finding, "no baseline was given: ", "--baseline");
		return NAN;
	}
	metric_take(&metric, baseline, check->metric);
	if (other.values == 0 || metric.has_word || other.reason[0] != '\0') {
		metric_lacks(finding, "the baseline has no such figure: ",
			     other.reason[0] != '\0' ? other.reason : check->metric);
		return NAN;
	}
	choose(&metric);
	return check->bound.value * other.measured;
}

// The field that a share is of. NAN with the reason when it has no number.
static double limit_of(const json_t *result, const struct bound *bound, struct finding *finding)
{
	struct finding other = {0};
	struct profile_check check = {0};
	struct metric metric = {.check = &check, .finding = &other};
	if (bound->of[0] == '\0')
		return bound->value;
	metric_take(&metric, result, bound->of);
	if (other.values != 1 || metric.has_word) {
		metric_lacks(finding, "no one number to be a share of: ", bound->of);
		return NAN;
	}
	return bound->value * metric.least;
}

static bool is_beside(const struct bound *bound)
{
	return strcmp(bound->of, BASELINE) == 0;
}

static enum dimension limit_dimension(const struct bound *bound, enum dimension own)
{
	double factor;
	if (bound->of[0] == '\0')
		return bound->dimension;
	if (is_beside(bound))
		return own;
	const char *last = strrchr(bound->of, '.');
	return metric_dimension(last == NULL ? bound->of : last + 1, &factor);
}

static bool judge_number(struct metric *metric, const json_t *result, const json_t *baseline)
{
	const struct bound *bound = &metric->check->bound;
	struct finding *finding = metric->finding;
	if (bound->is_word) {
		metric_lacks(finding, "the figure is a number, not ", bound->word);
		return false;
	}
	metric->limit = is_beside(bound) ? limit_beside(baseline, metric->check, finding)
					 : limit_of(result, bound, finding);
	finding->limit = metric->limit;
	if (isnan(metric->limit))
		return false;
	choose(metric);
	if (finding->dimension == limit_dimension(bound, finding->dimension))
		return true;
	metric_lacks(finding,
		     "the figure and its bound are not of one kind: ", metric->check->bound_text);
	return false;
}

// Whether there is something to hold against the bound.
static bool judge(struct metric *metric, const json_t *result, const json_t *baseline)
{
	struct finding *finding = metric->finding;
	const struct profile_check *check = metric->check;
	bool is_counted = strcmp(check->statistic, "count") == 0;
	metric_take(metric, result, check->metric);
	if (finding->reason[0] != '\0' && finding->values > 0 && !is_counted)
		return false; // of some there is no figure: the worst is not known
	if (!metric_has_scope(metric) || (finding->values == 0 && check->scope[0] != '\0'))
		metric_lacks(finding, "nothing is in the scope ", check->scope);
	else if (finding->values == 0 && !is_counted)
		metric_lacks(finding, "this run has none: ", check->metric);
	if (!metric_has_scope(metric))
		return false;
	if (finding->values == 0 && !(is_counted && finding->reason[0] == '\0'))
		return false;
	if (!metric->has_word)
		return judge_number(metric, result, baseline);
	if (check->bound.is_word)
		return true;
	metric_lacks(finding, "the figure is a word: ", finding->word);
	return false;
}

static void find(struct finding *finding, const struct profile_check *check, const json_t *result,
		 const json_t *baseline)
{
	struct metric metric = {.check = check, .finding = finding};
	if (judge(&metric, result, baseline)) {
		finding->is_inside = metric.has_word
			? !metric.word_differs
			: holds(&check->bound, finding->measured, finding->limit);
		finding->state = finding->is_inside ? FINDING_MET : FINDING_MISSED;
		if (check->is_indicative)
			finding->state = FINDING_INDICATIVE;
		finding->reason[0] = '\0';
		return;
	}
	finding->state = check->is_required && !check->is_indicative ? FINDING_UNAVAILABLE
								     : FINDING_SKIPPED;
}

// ---------------------------------------------------------------- the whole

static void copy_text(char *to, size_t bytes, const json_t *value)
{
	snprintf(to, bytes, "%s", json_is_string(value) ? json_string_value(value) : "");
}

// Whether a capture or a log of the run is not whole: it is evidence for what the figures say.
static bool is_cut(const json_t *result)
{
	const json_t *capture = json_object_get(result, "capture");
	return json_is_string(json_object_get(capture, "pcap_cut")) ||
		json_is_string(json_object_get(capture, "log_cut"));
}

static void describe(struct verdict *ret, const struct result *of)
{
	const json_t *result = of->fields;
	const json_t *scenario = json_object_get(result, "scenario");
	const json_t *run = json_object_get(result, "run");
	copy_text(ret->scenario, sizeof(ret->scenario),
		  json_is_object(scenario) ? json_object_get(scenario, "name") : scenario);
	copy_text(ret->weft, sizeof(ret->weft), json_object_get(result, "weft"));
	copy_text(ret->digest, sizeof(ret->digest), json_object_get(run, "digest"));
	ret->is_partial = of->is_partial;
	ret->is_cut = is_cut(result);
}

static void judge_all(struct verdict *ret, const struct profile *profile, const json_t *result,
		      const json_t *baseline)
{
	uint32_t *const counts[] = {&ret->met, &ret->missed, &ret->unavailable, &ret->skipped,
				    &ret->indicative};
	for (uint32_t i = 0; i < profile->check_count; i++) {
		find(&ret->findings[i], &profile->checks[i], result, baseline);
		(*counts[ret->findings[i].state])++;
	}
	bool is_whole = !ret->is_partial && !ret->is_cut;
	ret->end = !is_whole || ret->unavailable > 0 || ret->met + ret->missed == 0
		? VERDICT_NOT_VALID
		: VERDICT_PASS;
	if (ret->missed > 0 && !ret->is_partial)
		ret->end = VERDICT_FAIL;
}

// Whether the result has the field that the metric of a check begins at, and something in it.
static bool is_of(const json_t *result, const struct profile_check *check)
{
	size_t length = strcspn(check->metric, ".");
	char field[sizeof(check->metric)];
	snprintf(field, sizeof(field), "%.*s", (int)length, check->metric);
	const json_t *of = json_object_get(result, field);
	return of != NULL && !(json_is_array(of) && json_array_size(of) == 0);
}

// Whether no check found a figure, and none that is required is of a field of this result: then it
// is of another kind than the profile is for.
static bool is_of_another_kind(const struct verdict *verdict, const struct profile *profile,
			       const json_t *result)
{
	if (verdict->met + verdict->missed + verdict->indicative > 0 || verdict->unavailable == 0)
		return false;
	for (uint32_t i = 0; i < profile->check_count; i++)
		if (verdict->findings[i].state == FINDING_UNAVAILABLE &&
		    is_of(result, &profile->checks[i]))
			return false;
	return true;
}

int verdict_of(struct verdict *ret, const struct profile *profile, const struct result *result,
	       const struct result *baseline, struct refusal *refusal)
{
	const struct result *const both[] = {result, baseline};
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < 2; i++)
		if (both[i] != NULL && both[i]->kind == RESULT_ACCEPTANCE)
			return result_refuse(
				refusal, both[i]->path,
				"this is a book: its verdict is in it, and each case has a run");
	if (baseline != NULL && baseline->is_partial)
		return result_refuse(
			refusal, baseline->path,
			"a partial result is no baseline: its figures are of a part of "
			"the traffic");
	describe(ret, result);
	judge_all(ret, profile, result->fields, baseline != NULL ? baseline->fields : NULL);
	if (result->kind == RESULT_STUDY && is_of_another_kind(ret, profile, result->fields))
		return result_refuse(refusal, result->path,
				     "this is a study of many runs, and the profile speaks of one: "
				     "its checks want fields of a study, as figures.points.min");
	return 0;
}
