// SPDX-License-Identifier: Apache-2.0
// What a study came to, for people: first what to set, then what that rests on.

#include "inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/result/number.h>

// ---------------------------------------------------------------- head

static void suite_line(FILE *to, const struct tune_plan *plan)
{
	for (uint32_t i = 0; i < plan->scenario_count; i++)
		fprintf(to, "%s%s", i > 0 ? ", " : "", plan->scenarios[i]);
}

static void aim_line(FILE *to, const struct tune_aim *aim)
{
	fprintf(to, "aim: ");
	for (uint32_t i = 0; i < aim->goal_count; i++) {
		fprintf(to, "%s%s", i > 0 ? ", " : "",
			report_study_figure_name(aim->goals[i].figure));
		if (aim->goals[i].weight != 1)
			fprintf(to, " (weight %g)", aim->goals[i].weight);
	}
	fprintf(to, ", as a ratio to the default with the same seed\nconstraints: completion%s",
		aim->may_time_out ? "" : ", no timeouts");
	for (uint32_t i = 0; i < aim->limit_count; i++)
		fprintf(to, ", %s", aim->limits[i].text);
	fputc('\n', to);
}

void tune_show_head(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	suite_line(to, plan);
	uint32_t least = result->is_random ? plan->search_seeds : 1, most = least;
	for (uint32_t i = 0; i < result->different; i++)
		if (result->candidates[i]->seeds > most)
			most = result->candidates[i]->seeds;
	fprintf(to, ": %u settings of %u knob%s by %s on %u", result->different, plan->space.count,
		plan->space.count > 1 ? "s" : "", plan->engine->name, least);
	if (most > least)
		fprintf(to, " to %u", most);
	fputs(most > 1 ? " seeds" : " seed", to);
	if (result->raced > 0 && result->is_random)
		fprintf(to, ", %u raced", result->raced);
	if (result->finalist_count > 0 && result->verdict != TUNE_UNFINISHED)
		fprintf(to, ", %u on %u fresh seeds", result->finalist_count, plan->fresh_seeds);
	fprintf(to, "; %" PRIu64 " runs, %.1f s of CPU\n", result->runs, result->cpu_s);
	aim_line(to, &plan->aim);
	if (!result->is_random && result->verdict != TUNE_UNFINISHED)
		fprintf(to, "seeds change nothing here: no race was needed\n");
	if (result->is_exhausted)
		fprintf(to, "every setting of the space was tried\n");
	if (result->ended_early > 0)
		fprintf(to,
			"%" PRIu64 " run%s ended early: a constraint was broken beyond repair\n",
			result->ended_early, result->ended_early > 1 ? "s" : "");
	if (result->candidate_count > result->different)
		fprintf(to, "%u proposals were settings already met, and cost no run\n",
			result->candidate_count - result->different);
}

// ---------------------------------------------------------------- settings

static void setting_line(FILE *to, const char *what, const struct tune_standing *standing,
			 const char *name)
{
	char ratio[64];
	tune_ratio_text(standing, ratio, sizeof(ratio));
	fprintf(to, "  %-13s %-26s %s\n", what, ratio, name);
}

static const struct tune_standing *fresh_of(const struct tune_result *result,
					    const struct tune_candidate *candidate)
{
	for (uint32_t i = 0; i < result->finalist_count; i++)
		if (result->finalists[i] == candidate)
			return &result->standings[i];
	return NULL;
}

// Best seen and recommended, and why they differ.
static void both(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	static const struct tune_standing one = {.ratio = 1, .low = NAN};
	const struct tune_candidate *seen = result->best_seen;
	const struct tune_standing *fresh = fresh_of(result, seen);
	struct tune_standing of_search;
	struct tune_series first = seen->met;
	first.count = first.count < plan->search_seeds ? first.count : plan->search_seeds;
	tune_standing_of(&of_search, &first, TUNE_CONFIDENCE);
	of_search.low = NAN; // the luckiest of many: an interval would promise too much
	const struct tune_standing *without = isnan(of_search.ratio) ? &of_search
		: fresh != NULL && isnan(fresh->ratio)		     ? fresh
								     : NULL;
	fprintf(to, "\n                ratio (95 %%)               setting\n");
	if (result->verdict == TUNE_INFEASIBLE)
		setting_line(to, "nearest", &result->standings[0], result->recommended->name);
	else if (result->recommended != NULL)
		setting_line(to, "recommended", &result->standings[0], result->recommended->name);
	else
		setting_line(to, "recommended", &one, "the default");
	setting_line(to, "best seen", &of_search, seen->name);
	if (without != NULL)
		fprintf(to, "  %s: it has no ratio.\n",
			without->failed > 0
				? "A run of the best seen broke a constraint"
				: "The default came to its end on no seed of the best seen");
	else if (result->recommended == seen)
		fprintf(to,
			"  The best seen in the search is the recommended one: %.4f there on %u "
			"seed%s, "
			"%.4f on fresh ones.\n",
			of_search.ratio, first.count, first.count > 1 ? "s" : "", fresh->ratio);
	else if (fresh != NULL)
		fprintf(to,
			"  They differ: the best seen was the luckiest of %u on %u seed%s; on "
			"fresh "
			"seeds "
			"it comes to %.4f.\n",
			result->different, first.count, first.count > 1 ? "s" : "", fresh->ratio);
	else
		fprintf(to,
			"  They differ: the best seen was the luckiest of %u on %u seed%s, and "
			"%s.\n",
			result->different, first.count, first.count > 1 ? "s" : "",
			seen->is_dropped ? "was dropped in the race"
					 : "was not among the last five");
}

