// SPDX-License-Identifier: Apache-2.0
// Routes that reconverge: hands the timeline of faults to the switches.

#include <errno.h>

#include "build.h"

int reroute_build(struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	uint32_t fault = scenario->fault_count;
	if (world->fabric.reroute.local_ps == 0 || fault == 0)
		return 0;
	int rc = switches_reroute(world->switches, world->arena, &world->topology, &world->fabric,
				  scenario->faults, scenario->fault_count, &fault, refusal);
	if (rc == -ENOMEM)
		return build_no_memory(world, refusal);
	if (rc < 0 && fault < scenario->fault_count)
		scenario_fault_location(scenario, fault, refusal);
	return rc;
}
