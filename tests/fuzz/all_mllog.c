// SPDX-License-Identifier: Apache-2.0
// Fuzz: any bytes as an MLPerf log. Whatever is accepted has steps that are counted right, and
// figures that are numbers; what is refused has a reason on one line.

#include <math.h>

#include <weft/study/mllog.h>

#include "target.h"

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"0: :::MLLOG {\"key\": \"global_batch_size\", \"value\": 64}\n"
	":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 3.1, "
	"\"reduced_train_loss\": 7}, \"metadata\": {\"step\": 1}}\n"
	":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 3.2, "
	"\"reduced_train_loss\": 7}, \"metadata\": {\"step\": 2}}\n"
	":::MLLOG {\"key\": \"eval_start\", \"value\": null}\n"
	":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 3.3, "
	"\"reduced_train_loss\": 7}, \"metadata\": {\"step\": 3}}\n"
	":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 9}}\n"
	":::MLLOG {\"key\": \"tracked_stats\", \"value\": {\"train_step_time\": 3.15, "
	"\"reduced_train_loss\": 7}, \"metadata\": {\"step\": 4}}\n",
	NULL};
#endif

static void check_figures(const struct mllog *log, uint32_t block_steps)
{
	struct mllog_figures figures;
	struct refusal refusal = {0};
	int rc = mllog_figures(&figures, log, 1.02, block_steps, &refusal);
	if (rc < 0) {
		fuzz_refused(rc, &refusal);
		return;
	}
	check(figures.records == figures.means + figures.steps);
	check(figures.steps == figures.slow + figures.after_evaluation + figures.kept);
	check(figures.kept >= 2 && figures.outlier_count <= MLLOG_OUTLIERS_MAX);
	check(figures.min_s > 0 && figures.min_s <= figures.median_s);
	check(figures.median_s <= figures.max_s && figures.max_s <= 1.02 * figures.steps_median_s);
	check(figures.mean_s >= figures.min_s * 0.999 && figures.mean_s <= figures.max_s * 1.001);
	check(isfinite(figures.cv) && figures.cv >= 0 && isfinite(figures.half_width));
	check(figures.blocks == figures.kept / block_steps);
	for (uint32_t i = 1; i < figures.outlier_count; i++)
		check(figures.outliers[i].ratio <= figures.outliers[i - 1].ratio);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	struct mllog log;
	struct refusal refusal = {0};
	char *text = malloc(bytes + (bytes == 0)); // of this size: a reader beyond the end is seen
	check(text != NULL);
	memcpy(text, data, bytes);
	int rc = mllog_parse(&log, text, bytes, &refusal);
	free(text);
	if (rc < 0) {
		fuzz_refused(rc, &refusal);
		return;
	}
	check(log.step_count > 0 && log.entries <= log.lines);
	for (uint32_t i = 0; i < log.step_count; i++)
		check(log.steps[i].time_s > 0 && log.steps[i].line <= log.lines);
	check_figures(&log, 1);
	check_figures(&log, 3);
	mllog_free(&log);
}
