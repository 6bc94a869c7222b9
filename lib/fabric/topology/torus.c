// SPDX-License-Identifier: Apache-2.0
// A torus of two or three dimensions: routers at the points of a grid, x runs fastest, and each row
// is closed to a ring by a wrap link. A row of two has one link, not two, and a row of one has
// none. Packets go along x until that is right, then y, then z: dimension-order routing. In a ring
// the shorter way round is taken; halfway round both are equal, and the hash decides.

#include <errno.h>

#include <weft/core/refusal.h>

#include "graph.h"

#define DIMENSIONS 3

// Links of one row closed to a ring.
static uint32_t ring_links(uint32_t length)
{
	return length > 2 ? length : length - 1;
}

int torus_size(const struct fabric_config *config, struct refusal *refusal, struct graph_size *ret)
{
	uint64_t routers = 1, links = 0;
	for (uint32_t i = 0; i < DIMENSIONS; i++) {
		if (config->torus[i] == 0 || config->torus[i] > TOPOLOGY_TABLE_SWITCHES_MAX)
			return refuse(refusal, -EINVAL,
				      "a torus has 1 to % routers along a dimension, not %",
				      TOPOLOGY_TABLE_SWITCHES_MAX, config->torus[i]);
		routers *= config->torus[i];
	}
	for (uint32_t i = 0; i < DIMENSIONS; i++)
		links += routers / config->torus[i] * ring_links(config->torus[i]);
	if (config->nics_per_t0 == 0 || config->nics % config->nics_per_t0 != 0 ||
	    config->nics / config->nics_per_t0 != routers)
		return refuse(refusal, -EINVAL,
			      "% routers with % NICs each are not the % NICs of the fabric",
			      (int64_t)routers, config->nics_per_t0, config->nics);
	if (routers < 2 || config->bundle == 0 || config->bundle > PORTS_MAX)
		return refuse(refusal, -EINVAL,
			      "% routers joined by bundles of % links do not make a torus",
			      (int64_t)routers, config->bundle);
	*ret = (struct graph_size){routers, links * config->bundle};
	return 0;
}

// How far apart neighbours of a dimension are, counted in routers.
static uint32_t stride_of(const struct fabric_config *config, uint32_t dimension)
{
	uint32_t stride = 1;
	for (uint32_t i = 0; i < dimension; i++)
		stride *= config->torus[i];
	return stride;
}

// The router one step up from `node`, over the wrap link if need be.
static uint32_t next_along(const struct fabric_config *config, uint32_t node, uint32_t dimension)
{
	uint32_t stride = stride_of(config, dimension), length = config->torus[dimension];
	uint32_t place = node / stride % length;
	return node - place * stride + (place + 1) % length * stride;
}

int torus_fill(struct graph *graph, const struct fabric_config *config, struct refusal *)
{
	for (uint32_t nic = 0; nic < config->nics; nic++)
		graph->nics[nic].node = nic / config->nics_per_t0;
	for (uint32_t node = 0; node < graph->node_count; node++) {
		for (uint32_t i = 0; i < DIMENSIONS; i++) {
			uint32_t place = node / stride_of(config, i) % config->torus[i];
			if (place < ring_links(config->torus[i]))
				graph_join(graph, config, node, next_along(config, node, i),
					   config->bundle);
		}
	}
	return 0;
}

// Ports of `from` that lead to its neighbour `peer`; returns the new count.
static uint32_t ports_to(const struct graph *graph, uint32_t from, uint32_t peer, uint16_t *ret,
			 uint32_t count)
{
	uint32_t first = graph->end_first[from];
	for (uint32_t i = first; i < graph->end_first[from + 1]; i++)
		if (graph->ends[i].peer == peer)
			ret[count++] = (uint16_t)(graph->nic_ports[from] + i - first);
	return count;
}

uint32_t torus_ports(const struct graph *graph, const struct fabric_config *config, uint32_t from,
		     uint32_t to, uint16_t *ret)
{
	uint32_t dimension = 0, count = 0;
	while (dimension < DIMENSIONS &&
	       from / stride_of(config, dimension) % config->torus[dimension] ==
		       to / stride_of(config, dimension) % config->torus[dimension])
		dimension++;
	if (dimension == DIMENSIONS)
		return 0;
	uint32_t stride = stride_of(config, dimension), length = config->torus[dimension];
	uint32_t place = from / stride % length;
	uint32_t up = (to / stride % length + length - place) % length;
	uint32_t above = next_along(config, from, dimension);
	uint32_t below = from - place * stride + (place + length - 1) % length * stride;
	if (2 * up <= length)
		count = ports_to(graph, from, above, ret, count);
	if (2 * up >= length && above != below)
		count = ports_to(graph, from, below, ret, count);
	return count;
}
