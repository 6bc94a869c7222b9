// SPDX-License-Identifier: Apache-2.0
// Searches for the least value of a function on [0, 1]^n, which may be noisy. They know nothing of
// runs; whoever calls them counts what was tried and says when it is enough.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/tune/space.h>

#ifdef __cplusplus
extern "C" {
#endif

// Tries `count` points and gives their values. 0: go on; 1: enough, values may be missing; -errno.
typedef int search_try_fn(void *context, const double (*points)[TUNE_KNOBS_MAX], uint32_t count,
			  double *ret_values);

struct search {
	uint32_t dimensions; // 1 to TUNE_KNOBS_MAX
	uint64_t seed;
	const double *start; // [dimensions] a good point, for engines that begin at one; or NULL
	double step;	     // of the range, to begin with at `start`; 0: the engine's own
	search_try_fn *attempt;
	void *context;
};

// Runs until `attempt` ends it. Returns 0, or its -errno.
typedef int search_fn(const struct search *search);

struct search_engine {
	const char *name, *text; // "random", and what it is in a line
	search_fn *run;		 // NULL: not in this build
	bool has_start;		 // begins at search.start
};

// All of them, ended by one whose name is NULL.
const struct search_engine *search_engines(void);

// The one of that name, or NULL.
const struct search_engine *search_engine(const char *name);

#ifdef __cplusplus
}
#endif
