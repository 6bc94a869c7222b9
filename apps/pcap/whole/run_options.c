// SPDX-License-Identifier: Apache-2.0
// Options of weft sim and weft emu, which gen and replay take.

#include "verbs.h"

#include <weft/run/options.h>

#include "help.h"
#include "weft-emu_options.h"
#include "weft-sim_options.h"

static const struct option_row sim_rows[] = {SIM_OPTIONS(struct options), {NULL}};
static const struct option_row emu_rows[] = {EMU_OPTIONS(struct options), {NULL}};

const struct command_line sim_arguments = {
	.help = help_text, .rows = sim_rows, .noun = "scenario", .most = 1};
const struct command_line emu_arguments = {
	.help = help_text, .rows = emu_rows, .noun = "scenario", .most = 1};
