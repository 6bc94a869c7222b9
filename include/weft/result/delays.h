// SPDX-License-Identifier: Apache-2.0
// What was measured of single packets and of messages between two NICs, with watch.delays; and
// which repeats were needed.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>
#include <weft/result/report.h>

#define NO_PACKETS "no packets"
#define MADE_AS_THEY_GO "not kept: connections of everyone with everyone are made on demand"
#define FRAMES_SAY_NOTHING "frames do not carry when they left"

#define PAIRS_WORST 16u // pairs that are listed; the others are summed up by class

struct pair_delay;
struct world_delays;

// The pairs of NICs with the slowest messages, the slowest first, and how many talked at all.
struct worst_pairs {
	const struct pair_delay *list[PAIRS_WORST];
	uint32_t count;
	uint64_t talked;
};

void worst_pairs_find(struct worst_pairs *ret, const struct world_delays *delays);

// The `delays` and `collective_times` of result.json, and their part of the table.
void delays_json(json_t *root, const struct report_input *input);
void delays_table(FILE *to, const json_t *result);
