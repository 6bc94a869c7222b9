// SPDX-License-Identifier: Apache-2.0
// weft sim: runs a scenario in virtual time. All of it is in ../run.

#include "help.h"
#include <weft/run/run.h>

int main(int argc, char **argv)
{
	return run_main("sim", help_text, argc, argv);
}
