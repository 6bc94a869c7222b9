// SPDX-License-Identifier: Apache-2.0
// Places of links, as people name them, and what a fault of the timeline may be. When a fault
// strikes, and what a cable does then, is the driver's.

#include <errno.h>

#include <weft/core/refusal.h>
#include <weft/fabric/fabric.h>

#include "topology/topology.h"

#define PPB UINT32_C(1000000000)

static bool hits_nic(const struct link_location *place, const struct topology *topology,
		     const struct link_plan *link)
{
	uint32_t within = place->index % topology->nics_per_host;
	return link->tier == 0 && link->node_a == place->index / topology->nics_per_host &&
		link->port_a == within * topology->planes + place->plane;
}

static bool hits_trunk(const struct link_location *place, const struct topology *topology,
		       const struct link_plan *link, uint8_t tier)
{
	if (link->tier != tier || link->plane != place->plane)
		return false;
	const struct switch_plan *lower = &topology->switches[link->node_a - topology->hosts];
	return lower->index == place->index && link->port_a == lower->up_first + place->port;
}

static bool hits_bundle(const struct link_location *place, const struct topology *topology,
			const struct link_plan *link)
{
	if (link->tier != 1 || link->plane != place->plane)
		return false;
	return topology->switches[link->node_a - topology->hosts].index == place->index &&
		topology->switches[link->node_b - topology->hosts].index == place->port;
}

// Whether the switch that the place names is at an end of the link.
static bool hits_switch(const struct link_location *place, const struct topology *topology,
			const struct link_plan *link)
{
	uint8_t tier = place->where == LINK_AT_T0 ? 0 : 1;
	const uint32_t ends[] = {link->node_a, link->node_b};
	for (int i = 0; i < 2; i++) {
		if (ends[i] < topology->hosts)
			continue;
		const struct switch_plan *end = &topology->switches[ends[i] - topology->hosts];
		if (end->tier == tier && end->plane == place->plane && end->index == place->index)
			return true;
	}
	return false;
}

// Whether the link is one of the NIC's, in whatever plane.
static bool hits_nic_whole(const struct link_location *place, const struct topology *topology,
			   const struct link_plan *link)
{
	const struct link_location own = {
		.where = LINK_AT_NIC, .index = place->index, .plane = link->plane};
	return hits_nic(&own, topology, link);
}

bool link_location_hits(const struct link_location *place, const struct topology *topology,
			uint32_t link)
{
	check(link < topology->link_count);
	const struct link_plan *plan = &topology->links[link];
	switch (place->where) {
	case LINK_AT_NIC:
		return hits_nic(place, topology, plan);
	case LINK_AT_TRUNK:
		return hits_trunk(place, topology, plan, 1);
	case LINK_AT_T1_TRUNK:
		return hits_trunk(place, topology, plan, 2);
	case LINK_AT_BUNDLE:
		return hits_bundle(place, topology, plan);
	case LINK_AT_PLANE:
		return plan->plane == place->plane;
	case LINK_AT_ALL:
		return true;
	case LINK_AT_HOST:
		return plan->tier == 0 && plan->node_a == place->index;
	case LINK_AT_NIC_WHOLE:
		return hits_nic_whole(place, topology, plan);
	case LINK_AT_T0:
	case LINK_AT_T1:
		return hits_switch(place, topology, plan);
	case LINK_AT_NODE:
	case LINK_AT_EDGE:
		return named_place_hits(place, topology, plan);
	}
	return false;
}

// That tier `tier` has a switch of the place's number.
static int check_tier(const struct link_location *place, const struct topology *topology,
		      uint8_t tier, struct refusal *refusal)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < topology->switch_count / topology->planes; i++)
		count += topology->switches[i].tier == tier;
	if (place->index >= count)
		return refuse(refusal, -EINVAL, "there is no T% %: each plane has %", tier,
			      place->index, count);
	return 0;
}

// The up ports of switch `index` of a tier in `plane`.
static uint32_t up_ports_of(const struct topology *topology, uint32_t plane, uint8_t tier,
			    uint32_t index)
{
	uint32_t per_plane = topology->switch_count / topology->planes;
	for (uint32_t i = 0; i < per_plane; i++) {
		const struct switch_plan *plan = &topology->switches[plane * per_plane + i];
		if (plan->tier == tier && plan->index == index)
			return plan->up_ports;
	}
	return 0;
}

