// SPDX-License-Identifier: Apache-2.0
// What the runs of one world say together.
#pragma once

#include <jansson.h>

#include "attempt.h"
#include "bench.h"

#define FIGURES_NAME_BYTES 64
#define FIGURES_PROCESSOR_BYTES 256

struct figures {
	char name[FIGURES_NAME_BYTES];
	struct attempt attempt; // the counts, and the most memory of all
	double cpu_s[REPEAT_MAX];
	long repeat; // so many of them
	double best_s, median_s;
	uint64_t instructions;		 // of the run, 0: not counted
	char reason[REFUSAL_TEXT_BYTES]; // why not; empty when nobody asked
	uint32_t htsim_instructions;	 // per packet-hop; 0: unknown
};

// Takes one more run. -EIO when it is another one than those before: the same world gives the same
// digest.
int figures_take(struct figures *figures, const struct attempt *attempt, struct refusal *refusal);

// After the last: the best and the median.
void figures_conclude(struct figures *figures);

// Things that a hop takes, and instructions that it took.
double figures_events_per_hop(const struct figures *figures);
double figures_instructions_per_hop(const struct figures *figures);

// Control packets that NICs sent for one data packet.
double figures_answers_per_packet(const struct figures *figures);

// The name of the processor, as the system tells it; "unknown" where it does not.
void figures_processor(char *ret, size_t bytes);

// A table with a row for each, to standard output.
void figures_show(const struct figures *figures, uint32_t count);

// All of it; NULL when there is no memory.
json_t *figures_json(const struct figures *figures, uint32_t count);
