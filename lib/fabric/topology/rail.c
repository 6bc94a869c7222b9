// SPDX-License-Identifier: Apache-2.0
// Rails: NIC i of every host hangs below rail switch i, so that the GPUs of one place in their
// hosts reach each other over one switch. Spines join the rails; without them a packet cannot leave
// its rail. Ports of a rail switch: host by host, then spine by spine with the bundle together.

#include <errno.h>

#include <weft/core/refusal.h>

#include "graph.h"

int rail_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret)
{
	uint64_t rails = config->nics_per_host, spines = config->t1_count;
	if (spines > UINT16_MAX || (spines > 0 && config->bundle == 0) ||
	    config->bundle > UINT16_MAX)
		return refuse(refusal, -EINVAL, "% spines in bundles of % cannot be built",
			      config->t1_count, config->bundle);
	*ret = (struct graph_size){rails + spines, rails * spines * config->bundle};
	return 0;
}

int rail_fill(struct graph *graph, const struct fabric_config *config, struct refusal *)
{
	uint32_t rails = config->nics_per_host;
	for (uint32_t nic = 0; nic < config->nics; nic++)
		graph->nics[nic].node = nic % rails;
	for (uint32_t spine = 0; spine < config->t1_count; spine++) {
		graph->tier[rails + spine] = 1;
		graph->index[rails + spine] = spine;
	}
	for (uint32_t rail = 0; rail < rails; rail++)
		for (uint32_t spine = 0; spine < config->t1_count; spine++)
			graph_join(graph, config, rail, rails + spine, config->bundle);
	return 0;
}
