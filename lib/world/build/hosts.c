// SPDX-License-Identifier: Apache-2.0
// Builds the hosts: which NICs talk to whom, their endpoints and QPs, their ranks and flows.
//
// Everything is done in two passes over the connections: counted per NIC, then made.

#include <errno.h>

#include "hosts.h"
#include "outcome/flow_evs.h"
#include "traffic_engine.h"

static struct nic *nic_at(const struct world *world, uint32_t nic)
{
	uint32_t per_host = world->fabric.nics_per_host;
	return &world->hosts[nic / per_host]->nics[nic % per_host];
}

static struct rank *rank_at(const struct world *world, const struct builder *builder,
			    uint32_t group, uint32_t at)
{
	uint32_t host = world->job.groups[group].gpus[at] / world->fabric.nics_per_host;
	return &world->hosts[host]->ranks[builder->rank_of[builder->group_first[group] + at]];
}

// Lines keep what must wait in lists of their own.
static uint32_t posts_of(const struct world *world, const struct connection *connection)
{
	if (connection->from_role == NIC_ROLE_LINE_SEND)
		return 0;
	return connection->from_role == NIC_ROLE_FLOW ? world->scenario->qps_per_connection
						      : world->job.ring.credits;
}

static int count_qps(struct world *world, void *context, const struct connection *connection)
{
	struct builder *builder = context;
	uint32_t qps = world->scenario->qps_per_connection;
	builder->qps[connection->from_nic] += qps;
	builder->qps[connection->to_nic] += qps;
	builder->receivers[connection->to_nic] += qps;
	builder->posts[connection->from_nic] += posts_of(world, connection);
	world->qp_count += 2 * qps;
	return 0;
}

static void count_qp_pool(struct world *world, const struct builder *builder)
{
	uint32_t count = qp_pool_count(world->coll_stream);
	uint32_t ranks = count == 0 ? 0 : coll_stream_config(world->coll_stream)->ranks;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		builder->qps[rank] = count;
		builder->receivers[rank] = qp_pool_arriving_max(world->coll_stream);
	}
	world->qp_count += (uint64_t)ranks * count;
}

// QPs that share a line of a NIC in one direction, at most.
static uint32_t sharers_max(const struct world *world, const struct builder *builder)
{
	uint32_t most = 0;
	for (uint32_t i = 0; builder->receivers != NULL && i < world->fabric.nics; i++) {
		uint32_t in = builder->receivers[i], out = builder->qps[i] - in;
		most = in > most ? in : most;
		most = out > most ? out : most;
	}
	return most;
}

// ---------------------------------------------------------------- hosts and NICs

// Counts ranks and flows per host.
static void count_people(const struct world *world, struct builder *builder)
{
	uint32_t per_host = world->fabric.nics_per_host;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		for (uint32_t at = 0; at < group->ranks; at++)
			builder->ranks_on[group->gpus[at] / per_host]++;
	}
	for (uint32_t i = 0; i < world->flow_count; i++)
		builder->flows_on[world->flows[i].from / per_host]++;
}

static int build_host(struct world *world, uint32_t index, const struct builder *builder)
{
	struct arena *arena = world->arena;
	if (index == 0 || world->shard_of[index] != world->shard_of[index - 1])
		shards_fence(world, ARENA_WORLD, SHARD_PAGE_BYTES);
	struct world_host *host = arena_draw(arena, ARENA_WORLD, 1, sizeof(*host));
	if (host == NULL)
		return -ENOMEM;
	uint32_t nics = world->fabric.nics_per_host, ranks = builder->ranks_on[index];
	const struct traffic_engine *engine = traffic_engine_of(world);
	uint64_t *placed = world->nic_placed;
	if (placed != NULL)
		placed += (size_t)index * nics * world->scenario->watch.bins;
	*host = (struct world_host){
		.nic_count = nics,
		.planes = world->fabric.planes,
		.rank_count = ranks,
		.job = &world->job,
		.engines = {[ENGINE_FLOWS] = &flow_engine,
			    [ENGINE_RINGS] = &rank_engine,
			    [ENGINE_LINES] = engine != NULL ? engine->host : NULL},
		.opgraph_host = world->opgraph_host,
		.coll_stream_host = world->coll_stream_hosts[world->shard_of[index]],
		.flows = world->flows,
		.triggers = world->triggers,
		.starters = world->starters,
		.flow_qpn = builder->flow_qpn,
		.record = world->records[world->shard_of[index]],
		.series = world->series[world->shard_of[index]],
		.placed = placed,
		.work = world->links.work != NULL ? &world->links.work[index] : NULL,
		.was_down = world->links.was_down != NULL
			? world->links.was_down + (size_t)index * nics * world->fabric.planes
			: NULL,
		.grant_bytes = GRANT_BYTES,
		.qps_per_connection = world->scenario->qps_per_connection,
		.first_nic = index * nics};
	world->hosts[index] = host;
	world->machines[index] = (struct machine){.run = host_run,
						  .fetch = host_fetch,
						  .self = host,
						  .port_count = nics * world->fabric.planes,
						  .is_host = true};
	// Local events: a few per NIC timer, a release and an end per rank, and per channel of a
	// rank what credits let be under way.
	const struct ring_config *ring = &world->job.ring;
	bool has_events = engine != NULL && engine->events != NULL;
	uint64_t events = builder->flows_on[index] + 16 +
		(has_events ? engine->events(world, index) : 0) +
		(uint64_t)ranks * (3 + 3ull * ring->channels * (ring->credits + 1));
	host->ranks = arena_draw(arena, ARENA_WORLD, ranks, sizeof(struct rank));
	if (host->ranks == NULL)
		return -ENOMEM;
	if (world_has(world, index) &&
	    (heap_init(&host->events, arena, ARENA_WORLD, (uint32_t)events) < 0 ||
	     scaleup_init(&host->scaleup, arena, &world->scenario->scaleup, nics) < 0))
		return -ENOMEM;
	return nics_build(world, host, builder);
}

