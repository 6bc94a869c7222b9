// SPDX-License-Identifier: Apache-2.0
// What a step of a plan exposes, by closed form, on NICs and domains as the job's own file has
// them.
#pragma once

#include <weft/workload/plan.h>
#include <weft/workload/step.h>

// Dimensions of the cut: tensor, context, expert, pipeline, replicas.
enum { ANSWER_TP, ANSWER_CP, ANSWER_EP, ANSWER_PP, ANSWER_DP, ANSWER_COUNT };

struct exposure {
	struct refusal why_not; // text is empty: the rest is known
	struct step_exposed times;
	ps_t by[ANSWER_COUNT]; // of the step that is exposed
};

// The step of `sim --fidelity model` on a fabric of one plane with such NICs.
void exposure_find(struct exposure *ret, const struct plan *plan, const char *order,
		   uint32_t domain);
ps_t exposure_ps(const struct exposure *exposure);
