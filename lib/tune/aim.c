// SPDX-License-Identifier: Apache-2.0

#include <weft/core/near_word.h>
#include <weft/core/order.h>
#include <weft/tune/aim.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_OF_NOTHING 0.1
#define FAILED_VIOLATION 1e6 // further from good than any run that ends

static int find_figure(uint32_t *ret, const char *text, const char *name, struct refusal *refusal)
{
	size_t used;
	struct near_word near_word = near_word_of(name);
	for (uint32_t i = 0; i < report_study_figures(); i++) {
		if (strcmp(report_study_figure_name(i), name) == 0) {
			*ret = i;
			return 0;
		}
		near_word_see(&near_word, report_study_figure_name(i));
	}
	refusal_name(refusal, text);
	used = (size_t)snprintf(refusal->text, sizeof(refusal->text), "there is no figure `%.60s`",
				name);
	if (near_word_append(&near_word, refusal->text, sizeof(refusal->text)))
		return -EINVAL;
	used += (size_t)snprintf(refusal->text + used, sizeof(refusal->text) - used,
				 "; there are:");
	for (uint32_t i = 0; i < report_study_figures() && used < sizeof(refusal->text); i++)
		used += (size_t)snprintf(refusal->text + used, sizeof(refusal->text) - used, " %s",
					 report_study_figure_name(i));
	return -EINVAL;
}

int tune_aim_goal(struct tune_aim *aim, const char *text, struct refusal *refusal)
{
	char name[64], *weight, *end;
	struct tune_goal goal = {.weight = 1};
	if (aim->goal_count == TUNE_GOALS_MAX || strlen(text) >= sizeof(name))
		return refuse_file(refusal, -EINVAL, text, "too many goals, or too long a one");
	strcpy(name, text);
	weight = strchr(name, ':');
	if (weight != NULL) {
		*weight++ = '\0';
		goal.weight = strtod(weight, &end);
		if (*end != '\0' || !(goal.weight > 0 && goal.weight <= 1000))
			return refuse_file(refusal, -EINVAL, text,
					   "a weight is a number above 0, up to 1000");
	}
	int rc = find_figure(&goal.figure, text, name, refusal);
	for (uint32_t i = 0; rc == 0 && i < aim->goal_count; i++)
		if (aim->goals[i].figure == goal.figure)
			return refuse_file(refusal, -EINVAL, text, "this aim is given twice");
	if (rc == 0)
		aim->goals[aim->goal_count++] = goal;
	return rc;
}

// ---------------------------------------------------------------- constraints

// Units of bounds: figures are in seconds, bytes, bits per second, shares and counts.
static const struct {
	const char *suffix, *of; // end of the figure's name; NULL: of any
	double factor;
} bounds[] = {
	{"x", NULL, 1},
	{"ps", "_s", 1e-12},
	{"ns", "_s", 1e-9},
	{"us", "_s", 1e-6},
	{"ms", "_s", 1e-3},
	{"s", "_s", 1},
	{"B", "bytes_max", 1},
	{"kB", "bytes_max", 1e3},
	{"MB", "bytes_max", 1e6},
	{"KiB", "bytes_max", 1024},
	{"MiB", "bytes_max", 1048576},
	{"b/s", "_bps", 1},
	{"Mb/s", "_bps", 1e6},
	{"Gb/s", "_bps", 1e9},
	{"%", "_share", 1e-2},
};

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), of_end = strlen(end);
	return length >= of_end && strcmp(name + length - of_end, end) == 0;
}

