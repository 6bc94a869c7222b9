// SPDX-License-Identifier: Apache-2.0
// How much of the tail a culprit explains (watch.delays): of the eighth of all pairs of NICs that
// has the slowest messages, 16 at most, those that begin or end at it; of a plane, which has a part
// of every message, its share of the slowest hundredth of all packets, one way; and so of a trunk
// and of a switch above the first tier, of packets that were late (tail.h). And of the worst
// steps of collectives: those that begin or end at it.
#pragma once

#include <jansson.h>

#include <weft/world/world_delays.h>

#include "culprit.h"
#include "worst_steps.h"

// Shares of the listed pairs, and of all that talked, or of packets; or why there are none.
struct culprit_tail {
	const char *reason; // NULL: the shares hold
	bool is_packets;    // else pairs
	uint64_t at,
		of; // at the culprit, of so many with the slowest messages or that are the slowest
	double all_share; // of all pairs or packets, those at the culprit
};

void culprit_tail(struct culprit_tail *ret, const struct culprit *culprit,
		  const struct world *world);

// The level of late packets from which on the slowest hundredth of all packets are, or all that
// were late, and how many these are; and how many of them went by a cable. Only with delays->tail.
const char *culprit_tail_reason(const struct world *world); // why there are none, or NULL
uint32_t culprit_tail_level(const struct world_delays *delays, uint64_t *ret_packets);
uint64_t culprit_tail_on(const struct tail *tail, uint32_t cable, uint32_t first);

// Of the worst steps, and of all of them, how many are the culprit's; or why that is not known.
struct culprit_steps {
	const char *reason;
	uint64_t worst_at, at;
};

void culprit_steps(struct culprit_steps *ret, const struct culprit *culprit,
		   const struct world *world, const struct worst_steps *steps);

// `tail_share`, `worst_steps_share`, what chance would have of a culprit, and both as people read
// them, in result.json.
void culprit_tail_json(json_t *row, const struct culprit *culprit, const struct world *world,
		       const struct worst_steps *steps);
