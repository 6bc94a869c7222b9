// SPDX-License-Identifier: Apache-2.0
// What a lane writes down of departures and losses for whoever watches: nothing, as a rule.

#include "lane.h"

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
	count->first_lost_ps = ps_min(count->first_lost_ps, departure->start);
	if (fate != DROP_LINK_DOWN) {
		count->lost_random++;
		return;
	}
	ps_t since = cable_down_since(&lane->cables.cables[index], lane->world->cable_faults,
				      departure->start, at);
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

void lane_count_jobs(struct lane *lane, uint32_t m)
{
	const struct world *world = lane->world;
	for (uint32_t i = 0; i < lane->out.count; i++) {
		const struct departure *departure = &lane->out.departures[i];
		const struct packet *packet = packet_at(lane->out.packets, departure->packet);
		uint32_t job = world->jobs.owner_of[packet->source];
		uint32_t plan = lane->cables.plan[lane_cable(lane, m, departure)];
		if (packet->payload_bytes > 0 && job != MIX_NOBODY)
			world->jobs.bytes[(size_t)plan * world->scenario->job_count + job] +=
				packet->wire_bytes;
	}
}

void lane_count_links(struct lane *lane, uint32_t m)
{
	const struct world_links *links = &lane->world->links;
	bool is_host = lane->world->machines[m].is_host;
	uint32_t port_first = m * lane->world->machines[m].port_count; // of a host: all are alike
	for (uint32_t i = 0; i < lane->out.count; i++) {
		const struct departure *departure = &lane->out.departures[i];
		const struct packet *packet = packet_at(lane->out.packets, departure->packet);
		uint32_t index = lane_cable(lane, m, departure);
		struct link_count *count = &links->counts[lane->cables.plan[index]];
		line_t line = lane_line(lane, &lane->cables.cables[index], departure->start);
		count->packets++;
		count->bytes += departure->bytes;
		count->busy_ps += line_ps(line, departure->bytes);
		if (packet->payload_bytes == 0)
			continue;
		count->data_packets++;
		count->data_bytes += departure->bytes;
		count->marked += (packet->flags & PACKET_CE) != 0;
		if (is_host)
			links->spread[port_first + departure->port]
				     [rng_mix(packet->ev) >> (64 - LINK_SPREAD_BITS)]++;
	}
}
