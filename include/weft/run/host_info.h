// SPDX-License-Identifier: Apache-2.0
// This machine, this moment and this call, for files that have to say where, when and how they were
// written; its terminal, and the programs beside this one.
#pragma once

#include <stdint.h>

#include <weft/verdict/report_junit.h>

void host_info(struct junit_origin *ret);

// Becomes `program`, which lies beside this one, with `argv`. Returns only when there is none.
void program_exec(const char *program, char **argv);

// Colours and width of where text is printed.
struct report_style;
struct report_style style_of(int descriptor);

// The command that runs this again, quoted for a shell.
void command_text(const char *program, int argc, char **argv, char *ret, uint32_t bytes);
