// SPDX-License-Identifier: Apache-2.0
// SONiC's config_db.json: the settings of one switch: its ports, marks, buffers and pauses.
#pragma once

#include <weft/core/refusal.h>

#include "import.h"

// Reads the text of a config_db.json. -EINVAL with line and column where it is no JSON, else with
// TABLE|KEY|field.
int import_sonic(struct import *ret, const char *text, size_t bytes, struct refusal *refusal);

// Writes a scenario of the switch alone: its ports that are up, with a NIC at each.
void import_sonic_write(const struct import *import, FILE *to);
