// SPDX-License-Identifier: Apache-2.0
// What two hosts, or several and one, send each other, and what came of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/time.h>

#define SIZES_MAX 64u
#define CALLERS_MAX 256u

struct call;
struct host_run;

// What a pair measures; it goes from the caller to who listens.
struct pair_wish {
	uint64_t size_min, size_max;
	uint32_t factor;
	uint32_t messages; // of each size; 0: fewer of larger ones
	uint32_t depth;	   // of them at once
	bool has_bare;	   // beside a bare loop on the same ports
};

// One size of a pair, as the sender saw it; of an incast, as all arrived at host 0.
struct pair_row {
	uint64_t bytes;
	uint32_t messages; // one after the other, --depth at once
	ps_t took_ps;	   // from the first one's post to the last one's completion
	uint32_t pings;
	double slowest_bps, fastest_bps; // incast: of a caller
	int64_t rtt_ns[4]; // round trips of messages of this size: p50, p99, p99.9, max
	uint32_t op_go;	   // incast: the words to go, a receive and a send for each caller
	uint32_t op_first; // in program: of caller 1; the others' follow, row_ops() each
};

// The program of a pair: for each size messages in a row, then pings. Sets call->rows.
int pair_program(struct call *call, struct host_run *host_run);

// Reads the rows from a run.
void pair_read(struct call *call, const struct host_run *host_run);
