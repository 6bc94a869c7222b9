// SPDX-License-Identifier: Apache-2.0
// --fidelity model: one step of a scenario from its schedule, without packets.
// fidelity_model.c works it out and prints the table, fidelity_json.c the JSON, fidelity_measured.c
// reads collectives that ran; fidelity.c has what all depths share.
#pragma once

#include <weft/world/world_step.h>

#include <weft/run/call.h>
#include <weft/run/schedule.h>

// One case with its outcome.
struct fidelity_row {
	struct step_case of;
	struct step_exposed times;
};

// Steps with jitter.
struct fidelity_steps {
	uint32_t count;
	double mean_s, cv, min_s, max_s;
};

// What the packets of a step may expose: what closed forms do with this fabric's latency, credits,
// headers, SACKs, filling of rings and sends between stages, and what no closed form has.
struct fidelity_bounds {
	ps_t silent_ps;	     // the step with such sends where the network takes no time
	ps_t fabric_ps;	     // exposed
	ps_t beside_ps;	     // more or less: ranks out of step, queues, windows
	ps_t trunks_ps;	     // more, where what crosses trunks fills them
	ps_t messages_ps;    // more: messages of experts, a context, and FSDP's stages, that meet
	ps_t stages_more_ps; // and beside all that: messages of other stages and reduces
	bool has_more;	     // a torus or graph has no such bound above
};

// How far packets may be from closed forms: how much less and more may be exposed, stages_more_ps
// left out, and the step may take.
struct fidelity_error {
	ps_t exposed_less_ps, exposed_more_ps;
	ps_t step_less_ps, step_more_ps;
};

struct fidelity {
	struct fidelity_bounds bounds;
	struct world_step world;
	ps_t longer_ps[DIMENSION_COUNT]; // what the step would not take if it stayed in its domain
	uint32_t row_count;
	struct fidelity_row rows[STEP_CASES_MAX]; // the first is the step as it is
	struct step_stage *stages;		  // of the first row, [pp]
	struct fidelity_steps steps;		  // count 0 = none were asked for
	const struct plan *logs;		  // a job whose times are fitted to logs alone
	bool has_prediction;			  // the cut is that of these logs
	struct step_exposed predicted;		  // with times of two logs alone
};

// Runs the schedules of a call that has been read. Returns the exit status.
int fidelity_run(struct call *call);

// The scenario as a step, with what the command line says of it. -EINVAL with a reason.
int fidelity_prepare(struct call *call, struct world_step *world);

// fidelity_bounds.c: what packets of this step may expose; builds the fabric for that. -EINVAL with
// a reason where it is none, -ENODEV without memory.
int fidelity_find_bounds(struct fidelity_bounds *ret, const struct call *call,
			 const struct world_step *step, struct refusal *refusal);

// The error of closed forms that came to `times`, and prints it.
struct fidelity_error fidelity_error(const struct fidelity_bounds *bounds,
				     const struct step_exposed *times);
void fidelity_print_error(const struct fidelity_bounds *bounds, const struct step_exposed *times);

// fidelity_error.c: what messages that meet each other, or rings, may add, and those of stages that
// meet reduces and gathers.
ps_t fidelity_messages_ps(const struct world_step *step, const struct fabric_config *fabric);
ps_t fidelity_stages_ps(const struct world_step *step);

// Runs `count` steps with dice of their own, 2 or more, from the setup's seed on.
void fidelity_run_steps(struct fidelity_steps *ret, const struct schedule *schedule,
			const struct step_setup *setup, uint32_t count);

// Of each dimension that leaves its domain, and of steps with jitter, if there are any.
void fidelity_print_culprits(const ps_t longer_ps[DIMENSION_COUNT], ps_t step_ps);
void fidelity_print_steps(const struct fidelity_steps *steps);

// Prints the outcome as JSON to `to`.
typedef void fidelity_write(FILE *to, const struct call *call, const void *fidelity);

// Writes the outcome of a depth into the folder of --out, as step.json, and puts it in its place;
// nothing without --out. To be made before anything is printed. -errno with a reason.
int fidelity_keep(struct call *call, fidelity_write *write, const void *fidelity);

// All is printed: says what fidelity_keep() came to. Returns the exit status.
int fidelity_end(struct call *call, int kept);

// Says why there is no step, at the order or the scenario, and gives the exit status.
int fidelity_say_refusal(struct call *call, int rc);

// Parts of the tables of all depths.
void fidelity_print_job(const struct world_step *world);
void fidelity_print_inputs(const struct call *call, const struct plan *plan);

static inline double fidelity_ms(ps_t time)
{
	return (double)time / PS_PER_MS;
}

static inline double fidelity_percent(ps_t part, ps_t whole)
{
	return whole == 0 ? 0 : (double)part / (double)whole * 100;
}

// What communication adds to a step.
ps_t fidelity_exposed(const struct step_exposed *times);

// What a schedule rests on beside the scenario's own inputs; ends with NULL.
struct fidelity_input {
	enum input_origin origin;
	const char *text;
	bool is_timed; // not where times come from a device
};
extern const struct fidelity_input fidelity_inputs[];

// Whether that row of a plan's inputs is of its times, which `timing` names already.
bool fidelity_is_times(const struct plan *plan, uint32_t input);

// Reads a result of packets and says how much longer its collectives took than their closed form.
// -errno with place and reason.
int fidelity_measured(struct world_step *world, const char *path, struct refusal *refusal);

void fidelity_write_json(FILE *to, const struct call *call, const struct fidelity *fidelity);
