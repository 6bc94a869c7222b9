// SPDX-License-Identifier: Apache-2.0
// Where the slowest were, whoever is to blame: of each kind of place the one that has most of the
// worst steps, or of the slowest packets, beyond what it has of all; and a second one that has as
// much, as the two ends of one step. Also where nobody stands out.
#pragma once

#include <jansson.h>

#include "culprit.h"
#include "worst_steps.h"

#define SLOWEST_MAX 12u
#define SLOWEST_LEAST 5u      // of the slowest, before a place has most of them
#define SLOWEST_TIMES_LEAST 2 // what it has of all

struct slowest {
	struct culprit at; // place and index alone
	bool is_steps;	   // else packets
	uint64_t its, of;  // of so many slowest
	double all_share;
};

struct slowest_list {
	struct slowest list[SLOWEST_MAX]; // what explains most first
	uint32_t count;
	uint64_t packets;   // the slowest that are counted by cables
	const char *reason; // why none are; NULL: they are
};

void slowest_find(struct slowest_list *ret, const struct world *world,
		  const struct worst_steps *steps);

// The `slowest` of `culprits` in result.json.
void slowest_json(json_t *to, const struct world *world, const struct worst_steps *steps);
