// SPDX-License-Identifier: Apache-2.0
// A study: runs of one scenario with other seeds, as its variants, with swept keys. What they came
// to, with the spread over the seeds, as text, JSON and CSV (docs/result.md). Floating point is
// allowed here.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/result/number.h>
#include <weft/result/report.h>

#define STUDY_SWEEPS_MAX 8
#define STUDY_VALUES_MAX 64
#define STUDY_POINTS_MAX 1024
#define STUDY_SEEDS_MAX 10000
#define STUDY_FIGURES_MAX 48
#define STUDY_NAME_BYTES 128

// A key of the scenario and the values that it takes, one after the other.
struct study_sweep {
	const char *key; // "queue.bytes"
	uint32_t count;
	const char *values[STUDY_VALUES_MAX]; // "64KiB"
};

// What is run. Place p of the grid is variant p % variants of grid point p / variants; of the
// grid's keys the last one goes round first. Points are the places that are kept: in the others the
// values do not go together.
struct study_plan {
	uint64_t seed_first; // seed i is seed_first + i
	uint32_t seeds;	     // 1: there is no spread
	uint32_t variants;   // 1 for a scenario without
	uint32_t sweep_count;
	struct study_sweep sweeps[STUDY_SWEEPS_MAX];
	const uint32_t *kept; // [kept_count] places in the grid, rising; NULL: all of them
	uint32_t kept_count;
	const char *left_out_why; // of the first place that is not kept
};

// One run, as plain data: it may come from another process.
struct study_run {
	uint32_t point, seed; // index
	uint64_t digest;
	bool is_complete;	// else the figures are not used
	bool is_interrupted;	// it is as if it had not been begun
	bool is_sample, is_mrc; // a part of the job ran; else RoCEv2
	bool is_imprecise;	// a collective has no time: report_imprecise()
	int dead;		// not 0: exit status of a process that left nothing but `end`
	char end[160];		// why it ended
	uint32_t passed; // bound that it was seen beyond, counted from 1 by who set it; 0: none
	double passed_s, passed_value;	   // when, and how far it had come
	double cpu_s;			   // what the run took
	uint32_t warned;		   // bit of each warning about its world (world_warning.h)
	double figures[STUDY_FIGURES_MAX]; // NAN: this run has none
	double expected[SCENARIO_EXPECTATIONS_MAX];
	double measured[SCENARIO_EXPECTATIONS_MAX]; // NAN where the expectation is of another
						    // variant
};

struct report_study;

#ifdef __cplusplus
extern "C" {
#endif

// Places of a plan's grid, at most 2^64 - 1; more than STUDY_POINTS_MAX are too many. And its
// points.
uint64_t study_places(const struct study_plan *plan);
uint64_t study_points(const struct study_plan *plan);

// The place of a point, and the point at a place; UINT32_MAX: it is left out.
uint32_t study_place(const struct study_plan *plan, uint32_t point);
uint32_t study_point_at(const struct study_plan *plan, uint32_t place);

// Which value sweep `sweep` has at `point`, and which variant it is (from 0).
uint32_t study_value_at(const struct study_plan *plan, uint32_t point, uint32_t sweep);
uint32_t study_variant_at(const struct study_plan *plan, uint32_t point);

// "roce-8 queue.bytes=64KiB", cut to `bytes`; "all" where there is one point alone. `scenario`
// names the variants, if it is not of one of them itself.
void study_point_name(const struct study_plan *plan, const struct scenario *scenario,
		      uint32_t point, char *ret, size_t bytes);

// A study without runs, of a scenario whose variants and expectations are copied; what `plan`
// points to stays the caller's. NULL: no memory.
struct report_study *report_study_create(const struct study_plan *plan,
					 const struct scenario *scenario, const char *version,
					 const char *command);
void report_study_free(struct report_study *study);

// What a run came to. `point` and `seed` are the caller's to fill.
void report_study_measure(struct study_run *ret, const struct report_input *input);

// What a figure will not be below when the run ends, which has got as far as `input`; NAN: nothing
// can be said.
double report_study_so_far(uint32_t figure, const struct report_input *input);

// What a figure will not be above when the run ends, which has got as far as `input`; NAN: nothing
// can be said. Known of flows: goodput_bps and fairness. And what it cannot be above in any run of
// that world; INFINITY: it is not known.
double report_study_at_most(uint32_t figure, const struct report_input *input);
double report_study_limit(uint32_t figure, const struct world *world);

// The figures of a run, by their place in study_run.figures: how many there are, their names, which
// has a name that is among them, whether more is better, and a value with its unit ("-" for NAN).
uint32_t report_study_figures(void);
const char *report_study_figure_name(uint32_t figure);
uint32_t report_study_figure_named(const char *name);
bool report_study_figure_is_gain(uint32_t figure);
const char *report_study_figure_text(struct text *ret, uint32_t figure, double value);

// Takes a run, once for each point and seed. One that was interrupted is left out.
void report_study_take(struct report_study *study, const struct study_run *run);

// Keeps `count` of its points, rising, at least one, and their runs; no run of the others has come
// to its end. `places` [count] are theirs in the grid; these and `why`, of the first that is not
// kept, stay the caller's.
void report_study_keep(struct report_study *study, const uint32_t *points, uint32_t count,
		       const uint32_t *places, const char *why);

// Runs that were taken, and those of them that came to their end.
uint32_t report_study_taken(const struct report_study *study);
uint32_t report_study_complete(const struct report_study *study);

// Runs in which a collective's stated error is too large for a time.
uint32_t report_study_imprecise(const struct report_study *study);

// Whether each run that came to its end is as the scenario expects.
bool report_study_is_expected(const struct report_study *study);

// For people; a short table has goodput and times alone.
void report_study_table(FILE *to, const struct report_study *study, bool is_short);

// -errno when the stream does not take it.
int report_study_json(FILE *to, const struct report_study *study);

// Writes study.json, study.csv and runs.csv into the folder `dir`, which exists. As report_write().
int report_study_write(const struct report_study *study, const char *dir, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
