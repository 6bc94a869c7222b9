// SPDX-License-Identifier: Apache-2.0
// How far ranks are, by their clocks, and what room they have to come apart: asked before a jump
// (fast_forward.c).

#include "fast_forward.h"

struct record *fast_forward_record(const struct world *world)
{
	return world->records[world->shard_count > 1 ? world->own_shard : 0];
}

struct collective_clock *fast_forward_clock(const struct world *world, uint32_t group,
					    uint32_t bucket)
{
	const struct record *record = fast_forward_record(world);
	return &record->clocks[record->clock_of_group[group] + bucket];
}

uint64_t fast_forward_ahead(const struct world *world, const struct fast_forward *fast_forward)
{
	uint64_t ahead = 0;
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		const struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			for (uint32_t c = 0; c < world->job.ring.channels; c++) {
				struct ring_place at;
				if (!ring_place(host->ranks[r].ring, c, &at) ||
				    at.loop != fast_forward->loop || at.received < 0)
					continue;
				uint64_t behind = (fast_forward->step + 1) * at.slices;
				uint64_t has = (uint64_t)at.received;
				ahead += has > behind ? has - behind : 0;
			}
		}
	}
	return ahead;
}

// Bytes that a step lays on the rank's NIC over one channel.
static uint64_t channel_bytes(const struct world *world, const struct world_host *host,
			      const struct rank *rank, uint32_t channel)
{
	const struct transport_config *transport = &world->transport;
	struct ring_place at;
	uint64_t bytes = 0;
	if (!ring_place(rank->ring, channel, &at))
		return 0;
	if (!rank->to[channel].is_local)
		bytes += at.step_bytes +
			ring_step_packets(rank->ring, channel, transport->payload_bytes) *
				transport->header_bytes;
	if (rank->from[channel].is_local)
		return bytes;
	if (fast_forward_has_credits(world))
		bytes += at.slices * (host->grant_bytes + transport->header_bytes);
	uint64_t heard = at.step_bytes > transport->sack_bytes ? transport->sack_bytes
							       : at.step_bytes;
	return bytes + (heard == 0 ? 0 : at.step_bytes / heard * transport->control_bytes);
}

ps_t fast_forward_line_ps(const struct world *world)
{
	ps_t most = 0;
	for (uint32_t i = 0; i < world->topology.hosts; i++) {
		const struct world_host *host = world->hosts[i];
		for (uint32_t r = 0; world_has(world, i) && r < host->rank_count; r++) {
			const struct rank *rank = &host->ranks[r];
			uint64_t bytes = 0;
			for (uint32_t c = 0; c < world->job.ring.channels; c++)
				bytes += channel_bytes(world, host, rank, c);
			ps_t took = line_ps(host->nics[rank->nic].line, bytes / host->planes);
			most = ps_max(most, took);
		}
	}
	return most;
}
