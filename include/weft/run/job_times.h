// SPDX-License-Identifier: Apache-2.0
// A job's file with other times.
#pragma once

#include <stdio.h>

#include <weft/workload/plan.h>

// Writes the file of the job `name`, shipped or of one's own, with forward_ps, backward_ps and
// other_ps of `timing` in place of its times, `comment` (lines, or "") before them, and
// `timing->origin` as what they are calibrated by. Its text stays as it is but for the section
// `times` and the rows of inputs that are about it alone. What was written is read again before it
// is printed: -EINVAL with a reason when its times stand in a form that is not edited.
int job_times_print(FILE *to, const char *name, const struct plan *job, const struct timing *timing,
		    const char *comment, struct refusal *refusal);
