// SPDX-License-Identifier: Apache-2.0
// What a lane writes down of departures and losses for whoever watches: nothing, as a rule.

#include "lane.h"
#include "row.h"

// Writes down that a data packet was lost, for whoever watches. One lane per shard, or one for all.
static void watch_loss(struct lane *lane, uint32_t index, const struct departure *departure,
		       ps_t at, enum drop_reason fate)
{
	const struct packet *packet = packet_at(lane->out.packets, departure->packet);
	struct series *series = lane->world->series[lane->shard];
	struct bypass *bypass = lane->world->bypass[lane->shard];
	if (packet->payload_bytes == 0)
		return;
	if (series != NULL)
		series_add(series, SERIES_LOST, departure->start, 1);
	if (bypass == NULL || fate != DROP_LINK_DOWN)
		return;
	struct bypass_event event = {.nic = packet->target,
				     .qpn = packet->qpn,
				     .ev = packet->ev,
				     .cable = lane->cables.plan[index],
				     .down_ps = cable_down_since(&lane->cables.cables[index],
								 lane->world->cable_faults,
								 departure->start, at)};
	bypass_lose(bypass, &event, departure->start);
}

// The same for the cable's counters.
static void note_loss(struct lane *lane, uint32_t index, const struct departure *departure, ps_t at,
		      enum drop_reason fate)
{
	struct link_count *count = &lane->world->links.counts[lane->cables.plan[index]];
	if (fate != DROP_LINK_DOWN) {
		count->first_lost_ps = ps_min(count->first_lost_ps, departure->start);
		count->lost_random++;
		return;
	}
	ps_t since = cable_down_since(&lane->cables.cables[index], lane->world->cable_faults,
				      departure->start, at);
	// what was on its way when the cable went down was lost then
	count->first_lost_ps = ps_min(count->first_lost_ps, ps_max(since, departure->start));
	count->downs += count->lost_down == 0 || since != count->down_ps;
	count->down_ps = since;
	count->lost_down++;
}

void lane_count_loss(struct lane *lane, uint32_t index, const struct departure *departure, ps_t at,
		     enum drop_reason fate)
{
	watch_loss(lane, index, departure, at, fate);
	if (lane->world->links.counts != NULL)
		note_loss(lane, index, departure, at, fate);
}

void lane_count_odd(struct lane *lane, uint32_t index, ps_t start, const struct cable_fate *fate)
{
	struct link_count *count = &lane->world->links.counts[lane->cables.plan[index]];
	count->damaged += fate->is_damaged;
	count->doubled += fate->is_doubled;
	count->held_back += fate->held_ps > 0;
	count->held_max_ps = ps_max(count->held_max_ps, fate->held_ps);
	if (fate->is_doubled || fate->held_ps > 0)
		count->first_odd_ps = ps_min(count->first_odd_ps, start);
}

void lane_count_waiting(struct lane *lane, uint32_t index, ps_t at)
{
	const struct world *world = lane->world;
	const struct cable *cable = &lane->cables.cables[index];
	if (world->links.work == NULL)
		return;
	struct work_count *work = &world->links.work[cable->to_machine];
	ps_t until = stall_until(world->cable_faults + cable->fault_first, cable->fault_count, at);
	work->waited_from_ps = work->waited == 0 ? at : ps_min(work->waited_from_ps, at);
	work->waited_max_ps = ps_max(work->waited_max_ps, until - at);
	work->waited++;
}

// Whether it is of traffic.beside, of which each NIC receives one message.
static bool is_beside(const struct world *world, const struct packet *packet)
{
	const uint32_t *first = world->jobs.beside_qpn;
	return first != NULL && packet->qpn >= first[packet->target] &&
		packet->qpn - first[packet->target] < world->scenario->qps_per_connection;
}

void lane_count_jobs(struct lane *lane, uint32_t m)
{
	const struct world *world = lane->world;
	for (uint32_t i = 0; i < lane->out.count; i++) {
		const struct departure *departure = &lane->out.departures[i];
		const struct packet *packet = packet_at(lane->out.packets, departure->packet);
		uint32_t job = world->jobs.owner_of[packet->source];
		uint32_t plan = lane->cables.plan[lane_cable(lane, m, departure)];
		if (packet->payload_bytes > 0 && job != MIX_NOBODY && !is_beside(world, packet))
			world->jobs.bytes[(size_t)plan * world->scenario->job_count + job] +=
				packet->wire_bytes;
	}
}

