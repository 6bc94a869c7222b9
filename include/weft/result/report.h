// SPDX-License-Identifier: Apache-2.0
// A run as text: the table on the terminal, result.json (schema in docs/result.md), histograms.
// Floating point is allowed here.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/engine/engine.h>
#include <weft/result/fidelity.h>
#include <weft/result/report_gpu.h>
#include <weft/world/world.h>

// A paced run.
struct report_pace {
	uint64_t dilation_milli;	// wall time per virtual time in thousandths; 0: not paced
	bool is_auto;			// found by a calibration run
	uint32_t lanes;			// threads
	const struct hist *lateness_ns; // per frame or packet: how long after its window's end
	const struct hist *gap_ns;	// between two looks at the clock
};

#define REPORT_BAD_MAX 32

// A run whose packets were frames.
struct report_ports {
	const char *name; // "net_ring", "memory"; NULL: there were no frames
	uint32_t ports, queues, cables_per_queue_max;
	uint32_t frames;	  // buffers
	uint32_t frame_bytes_max; // of one
	uint64_t sent, received, missed;
	uint64_t payload_bytes_good;  // arrived and found to be what was sent
	uint64_t payload_bytes_wrong; // not what was sent: the result is not valid
	uint32_t bad_count;	      // reasons for which frames were dropped (drops: bad_frame)
	const char *bad_names[REPORT_BAD_MAX];
	uint64_t bad[REPORT_BAD_MAX];
};

// Captures and logs.
struct report_taps {
	const char *pcap, *log; // files, or NULL
	uint64_t frames, lost, bytes;
	uint64_t pcap_left_out, log_left_out; // of `frames`: the file was full
	uint64_t file_bytes_max;
	int pcap_error, log_error; // as tap_counts has them
};

struct json_t;
struct report_input;

// A part of the document and of the table that a room above this one writes.
struct report_section {
	void (*json)(struct json_t *root, const struct report_input *input);
	void (*table)(FILE *to, const struct json_t *result, bool is_short);
	// Where the first that stands out is, and what: "t0 2 - t1 5 (down)"; false: none does.
	bool (*place)(const struct report_input *input, char *ret, size_t bytes);
};

// How the short form looks where it is printed.
struct report_style {
	bool is_coloured;
	uint32_t columns; // 0: BRIEF_COLUMNS
};

// The least time of what ran, by a closed form.
struct report_ideal {
	ps_t ps;	    // 0: there is none
	const char *reason; // why not
};

// All that a report is made of. Cables belong to the driver: what they dropped comes in
// `cable_dropped`; what switches and hosts dropped is in the outcome.
struct report_input {
	const struct world *world; // with an outcome (world_collect)
	const char *end;	   // run_end_name()
	bool is_partial;	   // the workload was not completed
	bool is_short;		   // --quiet: table of headline, goodput and times only
	bool is_brief;		   // the short form (brief.c) in place of the table
	struct report_style style; // of it
	struct report_ideal ideal;
	const char *limit_option; // or NULL
	struct run run; // what the engine counted; CPU time of all processes, memory of the largest
	struct report_pace pace;
	struct report_ports ports;
	struct report_taps taps;
	struct report_fidelity fidelity;
	// Hosts by their own clocks, over a fabric that is not weft's: what each reported, as the
	// part "wall"; else NULL. What nobody can tell is null then, with its reason.
	struct json_t *wall;
	bool is_whole;		      // with `wall`: all hosts reported
	const struct report_gpu *gpu; // or NULL: no generators took part
	const ps_t *alone_ps; // of several jobs: what each took alone, 0: it did not end; or NULL
	const ps_t *job_ideal_ps; // with alone_ps: the least that each can take; 0: no closed form
	uint64_t memory_peak_bytes;
	const char *version;	  // program, version, commit
	const char *command;	  // how to run it again
	const char *out_dir;	  // or NULL
	const char *times_origin; // of a job's times, or NULL
	const struct report_section
		*diagnosis; // diagnose_section; NULL: the result does not say who stands out
};

#ifdef __cplusplus
extern "C" {
#endif

// The table for people, at most 100 columns wide.
void report_table(FILE *to, const struct report_input *input);

// The warnings about a built world, one line each behind `before`.
void report_warnings(FILE *to, const char *before, const struct world *world);

// Writes result.json and the *.hdr histograms into input->out_dir, which exists. -errno with a
// reason; files are written under a temporary name first and renamed, so nothing is left
// half-written.
int report_write(const struct report_input *input, struct refusal *refusal);

// What is in result.json; the caller gives it back. Memory that is not there ends the program.
struct json_t *report_document(const struct report_input *input);

// The same JSON to a stream (--json). -errno when the stream does not take it.
int report_json(FILE *to, const struct report_input *input);

// Whether all that the scenario expects was measured, each within its tolerance.
bool report_is_expected(const struct report_input *input);

// Collectives that ended, but whose stated error is more than a tenth of their time: no output has
// a time or a bus bandwidth of them, and the run is not valid.
uint32_t report_imprecise(const struct report_input *input);

// Says so in one line, with the option to raise. Returns whether there are any.
bool report_imprecise_say(FILE *to, const char *program, const struct report_input *input);

// Runs of the variants of one scenario, to be compared.
struct report_comparison;
struct report_comparison *report_comparison_create(void); // NULL: no memory
void report_comparison_free(struct report_comparison *comparison);

// Takes what a variant came to; its world may go then.
void report_comparison_take(struct report_comparison *comparison, const struct report_input *input);

// When all were taken: the table, JSON (-1 when the stream does not take it), and whether all is as
// the scenario expects.
void report_comparison_table(FILE *to, const struct report_comparison *comparison);
int report_comparison_json(FILE *to, const struct report_comparison *comparison);
bool report_comparison_is_expected(const struct report_comparison *comparison);

// The --footprint table: bytes per room, per host, per QP, context and EV; the same as JSON.
void report_footprint(FILE *to, const struct world *world);
void report_footprint_json(FILE *to, const struct world *world);

#ifdef __cplusplus
}
#endif
