// SPDX-License-Identifier: Apache-2.0
// Two switches, half of the NICs below each, and a bundle of links between them: the smallest
// fabric with a bottleneck that two flows can share.

#include <errno.h>

#include <weft/core/refusal.h>

#include "graph.h"

int dumbbell_size(const struct fabric_config *config, struct refusal *refusal,
		  struct graph_size *ret)
{
	if (config->nics % (2 * config->nics_per_host) != 0)
		return refuse(refusal, -EINVAL,
			      "% NICs are not two halves of whole hosts of % NICs each",
			      config->nics, config->nics_per_host);
	if (config->bundle == 0 || config->bundle > PORTS_MAX)
		return refuse(refusal, -EINVAL,
			      "a bundle must be 1 to % links between the two switches, not %",
			      PORTS_MAX, config->bundle);
	*ret = (struct graph_size){2, config->bundle};
	return 0;
}

int dumbbell_fill(struct graph *graph, const struct fabric_config *config, struct refusal *)
{
	for (uint32_t nic = 0; nic < config->nics; nic++)
		graph->nics[nic].node = nic >= config->nics / 2;
	graph_join(graph, config, 0, 1, config->bundle);
	return 0;
}