static void breach_line(FILE *to, const struct tune_plan *plan,
			const struct tune_standing *standing)
{
	fputs("                breaks ", to);
	tune_breach_text(to, plan, standing);
	fputc('\n', to);
}

static void finalists(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	fprintf(to, "\nOn %u fresh seeds (intervals hold together)\n", plan->fresh_seeds);
	if (result->default_failed > 0)
		fprintf(to,
			"  The default did not come to its end on %u of them: ratios are of the "
			"others.\n",
			result->default_failed);
	for (uint32_t i = 0; i < result->finalist_count; i++) {
		const struct tune_standing *standing = &result->standings[i];
		char place[16];
		snprintf(place, sizeof(place), "%u", i + 1);
		setting_line(to, place, standing, result->finalists[i]->name);
		if (standing->violation > 0)
			breach_line(to, plan, standing);
	}
}

// The same on scenarios that the search did not see.
static void holdouts(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	for (uint32_t i = 0; i < result->holdout_count; i++) {
		const struct tune_holdout *holdout = &result->holdouts[i];
		fprintf(to,
			"\nOn %s, which the search did not see, on %u fresh seeds (each interval "
			"holds by itself)\n",
			plan->scenarios[plan->scenario_count + i], plan->fresh_seeds);
		for (uint32_t j = 0; j < result->finalist_count; j++) {
			char place[16];
			snprintf(place, sizeof(place), "%u", j + 1);
			setting_line(to, place, &holdout->standings[j], result->finalists[j]->name);
			if (holdout->standings[j].violation > 0)
				breach_line(to, plan, &holdout->standings[j]);
		}
		if (holdout->round.count > 0)
			setting_line(to, "1, rounded", &holdout->round, result->finalists[0]->name);
		if (holdout->round.violation > 0)
			breach_line(to, plan, &holdout->round);
		if (holdout->default_breach != TUNE_BREACH_NONE)
			fprintf(to, "  The default breaks %s there.\n",
				tune_aim_breach(&plan->aim, holdout->default_breach));
	}
}

// ---------------------------------------------------------------- knobs

static int larger_share_first(const void *a, const void *b)
{
	const struct tune_index *first = *(const struct tune_index *const *)a,
				*second = *(const struct tune_index *const *)b;
	return ORDER(second->share, first->share);
}

// Which knobs matter, the first first.
static void screening(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	const struct tune_index *order[TUNE_KNOBS_MAX];
	if (result->screened == 0)
		return;
	for (uint32_t i = 0; i < plan->space.count; i++)
		order[i] = &result->indices[i];
	qsort(order, plan->space.count, sizeof(*order), larger_share_first);
	fprintf(to,
		"\nKnobs, by what they do over the whole space (%u base points; a share of the "
		"aim's variance, 95 %%)\n",
		result->screened);
	for (uint32_t i = 0; i < plan->space.count; i++) {
		const struct tune_index *index = order[i];
		const char *key = plan->space.knobs[index - result->indices].key;
		fprintf(to, "  %-24s %4.2f (%4.2f to %4.2f)  moves it by %.1f %% on average%s", key,
			index->share, index->low, index->high, expm1(index->effect) * 100,
			index->is_flat ? "; FLAT: left as it is" : "");
		if (index->hidden > 0)
			fprintf(to, "; not seen at %u: constraints broken too far", index->hidden);
		fputc('\n', to);
	}
}

// ---------------------------------------------------------------- what to set

