// SPDX-License-Identifier: Apache-2.0
// A run by several ranks is that of one process: every count, every histogram cell, the digest. The
// ranks are threads here; tests/drive/program_mpi.py has them as processes of MPI.

#include "../rig_watched.h"
#include "thread_ranks.h"
#include "truth.h"

static struct rig truth, rigs[THREAD_RANKS_MAX];

static void hold(const struct truth_case *test, const char *const *sets, uint32_t count)
{
	char name[128];
	snprintf(name, sizeof(name), "%s, %u ranks", test->name, count);
	uint64_t messages = thread_ranks_run(rigs, test->yaml, sets, count);
	truth_same(name, &rigs[0], &truth);
	assert_true(messages > 0 && rigs[0].run.ranks == count);
	uint64_t alone = rigs[1].run.delivered;
	if (alone == 0 || alone >= truth.run.delivered)
		fail_msg("%s: rank 1 took %llu of %llu packets: nothing was shared", name,
			 (unsigned long long)alone, (unsigned long long)truth.run.delivered);
	for (uint32_t i = 1; i < count; i++) {
		truth_count(name, "end of another rank", rigs[i].run.end, truth.run.end);
		truth_count(name, "windows of another rank", rigs[i].run.windows,
			    truth.run.windows);
	}
	thread_ranks_free(rigs, count);
}

static void a_run_does_not_depend_on_the_number_of_ranks(void **state)
{
	for (size_t i = 0; i < TRUTH_CASES; i++) {
		truth_sim(&truth_cases[i], &truth);
		hold(&truth_cases[i], NULL, 2 + (uint32_t)i % 3);
		world_instance_free(&truth.world_instance);
	}
}

// Windows of half the length and of a seventh: other messages, the same run.
static void nor_on_the_length_of_windows(void **state)
{
	const char *const lengths[][2] = {{"limits.window=175ns", NULL},
					  {"limits.window=50ns", NULL}};
	for (size_t i = 0; i < TRUTH_CASES; i += 5)
		for (size_t n = 0; n < sizeof(lengths) / sizeof(*lengths); n++) {
			rig_run(&truth, truth_cases[i].yaml, lengths[n]);
			uint64_t digest = truth.run.digest;
			hold(&truth_cases[i], lengths[n], 2);
			world_instance_free(&truth.world_instance);
			rig_run(&truth, truth_cases[i].yaml, NULL);
			truth_count(truth_cases[i].name, "digest", digest, truth.run.digest);
			world_instance_free(&truth.world_instance);
		}
}

#define WATCHED \
	TRUTH_PLANES \
	"transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: 1MB}\n" \
	"watch: {bin: 5us, bins: 100, nics: true, bypasses: 500, racks: true}\nfaults: [{kind: " \
	"link_down, at: {t0: 0, up: 1, plane: 1}, from: 10us}, {kind: flap, at: {nic: " \
	"2, plane: 0}, down: 20us, up: 9us}]\n"
#define BUTTERFLY \
	TRUTH_PLANES "transport: {evs: 32, rto: 80us}\ntraffic: {kind: butterfly, bytes: " \
		     "40kB}\n" TRUTH_LOSS

static uint32_t bypasses(const struct world *world)
{
	uint32_t events = 0;
	for (uint32_t i = 0; i < world->shard_count; i++)
		events += world->bypass[i]->count;
	return events;
}

// What is counted over time, by NIC and of dead paths.
static void what_is_watched_comes_together(void **state)
{
	const struct truth_case test = {"watched", WATCHED, shows_link_down, RUN_DONE};
	truth_sim(&test, &truth);
	for (uint32_t count = 2; count <= 3; count++) {
		thread_ranks_run(rigs, test.yaml, NULL, count);
		const struct world *is = &rigs[0].world_instance.world,
				   *should = &truth.world_instance.world;
		const struct series *series = &should->outcome->series;
		truth_same(test.name, &rigs[0], &truth);
		assert_memory_equal(is->outcome->series.bins, series->bins,
				    series->count * sizeof(*series->bins));
		assert_memory_equal(is->outcome->series.after, series->after,
				    sizeof(series->after));
		assert_memory_equal(is->nic_placed, should->nic_placed,
				    (size_t)should->fabric.nics * series->count * sizeof(uint64_t));
		assert_true(bypasses(should) > 0);
		assert_int_equal(bypasses(is), bypasses(should));
		thread_ranks_free(rigs, count);
	}
	world_instance_free(&truth.world_instance);
}

#define TIMED \
	TRUTH_PLANES \
	"transport: {evs: 32, rto: 80us}\ntraffic: {kind: permutation, bytes: 1MB}\n" \
	"watch: {bin: 1us, bins: 16, halve: true, delays: true, gaps: true, links: " \
	"true}\n" TRUTH_LOSS

// What is measured of packets and queues, and over time in bins that halve.
static void what_is_timed_comes_together(void **state)
{
	const struct truth_case test = {"timed", TIMED, shows_loss, RUN_DONE};
	truth_sim(&test, &truth);
	for (uint32_t count = 2; count <= 3; count++) {
		thread_ranks_run(rigs, test.yaml, NULL, count);
		truth_same(test.name, &rigs[0], &truth);
		watched_same(&rigs[0].world_instance.world, &truth.world_instance.world);
		thread_ranks_free(rigs, count);
	}
	world_instance_free(&truth.world_instance);
}

