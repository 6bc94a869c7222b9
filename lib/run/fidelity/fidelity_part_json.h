// SPDX-License-Identifier: Apache-2.0
// What the JSON of several depths has in common.
#pragma once

#include <jansson.h>

#include <weft/run/fidelity.h>

// A list of the dimensions that leave their domain, with what they cost.
json_t *fidelity_off_domain_json(const struct world_step *world,
				 const ps_t longer_ps[DIMENSION_COUNT]);

// Steps with jitter; null when none were asked for.
json_t *fidelity_steps_json(const struct fidelity_steps *steps);
