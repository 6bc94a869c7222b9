// SPDX-License-Identifier: Apache-2.0
// How a world is dealt out to threads: every machine in one shard, hosts writing into the record of
// their own, equal work for each, and nothing that two threads write in one cache line.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "build/build.h"
#include <weft/host/host.h>
#include <weft/world/world_pieces.h>

struct built {
	struct scenario scenario;
	struct arena arena;
	struct world world;
	struct refusal refusal;
};

#define MEMORY_BYTES (UINT64_C(256) << 20)

static int try_build(struct built *built, const char *yaml, struct world_shards shards)
{
	memset(built, 0, sizeof(*built));
	int rc = scenario_parse(&built->scenario, "test", yaml, strlen(yaml), NULL, 0,
				&built->refusal);
	if (rc < 0)
		fail_msg("refused: %s", built->refusal.text);
	// Zero until it is written: of all this a world takes a small part.
	void *memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(memory != MAP_FAILED);
	arena_init(&built->arena, memory, MEMORY_BYTES);
	return world_build_shards(&built->world, &built->arena, &built->scenario, NULL, 0, shards,
				  &built->refusal);
}

static void build(struct built *built, const char *yaml, uint32_t shards)
{
	if (try_build(built, yaml, (struct world_shards){.count = shards}) < 0)
		fail_msg("refused: %s", built->refusal.text);
}

static void tear_down(struct built *built)
{
	assert_int_equal(munmap(built->arena.base, MEMORY_BYTES), 0);
}

static const char permutation[] =
	"name: a\nfabric: {topology: clos, nics: 64, nics_per_t0: 16, t1_count: 8, planes: 2}\n"
	"transport: {evs: 32, mpr: 256}\nlimits: {packets: 4096}\n"
	"traffic: {kind: permutation, bytes: 100kB}\n";

static const char ring[] =
	"name: a\nfabric: {topology: clos, nics: 64, nics_per_host: 4, nics_per_t0: 16, t1_count: "
	"8, planes: 2}\n"
	"scaleup: {rate: 450GB/s, delay: 900ns}\n"
	"transport: {evs: 32, mpr: 256}\nlimits: {packets: 4096}\n"
	"traffic: {kind: ring, collective: all_reduce, ranks: 64, bytes: 4MiB, channels: 1}\n";

static const char few_busy[] =
	"name: a\nfabric: {topology: clos, nics: 64, nics_per_t0: 16, t1_count: 8, planes: 2}\n"
	"transport: {evs: 32, mpr: 256}\nlimits: {packets: 4096}\n"
	"traffic:\n  kind: flows\n  flows:\n"
	"    - {from: 0, to: 5, bytes: 1MB}\n    - {from: 1, to: 4, bytes: 1MB}\n"
	"    - {from: 2, to: 3, bytes: 1MB}\n    - {from: 6, to: 7, bytes: 1MB}\n";

// ---------------------------------------------------------------- tests

static void a_number_of_shards_out_of_range_is_refused(void **state)
{
	static struct built built;
	static const uint32_t wrong[] = {0, WORLD_SHARDS_MAX + 1, UINT32_MAX};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const struct world_shards shards = {.count = wrong[i]};
		assert_int_equal(try_build(&built, permutation, shards), -EINVAL);
		assert_non_null(strstr(built.refusal.text, "shards"));
		tear_down(&built);
	}
}

static void ports_of(const struct world *world, uint32_t first, uint32_t end, uint32_t *ret)
{
	memset(ret, 0, WORLD_SHARDS_MAX * sizeof(*ret));
	for (uint32_t m = first; m < end; m++) {
		assert_true(world->shard_of[m] < world->shard_count);
		ret[world->shard_of[m]] += world->machines[m].port_count;
	}
}

// No shard has more than its share and one machine.
static void equal_shares(const struct world *world, uint32_t first, uint32_t end)
{
	uint32_t ports[WORLD_SHARDS_MAX], most = 0, whole = 0;
	for (uint32_t m = first; m < end; m++) {
		whole += world->machines[m].port_count;
		if (world->machines[m].port_count > most)
			most = world->machines[m].port_count;
	}
	ports_of(world, first, end, ports);
	for (uint32_t shard = 0; shard < world->shard_count; shard++)
		assert_true(ports[shard] < whole / world->shard_count + 1 + most);
}

