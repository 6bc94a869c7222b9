// SPDX-License-Identifier: Apache-2.0
// Builds the NICs of a host: their endpoints, what they open to others, what their QPs belong to.
// Of a host that another process runs they are there, but empty.

#include <errno.h>

#include <weft/fabric/fabric_capacity.h>

#include "build.h"
#include "hosts.h"

static void open_regions(const struct world *world, const struct builder *builder, uint32_t index,
			 struct endpoint *endpoint)
{
	uint64_t data_bytes = builder->data_bytes[index];
	uint64_t credit_bytes = (uint64_t)world->job.ring.credits * GRANT_BYTES;
	int rc = 0;
	if (data_bytes > 0)
		rc = endpoint_register(endpoint, RKEY_DATA, 0, data_bytes);
	if (rc == 0 && world->job.group_count > 0)
		rc = endpoint_register(endpoint, RKEY_CREDITS, 0, credit_bytes);
	check(rc == 0); // REGIONS_PER_NIC of them
}

// What a NIC has that talks, in the process that runs it.
static int build_nic(struct world *world, struct nic *nic, const struct transport_config *transport,
		     uint32_t index, const struct builder *builder)
{
	struct arena *arena = world->arena;
	uint32_t qps = builder->qps[index];
	if (world->scenario->watch.bin_ps > 0) {
		nic->bin = arena_draw(arena, ARENA_MEASURE, 1, sizeof(*nic->bin));
		if (nic->bin == NULL)
			return -ENOMEM;
	}
	int rc = endpoint_create(&nic->endpoint, arena, transport, index, qps,
				 world->scenario->seed, builder->refusal);
	if (rc < 0)
		return rc;
	if (endpoint_contexts(transport, qps) < qps)
		rc = backlog_init(&nic->backlog, arena, qps, builder->posts[index]);
	if (rc < 0)
		return rc;
	open_regions(world, builder, index, nic->endpoint);
	const struct qp_pool_config of = {world->coll_stream, &world->topology, &world->transport,
					  first_psn_rule(world)};
	return qp_pool_count(world->coll_stream) > 0
		? qp_pool_build(&nic->qp_pool, world->arena, &of, index)
		: 0;
}

// Delays name pairs of all NICs, by what their QPs belong to.
static int build_peers(struct world *world, struct nic *nic, uint32_t qps, bool is_here)
{
	if (!is_here && !world->scenario->watch.has_delays)
		return 0;
	nic->peers = arena_draw(world->arena, ARENA_WORLD, qps, sizeof(struct nic_peer));
	return nic->peers == NULL ? -ENOMEM : 0;
}

int nics_build(struct world *world, struct world_host *host, const struct builder *builder)
{
	uint32_t host_index = host->first_nic / host->nic_count;
	bool is_here = world_has(world, host_index);
	const struct transport_config *transport = setting_transport(world, host_index);
	struct arena *arena = world->arena;
	uint32_t planes = host->planes, ports = host->nic_count * planes;
	host->nics = arena_draw(arena, ARENA_WORLD, host->nic_count, sizeof(struct nic));
	host->nic_of_port = arena_draw(arena, ARENA_WORLD, ports, sizeof(uint16_t));
	host->working = arena_draw(arena, ARENA_WORLD, host->nic_count / 64 + 1, sizeof(uint64_t));
	if (arena_has_failed(arena) || transport == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < host->nic_count; i++) {
		uint32_t index = host->first_nic + i, qps = builder->qps[index];
		struct nic *nic = &host->nics[i];
		*nic = (struct nic){.line = line_of(fabric_nic_rate(&world->fabric, index)),
				    .planes = planes,
				    .is_paced = cc_find(world->transport.cc.name)->has_rate,
				    .has_qps = qps > 0,
				    .first_port = i * planes,
				    .wake_at = PS_NEVER};
		for (uint32_t plane = 0; plane < planes; plane++)
			host->nic_of_port[i * planes + plane] = (uint16_t)i;
		if (qps == 0)
			continue;
		world->context_count += endpoint_contexts(transport, qps);
		int rc = build_peers(world, nic, qps, is_here);
		if (rc == 0 && is_here)
			rc = build_nic(world, nic, transport, index, builder);
		if (rc < 0)
			return rc;
	}
	return 0;
}
