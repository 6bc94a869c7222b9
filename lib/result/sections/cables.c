// SPDX-License-Identifier: Apache-2.0
// Cables as lines of text. See sections.h.

#include "sections.h"

#include <inttypes.h>

#include <weft/result/links.h>

bool cables_are_counted(const struct world *world)
{
	return world->links.counts != NULL;
}

void cables_write(FILE *to, const struct world *world)
{
	fprintf(to, "cable,group,plane,packets,bytes,data_bytes,lost,rate_bps\n");
	for (uint32_t i = 0; i < 2 * world->topology.link_count; i++) {
		const struct link_count *count = &world->links.counts[i];
		char name[WORLD_CABLE_NAME_BYTES];
		world_cable_name(world, i, name, sizeof(name));
		fprintf(to,
			"%s,%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			"\n",
			name, links_group_name(world_link_group(world, i)),
			world->topology.links[i / 2].plane, count->packets, count->bytes,
			count->data_bytes, count->lost_down + count->lost_random,
			world->topology.links[i / 2].rate_bps);
	}
}
