// SPDX-License-Identifier: Apache-2.0
// One call of weft mllog, for the files of this folder: main.c reads arguments and files, table.c
// and json.c print.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/study/mllog.h>
#include <weft/workload/plan.h>

#define FILES_MAX 64

// One log, read.
struct log_file {
	const char *path;
	struct mllog log;
	struct mllog_figures figures;
};

struct call {
	const char *paths[FILES_MAX];
	uint32_t count;
	struct log_file files[FILES_MAX];
	const char *fit;	   // job whose times are fitted, or NULL
	const char *result;	   // file, or NULL
	double result_s;	   // its step time
	double slow_ratio, within; // `within` is a share; negative: not asked
	uint32_t block_steps;
	bool is_json, wants_ratios;
	struct refusal refusal;
};

// Result against the kept steps' median, as a share of the latter.
static inline double log_file_off(const struct call *call, const struct log_file *file)
{
	return call->result_s / file->figures.median_s - 1;
}

// The step time of a result file. -errno with a reason.
int result_read(struct call *call);

// Fits the times of the job `fit` to the logs, and writes its file with them. -errno with a reason.
int fit_print(FILE *to, struct call *call);

void table_print(FILE *to, const struct call *call);
void ratios_print(FILE *to, const struct call *call);
void json_print(FILE *to, const struct call *call); // json.c

// Times of a job that are fitted to logs: fit.c finds them, fit_file.c writes them.

// One log, and what the fitted times say of its step.
struct fit_log {
	const struct log_file *file;
	struct plan plan; // the job with the log's replicas and micro-batches
	double step_s;	  // as fitted
};

struct fit {
	const struct plan *job;
	struct fit_log logs[FILES_MAX];
	uint32_t count;
	bool has_forward; // from forward-only steps of the logs; else half of the backward
	bool has_other;	  // from logs of different numbers of micro-batches; else the job's
	struct timing timing;
};

// The text of the job's file with the times of `fit` in place of its own. -EINVAL with a reason
// when its times stand in a form that is not edited.
int fit_file_print(FILE *to, const struct fit *fit, const char *path, struct refusal *refusal);
