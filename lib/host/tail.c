// SPDX-License-Identifier: Apache-2.0
// Late packets by the cables of their ways. See tail.h.
#include <weft/host/tail.h>

#include <weft/fabric/fabric_way.h>

void tail_add(struct tail *tail, const struct packet *packet, uint64_t took_ps)
{
	const struct topology *topology = tail->topology;
	uint64_t level = (took_ps - tail->late_ps) * 10 / tail->late_ps;
	level = level < TAIL_LEVELS ? level : TAIL_LEVELS - 1;
	if (packet->source >= topology->nics || packet->plane >= topology->planes)
		return; // of nobody in this world
	tail->packets[level]++;
	topology_follow(
		topology,
		tail->first_links[(size_t)packet->source * topology->planes + packet->plane],
		packet, tail->counts + level * tail->cables);
}
