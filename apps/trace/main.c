// SPDX-License-Identifier: Apache-2.0
// weft trace: arguments. All files are read before anything is printed.

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>

#include "call.h"
#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>
#include <weft/run/trace_files.h>

enum {
	OPT_FORMAT = 256,
	OPT_JSON,
	OPT_EXPORT,
	OPT_OUT,
	OPT_FORCE,
	OPT_RANKS,
	OPT_SKIP,
	OPT_VERSION
};

#define RANKS_MAX 1000000ul
// A ring in GOAL: one channel, and NCCL's chunks of 2 MiB in two slices with 4 credits.
#define RINGS \
	{ \
		.channels = 1, .chunk_bytes_max = 2u << 20, .slices = 2, .credits = 4 \
	}

static const struct option longs[] = {
	{"format", required_argument, NULL, OPT_FORMAT},
	{"json", no_argument, NULL, OPT_JSON},
	{"export", required_argument, NULL, OPT_EXPORT},
	{"out", required_argument, NULL, OPT_OUT},
	{"force", no_argument, NULL, OPT_FORCE},
	{"ranks", required_argument, NULL, OPT_RANKS},
	{"skip-damaged", no_argument, NULL, OPT_SKIP},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int take_ranks(struct call *call, const char *word)
{
	char *end;
	unsigned long value = strtoul(word, &end, 10);
	if (strspn(word, "0123456789") != strlen(word) || *end != '\0' || value == 0 ||
	    value > RANKS_MAX)
		return outcome_bad_word(&call->refusal, "ranks are a number from 1 to 1000000, not",
					word);
	call->ranks = (uint32_t)value;
	return 0;
}

static int take(struct call *call, int option, const char *word)
{
	switch (option) {
	case OPT_FORMAT:
		call->format = trace_format_find(word);
		return call->format == TRACE_FORMAT_COUNT
			? outcome_bad_word(&call->refusal, "there is no format", word)
			: 0;
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_EXPORT:
		call->export = export_find(word);
		return call->export == EXPORT_NONE
			? outcome_bad_word(&call->refusal, "there is no export", word)
			: 0;
	case OPT_OUT:
		call->out = word;
		return 0;
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_RANKS:
		return take_ranks(call, word);
	case OPT_SKIP:
		call->skips_damaged = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

// Options that belong together.
static int check(struct call *call)
{
	bool is_export = call->export != EXPORT_NONE;
	if (is_export && call->out == NULL)
		return outcome_bad_word(&call->refusal, "needs --out:", "--export");
	if (!is_export && (call->out != NULL || call->ranks > 0))
		return outcome_bad_word(&call->refusal,
					"needs --export:", call->out != NULL ? "--out" : "--ranks");
	if (!is_export && files_are_forced())
		return outcome_bad_word(&call->refusal, "needs --export and --out:", "--force");
	return is_export && call->is_json
		? outcome_bad_word(&call->refusal, "has no effect with --export:", "--json")
		: 0;
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
	call->paths = argv + optind;
	call->path_count = (uint32_t)(argc - optind);
	return call->path_count > 0 ? check(call)
				    : outcome_bad_line(&call->refusal, "no file given");
}

static int show(struct call *call)
{
	static const struct export_rings rings = {RINGS, 1};
	int rc = trace_files_read(&call->set, call->paths, call->path_count, call->format,
				  call->skips_damaged, &call->refusal);
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
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("trace", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = show(&call);
	trace_count_free(&call.count);
	trace_set_free(&call.set);
	return outcome_end("trace", status);
}
