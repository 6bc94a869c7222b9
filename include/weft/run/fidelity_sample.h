// SPDX-License-Identifier: Apache-2.0
// --fidelity sample: a step from its schedule, whose collectives ran packet by packet where the
// step waits for them. fidelity_sample.c runs them, fidelity_sample_show.c prints, fidelity_ideal.c
// is the fabric that the closed forms assume.
#pragma once

#include <weft/run/fidelity.h>

#define SAMPLED_MAX 64

// A collective of the schedule.
struct sampled {
	struct step_collective of; // time_ps: by packets, or scaled from those that ran
	ps_t closed_ps;
	ps_t error_ps;	  // stated with the sample
	bool is_critical; // the step is longer when this is a tenth longer
	bool is_run;
	uint32_t group;		   // that ran it
	uint64_t steps, steps_all; // ring steps of a loop: run, and all
};

// Messages of tensor ranks that leave their domain: one of them, as a ring.
struct sampled_tensor {
	ps_t closed_ps; // 0 = they stay inside, and none ran
	ps_t time_ps, error_ps;
	uint64_t bytes, steps, steps_all, packets;
	uint32_t groups_all;
};

// What one run of packets came to.
struct sampled_run {
	struct world_step world; // with tensor messages as they ran
	struct sampled_tensor tensor;
	uint32_t count;
	struct sampled rows[SAMPLED_MAX];
	struct step_exposed times;
	ps_t error_ps;	     // of the exposed time, in all
	ps_t steps_ps;	     // of it: all samples at the end of their error
	ps_t schedule_ps;    // of it: other collectives and messages at the same time
	ps_t stages_more_ps; // the exposed time is longer by this at most: sends beside reduces
	ps_t stages_less_ps; // and shorter by this at most: their latency on this fabric
	ps_t quiet_ps;	     // exposed time with messages of tensor ranks in closed form
	ps_t others_ps;	     // exposed time if collectives that did not run were a tenth longer
	int64_t longer_ppb;  // those that ran, against their closed form
	uint64_t packets, marks, trims, resent;
	uint32_t groups, groups_all, trunks_kept, trunks_of;
	ps_t base_rtt_ps;
	double wall_s;
};

// The exposed time, term by term: closed forms with one thing more in each.
struct sampled_terms {
	ps_t closed_ps;	 // --fidelity model
	ps_t latency_ps; // slices take as long as on this fabric
	ps_t credit_ps;	 // and wait for credits, which take as long
	ps_t ideal_ps;	 // packets on an ideal fabric; with --explain
	ps_t header_ps;	 // the line carries headers, too
	ps_t sack_ps;	 // and what answers the other direction
};

struct fidelity_sample {
	struct world_step world;
	struct step_collective table[SAMPLED_MAX]; // that the schedule reads
	struct sampled_run run, ideal;
	bool has_ideal;
	struct sampled_terms terms;
	ps_t longer_ps[DIMENSION_COUNT]; // what the step would not take if it stayed in its domain
	struct fidelity_steps steps;	 // count 0 = none were asked for
};

// Runs such a call. Returns the exit status.
int fidelity_sample_run(struct call *call);

// The same of a call that has been read, without printing; `depth` is all zero. -errno with place
// and reason.
int fidelity_sample_work(struct call *call, struct fidelity_sample *fidelity);

// Runs one message of tensor ranks packet by packet, if they leave their domain, and takes it into
// the run's world. -errno with a reason.
int fidelity_tensor(struct call *call, struct sampled_run *run);

// fidelity_error.c. Whether the trunks that a sample keeps are as loaded as the job's, and enough
// of them: -EINVAL with a reason.
int fidelity_check_thinned(const struct world *world, struct refusal *refusal);
// Adds to the error of ring steps what running collectives one by one may cost.
void fidelity_add_schedule_error(struct sampled_run *run, const struct sampled_terms *terms,
				 const struct fabric_config *fabric);
// -EDOM where the exposed time, or that of a collective which ran, has too large an error.
int fidelity_check_error(const struct call *call, const struct sampled_run *run,
			 struct refusal *refusal);

void fidelity_sample_table(const struct call *call, const struct fidelity_sample *fidelity);
// What no sample has, and where that is too much.
void fidelity_print_unsampled(const struct sampled_run *run);
// The way from closed forms to packets.
void fidelity_sample_print_terms(const struct fidelity_sample *fidelity);

void fidelity_sample_json(FILE *to, const struct call *call,
			  const struct fidelity_sample *fidelity);

// Makes the scenario's fabric what the closed forms assume: all of the line for payload, no marks,
// no trims, queues that hold everything, a window that does not move. Delays stay. -EINVAL when the
// scenario has faults, which are no part of it, or is of a kind that nobody tried.
int fidelity_ideal(struct scenario *scenario, struct refusal *refusal);

// What that is, in words, a line each; ends with NULL.
extern const char *const fidelity_ideal_text[];
