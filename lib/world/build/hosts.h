// SPDX-License-Identifier: Apache-2.0
// What the files that build hosts share: the connections of a world, and the scratch of the
// building.
//
//   hosts.c  host machines, their QPs and ranks   nics.c  their NICs   connections.c  who talks to
//   whom
#pragma once

#include "build.h"
#include <weft/core/first_psn.h>
#include <weft/host/host.h>

#define GRANT_BYTES 64u // NCCL's entry in the sender's FIFO of credits

// One connection between two NICs of the world, passed to a visitor.
struct connection {
	uint32_t from_nic, to_nic;
	uint32_t group, from_at, to_at, channel; // of a ring
	uint32_t flow;				 // of a flow
	uint32_t line;				 // of a program
	enum nic_role from_role, to_role;
};

// How this world's connections find their first PSN.
static inline struct first_psn first_psn_rule(const struct world *world)
{
	const struct scenario *scenario = world->scenario;
	return (struct first_psn){scenario->first_psn, scenario->is_psn_drawn, scenario->seed};
}

typedef int visit_fn(struct world *world, void *context, const struct connection *connection);

// Tells `visit` each connection of the world, in an order that never changes, until one call
// refuses.
int connections_visit(struct world *world, visit_fn *visit, void *context);

// Counts and places that one step leaves to the next.
struct builder {
	struct refusal *refusal;
	uint32_t *qps;	       // [nics] counted, then used
	uint32_t *receivers;   // [nics] those of them that data come in on
	uint32_t *posts;       // [nics] that its hosts may have under way at once
	uint64_t *data_bytes;  // [nics] of the region for data; 0 = nobody writes there
	uint32_t *rank_of;     // [groups' ranks, group after group] rank index within its host
	uint32_t *group_first; // [groups] first entry in rank_of
	uint32_t *flow_qpn;    // [flows]
	uint32_t *ranks_on;    // [hosts]
	uint32_t *flows_on;    // [hosts]
};

// A visit: refuses a connection that the fabric has no way for. `context` is the builder.
int connection_check(struct world *world, void *context, const struct connection *connection);

// How large the region for data of each NIC is.
void connections_measure(const struct world *world, struct builder *builder);

// Builds the NICs of a host. -ENOMEM, or what endpoint_create() refuses.
int nics_build(struct world *world, struct world_host *host, const struct builder *builder);