static int build_stalling_host(struct world *world, uint32_t index, const struct builder *builder)
{
	int rc = build_host(world, index, builder);
	return rc < 0 || !world_has(world, index) ? rc : stall_build(world, index);
}

// ---------------------------------------------------------------- ranks

static int build_rank(struct world *world, struct builder *builder, uint32_t group_index,
		      uint32_t at, uint32_t *used)
{
	const struct group *group = &world->job.groups[group_index];
	const struct ring_config *ring = &world->job.ring;
	uint32_t per_host = world->fabric.nics_per_host, gpu = group->gpus[at];
	struct world_host *host = world->hosts[gpu / per_host];
	uint32_t index = used[gpu / per_host]++;
	if (at == 0 ||
	    world->shard_of[gpu / per_host] != world->shard_of[group->gpus[at - 1] / per_host])
		shards_fence(world, ARENA_WORLD, SHARD_LINE_BYTES);
	struct rank *rank = &host->ranks[index];
	builder->rank_of[builder->group_first[group_index] + at] = index;
	*rank = (struct rank){
		.group = group, .group_index = group_index, .at = at, .nic = gpu % per_host};
	world->work_total += group->bucket_count;
	if (!world_has(world, gpu / per_host))
		return 0;
	rank->to = arena_draw(world->arena, ARENA_WORLD, ring->channels, sizeof(*rank->to));
	rank->from = arena_draw(world->arena, ARENA_WORLD, ring->channels, sizeof(*rank->from));
	rank->steps_seen = arena_draw(world->arena, ARENA_WORLD, ring->channels, sizeof(uint64_t));
	rank->grants_waiting = arena_draw(world->arena, ARENA_WORLD, ring->channels,
					  sizeof(uint32_t));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	struct ring_config of_group = *ring;
	of_group.ranks = group->ranks;
	int rc = ring_create(&rank->ring, world->arena, &of_group, builder->refusal);
	if (rc < 0)
		return rc;
	host_later(host, HOST_RELEASE, index, 0);
	rank->is_waiting = true;
	return 0;
}

// Neighbours inside a host are joined by index; those across hosts get their QPs from connect().
static int join_locals(struct world *world, const struct builder *builder, uint32_t group_index)
{
	const struct group *group = &world->job.groups[group_index];
	uint32_t per_host = world->fabric.nics_per_host;
	for (uint32_t channel = 0; channel < world->job.ring.channels; channel++) {
		for (uint32_t at = 0; at < group->ranks; at++) {
			uint32_t next = group_next(group, channel, at);
			if (group->gpus[at] / per_host != group->gpus[next] / per_host)
				continue;
			if (world->scenario->scaleup.rate_bps == 0)
				return refuse(builder->refusal, -EINVAL,
					      "GPU % and GPU % of one host talk, and nothing joins "
					      "them: give scaleup.rate, or fabric.nics_per_host 1",
					      group->gpus[at], group->gpus[next]);
			if (!world_has(world, group->gpus[at] / per_host))
				continue;
			const uint32_t *rank_of = builder->rank_of +
				builder->group_first[group_index];
			rank_at(world, builder, group_index, at)->to[channel] = (struct rank_link){
				.is_local = true, .rank = rank_of[next]};
			rank_at(world, builder, group_index, next)->from[channel] =
				(struct rank_link){.is_local = true, .rank = rank_of[at]};
		}
	}
	return 0;
}

