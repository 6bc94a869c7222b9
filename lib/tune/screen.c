// SPDX-License-Identifier: Apache-2.0
// Screening: which knobs matter. From each of some base points, spread by Sobol's sequence, each
// knob is moved once, alone, to where a second point has it (radial design; Campolongo, Saltelli,
// Cariboni, 2011). That gives Morris's mean effect and, with Jansen's estimator, Sobol's total
// index from the same runs. Whether a knob does anything is asked of the differences seed by seed:
// were it nothing, each could as well have the other sign.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/order.h>

#define CHANCE_FLAT 0.1 // that it does nothing: to keep one too many costs little
#define SHARE_FLAT 0.1	// of the variance: what may matter more is searched over
#define FLIPS 999	// of signs
#define SEEN_MIN 4	// moves, of one that is called flat
#define DRAWS 400	// of the bootstrap
#define SLIGHT 1e-12	// what rounding does

struct screen {
	struct tune *tune;
	uint32_t points, knobs;
	struct tune_candidate **candidates; // [point * (knobs + 1)], the base point first
};

static const struct tune_candidate *base_of(const struct screen *screen, uint32_t point)
{
	return screen->candidates[point * (screen->knobs + 1)];
}

static const struct tune_candidate *moved_of(const struct screen *screen, uint32_t point,
					     uint32_t knob)
{
	return screen->candidates[point * (screen->knobs + 1) + 1 + knob];
}

// Another value of that knob. Words and counts may be the same at both points: half a range on.
static double move(const struct tune_space *space, const double *at, uint32_t knob, double to)
{
	double moved[TUNE_KNOBS_MAX];
	memcpy(moved, at, sizeof(moved));
	moved[knob] = to;
	if (tune_space_value(space, moved, knob) == tune_space_value(space, at, knob))
		to = fmod(at[knob] + 0.5, 1);
	return to;
}

static int propose(struct screen *screen)
{
	const struct tune_space *space = &screen->tune->plan.space;
	uint32_t n = screen->knobs, slot = 0;
	struct sobol sobol;
	sobol_init(&sobol, 2 * n, screen->tune->plan.seed);
	for (uint32_t i = 0; i < screen->points; i++) {
		double both[SOBOL_DIMENSIONS_MAX] = {0}, at[TUNE_KNOBS_MAX] = {0};
		sobol_point(&sobol, i, both);
		memcpy(at, both, n * sizeof(*at));
		for (uint32_t j = 0; j <= n; j++) { // 0: the base point; j: knob j - 1 moved
			double moved[TUNE_KNOBS_MAX];
			bool is_new;
			memcpy(moved, at, sizeof(moved));
			if (j > 0)
				moved[j - 1] = move(space, at, j - 1, both[n + j - 1]);
			screen->candidates[slot] = tune_propose(screen->tune, moved, &is_new);
			if (screen->candidates[slot++] == NULL)
				return refuse(screen->tune->refusal, -ENODEV,
					      "not enough memory for candidates");
		}
	}
	return 0;
}

// ---------------------------------------------------------------- what moves came to

// Logarithm of the ratio to the default, and how far constraints are broken: each counts, at most
// as a factor of e.
static double value_in(const struct tune_series *series, uint32_t block)
{
	double value = isnan(series->cost[block]) ? 0 : series->cost[block];
	for (uint32_t i = 0; i < series->limit_count; i++)
		value += fmin(fmax(series->excess[block][i], 0), 1);
	return value + fmin(series->violation[block], 1);
}

// Whether that value is at its end: where it is at both ends of a move nobody sees what that does.
static bool is_capped(const struct tune_series *series, uint32_t block)
{
	bool ret = series->violation[block] >= 1;
	for (uint32_t i = 0; i < series->limit_count; i++)
		ret |= series->excess[block][i] >= 1;
	return ret;
}

static double value_of(const struct tune_series *series)
{
	double sum = 0;
	for (uint32_t i = 0; i < series->count; i++)
		sum += value_in(series, i);
	return sum / series->count;
}

// What one knob's moves came to.
struct moves {
	uint32_t count, seeds, hidden;
	double effects[TUNE_SCREEN_MAX], noise[TUNE_SCREEN_MAX]; // squared error of the effect
	double seen[TUNE_SCREEN_MAX][TUNE_BLOCKS_MAX];		 // seed by seed
};

static void take_moves(struct moves *ret, const struct screen *screen, uint32_t knob)
{
	*ret = (struct moves){.seeds = screen->tune->plan.search_seeds};
	for (uint32_t i = 0; i < screen->points; i++) {
		const struct tune_candidate *base = base_of(screen, i),
					    *moved = moved_of(screen, i, knob);
		struct spread_figures spread;
		double *seen = ret->seen[ret->count];
		if (base == moved) // its gate is shut here
			continue;
		bool is_hidden = true;
		for (uint32_t k = 0; k < ret->seeds; k++) {
			seen[k] = value_in(&moved->met, k) - value_in(&base->met, k);
			is_hidden &= is_capped(&moved->met, k) && is_capped(&base->met, k);
		}
		ret->hidden += is_hidden;
		spread_of(&spread, seen, ret->seeds);
		ret->effects[ret->count] = spread.mean;
		ret->noise[ret->count++] = spread.sd * spread.sd / ret->seeds;
	}
}