static void knob_line(FILE *to, const struct tune_plan *plan, const double *at, uint32_t index)
{
	const struct tune_knob *knob = &plan->space.knobs[index];
	char set[TUNE_VALUE_BYTES], range[256];
	int end = tune_space_end(&plan->space, at, index);
	tune_knob_text(knob, range, sizeof(range));
	for (uint32_t i = 0; i < plan->scenario_count; i++) {
		if (!tune_space_set(&plan->space, at, index, &plan->fabrics[i], set))
			continue;
		fprintf(to, "  %-36s", set);
		if (knob->base != TUNE_PLAIN && plan->scenario_count > 1)
			fprintf(to, " for %s", plan->scenarios[i]);
		fprintf(to, " of %s%s\n", range,
			end < 0		  ? "; AT ITS LOWER END: the best may lie beyond"
				: end > 0 ? "; AT ITS UPPER END: the best may lie beyond"
					  : "");
		if (knob->base == TUNE_PLAIN)
			break;
	}
}

// A best that is no controller at all is shown as that.
static void off_line(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	char ratio[64];
	if (result->off == NULL)
		return;
	setting_line(to, "off", &result->off_standing, result->off->name);
	tune_ratio_text(&result->off_standing, ratio, sizeof(ratio));
	if (result->off_standing.violation > 0)
		breach_line(to, plan, &result->off_standing);
	else if (result->is_off_best)
		fprintf(to,
			"  No setting is better than no controller at all, beyond chance or %.0f "
			"%%: it "
			"is off that is best here, not a setting.\n"
			"  Off comes to %.4f of the first one, seed by seed (p %.2g); on %u of %u "
			"seeds "
			"both are the same.\n",
			TUNE_OFF_SHARE * 100, result->off_cost, result->off_chance,
			result->off_same, plan->fresh_seeds);
}

void tune_show_verdict(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	const struct tune_standing *best = &result->standings[0];
	char ratio[64];
	tune_ratio_text(best, ratio, sizeof(ratio));
	switch (result->verdict) {
	case TUNE_BETTER:
		if (result->default_breach != TUNE_BREACH_NONE && !result->is_kept_by_chance)
			fprintf(to,
				"\nSet, as the default breaks %s (the aim comes to %s of the "
				"default's)\n",
				tune_aim_breach(&plan->aim, result->default_breach), ratio);
		else
			fprintf(to, "\nSet (%.1f %% less than the default, at least %.1f %%)\n",
				(1 - best->ratio) * 100, (1 - best->high) * 100);
		for (uint32_t i = 0; i < plan->space.count; i++)
			knob_line(to, plan, result->recommended->at, i);
		break;
	case TUNE_NOT_BETTER:
		fprintf(to, "\nLeave the default: nothing beats it beyond chance\n");
		if (result->is_kept_by_chance)
			fprintf(to,
				"It breaks %s; the first one above does not, no more than chance "
				"would have it: more of --fresh-seeds tell.\n",
				tune_aim_breach(&plan->aim, result->default_breach));
		break;
	case TUNE_UNFINISHED:
	case TUNE_PART:
		break; // there is none yet
	case TUNE_CONSTANT:
		fprintf(to,
			"\nNothing to tune: no setting of these knobs changes the aim in any "
			"run\n");
		break;
	case TUNE_INFEASIBLE:
		fprintf(to,
			"\nNo setting meets all constraints; %s binds. The smallest breach is "
			"listed "
			"first.%s\n",
			tune_aim_breach(&plan->aim, best->breach),
			result->default_breach == TUNE_BREACH_NONE ? " The default meets them all."
								   : "");
		break;
	}
}

// What is known before the end: what the search has seen.
static void so_far(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	if (result->verdict == TUNE_PART)
		fprintf(to,
			"part %u of %u of the search; join all of them: weft tune merge STUDY "
			"PART...\n",
			plan->part, plan->parts);
	else
		fprintf(to,
			"NOT AT ITS END: what follows is the search's, without proof; go on with "
			"it: weft tune resume\n");
	fprintf(to, "\n                ratio on seeds seen        setting\n");
	for (uint32_t i = 0; i < result->different && i < TUNE_FINALISTS; i++) {
		struct tune_standing standing;
		char seeds[16];
		tune_standing_of(&standing, &result->candidates[i]->met, TUNE_CONFIDENCE);
		standing.low = NAN; // the luckiest of many: an interval would promise too much
		snprintf(seeds, sizeof(seeds), "%u seed%s", standing.count,
			 standing.count > 1 ? "s" : "");
		setting_line(to, seeds, &standing, result->candidates[i]->name);
	}
}

void tune_show(FILE *to, const struct tune_plan *plan, const struct tune_result *result)
{
	tune_show_alerts(to, plan, result);
	tune_show_head(to, plan, result);
	screening(to, plan, result);
	if (result->verdict == TUNE_UNFINISHED || result->verdict == TUNE_PART) {
		so_far(to, plan, result);
		return;
	}
	if (result->finalist_count > 0) {
		both(to, plan, result);
		finalists(to, plan, result);
		holdouts(to, plan, result);
		off_line(to, plan, result);
	}
	tune_show_verdict(to, plan, result);
	tune_advise(to, plan, result);
}
