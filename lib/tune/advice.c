// SPDX-License-Identifier: Apache-2.0
// What a study comes to, in words: what to set, what it buys, what it risks, what is flat. Each
// sentence says what was measured, and on what.

#include "inside.h"

#include <math.h>
#include <string.h>

static double percent(double ratio)
{
	return (ratio - 1) * 100;
}

// What one way to round costs.
static void round_line(FILE *to, const struct tune_plan *plan, const struct tune_rounding *rounding)
{
	const char *what = rounding->digits == TUNE_ROUND ? "Rounding" : "Two digits";
	const char *cost = rounding->digits == TUNE_ROUND ? "costs" : "cost";
	fprintf(to, "%s %s %+.2f %%", what, cost, percent(rounding->cost));
	if (!isnan(rounding->low))
		fprintf(to, " (%+.2f to %+.2f %%) on the same fresh seeds", percent(rounding->low),
			percent(rounding->high));
	if (rounding->standing.violation > 0) {
		fputs(rounding->digits == TUNE_ROUND ? ", and breaks " : ", and break ", to);
		tune_breach_text(to, plan, &rounding->standing);
		fputs(": not taken", to);
	} else if (!rounding->is_taken)
		fprintf(to, ", %.0f %% of what is bought, which is more than %.0f %%: not taken",
			rounding->share * 100, TUNE_ROUND_SHARE * 100);
	fputs(".\n", to);
}

void tune_round_line(FILE *to, const char *before, const struct tune_plan *plan,
		     const struct tune_result *result)
{
	if (result->verdict != TUNE_BETTER)
		return;
	if (result->round_count == 0)
		fprintf(to, "%sThese are round numbers already.\n", before);
	for (uint32_t i = 0; i < result->round_count; i++) {
		fputs(before, to);
		round_line(to, plan, &result->rounds[i]);
	}
}

#define SETS_BYTES (TUNE_KNOBS_MAX * TUNE_VALUE_BYTES)

// The settings with the digits that are taken, for one scenario.
static void write_sets(const struct tune_plan *plan, const struct tune_result *result,
		       uint32_t scenario, char ret[SETS_BYTES])
{
	size_t used = 0;
	ret[0] = '\0';
	for (uint32_t i = 0; i < plan->space.count; i++) {
		char set[TUNE_VALUE_BYTES];
		if (tune_space_set_to(&plan->space, result->recommended->at, i,
				      &plan->fabrics[scenario], result->digits, set))
			used += (size_t)snprintf(ret + used, SETS_BYTES - used, " %s", set);
	}
}

// One line, or where the fabrics of a suite differ, one for each.
static void say_set(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	static const char *const how[] = {[TUNE_AS_FOUND] = "as found",
					  [TUNE_ROUND] = "rounded",
					  [TUNE_TWO_DIGITS] = "to two digits"};
	char first[SETS_BYTES], other[SETS_BYTES];
	const char *digits = how[result->round_count == 0 ? TUNE_ROUND : result->digits];
	bool is_same = true;
	write_sets(plan, result, 0, first);
	for (uint32_t i = 1; i < plan->scenario_count; i++) {
		write_sets(plan, result, i, other);
		is_same &= strcmp(first, other) == 0;
	}
	if (is_same)
		fprintf(to, "  Set, %s:%s\n", digits, first);
	for (uint32_t i = 0; !is_same && i < plan->scenario_count; i++) {
		write_sets(plan, result, i, other);
		fprintf(to, "  Set, %s, for %s:%s\n", digits, plan->scenarios[i], other);
	}
	tune_round_line(to, "  ", plan, result);
}

static void say_gain(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	const struct tune_standing *best = &result->standings[0];
	char ratio[64];
	if (result->default_breach != TUNE_BREACH_NONE)
		fprintf(to, "  It meets %s, which the default breaks%s.\n",
			tune_aim_breach(&plan->aim, result->default_breach),
			result->is_kept_by_chance ? "; that may be chance" : "");
	if (!(best->high < 1)) {
		tune_ratio_text(best, ratio, sizeof(ratio));
		fprintf(to, "  Beyond chance it buys nothing else: %s of the default.\n", ratio);
		return;
	}
	fprintf(to, "  It buys %.1f %% of", -percent(best->ratio));
	for (uint32_t i = 0; i < plan->aim.goal_count; i++)
		fprintf(to, "%s %s", i > 0 ? " and" : "",
			report_study_figure_name(plan->aim.goals[i].figure));
	fprintf(to, "%s, at least %.1f %%, on %u seeds that the search never met.\n",
		plan->aim.goal_count > 1 ? " on the mean" : "", -percent(best->high),
		best->count - best->unpaired);
}

