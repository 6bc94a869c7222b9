// SPDX-License-Identifier: Apache-2.0
// A scenario as one step of its schedule, without packets: `weft sim --fidelity model`.
#pragma once

#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/workload/order.h>
#include <weft/workload/step.h>
#include <weft/world/world.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STEP_CASES_MAX 20
#define STEP_CASE_BYTES 64

// Activations of one dimension that travel over the fabric because its groups leave their domain.
struct world_off_domain {
	bool is_off_domain;
	struct spread spread;
	struct message_sum messages;  // of a rank in a step, on the stage that has most
	ps_t message_ps;	      // of the largest one
	ps_t forward_ps, backward_ps; // what one micro-batch waits in a cell in the middle
};

struct world_step {
	struct plan plan; // of the scenario's model, with as many replicas as its NICs hold
	struct order order;
	struct gpu_layout gpu_layout;
	struct step_setup setup;
	uint32_t planes;	 // of a NIC
	uint32_t nics_per_group; // of a dense group in one domain
	uint64_t nic_Bps;	 // the line rate of a whole NIC
	uint32_t header_ppb;	 // what headers leave of it for payload
	// what faults leave of a group's NICs, per 10^9: a ring whose channels share evenly goes at
	// the pace of the slowest; one that splits by rate has what is there
	uint32_t even_ppb, split_ppb;
	struct world_off_domain
		off_domain[DIMENSION_COUNT]; // tp, cp, ep, pp; dp is the schedule's own
	// collectives that ran packet by packet, against their closed form; set by the caller
	bool is_measured;
	int64_t measured_ppb; // so much longer
};

// What the scenario says, as a step. `order` replaces the plan's, NULL = the plan's own. -EINVAL
// with a reason: the traffic is no model with a plan, NICs that are no whole number of replicas, a
// group that lies unevenly over its domains, or faults that do not hold for the whole
// step.
int world_step(struct world_step *ret, const struct scenario *scenario, const char *order,
	       struct refusal *refusal);

// Lets stages of a domain send as its lines do, in place of what was assumed: what a step of
// packets is held against. Nothing where stages are in several domains, or without scale-up lines.
void world_step_own_sends(struct world_step *step, const struct scenario *scenario);

// The step's setup if the groups of this dimension had not left their domains; false when they have
// not.
bool world_step_inside(const struct world_step *step, enum dimension dimension,
		       struct step_setup *ret);

// Takes messages of tensor ranks that leave their domain to be so long, as packets measured them,
// and what a cell waits for them to be longer or shorter by the same share.
void world_step_tensor(struct world_step *step, ps_t message_ps);

// Gives all that leaves its domain what closed forms at the line rate leave out, in closed forms
// still: `latency_ps` from NIC to NIC, credits, the filling of rings, headers and SACKs, and
// `share_ppb` 10^-9 of the line.
void world_step_on_fabric(struct world_step *step, const struct scenario *scenario, ps_t latency_ps,
			  uint32_t share_ppb);

// A step beside it with one thing changed.
struct step_case {
	char name[STEP_CASE_BYTES];
	enum dimension inside; // this one is as if it had not left its domain; else DIMENSION_COUNT
	struct plan plan;
	struct step_setup setup;
};

// Fills up to STEP_CASES_MAX, the first of which is the step as it is; returns how many.
uint32_t world_step_cases(const struct world_step *step, struct step_case *ret);

#ifdef __cplusplus
}
#endif
