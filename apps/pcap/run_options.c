// SPDX-License-Identifier: Apache-2.0
// Options of weft sim and weft emu, which gen and replay take.

#include "verbs.h"

#include <weft/run/options.h>

#include "help.h"
#include "weft-emu_options.h"
#include "weft-sim_options.h"

static const struct option_row sim_rows[] = {SIM_OPTIONS(struct options), {NULL}};
static const struct option_row emu_rows[] = {EMU_OPTIONS(struct options), {NULL}};

const struct command_line sim_arguments = {help_text, sim_rows, "scenario", 0, 1};
const struct command_line emu_arguments = {help_text, emu_rows, "scenario", 0, 1};
