// SPDX-License-Identifier: Apache-2.0
// Places in a fabric whose switches have names: a switch with all its cables, or the cables between
// two switches.

#include <errno.h>

#include <weft/core/refusal.h>

#include "topology.h"

// The place of a node in its plane; UINT32_MAX for a host.
static uint32_t in_plane(const struct topology *topology, uint32_t node)
{
	uint32_t per_plane = topology->switch_count / topology->planes;
	return node < topology->hosts ? UINT32_MAX : (node - topology->hosts) % per_plane;
}

bool named_place_hits(const struct link_location *place, const struct topology *topology,
		      const struct link_plan *link)
{
	uint32_t a = in_plane(topology, link->node_a), b = in_plane(topology, link->node_b);
	if (place->plane != PLANE_EACH && place->plane != link->plane)
		return false;
	if (place->where == LINK_AT_NODE)
		return a == place->index || b == place->index;
	return (a == place->index && b == place->port) || (a == place->port && b == place->index);
}

int named_place_check(const struct link_location *place, const struct topology *topology,
		      struct refusal *refusal)
{
	uint32_t switches = topology->switch_count / topology->planes;
	bool is_node = place->where == LINK_AT_NODE;
	if (place->plane != PLANE_EACH && place->plane >= topology->planes)
		return refuse(refusal, -EINVAL, "there is no plane %: a NIC has %", place->plane,
			      topology->planes);
	if (place->index >= switches || (!is_node && place->port >= switches))
		return refuse(refusal, -EINVAL, "there is no switch %: each plane has %",
			      is_node || place->index >= switches ? place->index : place->port,
			      switches);
	for (uint32_t i = 0; i < topology->link_count; i++)
		if (named_place_hits(place, topology, &topology->links[i]))
			return 0;
	return refuse(refusal, -EINVAL, "no link leads from switch % to switch %", place->index,
		      place->port);
}
