// SPDX-License-Identifier: Apache-2.0
// One run of a world, made to be measured.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/core/time.h>

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
