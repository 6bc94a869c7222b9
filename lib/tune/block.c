// SPDX-License-Identifier: Apache-2.0
// Candidates meet blocks: one seed, in every scenario of the suite, the same for all of them. What
// the store has is not run again.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/order.h>

#define SLIGHT 1e-9	// of a bound: what rounding does
#define BROKEN_VALUE 10 // above any cost: a factor of e^10
#define GUARD 2		// standard errors
#define LOOKS 4		// at the bounds, in the time that the default takes

// The runs of one batch.
struct batch {
	struct tune *tune;
	uint32_t count, missing;
	struct tune_request *requests;		      // [count]
	const char **settings;			      // [count]
	struct study_run *runs;			      // [count]
	struct tune_bound (*bounds)[TUNE_BOUNDS_MAX]; // [count]
	struct tune_request *asked;		      // [missing]
	uint32_t *places;			      // [missing] in the others
};

static void batch_free(struct batch *batch)
{
	free(batch->requests);
	free(batch->settings);
	free(batch->runs);
	free(batch->bounds);
	free(batch->asked);
	free(batch->places);
}

static int batch_create(struct batch *ret, struct tune *tune, uint32_t room)
{
	*ret = (struct batch){
		.tune = tune,
		.requests = calloc(room, sizeof(*ret->requests)),
		.settings = calloc(room, sizeof(*ret->settings)),
		.runs = calloc(room, sizeof(*ret->runs)),
		.bounds = calloc(room, sizeof(*ret->bounds)),
		.asked = calloc(room, sizeof(*ret->asked)),
		.places = calloc(room, sizeof(*ret->places)),
	};
	if (ret->requests != NULL && ret->settings != NULL && ret->runs != NULL &&
	    ret->bounds != NULL && ret->asked != NULL && ret->places != NULL)
		return 0;
	batch_free(ret);
	return refuse(tune->refusal, -ENODEV, "not enough memory for % runs", room);
}

static struct tune_run_key key_of(const struct batch *batch, uint32_t index)
{
	const struct tune_request *request = &batch->requests[index];
	return (struct tune_run_key){batch->tune->plan.scenarios[request->scenario],
				     batch->settings[index], request->seed};
}

// tune_take_fn.
static int take(void *context, uint32_t index, const struct study_run *run)
{
	struct batch *batch = context;
	struct tune *tune = batch->tune;
	uint32_t place = batch->places[index];
	struct tune_run_key key = key_of(batch, place);
	batch->runs[place] = *run;
	tune->result.runs_made++;
	return tune->plan.store == NULL
		? 0
		: tune_store_put(tune->plan.store, &key, run, tune->refusal);
}

// Fills in what is there, and makes the rest.
static int batch_run(struct batch *batch)
{
	struct tune *tune = batch->tune;
	const struct tune_plan *plan = &tune->plan;
	for (uint32_t i = 0; i < batch->count; i++) {
		struct tune_run_key key = key_of(batch, i);
		int found = plan->store == NULL
			? 0
			: tune_store_find(plan->store, &key, &batch->runs[i], tune->refusal);
		if (found < 0)
			return found;
		if (found == 1)
			continue;
		batch->asked[batch->missing] = batch->requests[i];
		batch->places[batch->missing++] = i;
	}
	if (plan->progress != NULL)
		plan->progress(plan->progress_context, tune->result.runs, plan->budget);
	tune->result.runs += batch->count;
	int rc = batch->missing == 0 ? 0
				     : plan->runs(plan->runs_context, batch->asked, batch->missing,
						  take, batch, tune->refusal);
	for (uint32_t i = 0; rc == 0 && i < batch->count; i++) {
		const struct study_run *run = &batch->runs[i];
		tune->result.cpu_s += run->cpu_s;
		tune->result.ended_early += run->passed > 0 && !run->is_complete;
	}
	return rc;
}

uint64_t tune_seed_of(const struct tune_plan *plan, bool is_fresh, uint32_t block)
{
	return plan->seed + (is_fresh ? TUNE_FRESH_FROM : 0) + block;
}

