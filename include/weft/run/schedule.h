// SPDX-License-Identifier: Apache-2.0
// The schedule of one plan in memory of its own.
#pragma once

#include <weft/workload/plan.h>
#include <weft/workload/step.h>

struct schedule {
	void *memory;
	size_t bytes;
	struct step *step;
};

// -EINVAL with a reason when the plan has no schedule, -ENODEV without memory. What was made is
// given back by schedule_free().
int schedule_make(struct schedule *ret, const struct plan *plan, struct refusal *refusal);
void schedule_free(struct schedule *schedule);

// With and without communication. `stages` has room for each stage, or is NULL.
int schedule_expose(struct step_exposed *ret, const struct plan *plan,
		    const struct step_setup *setup, struct step_stage *stages,
		    struct refusal *refusal);

// What a step of a plan exposes, by closed form, on NICs and domains as the job's own file has
// them.

// Dimensions of the cut: tensor, context, expert, pipeline, replicas, and who cut an expert, whose
// messages are part of a cell's time.
enum { ANSWER_TP, ANSWER_CP, ANSWER_EP, ANSWER_PP, ANSWER_DP, ANSWER_ETP, ANSWER_COUNT };

struct exposure {
	struct refusal why_not; // text is empty: the rest is known
	struct step_exposed times;
	ps_t by[ANSWER_COUNT]; // of the step that is exposed
};

// The step of `sim --fidelity model` on a fabric of one plane with such NICs.
void exposure_find(struct exposure *ret, const struct plan *plan, const char *order,
		   uint32_t domain);

// Whether a step's fabric has other NICs or domains than the job's own file, and how.
struct world_step;
bool exposure_other_site(const struct world_step *world, char *text, size_t bytes);
ps_t exposure_ps(const struct exposure *exposure);