// Flows whose beginning is found while it runs: by the rank of their sender.
static void the_beginnings_of_flows_come_together(void **state)
{
	const struct truth_case test = {"butterfly", BUTTERFLY, shows_loss, RUN_DONE};
	truth_sim(&test, &truth);
	thread_ranks_run(rigs, test.yaml, NULL, 3);
	truth_same(test.name, &rigs[0], &truth);
	for (uint32_t i = 0; i < truth.world_instance.world.flow_count; i++)
		assert_int_equal(rigs[0].world_instance.world.flows[i].start_ps,
				 truth.world_instance.world.flows[i].start_ps);
	thread_ranks_free(rigs, 3);
	world_instance_free(&truth.world_instance);
}

// Four switches in a ring; seed 1 to 40 of golden/all_pfc.c: some stand still. Beside it a tree
// whose trunks wait for an incast, with and without a buffer that all ports share.
#define PFC_RING \
	"name: ring\nfabric: {topology: graph, nics: 4, link_rate: 100Gb/s, nodes: [{name: a, " \
	"nics: 1}, {name: b, nics: 1}, {name: c, nics: 1}, {name: d, nics: 1}], links: [{from: " \
	"a, " \
	"to: b}, {from: b, to: c}, {from: c, to: d}, {from: d, to: a}]}\nqueue: {pfc: true, ecn: " \
	"false, bytes: 50kB}\ncc: {algorithm: fixed}\ntransport: {kind: rc, rto: " \
	"100ms}\ntraffic: {kind: flows, flows: " \
	"[{from: 0, to: 2, bytes: 2MB}, {from: 1, to: 3, bytes: 2MB}, {from: 2, to: 0, bytes: " \
	"2MB}, {from: 3, to: 1, bytes: 2MB}]}\nlimits: {time: 2ms}\n"
#define PFC_TREE \
	TRUTH_PLANES "queue: {pfc: true, ecn: false, bytes: 30kB}\ncc: {algorithm: " \
		     "fixed}\ntransport: {kind: rc}\n" \
		     "traffic: {kind: incast, senders: 12, bytes: 200kB}\n"

static uint64_t shows_pauses(const struct rig *rig)
{
	return rig->outcome->fabric.pause.pauses_sent;
}

// What one process says about pauses and deadlocks. Returns what it says.
static struct world_pauses hold_pauses(const char *yaml, const char *const *sets, uint32_t count)
{
	const struct truth_case test = {"pauses", yaml, shows_pauses, RUN_DONE};
	rig_run(&truth, yaml, sets);
	thread_ranks_run(rigs, yaml, sets, count);
	truth_same(test.name, &rigs[0], &truth);
	struct world_pauses is = *rigs[0].world_instance.world.pauses;
	struct world_pauses should = *truth.world_instance.world.pauses;
	is.room = should.room = (struct deadlock_room){0}; // places in memory
	assert_memory_equal(&is, &should, sizeof(is));
	thread_ranks_free(rigs, count);
	world_instance_free(&truth.world_instance);
	return should;
}

static void pauses_and_deadlocks_come_together(void **state)
{
	static const char *const sets[][2] = {{"queue.shared=400kB", NULL}, {NULL}};
	uint32_t deadlocks = 0;
	for (uint32_t seed = 1; seed <= 16; seed++) {
		char set[16];
		snprintf(set, sizeof(set), "seed=%u", seed);
		const char *const seeds[] = {set, NULL};
		deadlocks += hold_pauses(PFC_RING, seeds, 2 + seed % 2).deadlock_count > 0;
	}
	assert_in_range(deadlocks, 1, 8);
	for (uint32_t count = 2; count <= 4; count++) {
		struct world_pauses pauses = hold_pauses(PFC_TREE, sets[count % 2], count);
		assert_int_equal(pauses.deadlock_count, 0);
		assert_true(pauses.nic_pauses > 0 && pauses.cable_count > 0);
	}
}

#define INCAST "traffic: {kind: incast, senders: 12, bytes: 5MB}\n"

// All to one: what crosses goes one way, from a pool that is smaller than all of it.
static void no_pool_runs_dry_by_traffic_that_goes_one_way(void **state)
{
	const struct truth_case test = {"incast", TRUTH_FABRIC INCAST, shows_trims, RUN_DONE};
	const char *const sets[] = {"limits.packets=3000", NULL};
	rig_run(&truth, test.yaml, sets);
	assert_int_equal(truth.run.end, RUN_DONE);
	assert_true(truth.run.data_packets > 4 * 3000);
	hold(&test, sets, 2);
	world_instance_free(&truth.world_instance);
}

// Each rank has a pool of its own, so that more fits; one that runs dry ends all with its name, and
// the books balance.
static void a_pool_that_runs_dry_ends_all(void **state)
{
	const char *const sets[] = {"limits.packets=64", NULL};
	for (uint32_t count = 2; count <= 4; count++) {
		thread_ranks_run(rigs, TRUTH_FABRIC INCAST, sets, count);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(rigs[i].run.end, RUN_LIMIT);
			assert_string_equal(rigs[i].run.limit_option, "limits.packets");
		}
		thread_ranks_free(rigs, count);
	}
}

// Hops of all ranks count: they end in the window in which one process would.
static void a_limit_of_hops_ends_all_where_one_process_ends(void **state)
{
	const char *const sets[] = {"limits.hops=20000", NULL};
	rig_run(&truth, TRUTH_FABRIC INCAST, sets);
	assert_int_equal(truth.run.end, RUN_LIMIT);
	for (uint32_t count = 2; count <= 4; count++) {
		thread_ranks_run(rigs, TRUTH_FABRIC INCAST, sets, count);
		assert_int_equal(rigs[0].run.hops, truth.run.hops);
		assert_true(rigs[0].run.digest == truth.run.digest);
		for (uint32_t i = 0; i < count; i++)
			assert_string_equal(rigs[i].run.limit_option, "limits.hops");
		thread_ranks_free(rigs, count);
	}
	world_instance_free(&truth.world_instance);
}
