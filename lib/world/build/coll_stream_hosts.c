// SPDX-License-Identifier: Apache-2.0
// Builds what hosts need to run a collective stream: which NICs talk, and over what. See
// coll_stream_host.h.

#include <errno.h>

#include "build.h"
#include "traffic_engine.h"
#include <weft/host/coll_stream_host.h>
#include <weft/host/host.h>

// ---------------------------------------------------------------- checks

#define FIRST_USE \
	", which connections that are made when they are first used do not have: " \
	"traffic.messages stored goes with it"

// What a connection that is made when it is first used cannot have.
static int check_qp_pool(const struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	const struct transport_config *transport = &scenario->transport;
	const char *what = NULL;
	if (scenario->qps_per_connection != 1)
		what = "transport.qps_per_connection is more than 1" FIRST_USE;
	else if (transport->contexts != 0)
		what = "transport.contexts is given" FIRST_USE;
	else if (transport->kind == TRANSPORT_RC)
		what = "transport.kind is rc" FIRST_USE;
	else if (transport->shares_cc)
		what = "cc.context is destination" FIRST_USE;
	return what == NULL ? 0 : refuse(refusal, -EINVAL, what);
}

static int check_coll_stream(const struct world *world, struct refusal *refusal)
{
	uint32_t ranks = coll_stream_config(world->coll_stream)->ranks;
	if (world->scenario->sample.is_on)
		return refuse(refusal, -EINVAL,
			      "a collective stream runs whole: sample off goes with it");
	if (world->scenario->watch.has_operations)
		return refuse(
			refusal, -EINVAL,
			"watch.operations: messages that are generated on demand are in no list; "
			"traffic.messages stored goes with it");
	if (ranks > world->fabric.nics)
		return refuse(refusal, -EINVAL,
			      "the collective stream is of % ranks, but fabric.nics is %", ranks,
			      world->fabric.nics);
	return coll_stream_has_peers(world->coll_stream) ? 0 : check_qp_pool(world, refusal);
}

// ---------------------------------------------------------------- lines

static int build_lines(struct world *world, uint32_t *first)
{
	const struct coll_stream *coll_stream = world->coll_stream;
	uint32_t ranks = coll_stream_config(coll_stream)->ranks, count = 0;
	uint32_t *to = arena_draw(world->arena, ARENA_WORLD, ranks, sizeof(*to));
	if (to == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		first[rank] = count;
		count += coll_stream_peers(coll_stream, rank, to);
	}
	first[ranks] = count;
	world->lines = arena_draw(world->arena, ARENA_WORLD, count, sizeof(*world->lines));
	if (world->lines == NULL)
		return -ENOMEM;
	world->line_count = count;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t peers = coll_stream_peers(coll_stream, rank, to);
		for (uint32_t i = 0; i < peers; i++)
			world->lines[first[rank] + i] = (struct opgraph_connection){
				.from_nic = rank, .to_nic = to[i]};
	}
	return 0;
}

static int draw(struct world *world)
{
	struct arena *arena = world->arena;
	uint32_t ranks = coll_stream_config(world->coll_stream)->ranks, *first = NULL;
	uint64_t waits = coll_stream_ready_max(world->coll_stream);
	if (coll_stream_has_peers(world->coll_stream)) {
		first = arena_draw(arena, ARENA_WORLD, ranks + 1ull, sizeof(*first));
		if (first == NULL || build_lines(world, first) < 0)
			return -ENOMEM;
	}
	if (waits >= OP_NONE)
		return -ENOMEM;
	for (uint32_t shard = 0; shard < world->shard_count; shard++) {
		struct coll_stream_host *coll_stream_host = arena_draw(arena, ARENA_WORLD, 1,
								       sizeof(*coll_stream_host));
		if (coll_stream_host == NULL)
			return -ENOMEM;
		*coll_stream_host = (struct coll_stream_host){
			.coll_stream = world->coll_stream,
			.lines = world->lines,
			.line_first = first,
			.waits = arena_draw(arena, ARENA_WORLD, waits,
					    sizeof(*coll_stream_host->waits)),
			.waits_free = OP_NONE,
			.waits_max = (uint32_t)waits};
		world->coll_stream_hosts[shard] = coll_stream_host;
		bool is_short = !coll_stream_has_peers(world->coll_stream) &&
			qp_pool_is_small(world->coll_stream);
		if (is_short)
			coll_stream_host->waits_to = arena_draw(arena, ARENA_WORLD, waits,
								sizeof(uint32_t));
		if (arena_has_failed(arena))
			return -ENOMEM;
	}
	return 0;
}

static int build(struct world *world, struct refusal *refusal)
{
	int rc = check_coll_stream(world, refusal);
	if (rc == 0 && draw(world) < 0)
		rc = build_no_memory(world, refusal);
	return rc;
}

// ---------------------------------------------------------------- what hosts will have to do

static uint32_t ranks_of(const struct world *world)
{
	return coll_stream_config(world->coll_stream)->ranks;
}

static uint32_t nic_of(const struct world *world, uint32_t rank)
{
	(void)world;
	return rank;
}

static uint64_t data_bytes(const struct world *world, uint32_t rank)
{
	(void)rank;
	return coll_buffer_bytes(coll_stream_config(world->coll_stream));
}

static void count_ends(const struct world *world, uint64_t *of_nic)
{
	for (uint32_t rank = 0; rank < ranks_of(world); rank++)
		of_nic[rank]++;
}

static uint64_t fabric_bytes(const struct world *world)
{
	return coll_stream_bytes(world->coll_stream);
}

static uint64_t fabric_messages(const struct world *world)
{
	return coll_stream_messages(world->coll_stream);
}

static void plan(struct world *world)
{
	for (uint32_t rank = 0; rank < ranks_of(world); rank++)
		if (world_has(world, rank))
			host_later(world->hosts[rank], HOST_OP_BEGIN, rank, 0);
	world->work_total += 2 * coll_stream_messages(world->coll_stream);
}

const struct traffic_engine coll_stream_engine = {
	.host = &coll_stream_host_engine,
	.build = build,
	.plan = plan,
	.ranks = ranks_of,
	.nic_of = nic_of,
	.data_bytes = data_bytes,
	.count_ends = count_ends,
	.fabric_bytes = fabric_bytes,
	.fabric_messages = fabric_messages,
};
