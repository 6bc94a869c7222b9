// SPDX-License-Identifier: Apache-2.0
// cables.csv: what each cable carried, with watch.links.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <weft/result/report.h>

bool cables_are_counted(const struct world *world);

// A line for each direction of each link, those of NICs and between switches, in the order of the
// topology: packets and their bytes on the line as they entered it, those of data, and packets
// lost.
void cables_write(FILE *to, const struct world *world);
