// SPDX-License-Identifier: Apache-2.0
// What a place is called: a link, NIC, host, switch, plane or bundle of links.

#include "culprit.h"

#include <stdio.h>
#include <string.h>

const char *culprit_location_name(enum culprit_location place)
{
	static const char *const names[] = {"link", "nic", "host", "switch", "plane", "bundle"};
	return names[place];
}

static void switch_name(uint32_t index, const struct world *world, char *ret, size_t bytes)
{
	const struct topology *topology = &world->topology;
	const struct switch_plan *plan = &topology->switches[index];
	if (topology->names != NULL)
		snprintf(ret, bytes, "%s plane %u", topology->names[plan->index], plan->plane);
	else
		snprintf(ret, bytes, "t%u %u plane %u", plan->tier, plan->index, plan->plane);
}

// "bundle t0 0 plane 1 - t1 2": all cables between the two.
static void bundle_name(const struct culprit *culprit, const struct world *world, char *ret,
			size_t bytes)
{
	const struct topology *topology = &world->topology;
	const struct link_plan *link = &topology->links[culprit->index];
	const struct switch_plan *upper = &topology->switches[link->node_b - topology->hosts];
	char lower[WORLD_CABLE_NAME_BYTES];
	switch_name(link->node_a - topology->hosts, world, lower, sizeof(lower));
	if (topology->names != NULL)
		snprintf(ret, bytes, "bundle %.40s - %.40s", lower, topology->names[upper->index]);
	else
		snprintf(ret, bytes, "bundle %.40s - t%u %u", lower, upper->tier, upper->index);
}

// "nic 3 plane 1 - t0 0"
static void link_name(const struct culprit *culprit, const struct world *world, char *ret,
		      size_t bytes)
{
	world_cable_name(world, 2 * culprit->index, ret, bytes);
	char *arrow = strchr(ret, '>');
	if (arrow != NULL)
		*arrow = '-';
}

void culprit_name(const struct culprit *culprit, const struct world *world, char *ret, size_t bytes)
{
	switch (culprit->place) {
	case CULPRIT_LINK:
		link_name(culprit, world, ret, bytes);
		break;
	case CULPRIT_BUNDLE:
		bundle_name(culprit, world, ret, bytes);
		break;
	case CULPRIT_SWITCH:
		switch_name(culprit->index, world, ret, bytes);
		break;
	default:
		snprintf(ret, bytes, "%s %u", culprit_location_name(culprit->place),
			 culprit->index);
	}
}
