// SPDX-License-Identifier: Apache-2.0
// Goodput of one NIC against what the planes that are left between it and its sender can carry: by
// the configuration, of which endpoints know nothing.

#include <weft/result/recovery.h>

#include <stdlib.h>

bool recovery_is_watched(const struct world *world)
{
	return world->nic_placed != NULL && bypass_is_watched(world);
}

// The one flow that leads to a NIC, or NULL.
static const struct flow *flow_to(const struct world *world, uint32_t nic)
{
	const struct flow *found = NULL;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		if (world->flows[i].to != nic)
			continue;
		if (found != NULL)
			return NULL;
		found = &world->flows[i];
	}
	return found;
}

static bool is_down(const struct world *world, const struct cable_plan *cable, ps_t at)
{
	for (uint32_t i = 0; i < cable->fault_count; i++) {
		const struct cable_fault *fault = &world->cable_faults[cable->fault_first + i];
		ps_t into = at - fault->from_ps;
		if (into < 0 || at >= fault->until_ps)
			continue;
		if (fault->kind == FAULT_LINK_DOWN ||
		    (fault->kind == FAULT_FLAP &&
		     into % (fault->down_ps + fault->up_ps) < fault->down_ps))
			return true;
	}
	return false;
}

// Planes whose links at both ends are up.
static uint32_t planes_up(const struct world *world, const struct flow *flow, ps_t at)
{
	uint32_t per_host = world->fabric.nics_per_host, planes = world->fabric.planes, down = 0;
	for (uint32_t i = 0; i < world->cable_count; i += 2) { // links, by the cable away from NICs
		const struct cable_plan *cable = &world->cables[i];
		uint32_t nic = cable->from_machine * per_host + cable->from_port / planes;
		if (cable->tier == 0 && (nic == flow->from || nic == flow->to) &&
		    is_down(world, cable, at))
			down |= 1u << cable->plane;
	}
	return planes - (uint32_t)__builtin_popcount(down);
}

// Payload that all planes could carry in one bin.
static double bin_bytes(const struct world *world, const struct flow *flow, uint32_t bin)
{
	const struct transport_config *transport = &world->transport;
	ps_t bin_ps = world->scenario->watch.bin_ps;
	double share = (double)transport->payload_bytes /
		(transport->payload_bytes + transport->header_bytes);
	return planes_up(world, flow, bin * bin_ps) *
		(double)fabric_nic_rate(&world->fabric, flow->to) / 8 * share * (double)bin_ps /
		PS_PER_S;
}

// Bins that goodput is the mean of, so that the length of a bin is but how finely it is timed.
static uint32_t bins_of_mean(const struct world *world)
{
	ps_t bin_ps = world->scenario->watch.bin_ps;
	ps_t bins = (RECOVERY_MEAN * world->topology.base_rtt_ps + bin_ps / 2) / bin_ps;
	return bins == 0 ? 1 : (uint32_t)bins;
}

// Whether the bins from `bin` on have their goodput.
static bool is_back(const struct world *world, const struct flow *flow, uint32_t bin)
{
	const uint64_t *placed = world->nic_placed + (size_t)flow->to * world->scenario->watch.bins;
	double wanted = 0, found = 0;
	uint32_t end = bin + bins_of_mean(world);
	for (uint32_t i = bin; i < end; i++) {
		wanted += bin_bytes(world, flow, i);
		found += (double)placed[i];
	}
	return found >= RECOVERY_SHARE * wanted;
}

// Bins that goodput has to stay for: a dip begins when what was under way has arrived, so that the
// first bins after a loss may be whole.
static uint32_t bins_to_stay(const struct world *world)
{
	ps_t bin_ps = world->scenario->watch.bin_ps;
	return (uint32_t)((RECOVERY_ROUND_TRIPS * world->topology.base_rtt_ps + bin_ps - 1) /
			  bin_ps);
}

// -1: never.
static ps_t recovery_of(const struct world *world, const struct bypass_link *link)
{
	const struct flow *flow = flow_to(world, link->nic);
	ps_t bin_ps = world->scenario->watch.bin_ps;
	if (flow == NULL)
		return -1;
	uint32_t stay = bins_to_stay(world);
	uint32_t first = (uint32_t)((link->first_ps + bin_ps - 1) / bin_ps), back = first;
	for (uint32_t bin = first; bin < back + stay; bin++) {
		if (bin + bins_of_mean(world) > world->scenario->watch.bins)
			return -1;
		if (!is_back(world, flow, bin))
			back = bin + 1;
	}
	return back == first ? 0 : back * bin_ps - link->first_ps;
}

void recovery_gather(struct bypass_times *ret, const struct bypass_list *list,
		     const struct world *world)
{
	*ret = (struct bypass_times){.is_whole = list->links.is_whole};
	ret->at = calloc(list->links.count + 1, sizeof(*ret->at));
	ret->is_whole &= ret->at != NULL;
	for (uint32_t i = 0; ret->at != NULL && i < list->links.count; i++) {
		ps_t time = recovery_of(world, &list->on_links[i]);
		ret->is_whole &= time >= 0;
		if (time >= 0)
			ret->at[ret->count++] = time;
	}
	bypass_sort(ret);
}