static int check_trunk(const struct link_location *place, const struct topology *topology,
		       uint8_t tier, struct refusal *refusal)
{
	int rc = check_tier(place, topology, tier, refusal);
	if (rc < 0)
		return rc;
	uint32_t up_count = up_ports_of(topology, place->plane, tier, place->index);
	if (place->port < up_count)
		return 0;
	if (tier == 0)
		return refuse(refusal, -EINVAL, "T0 % has no up port %: it has %", place->index,
			      place->port, up_count);
	return refuse(refusal, -EINVAL, "T1 % has no up port %: it has %", place->index,
		      place->port, up_count);
}

static int check_bundle(const struct link_location *place, const struct topology *topology,
			struct refusal *refusal)
{
	int rc = check_tier(place, topology, 0, refusal);
	for (uint32_t i = 0; rc == 0 && i < topology->link_count; i++)
		if (hits_bundle(place, topology, &topology->links[i]))
			return 0;
	return rc < 0 ? rc
		      : refuse(refusal, -EINVAL, "T0 % has no cable to a T1 %", place->index,
			       place->port);
}

int link_location_check(const struct link_location *place, const struct topology *topology,
			struct refusal *refusal)
{
	if (place->where > LINK_AT_BUNDLE)
		return refuse(refusal, -EINVAL, "unknown kind of place %", place->where);
	if (place->where == LINK_AT_HOST)
		return place->index < topology->hosts
			? 0
			: refuse(refusal, -EINVAL, "there is no host %: the world has %",
				 place->index, topology->hosts);
	if (place->where == LINK_AT_NODE || place->where == LINK_AT_EDGE)
		return named_place_check(place, topology, refusal);
	bool has_plane = place->where != LINK_AT_ALL && place->where != LINK_AT_NIC_WHOLE;
	bool has_nic = place->where == LINK_AT_NIC || place->where == LINK_AT_NIC_WHOLE;
	if (has_plane && place->plane >= topology->planes)
		return refuse(refusal, -EINVAL, "there is no plane %: a NIC has %", place->plane,
			      topology->planes);
	if (has_nic && place->index >= topology->nics)
		return refuse(refusal, -EINVAL, "there is no NIC %: the world has %", place->index,
			      topology->nics);
	if (place->where == LINK_AT_TRUNK)
		return check_trunk(place, topology, 0, refusal);
	if (place->where == LINK_AT_T1_TRUNK)
		return check_trunk(place, topology, 1, refusal);
	if (place->where == LINK_AT_BUNDLE)
		return check_bundle(place, topology, refusal);
	if (place->where == LINK_AT_T0)
		return check_tier(place, topology, 0, refusal);
	if (place->where == LINK_AT_T1)
		return check_tier(place, topology, 1, refusal);
	return 0;
}

// A chance of parts per 10^9 as 2^-64ths; one is all bits.
static uint64_t chance_of(uint64_t part, uint64_t whole)
{
	return part >= whole ? UINT64_MAX : (uint64_t)(((unsigned __int128)part << 64) / whole);
}

struct burst_chances fault_burst(const struct fault *fault)
{
	uint64_t share = fault->share_ppb, packets = fault->burst_packets;
	if (packets == 0)
		return (struct burst_chances){chance_of(fault->enter_ppb, PPB),
					      chance_of(fault->leave_ppb, PPB)};
	return (struct burst_chances){chance_of(share, (PPB - share) * packets),
				      chance_of(1, packets)};
}

static int check_burst(const struct fault *fault, struct refusal *refusal)
{
	uint64_t share = fault->share_ppb, packets = fault->burst_packets;
	if (packets == 0 && fault->enter_ppb > 0 && fault->enter_ppb <= PPB &&
	    fault->leave_ppb > 0 && fault->leave_ppb <= PPB && fault->good_loss_ppb <= PPB &&
	    fault->bad_loss_ppb <= PPB)
		return 0;
	if (packets == 0)
		return refuse(refusal, -EINVAL, "a burst begins and ends with a chance: % and %",
			      fault->enter_ppb, fault->leave_ppb);
	if (share == 0 || share >= PPB || share > (PPB - share) * packets)
		return refuse(refusal, -EINVAL,
			      "% of 10^9 packets cannot be lost in bursts of %, with one between "
			      "them at least",
			      (int64_t)share, (int64_t)packets);
	return 0;
}

