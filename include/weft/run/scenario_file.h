// SPDX-License-Identifier: Apache-2.0
// A scenario by name, for programs that do not run it packet by packet.
#pragma once

#include <weft/scenario/scenario.h>

// Finds scenario `name` (shipped, or a path), reads it and sets `sets` over it. -errno with place
// and reason.
int scenario_file_read(struct scenario *ret, const char *name, const char *const *sets,
		       uint32_t set_count, struct refusal *refusal);
