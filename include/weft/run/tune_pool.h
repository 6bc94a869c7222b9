// SPDX-License-Identifier: Apache-2.0
// The runs of weft tune: a suite of scenarios, each read once, and a process for each run of one of
// them with a setting and a seed.
#pragma once

#include <weft/tune/tune.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tune_pool;

// What to run.
struct tune_suite {
	uint32_t count, holdout_count; // hold-outs are the last ones of them
	const char *const *scenarios;  // names or paths; "NAME@VARIANT" is a variant, and
				       // "NAME+plane_down" what tune_pool.c makes of one
	const char *const *sets;       // of all runs, the default's too
	uint32_t set_count;
	const char *const *off; // [off_count] what takes the controller away
	uint32_t off_count;	// at most TUNE_OFF_MAX
	uint32_t jobs;		// at once
};

// Reads the suite and builds each scenario's world once, for its bases. -errno with the reason.
// tune_pool_free() gives back what was read, also when nothing was.
int tune_pool_open(struct tune_pool **ret, const struct tune_suite *suite, struct refusal *refusal);
void tune_pool_free(struct tune_pool *pool);

// What ratios of scenario `index` count in, its own first seed, the name or path that its text
// was read from, and the hash of that.
const struct tune_fabric *tune_pool_fabric(const struct tune_pool *pool, uint32_t index);
uint64_t tune_pool_seed(const struct tune_pool *pool, uint32_t index);
const char *tune_pool_file(const struct tune_pool *pool, uint32_t index);
uint64_t tune_pool_hash(const struct tune_pool *pool, uint32_t index);
bool tune_pool_has_collective(const struct tune_pool *pool, uint32_t index);

// Whether two are the same scenario, whatever they were called.
bool tune_pool_is_same(const struct tune_pool *pool, uint32_t first, uint32_t second);

// Makes sure that each scenario takes each knob at both ends of its range. -EINVAL with the knob,
// the scenario and the reason.
int tune_pool_check(struct tune_pool *pool, const struct tune_space *space,
		    struct refusal *refusal);

// tune_runs_fn; `context` is the pool, and tune_pool_check() has seen the space.
int tune_pool_runs(void *context, const struct tune_request *requests, uint32_t count,
		   tune_take_fn *take, void *take_context, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