static int build_ranks(struct world *world, struct builder *builder)
{
	uint32_t *used = arena_draw(world->arena, ARENA_WORLD, world->topology.hosts,
				    sizeof(*used));
	if (used == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		for (uint32_t at = 0; at < world->job.groups[i].ranks; at++) {
			int rc = build_rank(world, builder, i, at, used);
			if (rc < 0)
				return rc;
		}
		int rc = join_locals(world, builder, i);
		if (rc < 0)
			return rc;
	}
	return 0;
}

// ---------------------------------------------------------------- connections

static uint32_t open_end(struct world *world, struct builder *builder, uint32_t nic,
			 const struct nic_peer *peer)
{
	uint32_t qpn = builder->qps[nic]++;
	struct nic *of = nic_at(world, nic);
	if (of->peers == NULL)
		return qpn;
	of->peers[qpn] = *peer;
	of->qp_count = qpn + 1;
	return qpn;
}

// Nothing where another process has the NIC.
static void connect_end(struct nic *nic, uint32_t qpn, const struct qp_config *config)
{
	if (nic->endpoint != NULL)
		check(endpoint_connect(nic->endpoint, qpn, config, 0) == 0); // each is new
}

// Makes the two ends of one QP.
static void join(struct world *world, struct builder *builder, const struct connection *connection,
		 const struct nic_peer *from, const struct nic_peer *to)
{
	uint32_t from_nic = connection->from_nic, to_nic = connection->to_nic;
	uint32_t from_qpn = open_end(world, builder, from_nic, from);
	uint32_t to_qpn = open_end(world, builder, to_nic, to);
	const struct first_psn rule = first_psn_rule(world);
	uint32_t first_psn = first_psn_of(&rule, from_nic, from_qpn);
	struct qp_config there = {.local_nic = from_nic,
				  .remote_nic = to_nic,
				  .remote_qpn = to_qpn,
				  .id = (uint64_t)from_nic << 32 | from_qpn,
				  .first_psn = first_psn};
	struct qp_config back = {.local_nic = to_nic,
				 .remote_nic = from_nic,
				 .remote_qpn = from_qpn,
				 .id = (uint64_t)to_nic << 32 | to_qpn,
				 .first_psn = first_psn};
	connect_end(nic_at(world, from_nic), from_qpn, &there);
	connect_end(nic_at(world, to_nic), to_qpn, &back);
	if (connection->from_role != NIC_ROLE_FLOW)
		return;
	flow_evs_keep(world, connection->flow, nic_at(world, from_nic)->endpoint, from_qpn);
	flow_evs_keep(world, connection->flow, nic_at(world, to_nic)->endpoint, to_qpn);
}

// What QP number `index` of a connection belongs to, at both ends.
static void name_peers(const struct builder *builder, const struct connection *connection,
		       uint32_t index, struct nic_peer *from, struct nic_peer *to)
{
	switch (connection->from_role) {
	case NIC_ROLE_FLOW:
		from->owner = to->owner = connection->flow;
		break;
	case NIC_ROLE_LINE_SEND:
		from->owner = to->owner = connection->line;
		from->wait_first = to->wait_first = OP_NONE;
		break;
	default: {
		const uint32_t *rank_of = builder->rank_of +
			builder->group_first[connection->group];
		from->owner = rank_of[connection->from_at];
		to->owner = rank_of[connection->to_at];
		from->imm_next = to->imm_next = index;
	}
	}
}

// Tells ranks, flows or lines the first of their QPs.
static void tell_owners(const struct world *world, const struct builder *builder,
			const struct connection *connection, uint32_t from_qpn, uint32_t to_qpn)
{
	switch (connection->from_role) {
	case NIC_ROLE_FLOW:
		builder->flow_qpn[connection->flow] = from_qpn;
		if (world->jobs.beside_qpn != NULL)
			world->jobs.beside_qpn[connection->to_nic] = to_qpn;
		break;
	case NIC_ROLE_LINE_SEND:
		world->lines[connection->line].qpn = from_qpn;
		break;
	default: {
		struct rank *from = rank_at(world, builder, connection->group, connection->from_at);
		struct rank *to = rank_at(world, builder, connection->group, connection->to_at);
		if (from->to != NULL)
			from->to[connection->channel].qpn = from_qpn;
		if (to->from != NULL)
			to->from[connection->channel].qpn = to_qpn;
	}
	}
}

// Makes the QPs of a connection. Called once qps[] is 0 again.
static int connect(struct world *world, void *context, const struct connection *connection)
{
	struct builder *builder = context;
	enum pair_class pair = topology_pair(&world->topology, connection->from_nic,
					     connection->to_nic);
	struct nic_peer from = {.channel = (uint16_t)connection->channel,
				.role = (uint8_t)connection->from_role,
				.pair = (uint8_t)pair,
				.first = builder->qps[connection->from_nic]};
	struct nic_peer to = from;
	to.role = (uint8_t)connection->to_role;
	to.first = builder->qps[connection->to_nic];
	for (uint32_t i = 0; i < world->scenario->qps_per_connection; i++) {
		name_peers(builder, connection, i, &from, &to);
		join(world, builder, connection, &from, &to);
	}
	tell_owners(world, builder, connection, from.first, to.first);
	return 0;
}

