// SPDX-License-Identifier: Apache-2.0
// A study's inside, for the files that measure, show and write it.
//
//   study.c         plan and runs            study_figures.c  what is taken of a run
//   study_show.c    the tables               study_flat.c     which swept keys change nothing
//   study_write.c   JSON and CSV             spread.c         statistics
#pragma once

#include <jansson.h>

#include <weft/study/report_study.h>

#include <weft/result/number.h>
#include <weft/study/report_spread.h>
#include <weft/study/run_diff.h>

enum study_unit { STUDY_RATE, STUDY_TIME, STUDY_COUNT, STUDY_BYTES, STUDY_SHARE, STUDY_FACTOR };

// One figure of a run. Rates are bits per second, times seconds.
struct study_figure {
	const char *name;  // as a JSON key
	const char *title; // as a table's head
	enum study_unit unit;
	bool is_head;					// of the short table
	double (*of)(const struct report_input *input); // NAN: this run has none
	const char *missing;				// why; NULL: each run has one
	const struct figure_row *row;			// of the table of figures; no `of` then
};

// All of them, [study_figure_count()].
const struct study_figure *study_figure(uint32_t index);
uint32_t study_figure_count(void);

// What it comes to in a run; NAN: this run has none.
double study_figure_of(const struct study_figure *figure, const struct report_input *input);

// "397.1 Gb/s", "-" for NAN.
const char *study_number(struct text *ret, enum study_unit unit, double value);

struct report_study {
	struct study_plan plan;
	const char *version, *command;
	char scenario[SCENARIO_NAME_BYTES];
	uint32_t variant_count;
	struct scenario_variant variants[SCENARIO_VARIANTS_MAX];
	uint32_t expectation_count;
	struct scenario_expect expectations[SCENARIO_EXPECTATIONS_MAX];
	uint32_t points, taken, complete, imprecise;
	struct study_run *runs; // [points * plan.seeds], by point, then seed
	bool *is_taken;		// of each
	bool has[STUDY_FIGURES_MAX], has_other[STUDY_FIGURES_MAX]; // any value; any but 0
	double *row, *other; // [plan.seeds] values of a figure over the seeds
};

// Run of point and seed; NULL: it was not taken.
const struct study_run *study_run_at(const struct report_study *study, uint32_t point,
				     uint32_t seed);

// The values of a figure over the seeds, NAN where a run has none, is not complete or was not
// taken, into `ret`: [plan.seeds].
void study_values(const struct report_study *study, uint32_t point, uint32_t figure, double *ret);

// Complete runs of a point.
uint32_t study_complete_at(const struct report_study *study, uint32_t point);

// Bit of each warning (world_warning.h) about the worlds of a point.
uint32_t study_warned_at(const struct report_study *study, uint32_t point);

// Why `figure` has no value at `point`, where it has none.
const char *study_missing(const struct report_study *study, uint32_t point, uint32_t figure);

// Why it has none in a run, or in all of them.
const char *study_missing_in(const struct study_run *run, uint32_t figure);
const char *study_missing_all(const struct report_study *study, uint32_t figure);

// Whether `figure` has a value in any complete run, and whether that is 0 in all that have one.
bool study_has(const struct report_study *study, uint32_t figure);
bool study_is_zero(const struct report_study *study, uint32_t figure);

// A figure's spread at a point, and how far from the first point's it is; so many of these hold
// together.
uint32_t study_comparisons(const struct report_study *study);
void study_spread(const struct report_study *study, uint32_t point, uint32_t figure,
		  struct spread_figures *ret);
void study_difference(const struct report_study *study, uint32_t point, uint32_t figure,
		      struct spread_difference *ret);

// Name of a point, as study_point_name(); and without the keys: "roce-8 64KiB".
void study_name(const struct report_study *study, uint32_t point, char ret[STUDY_NAME_BYTES]);
void study_label(const struct report_study *study, uint32_t point, char ret[STUDY_NAME_BYTES]);

// study_best.c. The point that is done first, and a picture of one or two keys. Nothing without
// sweeps, and of variants.
void study_best_lines(FILE *to, const struct report_study *study);

// ---------------------------------------------------------------- expectations

// What an expectation came to over the runs of the points that it is of.
struct study_expected {
	const char *name, *variant;
	enum expect_measure measure;
	struct spread_figures expected, measured;
	uint32_t runs, inside;
};

void study_expected(const struct report_study *study, uint32_t index, struct study_expected *ret);

// ---------------------------------------------------------------- swept keys

enum study_flatness {
	STUDY_UNKNOWN, // too few runs finished
	STUDY_CHANGES, // a figure differs
	STUDY_NOISE,   // figures differ, none of them beyond what chance would do
	STUDY_FLAT,    // no figure differs, though packets moved otherwise
	STUDY_NOTHING, // the digest is the same, and so is every figure
};

// What sweep `sweep` changes, with everything else as it was: each seed against itself.
enum study_flatness study_flatness_of(const struct report_study *study, uint32_t sweep);
const char *study_flatness_name(enum study_flatness flatness);

// The two kinds of results that are compared, and the rows that they are compared in.

// A new row, all of it nothing; NULL without memory.
struct run_diff_row *run_diff_add(struct run_diff *run_diff);

// Field by field, but for what is about the machine that ran it. -ENOMEM.
int run_diff_runs(struct run_diff *ret, const json_t *a, const json_t *b);

// Figure by figure over the seeds, of each point that both have. -ENOMEM.
int run_diff_studies(struct run_diff *ret, const json_t *a, const json_t *b);