static int read_bound(struct tune_limit *limit, const char *text, const char *word,
		      struct refusal *refusal)
{
	char *end;
	const char *figure = report_study_figure_name(limit->figure);
	bool is_number = strspn(word, "0123456789.") > 0;
	bool has_unit = ends_with(figure, "_s") || ends_with(figure, "_bps") ||
		ends_with(figure, "bytes_max");
	limit->bound = strtod(word, &end);
	if (is_number && *end == '\0' && (!has_unit || limit->bound == 0))
		return 0;
	for (size_t i = 0; is_number && i < sizeof(bounds) / sizeof(*bounds); i++) {
		if (strcmp(end, bounds[i].suffix) != 0 ||
		    (bounds[i].of != NULL && !ends_with(figure, bounds[i].of)))
			continue;
		limit->bound *= bounds[i].factor;
		limit->is_ratio = bounds[i].of == NULL;
		return 0;
	}
	return refuse_file(
		refusal, -EINVAL, text,
		"a bound is a number with the unit of the figure (ns, us, ms, s; B, kB, MB; "
		"Mb/s, Gb/s; %), or with x, times the default's");
}

// A constraint on the same figure, in the same unit, whose bound lies beyond this one's; or NULL.
static const struct tune_limit *opposite(const struct tune_aim *aim, const struct tune_limit *limit)
{
	for (uint32_t i = 0; i < aim->limit_count; i++) {
		const struct tune_limit *other = &aim->limits[i];
		double least = limit->is_least ? limit->bound : other->bound;
		double most = limit->is_least ? other->bound : limit->bound;
		if (other->figure == limit->figure && other->is_ratio == limit->is_ratio &&
		    other->is_least != limit->is_least && least > most)
			return other;
	}
	return NULL;
}

int tune_aim_limit(struct tune_aim *aim, const char *text, struct refusal *refusal)
{
	struct tune_limit limit = {0};
	char name[sizeof(limit.text)];
	if (aim->limit_count == TUNE_LIMITS_MAX || strlen(text) >= sizeof(name))
		return refuse_file(refusal, -EINVAL, text,
				   "too many constraints, or too long a one");
	strcpy(name, text);
	strcpy(limit.text, text);
	char *relation = strpbrk(name, "<>");
	if (relation == NULL || relation[1] != '=')
		return refuse_file(refusal, -EINVAL, text,
				   "a constraint is FIGURE<=BOUND or FIGURE>=BOUND");
	limit.is_least = *relation == '>';
	*relation = '\0';
	int rc = find_figure(&limit.figure, text, name, refusal);
	if (rc == 0)
		rc = read_bound(&limit, text, relation + 2, refusal);
	const struct tune_limit *other = rc == 0 ? opposite(aim, &limit) : NULL;
	if (other != NULL) {
		snprintf(name, sizeof(name), "no value meets it and %.40s", other->text);
		return refuse_file(refusal, -EINVAL, text, name);
	}
	if (rc == 0)
		aim->limits[aim->limit_count++] = limit;
	return rc;
}

// ---------------------------------------------------------------- judging

static uint32_t timeouts(void)
{
	return report_study_figure_named("rtx_timeout");
}

double tune_aim_length_s(const struct study_run *of_default)
{
	return of_default->figures[report_study_figure_named("done_s")];
}

static bool has_failed(const struct study_run *run)
{
	return run->dead != 0 || !run->is_complete;
}

static double bound_of(const struct tune_limit *limit, const struct study_run *of_default)
{
	return limit->bound * (limit->is_ratio ? of_default->figures[limit->figure] : 1);
}

// Relative to its bound a figure of one seed can be below it by 1 at most: the mean is above when
// one run is above so many times the bound. What it can be above by is `others` of what it is at
// most.
static struct tune_bound bound_on(const struct tune_limit *limit, uint32_t which,
				  const struct study_run *defaults, uint32_t seed, uint32_t seeds)
{
	double bound = bound_of(limit, &defaults[seed]);
	struct tune_bound ret = {.figure = limit->figure,
				 .which = which,
				 .value = limit->is_least ? bound : seeds * bound,
				 .is_least = limit->is_least,
				 .all = seeds * bound};
	for (uint32_t i = 0; i < seeds; i++)
		if (i != seed)
			ret.others += bound / bound_of(limit, &defaults[i]);
	return ret;
}

