// SPDX-License-Identifier: Apache-2.0
// What the programs that run a scenario share: arguments, files, choice of driver.
#pragma once

// Runs `program` ("sim" or "emu") whose --help prints `help`. Returns its exit status.
int run_main(const char *program, const char *help, int argc, char **argv);
