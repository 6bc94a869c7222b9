// SPDX-License-Identifier: Apache-2.0
// What a world is asked for and will run, but is not what a reader would take it for: a combination
// that hides what its figures seem to show, or a device that nobody sells. A result lists them.
#pragma once

#include <stdint.h>

#include <weft/world/world.h>

#define WORLD_WARNINGS_MAX 11

struct world_warning {
	const char *name; // "rc-reordering", of the table in docs/result.md
	char text[480];	  // one sentence, which names the keys
	uint32_t index;	  // its place in the table
};

// Those of a built world, in the order of the table, into `ret` [WORLD_WARNINGS_MAX]. Returns how
// many there are.
uint32_t world_warnings(const struct world *world, struct world_warning *ret);

// The name at place `index` of the table; NULL behind its end.
const char *world_warning_name(uint32_t index);