static void plan_flows(struct world *world)
{
	for (uint32_t i = 0; i < world->flow_count; i++) {
		uint32_t index = world->flows[i].from / world->fabric.nics_per_host;
		if (world->flows[i].trigger > 0 || !world_has(world, index))
			continue;
		struct world_host *host = world->hosts[index];
		ps_t start_ps = stall_work_done(&host->faults, world->flows[i].start_ps);
		host_worked(host, world->flows[i].start_ps, 0, start_ps);
		if (start_ps != PS_NEVER)
			host_later(host, HOST_FLOW, i, start_ps);
	}
	world->work_total += 2ull * world->flow_count;
}

// ---------------------------------------------------------------- all of it

static int draw_builder(struct world *world, struct builder *builder)
{
	struct arena *arena = world->arena;
	uint64_t ranks = 0;
	builder->group_first = arena_draw(arena, ARENA_WORLD, world->job.group_count,
					  sizeof(uint32_t));
	if (builder->group_first == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		builder->group_first[i] = (uint32_t)ranks;
		ranks += world->job.groups[i].ranks;
	}
	builder->qps = arena_draw(arena, ARENA_WORLD, world->fabric.nics, sizeof(uint32_t));
	builder->receivers = arena_draw(arena, ARENA_WORLD, world->fabric.nics, sizeof(uint32_t));
	builder->posts = arena_draw(arena, ARENA_WORLD, world->fabric.nics, sizeof(uint32_t));
	builder->data_bytes = arena_draw(arena, ARENA_WORLD, world->fabric.nics, sizeof(uint64_t));
	builder->rank_of = arena_draw(arena, ARENA_WORLD, ranks, sizeof(uint32_t));
	builder->flow_qpn = arena_draw(arena, ARENA_WORLD, world->flow_count, sizeof(uint32_t));
	builder->ranks_on = arena_draw(arena, ARENA_WORLD, world->topology.hosts, sizeof(uint32_t));
	builder->flows_on = arena_draw(arena, ARENA_WORLD, world->topology.hosts, sizeof(uint32_t));
	world->hosts = arena_draw(arena, ARENA_WORLD, world->topology.hosts, sizeof(*world->hosts));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

// The QPs of flows carry a share of one flow each, so that they need no room for more.
static void plan_messages(struct world *world)
{
	bool has_more = world->job.group_count > 0 || world->line_count > 0;
	if (qp_pool_count(world->coll_stream) > 0)
		world->transport.messages_max = coll_stream_pair_messages_max(world->coll_stream);
	else if (!has_more && world->transport.kind == TRANSPORT_MRC &&
		 world->transport.contexts == 0)
		world->transport.messages_max = 1;
}

int hosts_build(struct world *world, struct refusal *refusal)
{
	const struct traffic_engine *engine = traffic_engine_of(world);
	struct builder builder = {.refusal = refusal};
	int rc = draw_builder(world, &builder);
	if (rc == 0 && engine == NULL && world->scenario->watch.has_operations)
		rc = refuse(refusal, -EINVAL,
			    "watch.operations: this traffic has no operations of ranks; goal, "
			    "collective, jobs and traces of nodes have");
	if (rc == 0 && engine != NULL)
		rc = engine->build(world, refusal);
	if (rc == 0)
		rc = trigger_flows_build(world, refusal);
	if (rc == 0)
		count_people(world, &builder);
	if (rc == 0)
		connections_measure(world, &builder);
	if (rc == 0)
		rc = connections_visit(world, connection_check, &builder);
	if (rc == 0)
		rc = connections_visit(world, count_qps, &builder);
	if (rc == 0)
		count_qp_pool(world, &builder);
	transport_timers(world, sharers_max(world, &builder));
	plan_messages(world);
	if (rc == 0 && engine != NULL && engine->join_rings != NULL)
		engine->join_rings(world, &builder);
	for (uint32_t i = 0; rc == 0 && i < world->topology.hosts; i++)
		rc = build_stalling_host(world, i, &builder);
	if (rc == 0)
		rc = build_ranks(world, &builder);
	for (uint32_t i = 0; rc == 0 && i < world->fabric.nics; i++)
		builder.qps[i] = 0;
	if (rc == 0)
		rc = connections_visit(world, connect, &builder);
	if (rc == 0)
		plan_flows(world);
	if (rc == 0 && engine != NULL)
		engine->plan(world);
	return rc == -ENOMEM ? build_no_memory(world, refusal) : rc;
}