// The default's own run has none. Of a search's block the constraints hold on the mean of all that
// are met by then.
static void set_bounds(struct batch *batch, uint32_t index, bool is_fresh, uint32_t block)
{
	const struct tune_plan *plan = &batch->tune->plan;
	struct tune_request *request = &batch->requests[index];
	const struct study_run *defaults =
		&batch->tune->defaults[is_fresh][request->scenario * TUNE_BLOCKS_MAX];
	uint32_t seeds = block < plan->search_seeds ? plan->search_seeds : block + 1;
	double length_s = tune_aim_length_s(&defaults[block]); // not a number where it failed
	request->look_s = length_s > 0 ? length_s / LOOKS : 0;
	request->is_whole = plan->is_whole;
	request->bounds = batch->bounds[index];
	if (request->look_s > 0)
		request->bound_count = tune_aim_bounds(&plan->aim, defaults, block,
						       is_fresh ? plan->fresh_seeds : seeds,
						       batch->bounds[index]);
}

static void ask_block(struct batch *batch, const struct tune_candidate *candidate, bool is_fresh,
		      uint32_t block)
{
	bool is_off = candidate != NULL && candidate == batch->tune->result.off;
	enum tune_digits digits = TUNE_AS_FOUND;
	for (uint32_t i = 0; candidate != NULL && i < TUNE_ROUNDS_MAX; i++)
		if (candidate == batch->tune->result.rounds[i].candidate)
			digits = batch->tune->result.rounds[i].digits;
	for (uint32_t i = 0; i < batch->tune->plan.scenario_count; i++) {
		batch->settings[batch->count] = candidate == NULL ? TUNE_DEFAULT_NAME
								  : candidate->name;
		batch->requests[batch->count++] = (struct tune_request){
			.scenario = i,
			.at = candidate == NULL || is_off ? NULL : candidate->at,
			.is_off = is_off,
			.digits = digits,
			.seed = tune_seed_of(&batch->tune->plan, is_fresh, block),
		};
		if (candidate != NULL)
			set_bounds(batch, batch->count - 1, is_fresh, block);
	}
}

// ---------------------------------------------------------------- the default

static void name_scenario(struct tune *tune, uint32_t scenario)
{
	refusal_name(tune->refusal, tune->plan.scenarios[scenario]);
}

static int check_default(struct tune *tune, uint32_t scenario, uint32_t blocks)
{
	int rc = tune_aim_check_all(&tune->plan.aim, &tune->defaults[0][scenario * TUNE_BLOCKS_MAX],
				    blocks, tune->refusal);
	if (rc < 0)
		name_scenario(tune, scenario);
	return rc;
}

int tune_meet_default(struct tune *tune, bool is_fresh, uint32_t blocks)
{
	const struct tune_plan *plan = &tune->plan;
	uint32_t have = tune->default_blocks[is_fresh];
	struct batch batch;
	if (have >= blocks)
		return 0;
	check(blocks <= TUNE_BLOCKS_MAX);
	int rc = batch_create(&batch, tune, (blocks - have) * plan->scenario_count);
	if (rc < 0)
		return rc;
	for (uint32_t block = have; block < blocks; block++)
		ask_block(&batch, NULL, is_fresh, block);
	rc = batch_run(&batch);
	for (uint32_t i = 0; rc == 0 && i < batch.count; i++) {
		uint32_t scenario = batch.requests[i].scenario;
		rc = tune_aim_check(&plan->aim, &batch.runs[i], tune->refusal);
		if (rc < 0)
			name_scenario(tune, scenario);
		tune->defaults[is_fresh][scenario * TUNE_BLOCKS_MAX + have +
					 i / plan->scenario_count] = batch.runs[i];
	}
	for (uint32_t i = 0; rc == 0 && !is_fresh && i < plan->scenario_count; i++)
		rc = check_default(tune, i, blocks);
	if (rc == 0)
		tune->default_blocks[is_fresh] = blocks;
	batch_free(&batch);
	return rc;
}

