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

search_fn search_cmaes;

// Of NLopt, where the build has it.
search_fn search_crs2, search_direct, search_sbplx;