static void hosts_and_switches_are_dealt_out_evenly(void **state)
{
	static struct built built;
	static const char *const yamls[] = {permutation, ring};
	for (uint32_t shards = 1; shards <= WORLD_SHARDS_MAX; shards++) {
		for (size_t i = 0; i < sizeof(yamls) / sizeof(*yamls); i++) {
			build(&built, yamls[i], shards);
			const struct world *world = &built.world;
			uint32_t hosts = world->topology.hosts;
			equal_shares(world, 0, hosts);
			equal_shares(world, hosts, world->machine_count);
			for (uint32_t host = 1; host < hosts; host++)
				assert_in_range(world->shard_of[host], world->shard_of[host - 1],
						world->shard_of[host - 1] + 1);
			tear_down(&built);
		}
	}
}

static void hosts_without_work_do_not_count(void **state)
{
	static struct built built;
	build(&built, few_busy, 2);
	const struct world *world = &built.world;
	for (uint32_t host = 0; host < 8; host++) // two flow ends in four, wherever they are
		assert_int_equal(world->shard_of[host], host / 4);
	uint32_t busy[2] = {0};
	for (uint32_t i = 0; i < world->topology.switch_count; i++)
		if (world->topology.switches[i].route.low == 0)
			busy[world->shard_of[world->topology.hosts + i]]++;
	assert_true(busy[0] > 0 && busy[1] > 0);
	tear_down(&built);
}

static void a_switch_is_near_its_hosts_when_there_is_room(void **state)
{
	static struct built built;
	build(&built, permutation, 4);
	const struct world *world = &built.world;
	for (uint32_t i = 0; i < world->topology.switch_count; i++) {
		const struct switch_plan *plan = &world->topology.switches[i];
		if (plan->tier == 0)
			assert_int_equal(world->shard_of[world->topology.hosts + i], plan->index);
	}
	tear_down(&built);
}

static const char buffer[] =
	"name: a\nfabric: {topology: clos, nics: 64, nics_per_t0: 16, t1_count: 8, planes: 2}\n"
	"queue: {shared: 1MB}\n"
	"transport: {evs: 32, mpr: 256}\nlimits: {packets: 4096}\n"
	"traffic: {kind: permutation, bytes: 100kB}\n";

// The tops of a tree are in all processes, the rest is dealt out evenly; threads share nothing.
static void processes_share_the_tops_of_a_tree(void **state)
{
	static struct built built;
	if (try_build(&built, permutation, (struct world_shards){4, true, 0, false}) < 0)
		fail_msg("refused: %s", built.refusal.text);
	const struct world *world = &built.world;
	uint32_t t0s[4] = {0};
	for (uint32_t i = 0; i < world->topology.switch_count; i++) {
		const struct switch_plan *plan = &world->topology.switches[i];
		uint32_t node = world->topology.hosts + i;
		const struct shared_switch *shared = world_shared(world, node);
		assert_int_equal(shared != NULL, plan->tier == 1);
		t0s[world->shard_of[node]] += plan->tier == 0;
		for (uint32_t nic = 0; shared != NULL && nic < 64; nic += 16)
			assert_int_equal(shared->shards[nic / shared->span], world->shard_of[nic]);
		for (uint32_t shard = 0; shard < 4; shard++)
			assert_int_equal(world_is_in(world, node, shard),
					 shared != NULL || world->shard_of[node] == shard);
	}
	for (uint32_t shard = 0; shard < 4; shard++)
		assert_int_equal(t0s[shard], 2); // one in each plane
	for (uint32_t i = 0; i < world->cable_count; i++) {
		const struct cable_plan *plan = &world->cables[i];
		bool is_down = world_shared(world, plan->from_machine) != NULL;
		assert_int_equal(world_sender_of(world, i),
				 world->shard_of[is_down ? plan->to_machine : plan->from_machine]);
	}
	tear_down(&built);
	build(&built, permutation, 4);
	assert_null(built.world.shared);
	tear_down(&built);
}

// A shared buffer joins the ports of a switch: one process has it.
static void a_switch_whose_ports_depend_on_each_other_is_whole(void **state)
{
	static struct built built;
	if (try_build(&built, buffer, (struct world_shards){2, true, 0, false}) < 0)
		fail_msg("refused: %s", built.refusal.text);
	for (uint32_t m = 0; m < built.world.machine_count; m++)
		assert_null(world_shared(&built.world, m));
	tear_down(&built);
}

