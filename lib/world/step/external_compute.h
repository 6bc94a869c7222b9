// SPDX-License-Identifier: Apache-2.0
// Building for world_external_compute.h.
#pragma once

#include <weft/world/world.h>

static inline bool external_compute_is(const struct op *op)
{
	return op->kind == OP_COMPUTE && op->compute_ps == OP_EXTERNAL_COMPUTE_PS;
}

// Room for when such computations begin, where the program has any. -ENOMEM.
int external_compute_build(const struct world *world);
