// SPDX-License-Identifier: Apache-2.0
// weft pcap: arguments, and which verb.

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/run/outcome.h>

#include "analyze/annotate.h"
#include "analyze/judge.h"
#include "analyze/nic.h"
#include "analyze/page.h"
#include "analyze/rows.h"
#include "analyze/timeline.h"
#include "help.h"
#include "pcap.h"
#include "verbs.h"
#include "weft_version.h"

enum {
	OPT_TABLE = 256,
	OPT_JSON,
	OPT_CSV,
	OPT_ROWS,
	OPT_VERSION,
	OPT_ANNOTATE,
	OPT_PROFILE,
	OPT_NIC,
	OPT_BEFORE,
	OPT_AFTER,
	OPT_TRACE,
	OPT_PAGE,
	OPT_FORCE
};

static const struct option longs[] = {
	{"table", no_argument, NULL, OPT_TABLE},
	{"json", no_argument, NULL, OPT_JSON},
	{"csv", no_argument, NULL, OPT_CSV},
	{"rows", required_argument, NULL, OPT_ROWS},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{"annotate", required_argument, NULL, OPT_ANNOTATE},
	{"profile", required_argument, NULL, OPT_PROFILE},
	{"nic", required_argument, NULL, OPT_NIC},
	{"before", required_argument, NULL, OPT_BEFORE},
	{"after", required_argument, NULL, OPT_AFTER},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"page", required_argument, NULL, OPT_PAGE},
	{"force", no_argument, NULL, OPT_FORCE},
	{NULL, 0, NULL, 0},
};

// Options that have a word.
static const char **word_of(struct call *call, int option)
{
	switch (option) {
	case OPT_ROWS:
		return &call->rows;
	case OPT_ANNOTATE:
		return &call->annotate;
	case OPT_PROFILE:
		return &call->profile;
	case OPT_NIC:
		return &call->nic;
	case OPT_BEFORE:
		return &call->before;
	case OPT_AFTER:
		return &call->after;
	case OPT_TRACE:
		return &call->trace;
	case OPT_PAGE:
		return &call->page;
	default:
		return NULL;
	}
}

static int take(struct call *call, int option)
{
	const char **word = word_of(call, option);
	for (const struct option *at = longs; word != NULL && at->name != NULL; at++)
		if (at->val == option)
			return outcome_once(&call->refusal, word, at->name, optarg);
	if (option == OPT_FORCE)
		files_force();
	else if (option == OPT_TABLE)
		call->wants_table = true;
	else if (option == OPT_JSON)
		call->is_json = true;
	else if (option == OPT_CSV)
		call->is_csv = true;
	else if (option == OPT_VERSION)
		call->wants_version = true;
	else
		call->wants_help = true;
	return 0;
}

static bool writes_file(const struct call *call)
{
	return call->annotate != NULL || call->trace != NULL || call->page != NULL;
}

// Options that would have no effect together are errors.
static int check_together(struct call *call)
{
	bool has_nic = call->nic != NULL;
	if (call->wants_table + call->is_json + call->is_csv > 1)
		return outcome_bad_line(&call->refusal, "one of --table, --json and --csv");
	if (has_nic != (call->before != NULL) || has_nic != (call->after != NULL))
		return outcome_bad_line(&call->refusal, "--nic, --before and --after go together");
	if (call->is_csv && (has_nic || call->profile != NULL))
		return outcome_bad_word(&call->refusal,
					"has no place for --nic and --profile:", "--csv");
	if (call->rows != NULL && !call->is_csv)
		return outcome_bad_word(&call->refusal, "needs --csv:", "--rows");
	if (call->rows != NULL && !rows_has(call->rows))
		return outcome_bad_word(
			&call->refusal,
			"streams, connections, dscp, priorities or repairs, not:", call->rows);
	if (files_are_forced() && !writes_file(call))
		return outcome_bad_word(&call->refusal,
					"needs --annotate, --trace or --page:", "--force");
	return 0;
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
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	if ((rc = check_together(call)) < 0)
		return rc;
	if (optind == argc)
		return outcome_bad_line(&call->refusal,
					"what to do is missing: analyze FILE..., say");
	if (strcmp(argv[optind], "analyze") != 0)
		return outcome_bad_word(&call->refusal,
					verb_find(argv[optind]) ? "options stand behind the verb:"
								: "there is no verb",
					argv[optind]);
	for (optind++; optind < argc; optind++) {
		if (call->count == FILES_MAX)
			return outcome_bad_word(&call->refusal, "too many captures, at",
						argv[optind]);
		call->paths[call->count++] = argv[optind];
	}
	if (call->count == 0)
		return outcome_bad_line(&call->refusal, "no capture given");
	return writes_file(call) ? annotate_check(call) : 0;
}

static int print(struct call *call)
{
	int status = EXIT_SUCCESS;
	if (call->profile != NULL && call->is_json)
		return judge_print(stdout, call);
	if (call->is_json)
		json_print(stdout, call);
	else if (call->is_csv)
		rows_print(stdout, call);
	else
		summary_print(stdout, call);
	if (call->wants_table)
		table_print(stdout, call);
	if (call->nic != NULL && !call->is_json && !call->is_csv)
		nic_print(stdout, call);
	if (call->profile != NULL) {
		putchar('\n');
		status = judge_print(stdout, call);
	}
	return status;
}

// An exit status, or -errno with a reason.
static int analyze(struct call *call)
{
	int rc = call->profile != NULL ? judge_read(call) : 0;
	if (rc == 0 && call->nic != NULL)
		rc = nic_read(call);
	if (rc == 0)
		rc = input_read(call);
	if (rc == 0 && call->annotate != NULL)
		rc = annotate_write(call);
	if (rc == 0 && call->trace != NULL)
		rc = timeline_write(call);
	if (rc == 0 && call->page != NULL)
		rc = page_write(call);
	if (rc == 0)
		rc = print(call);
	return rc < 0 ? outcome_refused("pcap", &call->refusal, rc) : rc;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	const struct verb *verb = argc > 1 ? verb_find(argv[1]) : NULL;
	if (verb != NULL)
		return outcome_end("pcap", verb->run(argc - 1, argv + 1));
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("pcap", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = analyze(&call);
	return outcome_end("pcap", status);
}
