// SPDX-License-Identifier: Apache-2.0
// How much of the tail a culprit explains: of the eighth of all pairs of NICs that has the slowest
// messages, 16 at most (watch.delays), those that begin or end at it.
#pragma once

#include <jansson.h>

#include "culprit.h"

// Shares of the listed pairs, and of all that talked; or why there are none.
struct culprit_tail {
	const char *reason; // NULL: the shares hold
	uint32_t at, of;    // pairs at the culprit, of so many with the slowest messages
	double all_share;   // of all pairs, those at the culprit
};

void culprit_tail(struct culprit_tail *ret, const struct culprit *culprit,
		  const struct world *world);

// `tail_share` and `pairs_share` of a culprit in result.json, and its line of the table.
void culprit_tail_json(json_t *row, const struct culprit *culprit, const struct world *world);
void culprit_tail_line(FILE *to, const struct culprit *culprit, const struct world *world);
