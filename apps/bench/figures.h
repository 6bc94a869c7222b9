// SPDX-License-Identifier: Apache-2.0
// What the runs of one world say together.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>

#include "bench.h"

// One run of a world, made to be measured.

// What is the same each time is in `digest` and the counts; the last two are not.
struct attempt {
	uint64_t digest;
	uint64_t data_packets; // put on cables by NICs
	uint64_t sent;	       // these and control packets
	uint64_t hops, data_hops;
	uint64_t visits; // calls of machines
	ps_t now_ps;
	double cpu_s; // of the run, without building the world
	uint64_t memory_peak_bytes;
};

// Builds the world of a scenario's text (`path` in errors) and runs it to its end, in a process of
// its own or, not `is_apart`, in this one. -errno with a reason; -EIO for a run that does not
// complete.
int attempt_run(const char *path, const char *text, size_t bytes, bool is_apart,
		struct attempt *ret, struct refusal *refusal);

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

// Instructions that a hop took.
double figures_instructions_per_hop(const struct figures *figures);

// The name of the processor, as the system tells it; "unknown" where it does not.
void figures_processor(char *ret, size_t bytes);

// A table with a row for each, to standard output.
void figures_show(const struct figures *figures, uint32_t count);

// All of it; NULL when there is no memory.
json_t *figures_json(const struct figures *figures, uint32_t count);

// Figures of now beside those of an earlier call.

// Reads what --json wrote. -EINVAL with a reason for anything else. The caller decrefs *ret.
int compare_read(const char *path, json_t **ret, struct refusal *refusal);

// A line for each case that both have, to standard output, and what only one has.
void compare_show(const json_t *then, const struct figures *figures, uint32_t count);

// Instructions of a run, counted by callgrind: load of the machine does not matter.

// Runs this program again under callgrind, for one run of what `option` ("--only", "--scenario")
// and `name` choose, and counts what the run takes without building its world. 0 where that cannot
// be done, with the reason in `ret_reason`.
uint64_t instructions_count(const char *option, const char *name, char *ret_reason, size_t bytes);
