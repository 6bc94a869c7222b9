// SPDX-License-Identifier: Apache-2.0
// Step times of real training runs, read from the logs that MLPerf submissions carry: lines with
// ":::MLLOG " and a JSON object behind it, among any other output of the job.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLLOG_TEXT_BYTES 64
#define MLLOG_OUTLIERS_MAX 8

// One record with a train_step_time.
struct mllog_step {
	double time_s;
	double number; // metadata.step as the log counts it (steps, or samples); -1 when it has
		       // none
	uint32_t line;		  // of the file, counted from 1
	bool is_mean;		  // the mean over a block of steps: no step of its own
	bool is_after_evaluation; // the first step after one
};

struct mllog {
	char benchmark[MLLOG_TEXT_BYTES], org[MLLOG_TEXT_BYTES], platform[MLLOG_TEXT_BYTES];
	uint32_t batch;		      // global batch size in samples; 0 = not in the log
	uint32_t micro_batches;	      // gradient accumulation steps; 0 = not in the log
	uint32_t lines, entries;      // lines of the file, and how many of them are of the log
	uint32_t damaged;	      // lines of the log that say nothing: left out
	struct refusal first_damaged; // why, of the first one; without a file
	uint32_t evaluations;
	uint32_t step_count;
	struct mllog_step *steps; // [step_count], owned
	uint32_t validation_count;
	double *validations_s; // [validation_count] forward-only steps, owned
};

// Reads a log, which need not end with NUL. A line of the log that is no JSON object or has no key,
// a time that is not a positive number: left out, counted, and the first one named. -EINVAL with
// line, column and reason: steps that do not count upwards (logs of several ranks in one file), no
// step time at all - with the first damaged line, where there is one; -ENOMEM. `ret` needs
// mllog_free() only after 0.
int mllog_parse(struct mllog *ret, const char *text, size_t bytes, struct refusal *refusal);
void mllog_free(struct mllog *log);

// Reads the time of a step, in seconds, from what `weft sim --fidelity model --json` printed: JSON
// that need not end with NUL. -EINVAL with a reason, and with line and column where it is no JSON.
int mllog_result(double *ret_step_s, const char *text, size_t bytes, struct refusal *refusal);

// A step that took far longer than the others.
struct mllog_outlier {
	const struct mllog_step *step;
	double ratio; // to the median of all steps
};

struct mllog_figures {
	uint32_t records, means; // records with a step time, and those of them that are means
	double records_median_s; // over all of them, means too
	uint32_t steps;		 // records - means
	double steps_median_s;
	// what is left out: steps over `slow_ratio` medians, and of the others the first after an
	// evaluation
	uint32_t slow, after_evaluation;
	double slow_ratio;
	// what is kept
	uint32_t kept;
	double mean_s, median_s, deviation_s, min_s, max_s;
	double cv;	   // deviation / mean
	double half_width; // of the mean at 95 %, as a share of it, if steps were independent
	// means over consecutive kept steps
	uint32_t block_steps, blocks;
	double block_cv;		 // deviation of block means / mean; NAN with fewer than 2
	double block_cv_if_independent;	 // cv / sqrt(block_steps)
	double block_min_s, block_max_s; // NAN without blocks
	double validation_median_s;	 // NAN when there is none
	uint32_t outlier_count;		 // at most MLLOG_OUTLIERS_MAX, the longest first
	struct mllog_outlier outliers[MLLOG_OUTLIERS_MAX];
};

// Whether a step counts for the mean.
bool mllog_is_kept(const struct mllog_figures *figures, const struct mllog_step *step);

// Works the figures out. `slow_ratio` > 1, `block_steps` > 0. -EINVAL with a reason when fewer than
// 2 steps are kept; -ENOMEM.
int mllog_figures(struct mllog_figures *ret, const struct mllog *log, double slow_ratio,
		  uint32_t block_steps, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
