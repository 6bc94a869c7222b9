// SPDX-License-Identifier: Apache-2.0
// Studies of two functions at once whose Pareto set is known, with noise, in 2 to 8 dimensions:
// what --front finds covers more of it than random search with as many runs in nine of ten, all of
// it but little, and its last round has both ends.

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/order.h>
#include <weft/tune/tune.h>

#include "../rig_tune.h"
#include "inside.h"

#define STEPS 2000 // along the known set
#define NOISE 0.01
#define BUDGET 1500

// One aim each: where it is best. The default lies beside the way from one to the other.
static double best_of(uint32_t aim, uint32_t knob)
{
	return knob % 2 == 0 ? (aim == 0 ? 0.2 : 0.6) + 0.02 * knob
			     : (aim == 0 ? 0.75 : 0.35) - 0.02 * knob;
}

static double square_to(const double *x, uint32_t n, uint32_t aim)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += (x[i] - best_of(aim, i)) * (x[i] - best_of(aim, i));
	return sum / n;
}

// Of the best of one aim in the other one.
static double far_of(uint32_t n)
{
	double x[TUNE_KNOBS_MAX];
	for (uint32_t i = 0; i < n; i++)
		x[i] = best_of(0, i);
	return square_to(x, n, 1);
}

typedef double shape_fn(double square);

static double convex(double square)
{
	return square;
}

static double concave(double square) // Fonseca and Fleming
{
	return (1 - exp(-20 * square)) / 20;
}

struct pair {
	shape_fn *shape;
	const struct tune_space *space;
	uint32_t figures[2];
};

static void values_at(const struct pair *pair, const double *at, double ret[2])
{
	double x[TUNE_KNOBS_MAX];
	uint32_t n = pair->space->count;
	for (uint32_t i = 0; i < n; i++)
		x[i] = at == NULL || isnan(at[i]) ? 0.5 : tune_space_value(pair->space, at, i);
	for (uint32_t aim = 0; aim < 2; aim++)
		ret[aim] = pair->shape(square_to(x, n, aim));
}

// tune_runs_fn.
static int runs(void *context, const struct tune_request *requests, uint32_t count,
		tune_take_fn *take, void *take_context, struct refusal *refusal)
{
	const struct pair *pair = context;
	for (uint32_t i = 0; i < count; i++) {
		struct study_run run = {.is_complete = true};
		double values[2], noise = NOISE * noise_of(&requests[i], pair->space->count);
		values_at(pair, requests[i].at, values);
		for (uint32_t aim = 0; aim < 2; aim++)
			run.figures[pair->figures[aim]] = 1 + values[aim] +
				(aim == 0 ? noise : -noise / 2);
		assert_int_equal(take(take_context, i, &run), 0);
	}
	return 0;
}

// ---------------------------------------------------------------- how much of the front

struct point {
	double values[2];
};

static int lower_first(const void *a, const void *b)
{
	const struct point *first = a, *second = b;
	return ORDER(first->values[0], second->values[0]);
}

// What points cover below the reference in both aims.
static double covered(struct point *points, uint32_t count, double reference)
{
	double area = 0, height = reference;
	qsort(points, count, sizeof(*points), lower_first);
	for (uint32_t i = 0; i < count && points[i].values[0] < reference; i++)
		if (points[i].values[1] < height) {
			area += (reference - points[i].values[0]) * (height - points[i].values[1]);
			height = points[i].values[1];
		}
	return area;
}

static double known(const struct pair *pair, double reference)
{
	static struct point points[STEPS + 1];
	uint32_t n = pair->space->count;
	for (uint32_t i = 0; i <= STEPS; i++) {
		double x[TUNE_KNOBS_MAX], part = (double)i / STEPS;
		for (uint32_t j = 0; j < n; j++)
			x[j] = best_of(0, j) + part * (best_of(1, j) - best_of(0, j));
		for (uint32_t aim = 0; aim < 2; aim++)
			points[i].values[aim] = pair->shape(square_to(x, n, aim));
	}
	return covered(points, STEPS + 1, reference);
}

struct found {
	double share, of_finalists; // of what the known set covers
	uint32_t ends;		    // aims whose best the last round has, as far as noise tells
};

static struct found found_in(const struct tune *tune, const struct pair *pair)
{
	const struct tune_result *result = tune_result(tune);
	struct tune_candidate **members = calloc(result->different + 1, sizeof(*members));
	struct point *points = calloc(result->different + 1, sizeof(*points));
	uint32_t count = tune_front_members(tune, 1, members);
	double reference = 1.1 * pair->shape(far_of(pair->space->count));
	struct found found = {0};
	for (uint32_t i = 0; i < count; i++)
		values_at(pair, members[i]->at, points[i].values);
	double all = known(pair, reference);
	found.share = covered(points, count, reference) / all;
	for (uint32_t i = 0; i < result->finalist_count; i++)
		values_at(pair, result->finalists[i]->at, points[i].values);
	for (uint32_t aim = 0; aim < 2; aim++) {
		double least = INFINITY;
		for (uint32_t i = 0; i < result->finalist_count; i++)
			least = fmin(least, points[i].values[aim]);
		found.ends += least < reference / 8;
	}
	found.of_finalists = covered(points, result->finalist_count, reference) / all;
	free(members);
	free(points);
	return found;
}

static struct found study(shape_fn *shape, uint32_t n, const char *engine, uint64_t seed)
{
	struct refusal refusal = {0};
	struct tune_plan plan;
	plan_functions(&plan, knobs, n, engine, seed, BUDGET, runs);
	assert_int_equal(tune_aim_goal(&plan.aim, "queue_bytes_max", &refusal), 0);
	plan.aim.is_front = true;
	struct pair pair = {
		shape, &plan.space, {plan.aim.goals[0].figure, plan.aim.goals[1].figure}};
	plan.runs_context = &pair;
	struct tune *tune = study_functions(&plan);
	struct found found = found_in(tune, &pair);
	tune_free(tune);
	return found;
}

// ---------------------------------------------------------------- tests

static void covers_more(const char *name, shape_fn *shape, const char *engine)
{
	static const uint32_t dimensions[] = {2, 4, 8};
	for (size_t d = 0; d < sizeof(dimensions) / sizeof(*dimensions); d++) {
		uint32_t more = 0, ends = 0, n = dimensions[d];
		double worst = 1, sum = 0, of_random = 0, of_finalists = 0;
		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct found own = study(shape, n, engine, seed),
				     random = study(shape, n, "random", seed);
			more += own.share > random.share;
			ends += own.ends;
			worst = fmin(worst, own.share);
			sum += own.share / 10;
			of_random += random.share / 10;
			of_finalists += own.of_finalists / 10;
		}
		print_message("%s, %u dimensions: %s covers %.1f %% (worst %.1f %%; its last five "
			      "%.1f %%), random %.1f %%; more in %u of 10; %u of 20 ends\n",
			      name, n, engine, sum * 100, worst * 100, of_finalists * 100,
			      of_random * 100, more, ends);
		assert_true(more >= 9);
		assert_true(ends >= (shape == convex || n < 8
					     ? 18
					     : 12)); // far from its ends the concave one is flat
	}
}

static void a_search_for_a_front_covers_more_than_random_search(void **state)
{
	covers_more("convex", convex, "cmaes");
	covers_more("concave", concave, "cmaes");
}
