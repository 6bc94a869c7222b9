// SPDX-License-Identifier: Apache-2.0
// One call of weft goodput, for the files of this folder: main.c reads arguments, words.c what they
// say, job.c makes a job of scenario and facts, study.c runs it, table.c and json.c show it,
// timeline.c has it as faults of a scenario.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/engine/engine.h>
#include <weft/measure/measure_goodput.h>
#include <weft/run/command_line.h>
#include <weft/study/report_spread.h>
#include <weft/workload/plan.h>

#include "facts.h"

#define SETS_MAX 64

enum fabric { FABRIC_MRC, FABRIC_ROCE, FABRIC_COUNT };

// Words of the command line that are one number.
struct numbers {
	double days, checkpoint_s, faults_s, outage_s, flap_s, slow_ppu, crash_s, hang_s, restart_s,
		save_s, load_s, repair_s; // NAN: not given
	uint32_t runs, cables, ib_timeout, ib_retry, spares;
};

// What came of all runs on one fabric.
struct side {
	struct goodput_setup setup;
	double closed; // goodput by the closed form, at the same interval; NAN: it does not hold
	double young_s, daly_s, closed_interval_s;
	double *kept;					  // [runs] shares
	struct spread_figures spread;			  // of them
	double saves;					  // share of the time, mean
	struct goodput_loss losses[GOODPUT_FAILURES_MAX]; // shares of the time, means; events a run
	uint64_t events[GOODPUT_FAILURES_MAX];		  // of all runs
};

struct call {
	const char *scenario_name, *seed_text, *svg; // a file, or NULL
	const char *sets[SETS_MAX + 1];		     // room for the seed
	char seed_set[64];
	uint32_t set_count;
	bool is_json, wants_list, is_auto, has_slow, wants_faults,
		has_own_recovery; // times of it were given one by one
	const struct rates *rates;
	const struct recovery *recovery;
	struct numbers numbers;
	double rate_of[COMPONENTS_MAX]; // per million GPU-days; NAN: not given
	struct scenario scenario;
	// the job
	uint32_t gpus, planes;
	struct timing timing;	    // what the step rests on
	double step_s, slow_step_s; // NAN: --slow says it all, no schedule was run
	double slow; // share of the speed while a cable is down, with MRC; NAN: it ends the job
	double checkpoint_bytes;
	double give_up_s; // of RoCE, or of who finds a hang before
	struct side sides[FABRIC_COUNT];
	struct spread_difference worth; // MRC's goodput less RoCE's, run by run
	struct refusal refusal;
};

// words.c
option_take_fn take_checkpoint, take_rates, take_rate, take_recovery;

// Reads the scenario, works out its step and fills in both setups. -errno with a reason.
int job_make(struct call *call);

// Failures of one component per million GPU-days.
double job_rate(const struct call *call, uint32_t component);

// Runs both. -errno with a reason; study_free() after it in any case.
int study_run(struct call *call);
void study_free(struct call *call);

const char *fabric_name(enum fabric fabric);
const char *origin_word(enum origin origin);
void table_print(FILE *to, const struct call *call);
void table_list(FILE *to);
// Prints cables that fail in the first run, its days pressed into `faults_s`, as a scenario has
// them. -EINVAL with a reason when they are too many or too short.
int timeline_print(FILE *to, struct call *call);
void json_print(FILE *to, const struct call *call);
// Draws goodput over the interval. -EIO.
int svg_draw(FILE *to, const struct call *call);
