// SPDX-License-Identifier: Apache-2.0
// The figures of a fabric as a table.
#pragma once

#include <stdio.h>

#include <weft/world/world.h>

#include "figures.h"

// The word of the scenario for a kind of topology.
const char *kind_name(enum topology_kind kind);

void table_print(FILE *to, const struct scenario *scenario, const struct topology *topology,
		 const struct figures *figures);

// A fabric as a picture.

// Draws the fabric into `to`. -ENOMEM, or -EIO when it could not be written.
int svg_draw(FILE *to, const struct scenario *scenario, const struct topology *topology);