// Each host is a process of its own, and the first one has the switches, which nobody runs.
static void a_host_may_be_a_shard_of_its_own(void **state)
{
	static struct built built;
	uint32_t hosts = 64 / 4;
	const struct world_shards all = {hosts, true, 5, true}, more = {2000, true, 5, true};
	assert_int_equal(try_build(&built, ring, more), -EINVAL);
	tear_down(&built);
	if (try_build(&built, ring, all) < 0)
		fail_msg("refused: %s", built.refusal.text);
	for (uint32_t host = 0; host < hosts; host++) {
		assert_int_equal(built.world.shard_of[host], host);
		assert_int_equal(world_has(&built.world, host), host == 5);
	}
	for (uint32_t m = hosts; m < built.world.machine_count; m++)
		assert_int_equal(built.world.shard_of[m], 0);
	assert_null(built.world.shared);
	tear_down(&built);
}

static ps_t *start_of(struct world *world, uint32_t shard)
{
	return &world->records[shard]->clocks[0].start_ps;
}

// What was measured at 3 by a clock that began 4 later was at 7 by that of all; what is not there
// stays so.
static void times_of_a_shard_move_to_one_clock(void **state)
{
	static struct built built;
	build(&built, ring, 2);
	struct world *world = &built.world;
	struct collective_clock *clock = &world->records[1]->clocks[0];
	clock->start_ps = 3;
	clock->end_ps = 5;
	clock->ranks_done = 1;
	clock->front_ps[1] = clock->sum_ps[1] = 5;
	clock->whole_count[1] = 1;
	world->records[1]->outcome->end_ps = 5;
	world_move_times(world, 1, 4);
	assert_int_equal(clock->start_ps, 7);
	assert_int_equal(clock->end_ps, 9);
	assert_int_equal(clock->front_ps[1], 9);
	assert_int_equal(clock->sum_ps[1], 9);
	assert_int_equal(clock->front_ps[0], 0);
	assert_int_equal(world->records[1]->outcome->end_ps, 9);
	assert_true(*start_of(world, 0) == PS_NEVER);
	world_move_times(world, 0, 4);
	assert_true(*start_of(world, 0) == PS_NEVER);
	assert_int_equal(world->records[0]->outcome->end_ps, 0);
	tear_down(&built);
}

// Adds what process `index` of 4 has of a world that one alone has as `whole`.
static uint64_t count_endpoints(const struct world *whole, const char *yaml, uint32_t index)
{
	static struct built part;
	if (try_build(&part, yaml, (struct world_shards){4, true, index, false}) < 0)
		fail_msg("refused: %s", part.refusal.text);
	const struct world *world = &part.world;
	uint32_t per_host = world->fabric.nics_per_host, own = 0;
	for (uint32_t i = 0; i < world->topology.nics; i++) {
		const struct nic *nic = &world->hosts[i / per_host]->nics[i % per_host];
		const struct nic *there = &whole->hosts[i / per_host]->nics[i % per_host];
		bool is_own = world->shard_of[i / per_host] == index;
		assert_int_equal(world_has(world, i / per_host), is_own);
		assert_int_equal(nic->has_qps, there->endpoint != NULL);
		assert_int_equal(nic->endpoint != NULL, is_own && nic->has_qps);
		assert_int_equal(nic->qp_count, is_own ? there->qp_count : 0);
		own += is_own;
	}
	assert_int_equal(own, world->topology.nics / 4);
	assert_int_equal(world->qp_count, whole->qp_count);
	assert_int_equal(world->context_count, whole->context_count);
	assert_int_equal(world->work_total, whole->work_total);
	assert_int_equal(world->packets.capacity, whole->packets.capacity);
	uint64_t bytes = part.arena.drawn_bytes[ARENA_TRANSPORT];
	tear_down(&part);
	return bytes;
}

// Endpoints are most of a world: all processes together have them once.
static void a_process_has_the_endpoints_of_its_own_hosts(void **state)
{
	const char *const yamls[] = {permutation, ring};
	static struct built whole;
	for (size_t i = 0; i < 2; i++) {
		uint64_t bytes = 0;
		build(&whole, yamls[i], 1);
		for (uint32_t index = 0; index < 4; index++)
			bytes += count_endpoints(&whole.world, yamls[i], index);
		assert_true(bytes > 0);
		assert_int_equal(bytes, whole.arena.drawn_bytes[ARENA_TRANSPORT]);
		tear_down(&whole);
	}
}

