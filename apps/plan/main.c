// SPDX-License-Identifier: Apache-2.0
// weft plan: arguments, and what they say as a plan.

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "plan.h"
#include "weft_version.h"
#include <weft/run/outcome.h>
#include <weft/run/plan_files.h>

enum {
	OPT_SET = 256,
	OPT_ORDER,
	OPT_DOMAIN,
	OPT_TRAY,
	OPT_LIST,
	OPT_KEYS,
	OPT_JSON,
	OPT_IMPORT,
	OPT_VERSION
};

#define GPUS_MAX 1000000

static const struct option longs[] = {
	{"set", required_argument, NULL, OPT_SET},
	{"order", required_argument, NULL, OPT_ORDER},
	{"domain", required_argument, NULL, OPT_DOMAIN},
	{"tray", required_argument, NULL, OPT_TRAY},
	{"list", no_argument, NULL, OPT_LIST},
	{"list-keys", no_argument, NULL, OPT_KEYS},
	{"json", no_argument, NULL, OPT_JSON},
	{"import", required_argument, NULL, OPT_IMPORT},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int take_gpus(struct call *call, uint32_t *to, const char *word)
{
	char *end;
	unsigned long value = strtoul(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || value < 1 || value > GPUS_MAX)
		return outcome_bad_word(&call->refusal,
					"a domain or a tray has 1 to 1000000 GPUs, not", word);
	*to = (uint32_t)value;
	return 0;
}

static int take(struct call *call, int option, const char *word)
{
	switch (option) {
	case OPT_SET:
		if (call->set_count == SETS_MAX)
			return outcome_bad_word(&call->refusal, "too many --set, at", word);
		call->sets[call->set_count++] = word;
		return 0;
	case OPT_ORDER:
		return outcome_once(&call->refusal, &call->order_text, "--order", word);
	case OPT_DOMAIN:
		return take_gpus(call, &call->seats.gpus_per_domain, word);
	case OPT_TRAY:
		return take_gpus(call, &call->seats.gpus_per_tray, word);
	case OPT_IMPORT:
		call->import = word;
		return 0;
	case OPT_LIST:
		call->wants_list = true;
		return 0;
	case OPT_KEYS:
		call->wants_keys = true;
		return 0;
	case OPT_JSON:
		call->wants_json = true;
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
		if (option != OPT_SET &&
		    (rc = outcome_first(&call->refusal, seen, longs, option)) < 0)
			return rc;
		if ((rc = take(call, option, optarg)) < 0)
			return rc;
	}
	if (optind < argc)
		call->name = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(&call->refusal, "one plan at a time; what is",
					argv[optind]);
	if (call->wants_json && (call->wants_list || call->wants_keys))
		return outcome_bad_word(&call->refusal, "lists have no JSON: drop", "--json");
	if (call->wants_help || call->wants_version)
		return 0;
	if (call->wants_list || call->wants_keys)
		return outcome_alone(&call->refusal, call->wants_list ? "--list" : "--list-keys",
				     argc, argv);
	if (call->import != NULL)
		return argc == 3 || (argc == 2 && strchr(argv[1], '=') != NULL)
			? 0
			: outcome_bad_word(&call->refusal, "--import FILE goes alone; what is",
					   argv[argc - 1]);
	if (call->name == NULL)
		return outcome_bad_line(&call->refusal, "no plan given");
	return 0;
}

// ---------------------------------------------------------------- the plan

static void place(struct call *call, const char *file, uint32_t line)
{
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", file);
	call->refusal.line = line;
}

static int make(struct call *call)
{
	struct refusal *refusal = &call->refusal;
	const struct plan *from = NULL;
	int rc = 0;
	if (strcmp(call->name, "custom") != 0)
		rc = plan_files_find(&from, call->name, NULL, refusal);
	if (rc < 0)
		return rc;
	plan_begin(&call->draft, from);
	for (uint32_t i = 0; i < call->set_count; i++) {
		rc = plan_set(&call->draft, call->sets[i], refusal);
		if (rc < 0) {
			place(call, "--set", i + 1);
			return rc;
		}
	}
	rc = plan_check(&call->draft.plan, refusal);
	if (rc < 0) {
		place(call, call->name, 0);
		return rc;
	}
	const char *order = call->order_text != NULL ? call->order_text
						     : call->draft.plan.parallel.order;
	rc = order_parse(&call->order, order, &call->draft.plan, refusal);
	if (rc < 0)
		place(call, "--order", 1);
	return rc;
}

static void list_one(const struct plan *plan, void *context)
{
	(void)context;
	printf("%-38s %6u ranks of %s\n", plan->name, plan_ranks(plan), plan->architecture->name);
}

static int list_plans(struct call *call)
{
	if (plan_files_each(list_one, NULL, &call->refusal) < 0)
		return outcome_refused("plan", &call->refusal, -EINVAL);
	return EXIT_SUCCESS;
}

static void list_keys(void)
{
	for (const struct plan_key *key = plan_keys(); key->name != NULL; key++)
		printf("%-26s %s\n", key->name, key->text);
}

static int show(struct call *call)
{
	if (make(call) < 0)
		return outcome_refused("plan", &call->refusal, -EINVAL);
	(call->wants_json ? json_print : table_print)(stdout, call);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call = {.seats = {64, 4}};
	int status = EXIT_SUCCESS;
	if (parse(&call, argc, argv) < 0)
		return outcome_refused("plan", &call.refusal, -EINVAL);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else if (call.wants_list)
		status = list_plans(&call);
	else if (call.import != NULL)
		status = import_config(stdout, call.import, &call.refusal) < 0
			? outcome_refused("plan", &call.refusal, -EINVAL)
			: EXIT_SUCCESS;
	else if (call.wants_keys)
		list_keys();
	else
		status = show(&call);
	return outcome_end("plan", status);
}
