// SPDX-License-Identifier: Apache-2.0
// Figures of logs as JSON, and the one figure that is read of a result. Seconds and shares are
// doubles, as the logs have them.

#include <stdlib.h>

#include <weft/core/check.h>
#include <weft/engine/engine.h>
#include <weft/result/put.h>

#include "mllog.h"

#define RESULT_BYTES_MAX ((size_t)1 << 26)

static json_t *outliers_of(const struct mllog_figures *figures)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < figures->outlier_count; i++) {
		json_t *one = row_in(list);
		put_real(one, "time_s", figures->outliers[i].step->time_s);
		put_real(one, "medians", figures->outliers[i].ratio);
		put_count(one, "line", figures->outliers[i].step->line);
	}
	return list;
}

static void put_kept(json_t *to, const struct mllog_figures *figures)
{
	put_count(to, "kept", figures->kept);
	put_real(to, "kept_median_s", figures->median_s);
	put_real(to, "mean_s", figures->mean_s);
	put_real(to, "min_s", figures->min_s);
	put_real(to, "max_s", figures->max_s);
	put_real(to, "deviation_s", figures->deviation_s);
	put_real(to, "cv", figures->cv);
	put_real(to, "half_width_95", figures->half_width);
	put_count(to, "block_steps", figures->block_steps);
	put_count(to, "blocks", figures->blocks);
	put_real(to, "block_cv", figures->block_cv);
	put_real(to, "block_cv_if_independent", figures->block_cv_if_independent);
	put_real(to, "block_min_s", figures->block_min_s);
	put_real(to, "block_max_s", figures->block_max_s);
	put_real(to, "validation_median_s", figures->validation_median_s);
	put(to, "slow_steps", outliers_of(figures));
}

static json_t *file_of(const struct call *call, const struct log_file *file)
{
	const struct mllog_figures *figures = &file->figures;
	json_t *to = json_object();
	put(to, "file", json_string_nocheck(file->path));
	put(to, "benchmark", json_string(file->log.benchmark));
	put(to, "org", json_string(file->log.org));
	put(to, "platform", json_string(file->log.platform));
	put_count(to, "batch", file->log.batch);
	put_count(to, "micro_batches", file->log.micro_batches);
	put_count(to, "damaged", file->log.damaged);
	put_count(to, "evaluations", file->log.evaluations);
	put_count(to, "records", figures->records);
	put_real(to, "records_median_s", figures->records_median_s);
	put_count(to, "means", figures->means);
	put_count(to, "steps", figures->steps);
	put_real(to, "steps_median_s", figures->steps_median_s);
	put_count(to, "slow", figures->slow);
	put_count(to, "after_evaluation", figures->after_evaluation);
	put_kept(to, figures);
	if (call->result != NULL)
		put_real(to, "result_off", log_file_off(call, file));
	return to;
}

void json_print(FILE *to, const struct call *call)
{
	json_t *root = json_object(), *list = json_array();
	put_count(root, "schema", 1);
	put_real(root, "slow_ratio", call->slow_ratio);
	if (call->result != NULL)
		put_real(root, "result_s", call->result_s);
	for (uint32_t i = 0; i < call->count; i++)
		check(json_array_append_new(list, file_of(call, &call->files[i])) == 0);
	put(root, "logs", list);
	document_print(to, root, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
}

int result_read(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	char *text;
	size_t bytes;
	int rc = file_read(call->result, RESULT_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = mllog_result(&call->result_s, text, bytes, refusal);
	free(text);
	if (rc < 0)
		refusal_name(refusal, call->result);
	return rc;
}
