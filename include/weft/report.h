// SPDX-License-Identifier: Apache-2.0
// A run as text: the table on the terminal, result.json (schema in docs/result.md), histograms.
// Floating point is allowed here.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/world.h>

// All that a report is made of. Cables belong to the driver: what they dropped comes in
// `cable_dropped`; what switches and hosts dropped is in the outcome.
struct report_input {
	const struct world *world; // with an outcome (world_collect)
	const char *end;	   // run_end_name()
	bool is_partial;	   // the workload was not completed
	bool is_short;		   // --quiet: table of headline, goodput and times only
	const char *limit_option;  // or NULL
	uint64_t digest, sent, delivered, held, data_packets, hops, data_hops, windows, visits;
	uint64_t held_unsent; // of `held`: made, but not sent yet (world_held(), hosts)
	uint64_t cable_dropped[DROP_REASON_COUNT];
	ps_t now_ps;
	double cpu_s, wall_s;
	uint64_t memory_peak_bytes;
	const char *version;		     // program, version, commit
	const char *command;		     // how to run it again
	const char *out_dir;		     // or NULL
	const struct scenario_input *inputs; // what the result rests on, [input_count]
	uint32_t input_count;
};

#ifdef __cplusplus
extern "C" {
#endif

// The table for people, at most 100 columns wide.
void report_table(FILE *to, const struct report_input *input);

// Writes result.json and the *.hdr histograms into input->out_dir, which exists. -errno with a
// reason; files are written under a temporary name first and renamed, so nothing is left
// half-written.
int report_write(const struct report_input *input, struct refusal *refusal);

// The same JSON to a stream (--json). -errno when the stream does not take it.
int report_json(FILE *to, const struct report_input *input);

// The --footprint table: bytes per room, per host, per QP.
void report_footprint(FILE *to, const struct world *world);

#ifdef __cplusplus
}
#endif
