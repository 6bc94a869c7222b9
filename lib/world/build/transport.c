// SPDX-License-Identifier: Apache-2.0
// What the network gives to the endpoints: rates, windows and timers that the scenario leaves to
// them.

#include "build.h"

#include <weft/cc/cc_derived.h>
#include <weft/fabric/fabric_capacity.h>
#include <weft/host/host.h>
#include <weft/transport/transport_auto.h>

#define RTO_USUAL (262144 * PS_PER_NS)
// InfiniBand's Local ACK Timeout: 4.096 us times a power of two (IBTA volume 1, 9.7.6.1.3). 14, or
// 67.1 ms, is what perftest sets (option --timeout).
#define ACK_TIMEOUT_PS (4096 * PS_PER_NS)
#define ACK_TIMEOUT_USUAL 14u
#define ACK_TIMEOUT_MAX 19u // 2.1 s: endpoints take no longer ones

// Packets of one QP are overtaken by as much as the queues of two paths differ: those of the trunk
// ports on the way, one with two tiers and up to three with three; in a graph without tiers, all.
static uint32_t trunks_of(const struct world *world)
{
	const struct topology *topology = &world->topology;
	switch (topology->kind) {
	case TOPOLOGY_CLOS:
		return 1;
	case TOPOLOGY_FAT_TREE:
		return 3;
	case TOPOLOGY_RAIL:
	case TOPOLOGY_FILE:
		return topology->links_max > 3 ? topology->links_max - 3 : 1;
	default:
		return topology->links_max - 2;
	}
}

// What a QP has out at most: UINT32_MAX where a rate alone holds it back.
static uint64_t window_most_bytes(const struct world *world)
{
	const struct cc_config *cc = &world->transport.cc;
	struct cc first = {.ops = cc_find(cc->name)};
	first.ops->init(&first, cc, 0);
	return first.window_bytes;
}

// Of the lines that a packet may wait for: NICs' and those between switches.
static uint64_t slowest_bps(const struct world *world)
{
	const struct topology *topology = &world->topology;
	uint64_t rate_bps = fabric_nic_rate_least(&world->fabric);
	for (uint32_t i = 0; i < topology->link_count; i++)
		if (topology->links[i].tier > 0 && topology->links[i].rate_bps < rate_bps)
			rate_bps = topology->links[i].rate_bps;
	return rate_bps;
}

// The longest that an answer is awaited in a fabric that pauses, if ports are fair: all that the
// `senders` of one NIC have out, and others over the same trunk, or the switches of a plane hold,
// leaves by the slowest port, and the receiver gathers what it answers of each.
static ps_t longest_pause_ps(const struct world *world, uint32_t senders)
{
	const struct topology *topology = &world->topology;
	const struct fabric_config *fabric = &world->fabric;
	const struct cc_config *cc = &world->transport.cc;
	if (!fabric->pfc.is_on)
		return 0;
	uint32_t switches = (topology->switch_count + fabric->planes - 1) / fabric->planes;
	double held = (double)switches * (double)topology->pfc_room_bytes;
	double out = (double)senders * (double)window_most_bytes(world);
	uint64_t rate_bps = slowest_bps(world);
	uint32_t ppb = world->transport.trunk_ppb;
	if (ppb > 0) // QPs of other NICs share the trunks
		out *= 1e9 / ppb;
	else if (rate_bps < fabric_nic_rate_least(fabric)) // a graph does not say how many do
		out = held;
	double bytes = out < held ? out : held;
	bytes += (double)senders * cc->gather_bytes;
	return (ps_t)(bytes * 8e12 / (double)rate_bps);
}

// Ports that pause are not fair: others may pass several times. A hole is lost after half of what a
// timer waits.
#define PAUSES 8

// What the slowest line takes for any number of bytes; exact below 1 GiB, as line_ps().
static ps_t queue_line_ps(const struct world *world, uint64_t bytes)
{
	const uint64_t block = 1 << 30;
	line_t line = line_of(slowest_bps(world));
	return (ps_t)(bytes / block) * line_ps(line, block) + line_ps(line, bytes % block);
}

// As many NICs' QPs as may meet on a trunk by their hashes, where it would carry those of one.
#define COLLISIONS 4

