// SPDX-License-Identifier: Apache-2.0
// Collectives that ran packet by packet, read from a result for the schedule of the same step.
#pragma once

#include <stddef.h>

#include <weft/world/world_step.h>

#ifdef __cplusplus
extern "C" {
#endif

// Reads result.json of a run with packets, which need not end with NUL, and notes in `step` how
// much longer its collectives took than their closed form. `path` names it in a refusal. -EINVAL
// with place and reason: no JSON, no collectives, one of another kind or other ranks than the
// step's dense groups, one without a time, or times that could not be this step's. `step` is
// changed only when it returns 0.
int measured_parse(struct world_step *step, const char *path, const char *text, size_t bytes,
		   struct refusal *refusal);

#ifdef __cplusplus
}
#endif
