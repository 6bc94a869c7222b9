// SPDX-License-Identifier: Apache-2.0
// Instructions of a run, counted by callgrind: load of the machine does not matter.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Runs this program again under callgrind, for one run of what `option` ("--only", "--scenario")
// and `name` choose, and counts what the run takes without building its world. 0 where that cannot
// be done, with the reason in `ret_reason`.
uint64_t instructions_count(const char *option, const char *name, char *ret_reason, size_t bytes);
