// SPDX-License-Identifier: Apache-2.0
// Where a fault of the timeline strikes. When it strikes, and what a cable does then, is the
// driver's.

#include <errno.h>

#include <weft/fabric.h>
#include <weft/refusal.h>

#include "topology.h"

#define PPB UINT32_C(1000000000)

static bool hits_nic(const struct fault *fault, const struct topology *topology,
		     const struct link_plan *link)
{
	uint32_t within = fault->index % topology->nics_per_host;
	return link->tier == 0 && link->node_a == fault->index / topology->nics_per_host &&
		link->port_a == within * topology->planes + fault->plane;
}

static bool hits_trunk(const struct fault *fault, const struct topology *topology,
		       const struct link_plan *link)
{
	if (link->tier != 1 || link->plane != fault->plane)
		return false;
	const struct switch_plan *lower = &topology->switches[link->node_a - topology->hosts];
	return lower->index == fault->index && link->port_a == lower->route.up_first + fault->port;
}

bool fault_hits(const struct fault *fault, const struct topology *topology, uint32_t link)
{
	check(link < topology->link_count);
	const struct link_plan *plan = &topology->links[link];
	switch (fault->where) {
	case FAULT_AT_NIC:
		return hits_nic(fault, topology, plan);
	case FAULT_AT_TRUNK:
		return hits_trunk(fault, topology, plan);
	case FAULT_AT_PLANE:
		return plan->plane == fault->plane;
	case FAULT_AT_ALL:
		return true;
	}
	return false;
}

static int check_trunk(const struct fault *fault, const struct topology *topology,
		       struct refusal *refusal)
{
	uint32_t t0_count = topology->nics / topology->t0_nics;
	if (fault->index >= t0_count)
		return refuse(refusal, -EINVAL, "there is no T0 %: each plane has %", fault->index,
			      t0_count, 0);
	uint32_t up_count = topology_t0(topology, fault->plane, fault->index)->route.up_count;
	if (fault->port >= up_count)
		return refuse(refusal, -EINVAL, "T0 % has no up port %: it has %", fault->index,
			      fault->port, up_count);
	return 0;
}

static int check_place(const struct fault *fault, const struct topology *topology,
		       struct refusal *refusal)
{
	if (fault->where > FAULT_AT_ALL)
		return refuse(refusal, -EINVAL, "unknown place of a fault %", fault->where, 0, 0);
	if (fault->where != FAULT_AT_ALL && fault->plane >= topology->planes)
		return refuse(refusal, -EINVAL, "there is no plane %: a NIC has %", fault->plane,
			      topology->planes, 0);
	if (fault->where == FAULT_AT_NIC && fault->index >= topology->nics)
		return refuse(refusal, -EINVAL, "there is no NIC %: the world has %", fault->index,
			      topology->nics, 0);
	if (fault->where == FAULT_AT_TRUNK)
		return check_trunk(fault, topology, refusal);
	return 0;
}

int fault_check(const struct fault *fault, const struct topology *topology, struct refusal *refusal)
{
	if (fault->kind > FAULT_LOSS)
		return refuse(refusal, -EINVAL, "unknown kind of fault %", fault->kind, 0, 0);
	if (fault->from_ps < 0 || fault->until_ps <= fault->from_ps)
		return refuse(refusal, -EINVAL,
			      "a fault must end after it begins: it is from % to % ps",
			      fault->from_ps, fault->until_ps, 0);
	if (fault->kind == FAULT_LOSS && fault->loss_ppb > PPB)
		return refuse(refusal, -EINVAL, "loss_ppb must be 0 to %, not %", PPB,
			      fault->loss_ppb, 0);
	return check_place(fault, topology, refusal);
}
