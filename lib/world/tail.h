// SPDX-License-Identifier: Apache-2.0
// See world_tail.h.
#pragma once

#include <weft/world_tail.h>

#define TAIL_NEVER (UINT64_C(1) << 63) // late_ps of hosts that count no late packets

// Draws the tails of all shards, or says in world->delays why there are none. -ENOMEM.
int tail_build(struct world *world);

// A data packet took so long: tail->late_ps or more.
void tail_add(struct tail *tail, const struct packet *packet, uint64_t took_ps);

// Adds up what the shards counted.
void tail_collect(struct world *world);