static void a_host_writes_into_the_record_of_its_shard(void **state)
{
	static struct built built;
	build(&built, ring, 3);
	const struct world *world = &built.world;
	for (uint32_t host = 0; host < world->topology.hosts; host++) {
		const struct record *record = world->records[world->shard_of[host]];
		assert_ptr_equal(world->hosts[host]->record, record);
		assert_ptr_not_equal(record->outcome, world->outcome);
	}
	for (uint32_t a = 0; a < 3; a++) {
		for (uint32_t b = 0; b < a; b++) {
			const struct record *one = world->records[a], *two = world->records[b];
			assert_ptr_not_equal(one, two);
			assert_ptr_not_equal(one->outcome, two->outcome);
			assert_ptr_not_equal(one->clocks, two->clocks);
			assert_ptr_not_equal(one->clocks[0].front_ps, two->clocks[0].front_ps);
			assert_ptr_not_equal(one->outcome->flow_ns.counts,
					     two->outcome->flow_ns.counts);
		}
	}
	tear_down(&built);
}

// Blocks are drawn upwards and each begins where one shard's end.
static void what_shards_write_lies_in_lines_of_their_own(void **state)
{
	static struct built built;
	build(&built, ring, 3);
	const struct world *world = &built.world;
	for (uint32_t shard = 0; shard < 3; shard++)
		assert_int_equal((uintptr_t)world->records[shard] % SHARD_PAGE_BYTES, 0);
	for (uint32_t host = 1; host < world->topology.hosts; host++) {
		if (world->shard_of[host] == world->shard_of[host - 1])
			continue;
		assert_int_equal((uintptr_t)world->hosts[host] % SHARD_PAGE_BYTES, 0);
		// The last rank of the host before ends in another line than this one's first.
		const struct world_host *before = world->hosts[host - 1];
		uintptr_t last = (uintptr_t)before->ranks[before->rank_count - 1].ring;
		uintptr_t first = (uintptr_t)world->hosts[host]->ranks[0].to;
		assert_int_equal(first % SHARD_LINE_BYTES, 0);
		assert_true(first > last);
	}
	tear_down(&built);
}

// Figures that hosts of different shards would have written.
static void what_records_hold_is_added_up_anew_each_time(void **state)
{
	static struct built built;
	build(&built, ring, 3);
	struct world *world = &built.world;
	for (uint32_t shard = 0; shard < 3; shard++) {
		struct record *record = world->records[shard];
		record->work_done = shard + 1;
		record->outcome->credits_sent = 10 * (shard + 1);
		record->outcome->dropped_at_host[DROP_UNKNOWN_QP] = 100 * (shard + 1);
		record->outcome->end_ps = 5000 - 1000 * shard;
		hist_add(&record->outcome->message_ns[PAIR_SAME_T0], 7 * (shard + 1));
		record->clocks[0].start_ps = 30 - 10 * shard;
		record->clocks[0].end_ps = 4000 + 10 * shard;
	}
	world->work_total = 6;
	assert_true(world_is_done(world));
	world->work_total = 7;
	assert_false(world_is_done(world));
	const struct outcome *outcome = world->outcome;
	for (int time = 0; time < 3; time++) {
		world_collect(world);
		assert_int_equal(outcome->credits_sent, 60);
		assert_int_equal(outcome->dropped_at_host[DROP_UNKNOWN_QP], 600);
		assert_int_equal(outcome->dropped[DROP_UNKNOWN_QP], 600);
		assert_int_equal(outcome->end_ps, 5000);
		assert_int_equal(outcome->message_ns[PAIR_SAME_T0].total, 3);
		assert_int_equal(outcome->message_ns[PAIR_SAME_T0].max, 21);
		assert_int_equal(outcome->collectives[0].start_ps, 10);
		assert_int_equal(outcome->collectives[0].end_ps, 4020);
		assert_int_equal(outcome->collectives[0].whole_ps, 0); // no rank is done
	}
	tear_down(&built);
}

static void one_shard_costs_no_memory_but_its_map(void **state)
{
	static struct built built;
	build(&built, permutation, 1);
	const struct world *world = &built.world;
	assert_ptr_equal(world->records[0]->outcome, world->outcome);
	for (uint32_t m = 0; m < world->machine_count; m++)
		assert_int_equal(world->shard_of[m], 0);
	size_t whole = built.arena.used;
	tear_down(&built);
	build(&built, permutation, 2);
	size_t hists = (PAIR_CLASS_COUNT + 1) * built.world.outcome->flow_ns.cells *
		sizeof(uint64_t);
	assert_true(built.arena.used >= whole + 2 * hists);
	assert_true(built.arena.used < whole + 2 * hists + 16 * SHARD_PAGE_BYTES);
	tear_down(&built);
}
