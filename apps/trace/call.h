// SPDX-License-Identifier: Apache-2.0
// One call of weft trace, for the files of this folder: main.c reads arguments,
// ../run/trace_files.c the files, table.c and json.c print.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/trace/trace.h>

#include <weft/run/export.h>

struct call {
	char *const *paths;
	uint32_t path_count;
	enum trace_format format; // TRACE_FORMAT_COUNT: that of the first file
	bool skips_damaged, is_json;
	enum export_form export; // EXPORT_NONE: count
	const char *out;	 // folder, or NULL
	uint32_t ranks;		 // 0: the trace tells
	const char *fit;	 // a job whose times are found, or NULL
	struct trace_set set;
	struct trace_count count;
	struct refusal refusal;
};

// Writes the file of the job call->fit with times of the traces.
int fit_print(FILE *to, struct call *call);

void table_print(FILE *to, const struct call *call);
void json_print(FILE *to, const struct call *call);