// A share of nothing is no bound: where the default's seed has none of it, others decide.
uint32_t tune_aim_bounds(const struct tune_aim *aim, const struct study_run *defaults,
			 uint32_t seed, uint32_t seeds, struct tune_bound ret[TUNE_BOUNDS_MAX])
{
	uint32_t count = 0;
	if (!aim->may_time_out)
		ret[count++] = (struct tune_bound){.figure = timeouts(), .which = TUNE_LIMITS_MAX};
	for (uint32_t i = 0; i < aim->limit_count; i++) {
		const struct tune_limit *limit = &aim->limits[i];
		double bound = bound_of(limit, &defaults[seed]);
		if (bound > 0 || (bound == 0 && !limit->is_ratio && !limit->is_least))
			ret[count++] = bound_on(limit, i, defaults, seed, seeds);
	}
	return count;
}

bool tune_bound_is_passed(const struct tune_bound *bound, const struct report_input *input,
			  double *ret_value)
{
	if (!bound->is_least) {
		*ret_value = report_study_so_far(bound->figure, input);
		return *ret_value > bound->value;
	}
	double most = report_study_limit(bound->figure, input->world);
	double rest = bound->others > 0 ? bound->others * most : 0;
	*ret_value = report_study_at_most(bound->figure, input);
	return *ret_value < bound->value && *ret_value < bound->all - rest;
}

// Of nothing there is no ratio: it counts as that part of what the other has.
static double log_ratio(double value, double of_default)
{
	if (value == 0 || of_default == 0)
		return value == of_default ? 0
			: value == 0	   ? log(PART_OF_NOTHING)
					   : -log(PART_OF_NOTHING);
	return log(value / of_default);
}

static double cost_of(const struct tune_aim *aim, const struct study_run *run,
		      const struct study_run *of_default, double ret_goals[TUNE_GOALS_MAX])
{
	double sum = 0, weights = 0;
	for (uint32_t i = 0; i < aim->goal_count; i++) {
		const struct tune_goal *goal = &aim->goals[i];
		double ratio = log_ratio(run->figures[goal->figure],
					 of_default->figures[goal->figure]);
		ret_goals[i] = report_study_figure_is_gain(goal->figure) ? -ratio : ratio;
		sum += goal->weight * ret_goals[i];
		weights += goal->weight;
	}
	return isfinite(sum) ? sum / weights : NAN;
}

static void breach(struct tune_judged *ret, double violation, uint32_t which)
{
	if (violation <= ret->violation)
		return;
	ret->violation = violation;
	ret->breach = which;
}

static void hold(const struct tune_limit *limit, uint32_t index, const struct study_run *run,
		 const struct study_run *of_default, struct tune_judged *ret)
{
	double bound = bound_of(limit, of_default), value = run->figures[limit->figure];
	double over = limit->is_least ? bound - value : value - bound;
	ret->excess[index] = isnan(bound) ? NAN // times what the default has, whose run failed
		: isnan(over)		  ? FAILED_VIOLATION
					  : over / (bound > 0 ? bound : 1);
}

// It counts as far over its limit as it would have come at that pace in the time that the default
// takes: the same whether it went on or not.
static void pass(const struct tune_aim *aim, const struct study_run *run,
		 const struct study_run *of_default, struct tune_judged *ret)
{
	if (run->passed > TUNE_LIMITS_MAX) {
		breach(ret, 1, TUNE_BREACH_TIMEOUT);
		return;
	}
	const struct tune_limit *limit = &aim->limits[run->passed - 1];
	double bound = bound_of(limit, of_default);
	if (limit->is_least) { // it comes to no more than that
		breach(ret, (bound - run->passed_value) / bound, run->passed - 1);
		return;
	}
	double pace = fmax(1, tune_aim_length_s(of_default) / run->passed_s);
	double over = run->passed_value * pace - bound;
	breach(ret, over / (bound > 0 ? bound : 1), run->passed - 1);
}

