// SPDX-License-Identifier: Apache-2.0
// The programs and collectives of a world: their lines, and what can be said against them.
#pragma once

#include <weft/host/coll_stream_host.h>
#include <weft/host/opgraph_host.h>
#include <weft/world/world.h>

// Whether each rank has a NIC of its own. -EINVAL with a reason, -ENOMEM.
int opgraph_hosts_check_nics(const struct world *world, struct refusal *refusal);

// Building for world_external_compute.h.

static inline bool external_compute_is(const struct op *op)
{
	return op->kind == OP_COMPUTE && op->compute_ps == OP_EXTERNAL_COMPUTE_PS;
}

// Room for when such computations begin, where the program has any. -ENOMEM.
int external_compute_build(const struct world *world);
