// SPDX-License-Identifier: Apache-2.0
// The verbs of weft pcap beside analyze: each has options of its own.
#pragma once

#include <weft/run/command_line.h>

extern const struct command_line sim_arguments, emu_arguments; // of weft sim and weft emu

// argv[0] is the verb; they return an exit status.
int anonymize_run(int argc, char **argv);
int capture_run(int argc, char **argv);
int diff_run(int argc, char **argv);
int gen_run(int argc, char **argv);
int replay_run(int argc, char **argv);
int send_run(int argc, char **argv);
