// SPDX-License-Identifier: Apache-2.0
// See flow_evs.h.

#include "flow_evs.h"

#include <errno.h>

#include <weft/core/check.h>

#include "build/build.h"
#include <weft/host/host.h>

void flow_evs_keep(const struct world *world, uint32_t flow, struct endpoint *endpoint,
		   uint32_t qpn)
{
	const struct scenario *scenario = world->scenario;
	if (scenario->flow_evs_count == 0 || flow >= scenario->traffic.flow_count ||
	    endpoint == NULL)
		return;
	const struct flow_evs *evs = &scenario->flow_evs[flow];
	const uint16_t *numbers = evs->is_list ? scenario->flow_ev_numbers + evs->first : NULL;
	if (evs->count > 0)
		check(endpoint_ev_keep(endpoint, qpn, numbers, evs->count) == 0); // as was read
}

// ---------------------------------------------------------------- counts

// The row of each QP that sends a flow of this NIC.
static int count_nic(struct world *world, struct nic *nic, uint32_t index)
{
	struct ev_count **rows = arena_draw(world->arena, ARENA_MEASURE, nic->qp_count,
					    sizeof(*rows));
	if (rows == NULL)
		return -ENOMEM;
	for (uint32_t qpn = 0; qpn < nic->qp_count; qpn++) {
		const struct nic_peer *peer = &nic->peers[qpn];
		if (peer->role == NIC_ROLE_FLOW && world->flows[peer->owner].from == index)
			rows[qpn] = flow_evs_counts(world, peer->owner);
	}
	endpoint_count_evs(nic->endpoint, rows);
	return 0;
}

static struct nic *nic_of(const struct world *world, uint32_t index)
{
	uint32_t per_host = world->fabric.nics_per_host;
	return &world->hosts[index / per_host]->nics[index % per_host];
}

int flow_evs_build(struct world *world, struct refusal *refusal)
{
	uint32_t evs = ev_universe(&world->transport);
	uint64_t cells = (uint64_t)world->flow_count * evs;
	if (!world->scenario->watch.has_evs)
		return 0;
	if (cells > EV_COUNTS_MAX)
		return refuse(refusal, -EINVAL,
			      "watch.evs: % flows of % entropy values each are more than % counts; "
			      "take fewer of either",
			      world->flow_count, evs, EV_COUNTS_MAX);
	world->ev_counts = arena_draw(world->arena, ARENA_MEASURE, cells, sizeof(struct ev_count));
	if (world->ev_counts == NULL)
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < world->topology.nics; i++)
		if (nic_of(world, i)->endpoint != NULL && count_nic(world, nic_of(world, i), i) < 0)
			return build_no_memory(world, refusal);
	return 0;
}

void flow_evs_audit(const struct world *world)
{
	uint64_t packets = 0, bytes[PLANES_MAX] = {0};
	uint32_t evs = ev_universe(&world->transport), planes = world->transport.planes;
	if (world->ev_counts == NULL)
		return;
	for (uint32_t flow = 0; flow < world->flow_count; flow++) {
		const struct ev_count *counts = flow_evs_counts(world, flow);
		if (nic_of(world, world->flows[flow].from)->endpoint == NULL)
			continue;
		for (uint32_t i = 0; i < evs; i++) {
			packets += counts[i].packets;
			bytes[i % planes] += counts[i].bytes;
		}
	}
	for (uint32_t i = 0; i < world->topology.nics; i++) {
		const struct endpoint *endpoint = nic_of(world, i)->endpoint;
		for (uint32_t plane = 0; endpoint != NULL && plane < planes; plane++)
			bytes[plane] -= endpoint_counters(endpoint)->plane_bytes[plane];
		packets -= endpoint != NULL ? endpoint_counters(endpoint)->data_packets : 0;
	}
	check(packets == 0 && "packets of all entropy values are all packets");
	for (uint32_t plane = 0; plane < planes; plane++)
		check(bytes[plane] == 0 && "bytes of a plane's entropy values are the plane's");
}
