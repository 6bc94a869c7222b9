// SPDX-License-Identifier: Apache-2.0
// Building for world_outside.h.
#pragma once

#include <weft/world/world.h>

static inline bool outside_is(const struct op *op)
{
	return op->kind == OP_COMPUTE && op->compute_ps == OP_OUTSIDE_PS;
}

// Room for when such computations begin, where the program has any. -ENOMEM.
int outside_build(const struct world *world);
