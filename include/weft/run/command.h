// SPDX-License-Identifier: Apache-2.0
// A command line as text.
#pragma once

#include <stdint.h>

// The command that runs this again, quoted for a shell.
void command_text(const char *program, int argc, char **argv, char *ret, uint32_t bytes);