// How near the recommended setting is to a limit: on the mean, and in how many seeds beyond it.
static void say_limit(FILE *to, const struct tune_limit *limit, const struct tune_series *fresh,
		      uint32_t index)
{
	double mean = 0;
	uint32_t beyond = 0, count = 0;
	for (uint32_t i = 0; i < fresh->count; i++) {
		if (isnan(fresh->excess[i][index]))
			continue;
		mean += fresh->excess[i][index];
		beyond += fresh->excess[i][index] > 0;
		count++;
	}
	fprintf(to, "; %s is kept with %.0f %% to spare on average, and missed on %u of %u seeds",
		limit->text, count > 0 ? -mean / count * 100 : 0, beyond, count);
}

static void say_risk(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	const struct tune_series *fresh = &result->recommended->fresh;
	double worst = -INFINITY;
	uint32_t worse = 0, pairs = fresh->count - result->standings[0].unpaired;
	for (uint32_t i = 0; i < fresh->count; i++) {
		worst = fmax(worst, fresh->cost[i]);
		worse += fresh->cost[i] > 0;
	}
	fprintf(to, "  It risks: worse than the default on %u of %u seeds", worse, pairs);
	if (pairs > 0)
		fprintf(to, ", at worst %.4f of it", exp(worst));
	for (uint32_t i = 0; i < plan->aim.limit_count; i++)
		say_limit(to, &plan->aim.limits[i], fresh, i);
	for (uint32_t i = 0; i < plan->space.count; i++)
		if (tune_space_end(&plan->space, result->recommended->at, i) != 0)
			fprintf(to, "; %s is at an end of its range", plan->space.knobs[i].key);
	for (uint32_t i = 0; i < result->holdout_count; i++)
		if (result->holdouts[i].is_worse)
			fprintf(to, "; worse on %s, which the search did not see",
				plan->scenarios[plan->scenario_count + i]);
	fputs(".\n", to);
}

static void say_flat(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	const char *between = " ";
	if (result->screened == 0) {
		fprintf(to, "  What is flat is not known: knobs were not screened (--screen).\n");
		return;
	}
	fprintf(to, "  Flat, left as it is:");
	for (uint32_t i = 0; i < plan->space.count; i++) {
		if (!result->indices[i].is_flat)
			continue;
		fprintf(to, "%s%s", between, plan->space.knobs[i].key);
		between = ", ";
	}
	fprintf(to, "%s.\n", *between == ' ' ? " none of these knobs" : "");
}

// Where many are as good as the best, which of them is set hardly matters, or nobody knows.
static void say_plateau(FILE *to, const struct tune_result *result)
{
	uint32_t left = 0, seeds = 0;
	for (uint32_t i = 0; i < result->different; i++) {
		const struct tune_candidate *one = result->candidates[i];
		if (!one->is_raced || one->is_dropped)
			continue;
		left++;
		seeds = one->met.count;
	}
	if (left > TUNE_FINALISTS && 2 * left > result->raced)
		fprintf(to,
			"  A plateau, or too few seeds: %u of the %u settings that raced are no "
			"worse than "
			"the best of them beyond chance, on %u seeds.\n",
			left, result->raced, seeds);
}

void tune_advise(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	if (result->verdict != TUNE_BETTER && result->verdict != TUNE_NOT_BETTER)
		return;
	fprintf(to, "\nIn words\n");
	if (result->verdict == TUNE_BETTER) {
		say_set(to, plan, result);
		say_gain(to, plan, result);
		say_risk(to, plan, result);
		tune_holdout_lines(to, "  ", plan, result);
	}
	if (plan->holdout_count == 0)
		fprintf(to, "  Nothing but the suite was tried (--holdout).\n");
	if (result->is_random && !plan->aim.is_front)
		say_plateau(to, result);
	say_flat(to, plan, result);
}