void tune_aim_judge(const struct tune_aim *aim, const struct study_run *run,
		    const struct study_run *of_default, struct tune_judged *ret)
{
	*ret = (struct tune_judged){.cost = NAN, .breach = TUNE_BREACH_NONE};
	for (uint32_t i = 0; i < aim->limit_count; i++)
		ret->excess[i] = 0; // a run that failed has broken more than that
	if (run->passed > 0) {
		pass(aim, run, of_default, ret);
		return;
	}
	if (has_failed(run) || run->is_imprecise) {
		breach(ret, FAILED_VIOLATION, TUNE_BREACH_END);
		return;
	}
	if (!has_failed(of_default)) {
		ret->cost = cost_of(aim, run, of_default, ret->goals);
		if (isnan(ret->cost))
			breach(ret, FAILED_VIOLATION, TUNE_BREACH_END);
	}
	if (!aim->may_time_out)
		breach(ret, run->figures[timeouts()] > 0 ? 1 : 0, TUNE_BREACH_TIMEOUT);
	for (uint32_t i = 0; i < aim->limit_count; i++)
		hold(&aim->limits[i], i, run, of_default, ret);
}

int tune_aim_check(const struct tune_aim *aim, const struct study_run *of_default,
		   struct refusal *refusal)
{
	if (has_failed(of_default))
		return 0;
	for (uint32_t i = 0; i < aim->goal_count; i++) {
		if (isfinite(of_default->figures[aim->goals[i].figure]))
			continue;
		snprintf(refusal->text, sizeof(refusal->text),
			 "%s cannot be an aim: the run of the default has no such figure",
			 report_study_figure_name(aim->goals[i].figure));
		return -EINVAL;
	}
	for (uint32_t i = 0; i < aim->limit_count; i++) {
		if (!isnan(of_default->figures[aim->limits[i].figure]))
			continue;
		snprintf(refusal->text, sizeof(refusal->text),
			 "%s cannot be held: the run of the default has no such figure",
			 aim->limits[i].text);
		return -EINVAL;
	}
	return 0;
}

int tune_aim_check_all(const struct tune_aim *aim, const struct study_run *defaults, uint32_t count,
		       struct refusal *refusal)
{
	uint32_t failed = 0;
	for (uint32_t i = 0; i < count; i++)
		failed += has_failed(&defaults[i]);
	if (failed == count) {
		snprintf(refusal->text, sizeof(refusal->text),
			 "the run of the default did not come to its end: %s, on %u of %u seeds",
			 defaults[0].end, failed, count);
		return -EINVAL;
	}
	for (uint32_t i = 0; i < aim->goal_count; i++) {
		uint32_t zeros = 0;
		for (uint32_t j = 0; j < count; j++)
			zeros += !has_failed(&defaults[j]) &&
				defaults[j].figures[aim->goals[i].figure] == 0;
		if (zeros + failed < count)
			continue;
		snprintf(refusal->text, sizeof(refusal->text),
			 "%s cannot be an aim: the run of the default has 0 of it",
			 report_study_figure_name(aim->goals[i].figure));
		return -EINVAL;
	}
	return 0;
}

static int larger_first(const void *a, const void *b)
{
	double first = *(const double *)a, second = *(const double *)b;
	return ORDER(second, first);
}

double tune_aim_over(const struct tune_aim *aim, const double *costs, uint32_t count)
{
	double sorted[64], sum = 0;
	uint32_t taken = aim->over == TUNE_OVER_MEAN ? count
		: aim->over == TUNE_OVER_WORST	     ? 1
						     : (count + 3) / 4;
	memcpy(sorted, costs, count * sizeof(*costs));
	for (uint32_t i = 0; i < count; i++)
		if (isnan(costs[i]))
			return NAN;
	qsort(sorted, count, sizeof(*sorted), larger_first);
	for (uint32_t i = 0; i < taken; i++)
		sum += sorted[i];
	return sum / taken;
}

const char *tune_aim_breach(const struct tune_aim *aim, uint32_t which)
{
	switch (which) {
	case TUNE_BREACH_NONE:
		return "none";
	case TUNE_BREACH_END:
		return "completion: a run did not come to its end";
	case TUNE_BREACH_TIMEOUT:
		return "no timeouts: rtx_timeout<=0";
	default:
		return aim->limits[which].text;
	}
}