// A cell for an EV: the high bits of its product with 2^32 over the golden ratio.
static inline uint32_t cell_of(uint32_t ev)
{
	return ev * UINT32_C(2654435769) >> (32 - LINK_SPREAD_BITS);
}

void lane_count_spread(const struct lane *lane, uint32_t m, const struct departure *first,
		       const struct departure *end)
{
	const struct packet *packets = lane->out.packets->packets;
	const struct machine *machine = &lane->world->machines[m];
	uint32_t *cells = lane->world->links.spread[m * machine->port_count + first->port];
	for (const struct departure *at = first; at < end; at++)
		if (packets[at->packet].payload_bytes > 0)
			cells[cell_of(packets[at->packet].ev)]++;
}

void lane_count_slow(const struct lane *lane, uint32_t index, const struct departure *first,
		     const struct departure *end)
{
	const struct cable *cable = &lane->cables.cables[index];
	struct link_count *count = &lane->world->links.counts[lane->cables.plan[index]];
	for (const struct departure *at = first; at < end; at++) {
		count->slow_ps += line_ps(lane_line(lane, cable, at->start), at->bytes);
		count->slow_bytes += at->bytes;
	}
}

const struct departure *lane_count_row(const struct lane *lane, uint32_t m,
				       const struct departure *first, const struct departure *end)
{
	const struct departure *at = first;
	struct row row;
	row_begin(&row, first);
	do {
		row_add(&row, lane, at, UINT32_MAX);
	} while (++at < end && at->port == first->port);
	uint32_t index = lane_cable(lane, m, first);
	row_end(&row, lane, m, index, at, lane->cables.cables[index].is_slow);
	return at;
}

void lane_count_links(const struct lane *lane, uint32_t m)
{
	const struct departure *at = lane->out.departures, *end = at + lane->out.count;
	while (at < end)
		at = lane_count_row(lane, m, at, end);
}

void lane_keep_packets(struct lane *lane, uint32_t m)
{
	const struct watch_config *watch = &lane->world->scenario->watch;
	for (uint32_t i = 0; i < lane->out.count; i++) {
		const struct departure *departure = &lane->out.departures[i];
		const struct packet *packet = packet_at(lane->out.packets, departure->packet);
		bool is_there = packet->source == watch->packets_from &&
			packet->target == watch->packets_to;
		bool is_back = packet->source == watch->packets_to &&
			packet->target == watch->packets_from;
		if (!is_there && !is_back)
			continue;
		const struct packet_trace_step step = {
			.at = departure->start,
			.cable = lane->cables.plan[lane_cable(lane, m, departure)],
			.psn = packet->psn,
			.ev = packet->ev,
			.wire_bytes = (uint16_t)departure->bytes,
			.opcode = packet->opcode,
			.flags = packet->flags,
			.bth = packet->bth,
			.is_back = is_back};
		packet_trace_add(lane->world->packet_traces[lane->shard], &step);
	}
}

static void deliver(struct lane *lane, uint32_t cable, const struct arrival *arrival)
{
	const struct packet *packet = packet_at(lane->out.packets, arrival->packet);
	uint64_t what = (uint64_t)packet->psn << 32 | (uint64_t)packet->opcode << 24 |
		(uint64_t)packet->flags << 16 | packet->hop;
	uint64_t who = (uint64_t)packet->qpn << 32 ^ packet->source;
	uint64_t digest = lane->cables.digests[cable] ^
		rng_mix((uint64_t)arrival->at ^ what * UINT64_C(0x9e3779b97f4a7c15));
	lane->cables.digests[cable] = (digest ^ who) * UINT64_C(0xff51afd7ed558ccd) + 1;
	lane->run.delivered++;
	lane->run.data_delivered += packet->payload_bytes > 0;
}

void lane_deliver(struct lane *lane, uint32_t machine, const struct gathered *gathered)
{
	uint32_t base = lane->cables.base[machine];
	const struct arrival *arrival = gathered->arrivals;
	for (const struct arrival *end = arrival + gathered->arrival_count; arrival < end;
	     arrival++)
		deliver(lane, base + arrival->port, arrival);
}
