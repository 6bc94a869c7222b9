// SPDX-License-Identifier: Apache-2.0
// One call of weft mllog, for the files of this folder: main.c reads arguments and files, table.c
// and json.c print.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/study/mllog.h>

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