// Of `queues_bytes`, what the queues on a packet's way have room for, that which the QPs of a NIC
// fill, `senders` of them: what they have out with the usual window or a wider one, which is in one
// queue or another, and what others have out that share a trunk with them. What has no window may
// fill one queue. A graph does not say how many share a line.
static uint64_t filled_bytes(const struct world *world, uint32_t senders, uint64_t queues_bytes)
{
	const struct topology *topology = &world->topology;
	uint64_t window = window_most_bytes(world), ppb = world->transport.trunk_ppb;
	uint64_t usual = (uint64_t)cc_window_auto(&world->transport.cc);
	uint64_t most = topology->queue_bytes > topology->last_hop_queue_bytes
		? topology->queue_bytes
		: topology->last_hop_queue_bytes;
	if (topology->kind == TOPOLOGY_TORUS || topology->kind == TOPOLOGY_GRAPH)
		return queues_bytes;
	if (window < UINT32_MAX)
		most = COLLISIONS * senders * (window > usual ? window : usual);
	double bytes = (double)most * (ppb == 0 ? 1 : 1e9 / (double)ppb);
	return bytes < (double)queues_bytes ? (uint64_t)bytes : queues_bytes;
}

// What a packet waits for, at most, where nothing pauses: each switch port on its way is full, and
// of all QPs that share a line each sends what its receiver gathers before it answers, and one
// packet again, whose trim held the answer back.
static ps_t longest_wait_ps(const struct world *world, uint32_t senders)
{
	const struct topology *topology = &world->topology;
	const struct transport_config *transport = &world->transport;
	uint64_t bytes = (topology->links_max - 2) * topology->queue_bytes +
		topology->last_hop_queue_bytes;
	bytes = filled_bytes(world, senders, bytes);
	if (transport->contexts > 0 && senders > transport->contexts)
		senders = transport->contexts;
	uint32_t planes = transport->kind == TRANSPORT_MRC ? world->fabric.planes : 1;
	uint64_t turn_bytes = transport->cc.gather_bytes;
	if (world->fabric.trim_on)
		turn_bytes += transport->cc.mtu_bytes;
	bytes += senders * turn_bytes / planes;
	return queue_line_ps(world, bytes);
}

// No answer comes later without a loss: a timer rings after two round trips, and after all that
// waits or is paused has left.
static ps_t auto_rto(const struct world *world, uint32_t senders)
{
	bool is_rc = world->transport.kind == TRANSPORT_RC;
	ps_t wait_ps = world->fabric.pfc.is_on ? PAUSES * longest_pause_ps(world, senders)
					       : longest_wait_ps(world, senders);
	ps_t least = 2 * world->topology.base_rtt_ps + wait_ps;
	ps_t most = ACK_TIMEOUT_PS << ACK_TIMEOUT_MAX;
	if (!is_rc || !world->fabric.pfc.is_on)
		return ps_min(ps_max(RTO_USUAL, least), most);
	ps_t rto_ps = ACK_TIMEOUT_PS << ACK_TIMEOUT_USUAL;
	while (rto_ps < least && rto_ps < most)
		rto_ps *= 2;
	return rto_ps;
}

void transport_timers(struct world *world, uint32_t senders)
{
	struct transport_config *transport = &world->transport;
	const struct topology *topology = &world->topology;
	ps_t pause_ps = longest_pause_ps(world, senders);
	if (transport->rto_ps == 0)
		transport->rto_ps = auto_rto(world, senders);
	ps_t queues_ps = (trunks_of(world) + 1) * queue_line_ps(world, topology->queue_bytes);
	uint64_t queues_bytes = (trunks_of(world) + 1) * topology->queue_bytes;
	uint64_t bytes = filled_bytes(world, senders, queues_bytes);
	if (!world->fabric.pfc.is_on && bytes < queues_bytes)
		queues_ps = queue_line_ps(world, bytes);
	ps_t wait_ps = ps_max(queues_ps, PAUSES / 2 * pause_ps);
	if (transport->hole_age_ps < 0) // before the timer rings
		transport->hole_age_ps = ps_min(ps_min(topology->base_rtt_ps * 5 / 4 + wait_ps,
						       ps_max(transport->rto_ps / 2, queues_ps)),
						ACK_TIMEOUT_PS << (ACK_TIMEOUT_MAX - 1));
}

void transport_build(struct world *world)
{
	struct transport_config *transport = &world->transport;
	const struct fabric_config *fabric = &world->fabric;
	transport->regions_max = REGIONS_PER_NIC;
	transport->ev_bits = scenario_evs_are_ports(world->scenario) ? 16 : 32;
	while (transport->ev_bits == 16 && transport->ev_count > EVS_OF_PORT_MAX)
		transport->ev_count /= 2; // of which a QP of RC draws one; MRC's were refused
	transport->cc.rate_bps = fabric->link_rate_bps;
	if (transport->kind == TRANSPORT_MRC) // RC: a QP has one plane
		transport->cc.rate_bps *= fabric->planes;
	transport->trunk_ppb = topology_trunk_ppb(&world->topology, fabric);
	if (transport->cc.base_rtt_ps == 0)
		transport->cc.base_rtt_ps = world->topology.base_rtt_ps;
	transport_derive(transport);
	if (transport->flowlet_gap_ps == 0)
		transport->flowlet_gap_ps = world->topology.base_rtt_ps / 2;
}
