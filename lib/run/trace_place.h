// SPDX-License-Identifier: Apache-2.0
// The ranks of a trace on the NICs of a fabric that has more of them: as they are, or in several
// copies side by side.
#pragma once

#include <weft/run/workload.h>

// How many ranks the trace is run with: its own, or all NICs where it does not tell. -EINVAL where
// they do not go onto the fabric.
int trace_place_ranks(const struct workload *workload, const struct scenario *scenario,
		      uint32_t *ret, struct refusal *refusal);

// Says among the scenario's inputs what of the trace was left out so that it can run.
void trace_place_note(const struct workload *workload, struct scenario *scenario);

// Puts as many copies of the program that was expanded onto the fabric as traffic.copies says, each
// on NICs of its own that lie to hosts as those of the first one. -EINVAL with the reason, -ENOMEM.
int trace_place(struct workload *workload, struct scenario *scenario, struct refusal *refusal);
