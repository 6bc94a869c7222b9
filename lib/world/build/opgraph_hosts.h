// SPDX-License-Identifier: Apache-2.0
// The programs and collectives of a world: their lines, and what can be said against them.
#pragma once

#include <weft/host/coll_stream_host.h>
#include <weft/host/opgraph_host.h>
#include <weft/world/world.h>

// Whether each rank has a NIC of its own. -EINVAL with a reason, -ENOMEM.
int opgraph_hosts_check_nics(const struct world *world, struct refusal *refusal);

// Lines of the world's program, and what can be said against it. Before QPs are counted. -EINVAL
// with a reason, -ENOMEM.
int opgraph_hosts_build(struct world *world, struct refusal *refusal);

// Local events that the ranks of host `index` may have under way at once.
uint64_t opgraph_hosts_events(const struct world *world, uint32_t index);

// Lets all ranks begin at time 0, and adds what is to be done to the world's work. After the hosts.
void opgraph_hosts_plan(struct world *world);

// Whether both ends of a message are in one host.
bool opgraph_hosts_is_local(const struct world *world, const struct op *op);

// Bytes that the program sends over the fabric.
uint64_t opgraph_hosts_fabric_bytes(const struct world *world);

// Operations that have not ended, over the ranks of a shard.
uint64_t opgraph_hosts_left(const struct world *world, uint32_t shard);

// Lines of the world's collective stream, and what can be said against it. Before QPs are counted.
// -EINVAL with a reason, -ENOMEM.
int coll_stream_hosts_build(struct world *world, struct refusal *refusal);

// Lets all ranks begin at time 0, and adds what is to be done to the world's work. After the hosts.
void coll_stream_hosts_plan(struct world *world);

// Building for world_external_compute.h.

static inline bool external_compute_is(const struct op *op)
{
	return op->kind == OP_COMPUTE && op->compute_ps == OP_EXTERNAL_COMPUTE_PS;
}

// Room for when such computations begin, where the program has any. -ENOMEM.
int external_compute_build(const struct world *world);
