// SPDX-License-Identifier: Apache-2.0
// weft top: a host in wall time while its run goes.

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/run/outcome.h>

#include "help.h"
#include "top.h"
#include "weft_version.h"

#define CLEAR "\033[H\033[J"

enum { OPT_INTERVAL = 256, OPT_ONCE, OPT_VERSION };

static const struct option longs[] = {
	{"interval", required_argument, NULL, OPT_INTERVAL},
	{"once", no_argument, NULL, OPT_ONCE},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

struct choice {
	const char *host; // or NULL
	double interval_s;
	bool is_once, wants_help, wants_version;
};

static int take(struct choice *choice, int option, struct refusal *refusal)
{
	char *end;
	switch (option) {
	case OPT_INTERVAL:
		choice->interval_s = strtod(optarg, &end);
		if (end == optarg || *end != '\0' ||
		    !(choice->interval_s >= 0.1 && choice->interval_s <= 3600))
			return outcome_bad_word(refusal, "seconds from 0.1 to 3600 are needed, not",
						optarg);
		return 0;
	case OPT_ONCE:
		choice->is_once = true;
		return 0;
	case OPT_VERSION:
		choice->wants_version = true;
		return 0;
	default:
		choice->wants_help = true;
		return 0;
	}
}

static int parse(struct choice *ret, int argc, char **argv, struct refusal *refusal)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	*ret = (struct choice){.interval_s = 1};
	opterr = 0;
	for (;;) {
		int option = getopt_long(argc, argv, "h", longs, NULL);
		if (option == -1)
			break;
		if (option == '?')
			return outcome_bad_word(
				refusal, "unknown option or missing value:", argv[optind - 1]);
		int rc = outcome_first(refusal, seen, longs, option);
		if (rc == 0)
			rc = take(ret, option, refusal);
		if (rc < 0)
			return rc;
	}
	if (optind < argc)
		ret->host = argv[optind++];
	if (optind < argc)
		return outcome_bad_word(refusal, "one host at a time; what is", argv[optind]);
	return 0;
}

static void pass(double s)
{
	const struct timespec time = {.tv_sec = (time_t)s,
				      .tv_nsec = (long)((s - (double)(time_t)s) * 1e9)};
	nanosleep(&time, NULL);
}

// Look after look, each against the one before.
static int watch(const struct choice *choice, struct asked *asked, struct refusal *refusal)
{
	struct look before, now;
	bool is_terminal = isatty(STDOUT_FILENO);
	if (!asked_look(asked, &before))
		return refuse(refusal, -ENODEV,
			      "this host does not answer: its run has not begun, or "
			      "it is over");
	do {
		pass(choice->interval_s);
		if (!asked_look(asked, &now))
			break;
		fputs(is_terminal && !choice->is_once ? CLEAR : "", stdout);
		table_print(stdout, &before, &now);
		look_drop(&before);
		before = now;
	} while (!choice->is_once);
	look_drop(&before);
	return 0;
}

int main(int argc, char **argv)
{
	struct choice choice;
	struct refusal refusal = {0};
	struct asked asked;
	int rc = parse(&choice, argc, argv, &refusal);
	if (rc < 0)
		return outcome_refused("top", &refusal, rc);
	if (choice.wants_help)
		fputs(help_text, stdout);
	else if (choice.wants_version)
		puts(WEFT_VERSION_TEXT);
	else {
		rc = asked_open(&asked, choice.host, &refusal);
		if (rc == 0) {
			rc = watch(&choice, &asked, &refusal);
			asked_close(&asked);
		}
	}
	return rc < 0 ? outcome_refused("top", &refusal, rc) : outcome_end("top", EXIT_SUCCESS);
}
