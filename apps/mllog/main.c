// SPDX-License-Identifier: Apache-2.0
// weft mllog: arguments and files. All of them are read before anything is printed.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

#include "help.h"
#include "mllog.h"
#include "weft-mllog_options.h"
#include <weft/run/outcome.h>

#define LOG_BYTES_MAX ((size_t)1 << 28)
static const struct option_row option_rows[] = {MLLOG_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "log", .least = 1, .most = FILES_MAX};

// ---------------------------------------------------------------- files

static int read_log(struct call *call, struct log_file *file)
{
	struct refusal *refusal = &call->refusal;
	char *text;
	size_t bytes;
	int rc = file_read(file->path, LOG_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = mllog_parse(&file->log, text, bytes, refusal);
	free(text);
	if (rc == 0)
		rc = mllog_figures(&file->figures, &file->log, call->slow_ratio, call->block_steps,
				   refusal);
	if (rc < 0)
		refusal_name(refusal, file->path);
	return rc;
}

static void warn_of_damage(const struct log_file *file)
{
	const struct refusal *first = &file->log.first_damaged;
	char column[16] = "";
	if (file->log.damaged == 0)
		return;
	if (first->column > 0)
		snprintf(column, sizeof(column), ":%u", first->column);
	fprintf(stderr, "weft mllog: warning: %s:%u%s: %s: left out, with %u lines more\n",
		file->path, first->line, column, first->text, file->log.damaged - 1);
}

static int read_all(struct call *call)
{
	int rc = call->result != NULL ? result_read(call) : 0;
	for (uint32_t i = 0; rc == 0 && i < call->count; i++) {
		call->files[i].path = call->paths[i];
		rc = read_log(call, &call->files[i]);
	}
	return rc;
}

static int show(struct call *call)
{
	int rc = read_all(call), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("mllog", &call->refusal, rc);
	for (uint32_t i = 0; i < call->count; i++)
		warn_of_damage(&call->files[i]);
	if (call->wants_ratios) {
		ratios_print(stdout, call);
		return EXIT_SUCCESS;
	}
	if (call->fit != NULL) {
		rc = fit_print(stdout, call);
		return rc < 0 ? outcome_refused("mllog", &call->refusal, rc) : EXIT_SUCCESS;
	}
	(call->is_json ? json_print : table_print)(stdout, call);
	for (uint32_t i = 0; call->within >= 0 && i < call->count; i++) {
		double off = log_file_off(call, &call->files[i]);
		if (fabs(off) <= call->within)
			continue;
		fprintf(stderr, "weft mllog: %s: the result is %+.2f %% off; %.2f %% is allowed\n",
			call->files[i].path, off * 100, call->within * 100);
		status = EXIT_MISSED;
	}
	return status;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	call.slow_ratio = 1.02;
	call.block_steps = 18;
	call.within = -1;
	int rc = command_line_read(&arguments, &call, argc, argv, &call.refusal),
	    status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("mllog", &call.refusal, rc);
	call.within /= 100;
	while (optind < argc)
		call.paths[call.count++] = argv[optind++];
	if (rc == 0)
		status = show(&call);
	for (uint32_t i = 0; i < call.count; i++)
		mllog_free(&call.files[i].log);
	return outcome_end("mllog", status);
}
