// SPDX-License-Identifier: Apache-2.0
// weft emu: runs a scenario with real frames, paced by a clock. All of it is in ../run.

#include "help.h"
#include <weft/run/run.h>

int main(int argc, char **argv)
{
	return run_main("emu", help_text, argc, argv);
}
