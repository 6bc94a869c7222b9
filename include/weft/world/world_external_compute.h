// SPDX-License-Identifier: Apache-2.0
// Computations of a program that end when somebody outside the world says so
// (OP_EXTERNAL_COMPUTE_PS): a device computes, and the world waits for it. For a driver with a
// clock, between two windows.
#pragma once

#include <weft/world/world_signal.h>

#ifdef __cplusplus
extern "C" {
#endif

// Whether computation `op` may go on: all that it waits for has ended, at *ret_at. Of gradients
// those that take their own time are known, too.
bool world_external_compute_has_begun(const struct world *world, uint32_t op, ps_t *ret_at);

// Computation `op`, which has begun, ends at `at`, in a window that was not run yet. Once each;
// `wake` as in world_hear().
void world_external_compute_end(const struct world *world, uint32_t op, ps_t at,
				world_wake_fn *wake, void *context);

#ifdef __cplusplus
}
#endif
