// SPDX-License-Identifier: Apache-2.0
// The command line of the programs that run a scenario: weft sim, and weft emu, which has more.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/engine/engine.h>
#include <weft/study/report_study.h>
#include <weft/workload/step.h>

#include <weft/run/command_line.h>
#include <weft/run/jitter.h>

#define OPTION_SETS_MAX 64
#define OPTION_TEXT_BYTES 512
#define OPTION_SWEEP_BYTES 8192
#define GPU_TIMEOUT_S 30

enum fidelity_kind {
	FIDELITY_NONE,	 // no step: the scenario's traffic
	FIDELITY_MODEL,	 // the schedule, no packets
	FIDELITY_SAMPLE, // the schedule, and packets for what it waits for
	FIDELITY_FULL,	 // every packet of the schedule
	FIDELITY_ALL,	 // the three side by side
};

struct options {
	const char *program;	 // "sim" or "emu"
	const char *scenario;	 // name or path; NULL = none given
	const char *trace;	 // file, or NULL
	const char *export_form; // or NULL
	const char *sample;	 // SPEC, or NULL
	const char *variant;	 // name, or NULL
	const char *out;	 // folder, or NULL
	const char *pcap;	 // capture file, or NULL
	const char *log;	 // packet log, or NULL
	uint32_t set_count;
	const char *sets[OPTION_SETS_MAX];
	uint32_t fault_count;
	const char *faults[SCENARIO_FAULTS_MAX];
	uint32_t tap_count;
	const char *taps[SCENARIO_TAPS_MAX];
	char seed_set[OPTION_TEXT_BYTES]; // "seed=N", in `sets` when given
	char pcap_max_set[OPTION_TEXT_BYTES];
	// sim
	const char *record_rank;		      // a number, or NULL
	const char *order, *slow, *jitter, *measured; // words, or NULL
	enum fidelity_kind fidelity_kind;
	bool wants_terms;	       // --explain
	uint32_t slow_stage, slow_ppb; // of the schedule; UINT32_MAX = no stage
	uint32_t slow_gpu;	       // in place of a stage; UINT32_MAX = none
	struct jitter jitter_choice;
	uint32_t step_count; // of the schedule
	uint32_t seed_count; // of a study; 0 = none was asked for
	uint32_t job_count;  // runs at once
	uint32_t sweep_count;
	struct study_sweep sweeps[STUDY_SWEEPS_MAX];
	char sweep_text[OPTION_SWEEP_BYTES]; // behind `sweeps`
	uint32_t sweep_bytes;
	// emu
	const char *ports;    // word, or NULL
	const char *dilation; // word, or NULL
	const char *eal;      // words, or NULL
	const char *gpu;      // file of the link to generators, or NULL
	uint32_t gpu_timeout_s;
	bool has_gpu_barrier; // generators begin each step together
	struct ports_options port_choice;
	uint64_t dilation_milli; // 0: do not wait
	bool is_dilation_auto;
	uint32_t lane_count;
	bool has_lanes; // given
	struct dpdk_words eal_words;
	bool skips_damaged; // of --trace
	bool is_json, is_quiet, is_verbose, wants_footprint, wants_list, wants_keys;
};

// Reads the command line of `program` by its rows. 0, COMMAND_LINE_DONE, or -EINVAL with a reason.
int options_parse(struct options *ret, const char *program, const struct command_line *line,
		  int argc, char **argv, struct refusal *refusal);

// Reads what emu's words say together: ports, dilation, lanes, EAL. -EINVAL with a reason; -ENOTSUP
// for ports of a DPDK that this build has not.
int options_emu(struct options *options, struct refusal *refusal);

// What rules of the two programs name.
option_take_fn options_take_seed, options_take_pcap_max, options_take_fast_forward,
	options_take_slow, options_take_jitter, options_take_sweep;

// Whether several runs were asked for.
bool options_has_study(const struct options *options);
