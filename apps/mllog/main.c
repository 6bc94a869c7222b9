// SPDX-License-Identifier: Apache-2.0
// weft mllog: arguments and files. All of them are read before anything is printed.

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>

#include "help.h"
#include "mllog.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

#define LOG_BYTES_MAX ((size_t)1 << 28)
#define BLOCK_MAX 100000

enum { OPT_SLOW = 256, OPT_BLOCK, OPT_RESULT, OPT_WITHIN, OPT_JSON, OPT_RATIOS, OPT_VERSION };

static const struct option longs[] = {
	{"slow", required_argument, NULL, OPT_SLOW},
	{"block", required_argument, NULL, OPT_BLOCK},
	{"result", required_argument, NULL, OPT_RESULT},
	{"within", required_argument, NULL, OPT_WITHIN},
	{"json", no_argument, NULL, OPT_JSON},
	{"ratios", no_argument, NULL, OPT_RATIOS},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// A number from `min` to `max`, and nothing behind it.
static int take_number(struct call *call, double *to, const char *word, double min, double max)
{
	char *end, what[96];
	double value = strtod(word, &end);
	bool is_plain = strspn(word, "0123456789.") == strlen(word) && word[0] != '\0';
	snprintf(what, sizeof(what), "a number from %g to %g is needed, not", min, max);
	if (!is_plain || *end != '\0' || !(value >= min && value <= max))
		return outcome_bad_word(&call->refusal, what, word);
	*to = value;
	return 0;
}

static int take_block(struct call *call, const char *word)
{
	double value;
	int rc = take_number(call, &value, word, 1, BLOCK_MAX);
	if (rc == 0 && value != floor(value))
		return outcome_bad_word(&call->refusal, "a block is a whole number of steps, not",
					word);
	call->block_steps = rc == 0 ? (uint32_t)value : 0;
	return rc;
}

static int take_within(struct call *call, const char *word)
{
	int rc = take_number(call, &call->within, word, 0, 1000);
	call->within /= 100;
	return rc;
}

static int take(struct call *call, int option, const char *word)
{
	switch (option) {
	case OPT_SLOW:
		return take_number(call, &call->slow_ratio, word, 1, 1000);
	case OPT_BLOCK:
		return take_block(call, word);
	case OPT_WITHIN:
		return take_within(call, word);
	case OPT_RESULT:
		return outcome_once(&call->refusal, &call->result, "--result", word);
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_RATIOS:
		call->wants_ratios = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

static int parse(struct call *call, int argc, char **argv)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if ((rc = outcome_first(&call->refusal, seen, longs, option)) < 0)
			return rc;
		if ((rc = take(call, option, optarg)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	for (; optind < argc; optind++) {
		if (call->count == FILES_MAX)
			return outcome_bad_word(&call->refusal, "too many logs, at", argv[optind]);
		call->paths[call->count++] = argv[optind];
	}
	if (call->count == 0)
		return outcome_bad_line(&call->refusal, "no log given");
	if (call->wants_ratios && (call->is_json || call->result != NULL))
		return outcome_bad_word(&call->refusal,
					"goes without --json and --result:", "--ratios");
	if (call->within >= 0 && call->result == NULL)
		return outcome_bad_word(&call->refusal, "needs --result:", "--within");
	return 0;
}

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
		snprintf(refusal->file, sizeof(refusal->file), "%s", file->path);
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
	(call->is_json ? json_print : table_print)(stdout, call);
	for (uint32_t i = 0; call->within >= 0 && i < call->count; i++) {
		double off = log_file_off(call, &call->files[i]);
		if (fabs(off) <= call->within)
			continue;
		fprintf(stderr, "weft mllog: %s: the result is %+.2f %% off, allowed are %.2f %%\n",
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
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("mllog", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = show(&call);
	for (uint32_t i = 0; i < call.count; i++)
		mllog_free(&call.files[i].log);
	return outcome_end("mllog", status);
}