// ---------------------------------------------------------------- candidates

// One block of a candidate: its runs in all scenarios.
static void take_block(struct tune *tune, struct tune_series *series, bool is_fresh,
		       const struct study_run *runs)
{
	const struct tune_aim *aim = &tune->plan.aim;
	double costs[TUNE_SCENARIOS_MAX], goals[TUNE_GOALS_MAX][TUNE_SCENARIOS_MAX];
	uint32_t block = series->count++;
	series->violation[block] = 0;
	series->breach[block] = TUNE_BREACH_NONE;
	series->limit_count = tune->plan.aim.limit_count;
	for (uint32_t i = 0; i < tune->plan.scenario_count; i++) {
		struct tune_judged judged;
		tune_aim_judge(&tune->plan.aim, &runs[i],
			       &tune->defaults[is_fresh][i * TUNE_BLOCKS_MAX + block], &judged);
		costs[i] = judged.cost;
		for (uint32_t j = 0; j < aim->goal_count; j++)
			goals[j][i] = judged.goals[j];
		if (judged.violation > series->violation[block]) {
			series->violation[block] = judged.violation;
			series->breach[block] = judged.breach;
		}
		for (uint32_t j = 0; j < series->limit_count; j++)
			series->excess[block][j] = i == 0
				? judged.excess[j]
				: fmax(judged.excess[j], series->excess[block][j]);
	}
	series->cost[block] = tune_aim_over(aim, costs, tune->plan.scenario_count);
	for (uint32_t j = 0; j < aim->goal_count; j++)
		series->goals[j] += tune_aim_over(aim, goals[j], tune->plan.scenario_count);
}

static struct tune_series *series_of(struct tune_candidate *candidate, bool is_fresh)
{
	return is_fresh ? &candidate->fresh : &candidate->met;
}

int tune_meet(struct tune *tune, struct tune_candidate *const *candidates, uint32_t count,
	      bool is_fresh, uint32_t blocks)
{
	struct batch batch;
	uint32_t scenarios = tune->plan.scenario_count, at = 0;
	int rc = tune_meet_default(tune, is_fresh, blocks);
	if (rc == 0 && count > 0)
		rc = batch_create(&batch, tune, count * blocks * scenarios);
	if (rc < 0 || count == 0)
		return rc;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t block = series_of(candidates[i], is_fresh)->count; block < blocks;
		     block++)
			ask_block(&batch, candidates[i], is_fresh, block);
	rc = batch_run(&batch);
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		struct tune_series *series = series_of(candidates[i], is_fresh);
		for (; series->count < blocks; at += scenarios)
			take_block(tune, series, is_fresh, &batch.runs[at]);
	}
	batch_free(&batch);
	return rc;
}

static uint64_t hash_of(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
	return hash;
}

static bool make_room(struct tune *tune)
{
	uint32_t room = tune->room == 0 ? 256 : 2 * tune->room;
	if (tune->result.different < tune->room)
		return true;
	void *candidates = realloc(tune->result.candidates,
				   room * sizeof(*tune->result.candidates));
	if (candidates != NULL)
		tune->result.candidates = candidates;
	void *hashes = realloc(tune->hashes, room * sizeof(*tune->hashes));
	if (hashes != NULL)
		tune->hashes = hashes;
	if (candidates == NULL || hashes == NULL)
		return false;
	tune->room = room;
	return true;
}

struct tune_candidate *tune_propose(struct tune *tune, const double *at, bool *ret_new)
{
	struct tune_result *result = &tune->result;
	char name[TUNE_NAME_BYTES];
	tune_space_name(&tune->plan.space, at, name);
	uint64_t hash = hash_of(name);
	result->candidate_count++;
	*ret_new = false;
	for (uint32_t i = 0; i < result->different; i++)
		if (tune->hashes[i] == hash && strcmp(result->candidates[i]->name, name) == 0)
			return result->candidates[i];
	struct tune_candidate *candidate = make_room(tune) ? calloc(1, sizeof(*candidate)) : NULL;
	if (candidate == NULL)
		return NULL;
	*ret_new = true;
	memcpy(candidate->at, at, tune->plan.space.count * sizeof(*at));
	memcpy(candidate->name, name, sizeof(name));
	candidate->number = result->different;
	tune->hashes[result->different] = hash;
	result->candidates[result->different++] = candidate;
	return candidate;
}

