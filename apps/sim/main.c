// SPDX-License-Identifier: Apache-2.0
// weft sim: runs a scenario in virtual time. All of it is in ../run.

#include "help.h"
#include "weft-sim_options.h"
#include <weft/run/options.h>
#include <weft/run/run.h>

static const struct option_row option_rows[] = {SIM_OPTIONS(struct options), {NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "scenario", .most = 1};

int main(int argc, char **argv)
{
	return run_main("sim", &arguments, argc, argv);
}
