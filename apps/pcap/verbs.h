// SPDX-License-Identifier: Apache-2.0
// The verbs of weft pcap beside analyze: each has options of its own.
#pragma once

#include <weft/run/command_line.h>

struct verb {
	const char *name;
	int (*run)(int argc, char **argv); // argv[0] is the verb; returns an exit status
};

// NULL: there is none of that name.
const struct verb *verb_find(const char *name);

// Says why, and returns the exit status.
int verb_refused(const struct refusal *refusal, int rc);

extern const struct command_line sim_arguments, emu_arguments; // of weft sim and weft emu

int anonymize_run(int argc, char **argv);
int capture_run(int argc, char **argv);
int diff_run(int argc, char **argv);
int gen_run(int argc, char **argv);
int replay_run(int argc, char **argv);
int send_run(int argc, char **argv);
