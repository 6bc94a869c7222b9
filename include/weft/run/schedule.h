// SPDX-License-Identifier: Apache-2.0
// The schedule of one plan in memory of its own.
#pragma once

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
