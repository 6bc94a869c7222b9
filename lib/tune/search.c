// SPDX-License-Identifier: Apache-2.0
// The engines, and the yardstick among them.

#include "inside.h"

#include <string.h>

#define BATCH 16
#ifdef HAS_NLOPT
#define OF_NLOPT(run) run
#else
#define OF_NLOPT(run) NULL
#endif

static int random_run(const struct search *search)
{
	static double points[BATCH][TUNE_KNOBS_MAX];
	double values[BATCH];
	struct rng rng = rng_of(search->seed, RNG_TUNE, 0);
	for (;;) {
		for (uint32_t i = 0; i < BATCH; i++)
			for (uint32_t j = 0; j < search->dimensions; j++)
				points[i][j] = search_uniform(&rng);
		int rc = search->attempt(search->context, points, BATCH, values);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
}

static const struct search_engine engines[] = {
	{"cmaes", "CMA-ES: a distribution that learns where the good points lie", search_cmaes,
	 true},
	{"crs2", "controlled random search with local mutation (NLopt)", OF_NLOPT(search_crs2),
	 false},
	{"direct", "DIRECT-L: rectangles that are cut where they promise most (NLopt)",
	 OF_NLOPT(search_direct), false},
	{"sbplx", "simplices in subspaces, from several starts (NLopt)", OF_NLOPT(search_sbplx),
	 true},
	{"random", "points drawn evenly: what any other engine has to beat", random_run, false},
	{0},
};

const struct search_engine *search_engines(void)
{
	return engines;
}

const struct search_engine *search_engine(const char *name)
{
	const struct search_engine *engine = engines;
	while (engine->name != NULL && strcmp(engine->name, name) != 0)
		engine++;
	return engine->name != NULL ? engine : NULL;
}
