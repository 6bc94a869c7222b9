// SPDX-License-Identifier: Apache-2.0
// One step whose collectives run packet by packet, as weft sim --fidelity sample has it.
#pragma once

#include <weft/core/refusal.h>
#include <weft/workload/step.h>

struct packets_step {
	struct step_exposed times;
	ps_t error_ps; // of the exposed time, stated with the sample
	uint64_t packets;
	uint32_t groups, groups_all;
};

// Runs scenario `name` with `sets` over it, and `sample` (NULL: its own). -errno with a reason.
int packets_run(struct packets_step *ret, const char *name, const char *sample,
		const char *const *sets, uint32_t set_count, struct refusal *refusal);