// What can be wrong with a setting. How many values a QP may have is the transport's to say.
static int check_setting(const struct fault *fault, const struct topology *topology,
			 struct refusal *refusal)
{
	enum link_where where = fault->at.where;
	bool is_switch = where == LINK_AT_T0 || where == LINK_AT_T1 || where == LINK_AT_NODE;
	if (fault->from_ps != 0 || fault->until_ps != PS_NEVER)
		return refuse(refusal, -EINVAL,
			      "a wrong setting is there from the start and for good");
	if (fault->kind == FAULT_EVS)
		return fault->ev_count > 0 && fault->ev_count % topology->planes == 0
			? 0
			: refuse(refusal, -EINVAL,
				 "% entropy values are not as many for each of % planes",
				 fault->ev_count, topology->planes);
	if (!is_switch || fault->direction != FAULT_BOTH_DIRECTIONS)
		return refuse(refusal, -EINVAL,
			      "marking is set for a switch as a whole: at a T0, a T1 or a node");
	if (fault->ecn_low_bytes > fault->ecn_high_bytes)
		return refuse(refusal, -EINVAL, "marking cannot start at % B and be whole at % B",
			      fault->ecn_low_bytes, fault->ecn_high_bytes);
	return 0;
}

// What can be wrong with the figures of the kinds that have some.
static int check_figures(const struct fault *fault, struct refusal *refusal)
{
	bool has_rate = fault->kind == FAULT_SLOW || fault->kind == FAULT_STRAGGLER;
	if (fault_has_share(fault->kind) && fault->share_ppb > PPB)
		return refuse(refusal, -EINVAL, "share_ppb must be 0 to %, not %", PPB,
			      fault->share_ppb);
	if (fault->kind == FAULT_BURST)
		return check_burst(fault, refusal);
	if (fault->kind == FAULT_REORDER && fault->delay_ps <= 0)
		return refuse(refusal, -EINVAL, "a packet cannot be held back for % ps",
			      fault->delay_ps);
	if (has_rate && (fault->rate_ppb == 0 || fault->rate_ppb > PPB))
		return refuse(refusal, -EINVAL, "rate_ppb must be 1 to %, not %", PPB,
			      fault->rate_ppb);
	if (fault->kind == FAULT_FLAP && (fault->down_ps <= 0 || fault->up_ps <= 0))
		return refuse(refusal, -EINVAL,
			      "a flap is down and up in turn: % ps and % ps are none",
			      fault->down_ps, fault->up_ps);
	if (fault->kind == FAULT_STALL && fault->until_ps == PS_NEVER)
		return refuse(refusal, -EINVAL,
			      "a stall ends: a host that is gone for good is a link_down there");
	if (fault_is_of_host(fault->kind) &&
	    (fault->direction != FAULT_BOTH_DIRECTIONS ||
	     (fault->at.where != LINK_AT_HOST && fault->at.where != LINK_AT_ALL)))
		return refuse(refusal, -EINVAL, "a host is hit as a whole: at a host, or at all");
	return 0;
}

int fault_check(const struct fault *fault, const struct topology *topology, struct refusal *refusal)
{
	if (fault->kind >= FAULT_KIND_COUNT)
		return refuse(refusal, -EINVAL, "unknown kind of fault %", fault->kind);
	if (fault->from_ps < 0 || fault->until_ps <= fault->from_ps)
		return refuse(refusal, -EINVAL,
			      "a fault must end after it begins: it is from % to % ps",
			      fault->from_ps, fault->until_ps);
	if (fault->direction > FAULT_DOWN)
		return refuse(refusal, -EINVAL, "unknown way of a fault %", fault->direction);
	int rc = check_figures(fault, refusal);
	if (rc == 0 && fault_is_setting(fault->kind))
		rc = check_setting(fault, topology, refusal);
	return rc < 0 ? rc : link_location_check(&fault->at, topology, refusal);
}
