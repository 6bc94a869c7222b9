// SPDX-License-Identifier: Apache-2.0
// weft trace: arguments. All files are read before anything is printed.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>

#include "call.h"
#include "help.h"
#include "weft-trace_options.h"
#include <weft/run/outcome.h>
#include <weft/run/trace_files.h>

// A ring in GOAL: one channel, and NCCL's chunks of 2 MiB in two slices with 4 credits.
#define RINGS \
	{ \
		.channels = 1, .chunk_bytes_max = 2u << 20, .slices = 2, .credits = 4 \
	}

static const struct option_row option_rows[] = {TRACE_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "file", .least = 1, .most = UINT32_MAX};

static int show(struct call *call)
{
	static const struct export_rings rings = {RINGS, 1};
	if (call->fit != NULL) {
		int rc = fit_print(stdout, call);
		return rc < 0 ? outcome_refused("trace", &call->refusal, rc) : EXIT_SUCCESS;
	}
	int rc = trace_files_read(&call->set, call->paths, call->path_count, call->format,
				  call->skips_damaged, memory_available_bytes(), &call->refusal);
	if (rc == 0 && call->export != EXPORT_NONE)
		rc = export_write(&call->set, call->export, call->out, call->ranks, &rings,
				  &call->refusal);
	if (rc == 0 && trace_count(&call->count, &call->set) < 0)
		rc = refuse(&call->refusal, -ENODEV, "no memory to count the nodes");
	if (rc < 0)
		return outcome_refused("trace", &call->refusal, rc);
	trace_files_warn("trace", &call->set);
	(call->is_json ? json_print : table_print)(stdout, call);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct call call = {.format = TRACE_FORMAT_COUNT};
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("trace", &call.refusal, rc);
	call.paths = argv + optind;
	call.path_count = (uint32_t)(argc - optind);
	if (rc == 0)
		status = show(&call);
	trace_count_free(&call.count);
	trace_set_free(&call.set);
	return outcome_end("trace", status);
}
