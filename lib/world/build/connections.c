// SPDX-License-Identifier: Apache-2.0
// Who talks to whom: ring edges that leave a host, flows, lines of a program; and what they write
// into. See hosts.h.

#include <errno.h>

#include "hosts.h"
#include "traffic_engine.h"

// ---------------------------------------------------------------- visits

// Tells `visit` each ring edge of `group` that leaves its host.
static int visit_group(struct world *world, uint32_t index, visit_fn *visit, void *context)
{
	const struct group *group = &world->job.groups[index];
	uint32_t per_host = world->fabric.nics_per_host;
	for (uint32_t channel = 0; channel < world->job.ring.channels; channel++) {
		for (uint32_t at = 0; at < group->ranks; at++) {
			uint32_t next = group_next(group, channel, at);
			if (group->gpus[at] / per_host == group->gpus[next] / per_host)
				continue;
			struct connection connection = {
				.from_nic = group->gpus[at],
				.to_nic = group->gpus[next],
				.group = index,
				.from_at = at,
				.to_at = next,
				.channel = channel,
				.from_role = NIC_ROLE_RING_SEND,
				.to_role = NIC_ROLE_RING_RECEIVE,
			};
			int rc = visit(world, context, &connection);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int visit_flows(struct world *world, visit_fn *visit, void *context)
{
	for (uint32_t i = 0; i < world->flow_count; i++) {
		struct connection connection = {
			.from_nic = world->flows[i].from,
			.to_nic = world->flows[i].to,
			.flow = i,
			.from_role = NIC_ROLE_FLOW,
			.to_role = NIC_ROLE_FLOW,
		};
		int rc = visit(world, context, &connection);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int visit_lines(struct world *world, visit_fn *visit, void *context)
{
	for (uint32_t i = 0; i < world->line_count; i++) {
		struct connection connection = {
			.from_nic = world->lines[i].from_nic,
			.to_nic = world->lines[i].to_nic,
			.line = i,
			.from_role = NIC_ROLE_LINE_SEND,
			.to_role = NIC_ROLE_LINE_RECEIVE,
		};
		int rc = visit(world, context, &connection);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int connections_visit(struct world *world, visit_fn *visit, void *context)
{
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		int rc = visit_group(world, i, visit, context);
		if (rc < 0)
			return rc;
	}
	int rc = visit_flows(world, visit, context);
	return rc < 0 ? rc : visit_lines(world, visit, context);
}

// Rails may stand alone.
int connection_check(struct world *world, void *context, const struct connection *connection)
{
	const struct builder *builder = context;
	uint32_t from = connection->from_nic, to = connection->to_nic;
	if (world->topology.kind != TOPOLOGY_RAIL ||
	    topology_links(&world->topology, &world->fabric, from, to) > 0)
		return 0;
	return refuse(builder->refusal, -EINVAL,
		      "NIC % and NIC % talk, but are on two rails that nothing joins: give "
		      "fabric.t1_count some spines",
		      from, to);
}

// ---------------------------------------------------------------- memory regions

// What the slices of a group are written into: as many places as there are credits, and the last
// one whole. A place holds a chunk; in the barrier form a slice is a whole share and may be longer.
static uint64_t slices_bytes(const struct world *world, const struct group *group)
{
	struct ring_config ring = world->job.ring;
	uint64_t longest = ring.chunk_bytes_max;
	ring.ranks = group->ranks;
	for (uint32_t i = 0; ring.form == RING_BARRIER && i < group->bucket_count; i++) {
		const struct bucket *bucket = &world->job.buckets[group->bucket_first + i];
		struct ring_plan plan;
		ring_plan(&plan, &ring, bucket->kind, bucket->bytes);
		uint64_t share = plan.bytes_per_channel / plan.steps_per_loop;
		longest = share > longest ? share : longest;
	}
	return (ring.credits - 1) * ring.chunk_bytes_max + longest;
}

static void need_data(struct builder *builder, uint32_t nic, uint64_t bytes)
{
	if (bytes > builder->data_bytes[nic])
		builder->data_bytes[nic] = bytes;
}

void connections_measure(const struct world *world, struct builder *builder)
{
	for (uint32_t i = 0; i < world->flow_count; i++)
		need_data(builder, world->flows[i].to, world->flows[i].bytes);
	const struct traffic_engine *engine = traffic_engine_of(world);
	for (uint32_t rank = 0; engine != NULL && rank < engine->ranks(world); rank++)
		need_data(builder, engine->nic_of(world, rank), engine->data_bytes(world, rank));
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		uint64_t bytes = slices_bytes(world, group);
		for (uint32_t at = 0; at < group->ranks; at++)
			need_data(builder, group->gpus[at], bytes);
	}
}
