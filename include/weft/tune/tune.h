// SPDX-License-Identifier: Apache-2.0
// A study of settings: a search over the space, a race of its best over seeds that all candidates
// share, and a last round of the best five on seeds that none of them met before. Every step
// follows from the runs alone, so the same study done again, or gone on with, has the same
// candidates.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/core/refusal.h>
#include <weft/study/report_study.h>
#include <weft/tune/aim.h>
#include <weft/tune/search.h>
#include <weft/tune/space.h>
#include <weft/tune/store.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUNE_SCENARIOS_MAX 16
#define TUNE_BLOCKS_MAX 64
#define TUNE_FINALISTS 5
#define TUNE_OFF_MAX 8
#define TUNE_OFF_SHARE 0.01 // what a controller has to buy over none at all
// As many base points as a quarter of the search's runs gives, from 4 on 4 knobs or more.
#define TUNE_SCREEN_AUTO UINT32_MAX

// One run to be made.
struct tune_request {
	uint32_t scenario;
	const double *at; // of the space; NULL: the default
	uint64_t seed;
	bool is_off;		 // at is NULL: the default without the controller
	enum tune_digits digits; // how `at` is rounded
	// [bound_count] what it may not come to, looked at each time so much of the run is over; a
	// run that is beyond one ends there, unless all are run to their end.
	const struct tune_bound *bounds;
	uint32_t bound_count;
	double look_s;
	bool is_whole;
};

typedef int tune_take_fn(void *context, uint32_t index, const struct study_run *run);

// Makes these runs and hands each to `take` as it ends, in any order; ends when that is not 0.
// -errno with the reason, -EINTR when the user stopped it.
typedef int tune_runs_fn(void *context, const struct tune_request *requests, uint32_t count,
			 tune_take_fn *take, void *take_context, struct refusal *refusal);

// Called before each batch: runs made and planned.
typedef void tune_progress_fn(void *context, uint64_t done, uint64_t planned);

struct tune_plan {
	struct tune_space space;
	struct tune_aim aim;
	uint32_t scenario_count; // of the suite
	uint32_t holdout_count;	 // scenarios behind these, which the search does not see
	const char *scenarios[TUNE_SCENARIOS_MAX];
	struct tune_fabric fabrics[TUNE_SCENARIOS_MAX];
	uint64_t seed;	 // of the study: what is drawn, and the first seed of runs
	uint64_t budget; // runs at most
	const struct search_engine *engine;
	uint32_t screen;       // base points of the screening; 0: none; or TUNE_SCREEN_AUTO
	uint32_t parts;	       // searches of their own that the search is made of, at least 1
	uint32_t part;	       // the one that is done here, and nothing behind it; 0: all
	bool is_whole;	       // runs that broke a constraint for good go on to their end
	bool has_off;	       // the last round has a run without the controller, too
	uint32_t search_seeds; // that each candidate of the search meets in its first round
	uint32_t race_seeds;   // that a candidate meets before it may be dropped, at least
	uint32_t fresh_seeds;  // of the last round
	tune_runs_fn *runs;
	void *runs_context;
	tune_progress_fn *progress; // or NULL
	void *progress_context;
	struct tune_store *store;  // or NULL: what was run is not kept
	const char *other_version; // that ran the study, where a reader is of another; else NULL
};

// A setting's costs over blocks: a block is one seed in every scenario of the suite.
struct tune_series {
	uint32_t count;
	double cost[TUNE_BLOCKS_MAX]; // logarithm of the ratio to the default; NAN: a run failed,
				      // or the default's did
	double violation[TUNE_BLOCKS_MAX]; // as in tune_judged, of the worst scenario
	uint32_t breach[TUNE_BLOCKS_MAX];
	double goals[TUNE_GOALS_MAX]; // sums over the blocks: of each goal alone, as cost
	uint32_t limit_count;
	double excess[TUNE_BLOCKS_MAX][TUNE_LIMITS_MAX]; // of the worst scenario, as in tune_judged
};

// What a series comes to.
struct tune_standing {
	uint32_t count, failed; // blocks, and those in which a run failed
	uint32_t unpaired;	// blocks in which the default's run failed, and this one's did not
	double ratio;	  // to the default, geometric mean; NAN: none, or of those that failed not
			  // known
	double low, high; // its interval of confidence; NAN with one block
	double violation; // how far the worst constraint is broken, on the mean; 0: none is
	uint32_t breach;  // that one
};

// What screening says of a knob.
struct tune_index {
	double effect; // mean of what moving it does to the logarithm of the aim and to breaches
	double share, low, high; // total index of Sobol, without noise, and its interval
	double chance;		 // that it does nothing
	uint32_t hidden; // moves at which constraints were broken too far to see what they do
	bool is_flat;	 // it does nothing beyond noise, nor a tenth of the variance: left as it is
};

