// SPDX-License-Identifier: Apache-2.0
// Engines of NLopt: those whose faults were not mended after the version of Debian 12 (COBYLA,
// SLSQP, STOGO and PRAXIS had some). The budget is ours: the function ends the search, NLopt's
// counters do not.

#include "inside.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <nlopt.h>

#define STEP_FIRST 0.25
#define STEP_LAST 0.002

struct guard {
	const struct search *search;
	nlopt_opt optimiser;
	int rc;
};

// nlopt_func.
static double attempt(unsigned n, const double *x, double *gradient, void *context)
{
	struct guard *guard = context;
	double point[1][TUNE_KNOBS_MAX] = {0}, value = HUGE_VAL;
	if (guard->rc != 0)
		return HUGE_VAL;
	for (unsigned i = 0; i < n; i++)
		point[0][i] = fmin(fmax(x[i], 0), 1);
	guard->rc = guard->search->attempt(guard->search->context,
					   (const double(*)[TUNE_KNOBS_MAX])point, 1, &value);
	if (guard->rc != 0)
		nlopt_force_stop(guard->optimiser);
	return value;
}

// One search of `algorithm` from a point; again from others when it thinks that it is done.
static int run(const struct search *search, nlopt_algorithm algorithm)
{
	struct rng rng = rng_of(search->seed, RNG_TUNE, 2);
	struct guard guard = {.search = search};
	double x[TUNE_KNOBS_MAX], least;
	bool is_first = true;
	nlopt_srand((unsigned long)search->seed + 1);
	while (guard.rc == 0) {
		guard.optimiser = nlopt_create(algorithm, search->dimensions);
		if (guard.optimiser == NULL)
			return -ENODEV;
		for (uint32_t i = 0; i < search->dimensions; i++)
			x[i] = !is_first		? search_uniform(&rng)
				: search->start != NULL ? search->start[i]
							: 0.5;
		nlopt_set_lower_bounds1(guard.optimiser, 0);
		nlopt_set_upper_bounds1(guard.optimiser, 1);
		nlopt_set_min_objective(guard.optimiser, attempt, &guard);
		nlopt_set_initial_step1(guard.optimiser,
					is_first && search->step > 0 ? search->step : STEP_FIRST);
		is_first = false;
		nlopt_set_xtol_abs1(guard.optimiser, STEP_LAST);
		nlopt_optimize(guard.optimiser, x, &least);
		nlopt_destroy(guard.optimiser);
	}
	return guard.rc < 0 ? guard.rc : 0;
}

int search_crs2(const struct search *search)
{
	return run(search, NLOPT_GN_CRS2_LM);
}

int search_direct(const struct search *search)
{
	return run(search, NLOPT_GN_DIRECT_L);
}

int search_sbplx(const struct search *search)
{
	return run(search, NLOPT_LN_SBPLX);
}
