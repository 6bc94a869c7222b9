// SPDX-License-Identifier: Apache-2.0
// This machine and this moment, for files that have to say where and when they were written; and
// the programs beside this one.
#pragma once

#include <weft/verdict/report_junit.h>

void host_info(struct junit_origin *ret);

// Becomes `program`, which lies beside this one, with `argv`. Returns only when there is none.
void program_exec(const char *program, char **argv);
