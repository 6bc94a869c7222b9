// SPDX-License-Identifier: Apache-2.0
// The entropy values of a flow: those that it has to itself, and what is counted by them.
#pragma once

#include <weft/measure/measure_evs.h>
#include <weft/world/world.h>

// Lets QP `qpn`, at one end of the flow, use what traffic.flows says. Nothing where it says
// nothing, or where another process has the endpoint (NULL).
void flow_evs_keep(const struct world *world, uint32_t flow, struct endpoint *endpoint,
		   uint32_t qpn);

// With watch.evs: draws room for counts, and lets endpoints count. -EINVAL when flows are too many.
int flow_evs_build(struct world *world, struct refusal *refusal);

// The counts of a flow, by number of its entropy value; NULL without watch.evs.
static inline struct ev_count *flow_evs_counts(const struct world *world, uint32_t flow)
{
	return world->ev_counts == NULL
		? NULL
		: world->ev_counts + (size_t)flow * ev_universe(&world->transport);
}

// Holds the counts of the flows that NICs of this process send against what these count themselves,
// plane by plane: stops at a bug.
void flow_evs_audit(const struct world *world);
