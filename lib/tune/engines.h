// SPDX-License-Identifier: Apache-2.0
// What engines share.
#pragma once

#include <weft/core/rng.h>
#include <weft/tune/search.h>

// Evenly from [0, 1).
static inline double search_uniform(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

#define SOBOL_DIMENSIONS_MAX (2 * TUNE_KNOBS_MAX)

struct sobol {
	uint32_t dimensions;
	uint32_t directions[SOBOL_DIMENSIONS_MAX][32], shift[SOBOL_DIMENSIONS_MAX];
};

void sobol_init(struct sobol *ret, uint32_t dimensions, uint64_t seed);

// Point `index`, in [0, 1).
void sobol_point(const struct sobol *sobol, uint32_t index, double *ret);

search_fn search_cmaes;

// Of NLopt, where the build has it.
search_fn search_crs2, search_direct, search_sbplx;
