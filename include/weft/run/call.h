// SPDX-License-Identifier: Apache-2.0
// One call of a program that runs a scenario, for the files of this folder: read.c gets it ready,
// call.c runs it, compare.c runs the variants of a scenario, study.c many runs with other seeds and
// swept keys, jobs.c several of those at once.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/engine/engine.h>
#include <weft/files/signals.h>
#include <weft/files/staging.h>
#include <weft/result/report.h>
#include <weft/result/report_manifest.h>

#include <weft/run/gpu_pass.h>
#include <weft/run/options.h>
#include <weft/run/outcome.h>
#include <weft/run/progress.h>
#include <weft/run/workload.h>

#define COMMAND_BYTES 2048
#define VARIANT_BYTES 256
#define OUT_CAPTURES 2

// What belongs to several jobs on one fabric (traffic.kind jobs).
struct job_set_call {
	struct job_set_file files[SCENARIO_JOBS_MAX];
	ps_t alone_ps[SCENARIO_JOBS_MAX]; // what each took alone; 0: it did not end
	ps_t ideal_ps[SCENARIO_JOBS_MAX]; // the least that it can take; 0: no closed form
	bool has_alone;
};

// Everything one call of the program holds.
struct call {
	struct options options;
	struct scenario scenario;
	struct workload workload;
	struct job_set_call job_set;
	struct gpu_call gpu;			  // --gpu
	char gpus_set[64];			  // "fabric.nics=N" from the trace
	char t0_set[64];			  // "fabric.nics_per_t0=N" where its GPUs need it
	char trace_set[SCENARIO_PATH_BYTES + 64]; // "traffic.trace=FILE"
	struct world_instance world_instance;
	struct progress progress;
	struct refusal refusal;
	char command[COMMAND_BYTES];
	bool is_brief;			   // the short form is printed
	uint64_t dilation_milli;	   // of a paced run
	char variant_words[VARIANT_BYTES]; // of the variant that runs, each ended by 0
	uint32_t variant;		   // --variant NAME, counted from 1; 0 = none
	bool is_comparison;		   // all variants run, one after the other
	bool is_study;			   // --seeds, --sweep: many runs
	struct ranks ranks;		   // where has_ranks
	bool has_ranks;			   // several processes run this together
	bool is_other;			   // this is not the first of them: it says nothing
	uint64_t text_hash;		   // of all files that were read
	struct staging staging;		   // of --out
	const char *capture_names[OUT_CAPTURES + 1];
	char capture_paths[OUT_CAPTURES][STAGING_PATH_BYTES]; // of --pcap and --log
	struct manifest_rows inputs;			      // all files that were read
};

// Reads what the command line names: scenario, traces, sample. -errno with a reason.
int call_read(struct call *call);

// Reads it again as its variant `variant`, counted from 1.
int call_read_variant(struct call *call, uint32_t variant);

// What is refused of a variant that was read stands at its place in the file: at the key of its
// assignments that the reason names, or the last one that begins with `keys` (NULL: where they
// begin). Where there is none, or no variant, it stands as it is.
void call_place_variant(struct call *call, const char *keys);

// Reads it again as a run of a study: its variant `variant` (0: none), then these assignments; with
// the seed of the command line, or without.
int call_read_point(struct call *call, uint32_t variant, const char *const *words, uint32_t count,
		    bool with_seed);

// Makes the folder that files for --out are written into, call->staging.part, and finds where
// captures go. Nothing without --out. -errno with a reason.
int out_begin(struct call *call);

// All is written there, and came to `rc`: puts the folder in its place. To be made before anything
// is printed, and named behind it: a table is printed even where this fails. -errno with a reason.
int out_end(struct call *call, int rc);

// --dilation auto: runs the world once without waiting, to see what it costs here.
int call_try_dilation(struct call *call);

// Runs each job alone on the NICs that it has with the others, as variant `variant` of the scenario
// (0: as it is), and writes down what it took; then reads the scenario again as it was. Nothing
// where one job runs. -errno with a reason.
int call_jobs_alone(struct call *call, uint32_t variant);

// Builds the world that will be run.
int call_build(struct call *call);

// Runs it to its end. -errno when a capture or log could not be written; the run is good then.
int call_run(struct call *call, struct run *ret);

// What there is to report of a run.
struct report_input call_report(const struct call *call, const struct run *run);

// The least time of what a world ran.
void call_ideal(const struct world *world, struct report_ideal *ret);

// What may be concluded from a run at the pace of a clock; empty without one.
void paced_fidelity(struct report_fidelity *ret, const struct run *run, uint64_t dilation_milli);

// Says on stderr what is odd about the world that was built.
void call_say_warnings(const struct call *call);

// Says why a result is partial or wrong; a script that keeps only stderr knows it, too.
void call_say_end(const struct call *call, const struct run *run);

// Says why something was refused, once, and gives the exit status.
int call_say_refusal(const struct call *call, int rc);

// Whether all that was printed is where it should be. Returns an exit status.
int call_finish_output(const struct call *call);

// Whether the user asked to stop.
bool call_is_stopped(void);

// Runs all variants and prints them side by side. Returns the exit status.
int compare_run(struct call *call);

// Runs all points and seeds, prints them and writes their files. Returns the exit status.
int study_run(struct call *call);
