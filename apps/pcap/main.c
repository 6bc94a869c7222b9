// SPDX-License-Identifier: Apache-2.0
// weft pcap: arguments, and which verb.

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/near_word.h>
#include <weft/files/files.h>
#include <weft/run/outcome.h>

#include "analyze/analyze.h"
#include "analyze/nic.h"
#include "help.h"
#include "pcap.h"
#include "verbs.h"
#include "weft-pcap_options.h"

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv); // argv[0] is the verb; returns an exit status
} verbs[] = {
	{"anonymize", anonymize_run}, {"capture", capture_run},
	{"diff", diff_run},	      {"gen", gen_run},
	{"replay", replay_run},	      {"send", send_run},
};

// NULL: there is none of that name.
static const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static int refuse_verb(const char *word, struct refusal *refusal)
{
	char what[160] = "options stand behind the verb:";
	size_t used = 0;
	struct near_word near_word = near_word_of(word);
	if (verb_find(word) != NULL)
		return outcome_bad_word(refusal, what, word);
	near_word_see(&near_word, "analyze");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		used += (size_t)snprintf(what + used, sizeof(what) - used, "%s%s",
					 used == 0 ? "the verbs are analyze, " : ", ",
					 verbs[i].name);
		near_word_see(&near_word, verbs[i].name);
	}
	snprintf(what + used, sizeof(what) - used, "; there is no verb");
	return outcome_bad_name(refusal, what, &near_word);
}

static bool writes_file(const struct call *call)
{
	return call->annotate != NULL || call->trace != NULL || call->page != NULL;
}

static const struct option_row option_rows[] = {PCAP_ANALYZE_OPTIONS(struct call), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "capture", .most = UINT32_MAX};

static int parse(struct call *call, int argc, char **argv)
{
	int rc = command_line_read(&arguments, call, argc, argv, &call->refusal);
	if (rc != 0)
		return rc;
	if (files_are_forced() && !writes_file(call))
		return outcome_bad_line(&call->refusal,
					"--force needs --annotate, --trace or --page");
	if (optind == argc)
		return outcome_bad_line(&call->refusal,
					"no verb given: weft pcap analyze FILE, for example");
	if (strcmp(argv[optind], "analyze") != 0)
		return refuse_verb(argv[optind], &call->refusal);
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
	if (call->is_json) {
		json_print(stdout, call);
	} else if (call->is_csv) {
		rows_print(stdout, call);
		files_print(stderr, call, "weft pcap: ");
	} else {
		summary_print(stdout, call);
	}
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
	if (rc == 0)
		status = analyze(&call);
	return outcome_end("pcap", status);
}
