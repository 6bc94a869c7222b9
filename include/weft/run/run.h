// SPDX-License-Identifier: Apache-2.0
// What the programs that run a scenario share: arguments, files, choice of driver.
#pragma once

struct command_line;

// Runs `program` ("sim" or "emu"), whose options `line` has, made for struct options. Returns its
// exit status.
int run_main(const char *program, const struct command_line *line, int argc, char **argv);
