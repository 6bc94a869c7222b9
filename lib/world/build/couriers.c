// SPDX-License-Identifier: Apache-2.0
// Builds what hosts need to run a course: which NICs talk, and over what. See courier.h.

#include <errno.h>

#include "agents.h"
#include "build.h"
#include <weft/host/courier.h>
#include <weft/host/host.h>

// ---------------------------------------------------------------- checks

#define FIRST_USE \
	", which connections that are made when they are first used do not have: " \
	"traffic.messages stored goes with it"

// What a connection that is made when it is first used cannot have.
static int check_berths(const struct world *world, struct refusal *refusal)
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

static int check_course(const struct world *world, struct refusal *refusal)
{
	uint32_t ranks = course_config(world->course)->ranks;
	if (world->scenario->sample.is_on)
		return refuse(refusal, -EINVAL, "a course runs whole: sample off goes with it");
	if (world->scenario->watch.has_operations)
		return refuse(
			refusal, -EINVAL,
			"watch.operations: messages that are generated on demand are in no list; "
			"traffic.messages stored goes with it",
			0, 0, 0);
	if (ranks > world->fabric.nics)
		return refuse(refusal, -EINVAL, "the course is of % ranks, but fabric.nics is %",
			      ranks, world->fabric.nics);
	return course_has_peers(world->course) ? 0 : check_berths(world, refusal);
}

// ---------------------------------------------------------------- lines

static int build_lines(struct world *world, uint32_t *first)
{
	const struct course *course = world->course;
	uint32_t ranks = course_config(course)->ranks, count = 0;
	uint32_t *to = arena_draw(world->arena, ARENA_WORLD, ranks, sizeof(*to));
	if (to == NULL)
		return -ENOMEM;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		first[rank] = count;
		count += course_peers(course, rank, to);
	}
	first[ranks] = count;
	world->lines = arena_draw(world->arena, ARENA_WORLD, count, sizeof(*world->lines));
	if (world->lines == NULL)
		return -ENOMEM;
	world->line_count = count;
	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t peers = course_peers(course, rank, to);
		for (uint32_t i = 0; i < peers; i++)
			world->lines[first[rank] + i] = (struct agent_line){.from_nic = rank,
									    .to_nic = to[i]};
	}
	return 0;
}

static int draw(struct world *world)
{
	struct arena *arena = world->arena;
	uint32_t ranks = course_config(world->course)->ranks, *first = NULL;
	uint64_t waits = course_ready_max(world->course);
	if (course_has_peers(world->course)) {
		first = arena_draw(arena, ARENA_WORLD, ranks + 1ull, sizeof(*first));
		if (first == NULL || build_lines(world, first) < 0)
			return -ENOMEM;
	}
	if (waits >= OP_NONE)
		return -ENOMEM;
	for (uint32_t shard = 0; shard < world->shard_count; shard++) {
		struct courier *courier = arena_draw(arena, ARENA_WORLD, 1, sizeof(*courier));
		if (courier == NULL)
			return -ENOMEM;
		*courier = (struct courier){
			.course = world->course,
			.lines = world->lines,
			.line_first = first,
			.waits = arena_draw(arena, ARENA_WORLD, waits, sizeof(*courier->waits)),
			.waits_free = OP_NONE,
			.waits_max = (uint32_t)waits};
		world->couriers[shard] = courier;
		bool is_short = !course_has_peers(world->course) && berths_are_few(world->course);
		if (is_short)
			courier->waits_to = arena_draw(arena, ARENA_WORLD, waits, sizeof(uint32_t));
		if (arena_has_failed(arena))
			return -ENOMEM;
	}
	return 0;
}

int couriers_build(struct world *world, struct refusal *refusal)
{
	if (world->course == NULL)
		return 0;
	int rc = check_course(world, refusal);
	if (rc == 0 && draw(world) < 0)
		rc = build_no_memory(world, refusal);
	return rc;
}

// ---------------------------------------------------------------- what hosts will have to do

void couriers_plan(struct world *world)
{
	if (world->course == NULL)
		return;
	for (uint32_t rank = 0; rank < course_config(world->course)->ranks; rank++)
		if (world_has(world, rank))
			host_later(world->hosts[rank], HOST_OP_BEGIN, rank, 0);
	world->work_total += 2 * course_messages(world->course);
}
