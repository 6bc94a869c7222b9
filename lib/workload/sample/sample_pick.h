// SPDX-License-Identifier: Apache-2.0
// A sample that names its collectives.
#pragma once

#include <weft/workload/workload.h>

// Cuts `job` down to one collective for each of the picks. -EINVAL when the job has none such.
int sample_pick(struct job *job, const struct sample *want, struct refusal *refusal);