struct tune_candidate {
	double at[TUNE_KNOBS_MAX];
	char name[TUNE_NAME_BYTES];
	struct tune_series met, fresh; // in search and race; in the last round
	uint32_t number, part, seeds;  // its order; the search that had it last, on so many seeds
	uint32_t screened;	       // seeds that it met before any part began
	uint64_t run;		       // of the study, after which the search knew it; 0: screened
	bool is_raced, is_dropped;     // in the race
};

// What is recommended, rounded, on the fresh seeds.
#define TUNE_ROUNDS_MAX 2
#define TUNE_ROUND_SHARE 0.25
struct tune_rounding {
	enum tune_digits digits;
	struct tune_candidate *candidate;
	struct tune_standing standing;
	double cost, low, high; // over what is recommended, seed by seed: a ratio
	double share;		// of what that buys: 1 takes all of it; NAN: it buys nothing
	bool is_taken;
};

// The last round on a scenario that the search did not see. Each interval holds by itself.
struct tune_holdout {
	struct tune_standing standings[TUNE_FINALISTS]; // of the finalists, in their order
	struct tune_standing round;			// of what is set, if rounded; else count 0
	uint32_t default_breach;			// as in tune_result
	bool is_worse; // what is set: than the default beyond noise, or it breaks a constraint
};

enum tune_verdict {
	TUNE_BETTER,	 // the recommended setting beats the default, or meets what that breaks
	TUNE_NOT_BETTER, // none does beyond chance: the default stays
	TUNE_CONSTANT,	 // no setting changes the aim
	TUNE_INFEASIBLE, // none meets the constraints
	TUNE_UNFINISHED, // not all runs are in the store
	TUNE_PART,	 // a part of the search is done
};

struct tune_result {
	enum tune_verdict verdict;
	uint32_t candidate_count, different; // proposed, and how many were no repeats
	struct tune_candidate **candidates;  // [different], by what was seen in the search
	uint32_t screened;		     // base points; 0: no screening
	struct tune_index indices[TUNE_KNOBS_MAX];
	uint32_t raced, finalist_count;
	struct tune_candidate *finalists[TUNE_FINALISTS]; // by their fresh standing
	struct tune_standing standings[TUNE_FINALISTS];	  // their intervals hold together
	struct tune_candidate *best_seen, *recommended;	  // recommended NULL: the default
	uint32_t default_breach;  // constraint that the default breaks on fresh seeds, as in
				  // tune_judged.breach
	bool is_kept_by_chance;	  // the best one meets it, no more than chance would have it; else
				  // a setting that meets all is better, be it no faster
	uint32_t default_failed;  // fresh seeds on which a run of the default did not end
	uint64_t ended_early;	  // runs: a constraint was broken beyond repair
	uint64_t runs, runs_made; // asked for, and those of them that were not in the store
	struct tune_candidate *off; // without the controller; NULL: was not asked for
	struct tune_standing off_standing;
	double off_chance;	   // that the best finalist and none are as far apart by chance
	double off_cost, off_high; // of none over the best finalist, seed by seed: a ratio, at most
	uint32_t off_same;	   // fresh seeds on which both cost the same
	// What rounding costs: the roundest first, until one costs no more than TUNE_ROUND_SHARE of
	// what is bought, and breaks nothing. 0: nothing is recommended, or it is round.
	uint32_t round_count;
	struct tune_rounding rounds[TUNE_ROUNDS_MAX];
	enum tune_digits digits; // that are taken
	uint32_t holdout_count;	 // that the last round met
	struct tune_holdout holdouts[TUNE_SCENARIOS_MAX];
	bool is_off_best;  // it meets the constraints, and no finalist is better beyond chance, or
			   // by TUNE_OFF_SHARE at most
	bool is_random;	   // seeds change the aim
	bool is_exhausted; // every setting of the space was tried
	double cpu_s;	   // of all runs
};

struct tune;

// A study; NULL without memory. The plan is copied.
struct tune *tune_create(const struct tune_plan *plan);
void tune_free(struct tune *tune);

// Does all of it. -errno with the reason; -EINTR: stopped, and what was run is in the store;
// -ENODATA: plan.runs had not all, and the result is what is known so far.
int tune_run(struct tune *tune, struct refusal *refusal);

// What it came to; valid until tune_free().
const struct tune_result *tune_result(const struct tune *tune);

// The least budget that such a plan can do with.
uint64_t tune_budget_min(const struct tune_plan *plan);

// `confidence` is of the interval, `freedom` is count - 1.
void tune_standing_of(struct tune_standing *ret, const struct tune_series *series,
		      double confidence);

#ifdef __cplusplus
}
#endif
