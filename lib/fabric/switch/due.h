// SPDX-License-Identifier: Apache-2.0
// Which port of a switch is due first: a tree of knock-out rounds over all ports. At equal time the
// lower port comes first. Setting a port's time costs one look at each round.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

struct due {
	ps_t *at;	  // [leaves] PS_NEVER: not due
	uint16_t *winner; // [2 * leaves] of each round; [1] is the first of all
	uint32_t leaves;  // a power of two
};

// Draws a tree in which none of `ports` ports is due. -ENOMEM.
int due_init(struct due *due, struct arena *arena, uint32_t ports);

void due_set(struct due *due, uint32_t port, ps_t at);

static inline uint32_t due_port(const struct due *due)
{
	return due->winner[1];
}

static inline ps_t due_at(const struct due *due)
{
	return due->at[due->winner[1]];
}
