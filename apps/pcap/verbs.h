// SPDX-License-Identifier: Apache-2.0
// The verbs of weft pcap beside analyze: each has options of its own.
#pragma once

#include <getopt.h>
#include <stdbool.h>

#include <weft/run/command_line.h>

struct verb {
	const char *name;
	int (*run)(int argc, char **argv); // argv[0] is the verb; returns an exit status
};

// NULL: there is none of that name.
const struct verb *verb_find(const char *name);

// What the command line of a verb has. An option `option` with `value`: 0, or -EINVAL with the
// reason.
typedef int verb_take_fn(void *context, int option, const char *value, struct refusal *refusal);

#define VERB_OPTIONS \
	{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, VERB_VERSION}, \
	{ \
		NULL, 0, NULL, 0 \
	}
enum { VERB_VERSION = 319, VERB_DONE = 1 };

// Reads the options; `paths` of the words behind them are there in argv[optind]. Returns 0,
// VERB_DONE when help or version were asked for, and printed; or -EINVAL with the reason.
int verb_parse(int argc, char **argv, const struct option *longs, verb_take_fn *take, void *context,
	       int paths, struct refusal *refusal);

// Says why, and returns the exit status.
int verb_refused(const struct refusal *refusal, int rc);

extern const struct command_line sim_arguments, emu_arguments; // of weft sim and weft emu

int anonymize_run(int argc, char **argv);
int capture_run(int argc, char **argv);
int diff_run(int argc, char **argv);
int gen_run(int argc, char **argv);
int replay_run(int argc, char **argv);
int send_run(int argc, char **argv);
