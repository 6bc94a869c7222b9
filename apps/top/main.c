// SPDX-License-Identifier: Apache-2.0
// weft top: a host in wall time while its run goes.

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <weft/run/outcome.h>

#include "help.h"
#include "top.h"
#include "weft-top_options.h"

#define CLEAR "\033[H\033[J"

struct choice {
	double interval_s;
	bool is_once;
};

static const struct option_row option_rows[] = {TOP_OPTIONS(struct choice), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "host", .most = 1};

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
	struct choice choice = {.interval_s = 1};
	struct refusal refusal = {0};
	struct asked asked;
	int rc = command_line_read(&arguments, &choice, argc, argv, &refusal);
	if (rc == 0)
		rc = asked_open(&asked, argv[optind], &refusal);
	if (rc == 0) {
		rc = watch(&choice, &asked, &refusal);
		asked_close(&asked);
	}
	return rc < 0 ? outcome_refused("top", &refusal, rc) : outcome_end("top", EXIT_SUCCESS);
}