// ---------------------------------------------------------------- what blocks come to

// How far a bound is exceeded on the mean over blocks that have it, and `guard` standard errors
// more.
static double excess_of(const struct tune_series *series, uint32_t limit, double guard)
{
	double sum = 0, squares = 0;
	uint32_t count = 0;
	for (uint32_t i = 0; i < series->count; i++)
		if (!isnan(series->excess[i][limit])) {
			sum += series->excess[i][limit];
			count++;
		}
	double mean = count > 0 ? sum / count : 0;
	for (uint32_t i = 0; guard > 0 && i < series->count; i++)
		if (!isnan(series->excess[i][limit]))
			squares += pow(series->excess[i][limit] - mean, 2);
	return count < 2 ? mean : mean + guard * sqrt(squares / (count - 1) / count);
}

static double violation_of(const struct tune_series *series, double guard, uint32_t *ret_breach)
{
	double worst = 0, hard = 0;
	*ret_breach = TUNE_BREACH_NONE;
	for (uint32_t i = 0; i < series->count; i++) {
		hard += series->violation[i] / series->count;
		if (series->violation[i] > 0)
			*ret_breach = series->breach[i];
	}
	if (hard > 0)
		return hard;
	for (uint32_t j = 0; j < series->limit_count; j++) {
		double excess = excess_of(series, j, guard);
		if (excess > worst && excess > SLIGHT) {
			worst = excess;
			*ret_breach = j;
		}
	}
	return worst;
}

double tune_violation(const struct tune_series *series, uint32_t *ret_breach)
{
	return violation_of(series, 0, ret_breach);
}

uint32_t tune_default_series(struct tune *tune, struct tune_series *ret)
{
	static struct study_run runs[TUNE_SCENARIOS_MAX];
	uint32_t breach;
	*ret = (struct tune_series){0};
	while (ret->count < tune->default_blocks[1]) {
		for (uint32_t i = 0; i < tune->plan.scenario_count; i++)
			runs[i] = tune->defaults[1][i * TUNE_BLOCKS_MAX + ret->count];
		take_block(tune, ret, true, runs);
	}
	tune_violation(ret, &breach);
	return breach;
}

uint32_t tune_series_failed(const struct tune_series *series)
{
	uint32_t failed = 0;
	for (uint32_t i = 0; i < series->count; i++)
		failed += series->breach[i] == TUNE_BREACH_END;
	return failed;
}

static double value_of(const struct tune_series *series, double guard)
{
	uint32_t breach, count = 0;
	double cost = 0, violation = violation_of(series, guard, &breach);
	if (series->count == 0)
		return INFINITY;
	for (uint32_t i = 0; i < series->count; i++) {
		cost += isnan(series->cost[i]) ? 0 : series->cost[i];
		count += !isnan(series->cost[i]);
	}
	return violation > 0 ? BROKEN_VALUE + log1p(violation) : count > 0 ? cost / count : 0;
}

double tune_value(const struct tune_series *series)
{
	return value_of(series, 0);
}

double tune_value_guarded(const struct tune_series *series)
{
	return value_of(series, GUARD);
}

double tune_margin(const struct tune_series *series)
{
	double margin = INFINITY;
	for (uint32_t i = 0; i < series->limit_count; i++)
		margin = fmin(margin, -excess_of(series, i, GUARD));
	return margin;
}

int tune_by_value(const void *a, const void *b)
{
	const struct tune_candidate *first = *(struct tune_candidate *const *)a;
	const struct tune_candidate *second = *(struct tune_candidate *const *)b;
	return ORDER(tune_value(&first->met), tune_value(&second->met))
		?: ORDER(first->number, second->number);
}

