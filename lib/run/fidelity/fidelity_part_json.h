// SPDX-License-Identifier: Apache-2.0
// What the JSON of several depths has in common.
#pragma once

#include <jansson.h>

#include <weft/run/fidelity_sample.h>

// How far packets may be from closed forms that came to `times`, and why.
json_t *fidelity_error_json(const struct fidelity_bounds *bounds, const struct step_exposed *times);

// A list of the dimensions that leave their domain, with what they cost.
json_t *fidelity_off_domain_json(const struct world_step *world,
				 const ps_t longer_ps[DIMENSION_COUNT]);

// What a step rests on: the job's times and what else its file says, the scenario's inputs, and
// what every schedule assumes.
json_t *fidelity_inputs_json(const struct call *call, const struct plan *plan);

// Steps with jitter; null when none were asked for.
json_t *fidelity_steps_json(const struct fidelity_steps *steps);

// What packets add to the exposed time, by closed forms and one behind the other: this fabric's
// latency, credits, headers, SACKs.
json_t *fidelity_terms_json(const struct fidelity_sample *fidelity);