// The chance that effects as large come of noise alone.
static double chance_of(const struct moves *moves, uint64_t seed)
{
	struct rng rng = rng_of(seed, RNG_TUNE, 4);
	double own = 0;
	uint32_t as_far = 0;
	for (uint32_t flip = 0; flip <= FLIPS; flip++) { // the first one flips nothing
		double sum = 0;
		for (uint32_t i = 0; i < moves->count; i++) {
			double effect = 0;
			for (uint32_t k = 0; k < moves->seeds; k++)
				effect += flip > 0 && rng_next(&rng) >> 63 ? -moves->seen[i][k]
									   : moves->seen[i][k];
			sum += effect * effect;
		}
		own = flip == 0 ? sum : own;
		as_far += sum >= own;
	}
	return (double)as_far / (FLIPS + 1);
}

// Jansen's estimator over `count` moves, by their places; `variance` is of the aim.
static double share_of(const struct moves *moves, const uint32_t *places, double variance)
{
	double sum = 0;
	for (uint32_t i = 0; i < moves->count; i++)
		sum += moves->effects[places[i]] * moves->effects[places[i]] -
			moves->noise[places[i]];
	return fmin(fmax(sum / (2 * moves->count * variance), 0), 1);
}

static void measure(struct tune_index *ret, const struct moves *moves, double variance,
		    uint64_t seed)
{
	double shares[DRAWS];
	uint32_t places[TUNE_SCREEN_MAX];
	struct rng rng = rng_of(seed, RNG_TUNE, 5);
	*ret = (struct tune_index){.chance = 1, .hidden = moves->hidden};
	if (moves->count == 0)
		return;
	for (uint32_t i = 0; i < moves->count; i++) {
		places[i] = i;
		ret->effect += fabs(moves->effects[i]) / moves->count;
	}
	if (moves->seeds > 1)
		ret->chance = chance_of(moves, seed);
	else
		ret->chance = ret->effect > SLIGHT ? 0 : 1;
	if (variance <= 0)
		return;
	ret->share = share_of(moves, places, variance);
	for (uint32_t draw = 0; draw < DRAWS; draw++) {
		for (uint32_t i = 0; i < moves->count; i++)
			places[i] = rng_below(&rng, moves->count);
		shares[draw] = share_of(moves, places, variance);
	}
	qsort(shares, DRAWS, sizeof(*shares), order_double);
	ret->low = shares[DRAWS / 40];
	ret->high = shares[DRAWS - 1 - DRAWS / 40];
}

// ---------------------------------------------------------------- flat knobs

// A knob that another one needs stays with it; where all are flat none is left out.
static void call_flat(struct tune *tune)
{
	const struct tune_space *space = &tune->plan.space;
	struct tune_index *indices = tune->result.indices;
	uint32_t flat = 0;
	for (uint32_t i = 0; i < space->count; i++)
		indices[i].is_flat = indices[i].chance >= CHANCE_FLAT &&
			indices[i].high < SHARE_FLAT &&
			(indices[i].hidden == 0 ||
			 indices[i].hidden + SEEN_MIN <= tune->result.screened);
	for (uint32_t i = space->count; i-- > 0;) {
		const struct tune_knob *knob = &space->knobs[i];
		if (!indices[i].is_flat && knob->gate >= 0)
			indices[knob->gate].is_flat = false;
		if (knob->above >= 0 && (!indices[i].is_flat || !indices[knob->above].is_flat))
			indices[i].is_flat = indices[knob->above].is_flat = false;
	}
	for (uint32_t i = 0; i < space->count; i++)
		flat += indices[i].is_flat;
	for (uint32_t i = 0; flat == space->count && i < space->count; i++)
		indices[i].is_flat = false;
}

static double variance_of(const struct screen *screen)
{
	uint32_t count = screen->points * (screen->knobs + 1);
	double sum = 0, squares = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += value_of(&screen->candidates[i]->met);
	for (uint32_t i = 0; i < count; i++) {
		double off = value_of(&screen->candidates[i]->met) - sum / count;
		squares += off * off;
	}
	return squares / (count - 1);
}

static void judge(struct screen *screen)
{
	struct tune *tune = screen->tune;
	struct moves moves;
	double variance = variance_of(screen);
	for (uint32_t i = 0; i < screen->knobs; i++) {
		take_moves(&moves, screen, i);
		measure(&tune->result.indices[i], &moves, variance, tune->plan.seed + i);
	}
	tune->result.screened = screen->points;
	call_flat(tune);
}

// As many base points as the plan says, or as a quarter of the runs gives.
static uint32_t points_of(const struct tune_plan *plan, uint64_t runs)
{
	uint64_t each = (uint64_t)plan->search_seeds * plan->scenario_count *
		(plan->space.count + 1);
	uint64_t points = runs / 4 / each;
	if (plan->screen != TUNE_SCREEN_AUTO)
		return plan->screen;
	if (plan->space.count < 4 || points < 4 || plan->parts > 1)
		return 0;
	return points < TUNE_SCREEN_MAX / 2 ? (uint32_t)points : TUNE_SCREEN_MAX / 2;
}

int tune_screen(struct tune *tune, uint64_t runs)
{
	const struct tune_plan *plan = &tune->plan;
	struct screen screen = {
		.tune = tune, .points = points_of(plan, runs), .knobs = plan->space.count};
	uint64_t count = (uint64_t)screen.points * (screen.knobs + 1);
	if (screen.points == 0)
		return 0;
	check(count * plan->search_seeds * plan->scenario_count <= runs); // tune_budget_min()
	screen.candidates = calloc(count, sizeof(struct tune_candidate *));
	if (screen.candidates == NULL)
		return refuse(tune->refusal, -ENODEV, "not enough memory for candidates");
	int rc = propose(&screen);
	if (rc == 0)
		rc = tune_meet(tune, tune->result.candidates, tune->result.different, false,
			       plan->search_seeds);
	if (rc == 0)
		judge(&screen);
	free(screen.candidates);
	return rc;
}