int tune_by_guarded_value(const void *a, const void *b)
{
	const struct tune_candidate *first = *(struct tune_candidate *const *)a;
	const struct tune_candidate *second = *(struct tune_candidate *const *)b;
	return ORDER(tune_value_guarded(&first->met), tune_value_guarded(&second->met))
		?: ORDER(first->number, second->number);
}

void tune_standing_of(struct tune_standing *ret, const struct tune_series *series,
		      double confidence)
{
	struct spread_figures spread;
	spread_of(&spread, series->cost, series->count);
	*ret = (struct tune_standing){.count = series->count,
				      .breach = TUNE_BREACH_NONE,
				      .ratio = NAN,
				      .low = NAN,
				      .high = NAN};
	for (uint32_t i = 0; i < series->count; i++) {
		ret->failed += isnan(series->cost[i]) && series->violation[i] > 0;
		ret->unpaired += isnan(series->cost[i]) && !(series->violation[i] > 0);
	}
	ret->violation = tune_violation(series, &ret->breach);
	if (spread.count > 0 && ret->failed == 0) // the others alone would flatter it
		ret->ratio = exp(spread.mean);
	if (spread.count < 2 || ret->failed > 0)
		return;
	double half = student_bound(1 - confidence, spread.count - 1) * spread.sd /
		sqrt(spread.count);
	ret->low = exp(spread.mean - half);
	ret->high = exp(spread.mean + half);
}

void tune_breach_text(FILE *to, const struct tune_plan *plan, const struct tune_standing *standing)
{
	bool is_whole = standing->breach == TUNE_BREACH_END; // each counts once, or for all
	fputs(tune_aim_breach(&plan->aim, standing->breach), to);
	if (is_whole || standing->breach == TUNE_BREACH_TIMEOUT)
		fprintf(to, ", on %u of %u seeds",
			is_whole ? standing->failed
				 : (uint32_t)lround(standing->violation * standing->count),
			standing->count);
	else
		fprintf(to, ", by %.3g of its bound on average", standing->violation);
}

void tune_ratio_text(const struct tune_standing *standing, char *ret, size_t bytes)
{
	if (isnan(standing->ratio))
		snprintf(ret, bytes, "-");
	else if (isnan(standing->low))
		snprintf(ret, bytes, "%.4f", standing->ratio);
	else
		snprintf(ret, bytes, "%.4f (%.4f to %.4f)", standing->ratio, standing->low,
			 standing->high);
}

// ---------------------------------------------------------------- a study

struct tune *tune_create(const struct tune_plan *plan)
{
	struct tune *tune = calloc(1, sizeof(*tune));
	size_t blocks = (size_t)plan->scenario_count * TUNE_BLOCKS_MAX;
	if (tune == NULL)
		return NULL;
	tune->plan = *plan;
	if (tune->plan.parts == 0)
		tune->plan.parts = 1;
	tune->defaults[0] = calloc(blocks, sizeof(**tune->defaults));
	tune->defaults[1] = calloc(blocks, sizeof(**tune->defaults));
	if (tune->defaults[0] != NULL && tune->defaults[1] != NULL)
		return tune;
	tune_free(tune);
	return NULL;
}

void tune_free(struct tune *tune)
{
	if (tune == NULL)
		return;
	for (uint32_t i = 0; i < tune->result.different; i++)
		free(tune->result.candidates[i]);
	free(tune->result.candidates);
	free(tune->result.off);
	for (uint32_t i = 0; i < tune->plan.holdout_count; i++)
		tune_free(tune->holdouts[i]);
	for (uint32_t i = 0; i < TUNE_ROUNDS_MAX; i++)
		free(tune->result.rounds[i].candidate);
	free(tune->hashes);
	free(tune->defaults[0]);
	free(tune->defaults[1]);
	free(tune);
}

const struct tune_result *tune_result(const struct tune *tune)
{
	return &tune->result;
}

bool tune_is_known(const struct tune *tune, const struct tune_candidate *candidate)
{
	return tune->part == 0 || candidate->screened > 0 || candidate->part == tune->part;
}
