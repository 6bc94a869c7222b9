// SPDX-License-Identifier: Apache-2.0
// A world cut into shards measures what it measures whole, under any driver; here it is the one
// with a single thread. Compared are the digest, the counts of the run, and every figure and
// histogram cell of the outcome, of finished runs, of runs that were cut short, and of runs that
// were added up in between.

#include "../rig.h"
#include "../rig_watched.h"

#define FABRIC \
	"fabric: {topology: clos, nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: " \
	"100Gb/s, nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}\n" \
	"transport: {evs: 32, rto: 80us, path: mrc}\n"
#define RACKS \
	"fabric: {topology: clos, nics: 48, nics_per_host: 4, nics_per_t0: 16, t1_count: 4, " \
	"planes: 2, link_rate: 100Gb/s, nic_delay: 350ns, trunk_delay: 700ns, switch_delay: " \
	"140ns}\n" \
	"scaleup: {rate: 450GB/s, delay: 900ns}\ntransport: {evs: 32, rto: 80us}\n"

struct world_case {
	const char *name;
	const char *yaml;
	enum run_end end;
};

static const struct world_case cases[] = {
	{"ring",
	 "name: a\n" RACKS "traffic: {kind: ring, collective: all_reduce, ranks: 48, "
	 "bytes: 4MiB, channels: 4}\n",
	 RUN_DONE},
	{"sample of a ring with loss",
	 "name: a\n" RACKS "traffic: {kind: ring, collective: reduce_scatter, ranks: 48, bytes: "
	 "24MiB, channels: 2}\n"
	 "faults: [{kind: loss, at: all, probability: 0.2%}]\nsample: {steps: 6, fill: 4}\n",
	 RUN_DONE},
	{"permutation with loss",
	 "name: a\n" FABRIC "traffic: {kind: permutation, bytes: 100kB}\n"
	 "faults: [{kind: loss, at: all, probability: 1%}]\n",
	 RUN_DONE},
	{"permutation with links that go down, watched",
	 "name: a\n" FABRIC "traffic: {kind: permutation, bytes: 1MB}\n"
	 "watch: {bin: 5us, bins: 100, nics: true, bypasses: 500, racks: true}\n"
	 "faults: [{kind: link_down, at: {t0: 0, up: 1, plane: 1}, from: 10us}, {kind: flap, at: "
	 "{nic: 2, plane: 0}, down: 20us, up: 9us}]\n",
	 RUN_DONE},
	{"permutation, timed, with bins that halve",
	 "name: a\n" FABRIC "traffic: {kind: permutation, bytes: 300kB}\n"
	 "watch: {bin: 1us, bins: 16, halve: true, delays: true, gaps: true, links: true}\n"
	 "faults: [{kind: loss, at: all, probability: 1%}]\n",
	 RUN_DONE},
	{"incast with trims",
	 "name: a\n" FABRIC
	 "queue: {bytes: 30000B}\ntraffic: {kind: incast, senders: 12, bytes: 100kB}\n",
	 RUN_DONE},
	{"fat tree",
	 "name: a\nfabric: {topology: fat-tree, nics: 16, tor_nics: 2, pod_tors: 2, pod_aggs: 2, "
	 "cores: 4, link_rate: 100Gb/s}\ntransport: {evs: 16}\n"
	 "traffic: {kind: permutation, bytes: 200kB}\n",
	 RUN_DONE},
	{"routes that change after failures",
	 "name: a\nfabric: {topology: clos, nics: 32, nics_per_t0: 8, t1_count: 4, bundle: 2, "
	 "planes: 2, link_rate: 100Gb/s, reroute_local: 5us, reroute_remote: 13us}\n"
	 "transport: {kind: rc, qps_per_connection: 4, rto: 80us}\ncc: {algorithm: fixed}\n"
	 "traffic: {kind: permutation, bytes: 600kB}\n"
	 "faults: [{kind: link_down, at: {t1: 1, plane: 0}, from: 3us, until: 40us}, {kind: flap, "
	 "at: {t0: 2, plane: 1, up: 3}, from: 4us, until: 60us, down: 8us, up: 7us}]\n",
	 RUN_DONE},
	{"butterfly, whose rounds wait for each other",
	 "name: a\n" FABRIC "traffic: {kind: butterfly, bytes: 40kB}\n"
	 "faults: [{kind: loss, at: all, probability: 1%}]\n",
	 RUN_DONE},
	{"a program",
	 "name: a\n" FABRIC "traffic: {kind: goal, file: rig}\n"
	 "faults: [{kind: loss, at: all, probability: 1%}]\n",
	 RUN_DONE},
	{"ring out of time",
	 "name: a\n" RACKS "traffic: {kind: ring, collective: all_reduce, ranks: 48, bytes: 4MiB, "
	 "channels: 4}\nlimits: {time: 60us}\n",
	 RUN_TIME},
};

// ---------------------------------------------------------------- running

static void build(struct rig *rig, const char *yaml, uint32_t shards,
		  const struct sim_options *options)
{
	struct world_instance *world_instance = &rig->world_instance;
	memset(rig, 0, sizeof(*rig));
	int rc = scenario_parse(&rig->scenario, "test", yaml, strlen(yaml), NULL, 0, &rig->refusal);
	if (rc == 0)
		rc = plan_files_read(&rig->scenario, &rig->refusal);
	if (rc == 0) {
		world_instance->memory_bytes = rig->scenario.memory_bytes_max;
		world_instance->memory = memory_reserve(world_instance->memory_bytes);
		assert_non_null(world_instance->memory);
		arena_init(&world_instance->arena, world_instance->memory,
			   world_instance->memory_bytes);
		const char *text = rig_workload(&rig->scenario);
		rc = world_build_shards(&world_instance->world, &world_instance->arena,
					&rig->scenario, text, text ? strlen(text) : 0,
					(struct world_shards){.count = shards}, &rig->refusal);
	}
	if (rc == 0)
		rc = sim_create(&world_instance->sim, &world_instance->world, options,
				&rig->refusal);
	if (rc < 0)
		fail_msg("refused: %s", rig->refusal.text);
	assert_int_equal(world_instance->world.shard_count, shards);
	rig->outcome = world_instance->world.outcome;
}

static void build_and_run(struct rig *rig, const char *yaml, uint32_t shards)
{
	static const struct sim_options options;
	build(rig, yaml, shards, &options);
	sim_run(rig->world_instance.sim, &rig->run);
}

// ---------------------------------------------------------------- comparing

static void same_collective(const struct outcome_collective *a, const struct outcome_collective *b)
{
	assert_int_equal(a->group, b->group);
	assert_int_equal(a->bucket, b->bucket);
	assert_int_equal(a->start_ps, b->start_ps);
	assert_int_equal(a->end_ps, b->end_ps);
	assert_int_equal(a->whole_ps, b->whole_ps);
	assert_int_equal(a->whole_error_ps, b->whole_error_ps);
	assert_int_equal(a->busbw_bytes_per_s, b->busbw_bytes_per_s);
}

static uint32_t bypasses(const struct world *world)
{
	uint32_t events = 0;
	for (uint32_t i = 0; i < world->shard_count; i++)
		events += world->bypass[i] == NULL ? 0 : world->bypass[i]->count;
	return events;
}

// What was counted over time, and of dead paths.
static void same_watch(const struct world *a, const struct world *b)
{
	const struct series *one = &a->outcome->series, *other = &b->outcome->series;
	assert_int_equal(one->count, other->count);
	if (one->count == 0)
		return;
	assert_memory_equal(one->bins, other->bins, one->count * sizeof(*one->bins));
	assert_memory_equal(one->after, other->after, sizeof(one->after));
	if (a->delays != NULL && a->outcome->end_ps > 20 * PS_PER_US) // some have come
		watched_same(a, b);
	if (a->nic_placed == NULL)
		return;
	assert_memory_equal(a->nic_placed, b->nic_placed,
			    (size_t)a->fabric.nics * one->count * sizeof(uint64_t));
	assert_int_equal(bypasses(a), bypasses(b));
}

static void same_outcome(const struct rig *rig, const struct rig *other)
{
	const struct outcome *a = rig->outcome, *b = other->outcome;
	assert_memory_equal(&a->transport, &b->transport, sizeof(a->transport));
	assert_memory_equal(&a->fabric, &b->fabric, sizeof(a->fabric));
	assert_memory_equal(a->dropped, b->dropped, sizeof(a->dropped));
	assert_memory_equal(a->dropped_at_host, b->dropped_at_host, sizeof(a->dropped_at_host));
	assert_memory_equal(a->plane_bytes_nic_max, b->plane_bytes_nic_max,
			    sizeof(a->plane_bytes_nic_max));
	for (int pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		watched_hist(&a->message_ns[pair], &b->message_ns[pair]);
	watched_hist(&a->flow_ns, &b->flow_ns);
	assert_int_equal(a->racks.groups, b->racks.groups);
	for (uint32_t i = 0; i < a->racks.groups * a->racks.groups; i++)
		watched_hist(&a->racks.of[i], &b->racks.of[i]);
	uint32_t flows = rig->world_instance.world.flow_count;
	assert_int_equal(flows, other->world_instance.world.flow_count);
	assert_memory_equal(a->flow_end_ps, b->flow_end_ps, flows * sizeof(*a->flow_end_ps));
	assert_int_equal(a->collective_count, b->collective_count);
	for (uint32_t i = 0; i < a->collective_count; i++)
		same_collective(&a->collectives[i], &b->collectives[i]);
	assert_int_equal(a->end_ps, b->end_ps);
	assert_int_equal(a->credits_sent, b->credits_sent);
	assert_memory_equal(&a->program, &b->program, sizeof(a->program));
	same_watch(&rig->world_instance.world, &other->world_instance.world);
}

static void same_run(const struct rig *rig, const struct rig *other)
{
	const struct run *a = &rig->run, *b = &other->run;
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->digest, b->digest);
	assert_int_equal(a->now_ps, b->now_ps);
	assert_int_equal(a->sent, b->sent);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->held, b->held);
	assert_int_equal(a->hops, b->hops);
	assert_int_equal(a->data_packets, b->data_packets);
	assert_int_equal(a->windows, b->windows);
	assert_int_equal(a->visits, b->visits);
	assert_memory_equal(a->dropped, b->dropped, sizeof(a->dropped));
}

// ---------------------------------------------------------------- tests

static void a_result_does_not_depend_on_the_number_of_shards(void **state)
{
	static const uint32_t numbers[] = {2, 3, 7, WORLD_SHARDS_MAX};
	static struct rig whole, cut;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		build_and_run(&whole, cases[i].yaml, 1);
		printf("%-26s %016llx\n", cases[i].name, (unsigned long long)whole.run.digest);
		assert_int_equal(whole.run.end, cases[i].end);
		assert_true(whole.outcome->message_ns[PAIR_ACROSS_T1].total > 0);
		assert_int_equal(world_is_done(&whole.world_instance.world),
				 cases[i].end == RUN_DONE);
		assert_true(whole.world_instance.world.nic_placed == NULL ||
			    bypasses(&whole.world_instance.world) > 0);
		for (size_t n = 0; n < sizeof(numbers) / sizeof(*numbers); n++) {
			build_and_run(&cut, cases[i].yaml, numbers[n]);
			same_run(&cut, &whole);
			same_outcome(&cut, &whole);
			assert_int_equal(world_is_done(&cut.world_instance.world),
					 cases[i].end == RUN_DONE);
			world_instance_free(&cut.world_instance);
		}
		world_instance_free(&whole.world_instance);
	}
}

// Also more of them than it has hosts, so that some have nothing to do.
static void every_number_of_shards_runs_a_small_world(void **state)
{
	static struct rig whole, cut;
	char *yaml = rig_text("two-planes");
	build_and_run(&whole, yaml, 1);
	assert_true(whole.world_instance.world.topology.hosts < WORLD_SHARDS_MAX);
	for (uint32_t count = 2; count <= WORLD_SHARDS_MAX; count++) {
		build_and_run(&cut, yaml, count);
		same_run(&cut, &whole);
		same_outcome(&cut, &whole);
		world_instance_free(&cut.world_instance);
	}
	world_instance_free(&whole.world_instance);
	free(yaml);
}

static void adding_up_again_changes_nothing(void **state)
{
	static struct rig whole, cut;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		build_and_run(&whole, cases[i].yaml, 1);
		build_and_run(&cut, cases[i].yaml, 3);
		world_collect(&cut.world_instance.world);
		same_outcome(&cut, &whole);
		world_collect(&whole.world_instance.world);
		world_collect(&cut.world_instance.world);
		same_outcome(&cut, &whole);
		world_instance_free(&cut.world_instance);
		world_instance_free(&whole.world_instance);
	}
}

// A run that is asked to stop ends after its window and adds up what there is; then it goes on.
static void windows_may_be_added_up_one_by_one(void **state)
{
	enum { WINDOWS = 60 };
	static struct rig whole, cut;
	volatile sig_atomic_t stop;
	const struct sim_options options = {.stop = &stop};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		build(&whole, cases[i].yaml, 1, &options);
		build(&cut, cases[i].yaml, 3, &options);
		stop = 1;
		for (int window = 0; window < WINDOWS; window++) {
			sim_run(whole.world_instance.sim, &whole.run);
			sim_run(cut.world_instance.sim, &cut.run);
			same_run(&cut, &whole);
			same_outcome(&cut, &whole);
		}
		assert_int_equal(whole.run.end, RUN_INTERRUPTED);
		stop = 0;
		sim_run(whole.world_instance.sim, &whole.run);
		sim_run(cut.world_instance.sim, &cut.run);
		assert_int_equal(cut.run.end, cases[i].end);
		same_run(&cut, &whole);
		same_outcome(&cut, &whole);
		world_instance_free(&cut.world_instance);
		world_instance_free(&whole.world_instance);
	}
}

static void same_in_shards(struct rig *whole, const char *yaml, enum run_end end)
{
	static struct rig cut;
	build_and_run(whole, yaml, 1);
	assert_int_equal(whole->run.end, end);
	build_and_run(&cut, yaml, 3);
	same_run(&cut, whole);
	same_outcome(&cut, whole);
	world_instance_free(&cut.world_instance);
}

// 128 racks, of which a sample runs one group: most hosts and many switches have nothing to do.
// Then once more, but only until the second collective starts.
static void a_sample_of_a_model_is_the_same_in_shards(void **state)
{
	static struct rig whole;
	static char yaml[16384];
	char *text = rig_text("azure-gb200-llama405b");
	const char *sample = strstr(text, "sample:");
	assert_non_null(sample);
	int used = snprintf(yaml, sizeof(yaml),
			    "%.*ssample: {groups: 1, steps: 1, fill: 1, buckets: 2}\n",
			    (int)(sample - text), text);
	free(text);
	snprintf(yaml + used, sizeof(yaml) - used, "limits: {memory: 16GiB, time: 10s}\n");
	same_in_shards(&whole, yaml, RUN_DONE);
	assert_true(whole.outcome->collective_count > 1);
	const struct outcome_collective *first = &whole.outcome->collectives[0],
					*second = first + 1;
	assert_true(second->start_ps > first->end_ps && second->whole_error_ps > 0);
	long long until_ns = second->start_ps / PS_PER_NS;
	world_instance_free(&whole.world_instance);
	snprintf(yaml + used, sizeof(yaml) - used, "limits: {memory: 16GiB, time: %lldns}\n",
		 until_ns);
	same_in_shards(&whole, yaml, RUN_TIME);
	assert_true(whole.outcome->collectives[0].whole_ps > 0);
	assert_int_equal(whole.outcome->collectives[1].end_ps, 0);
	world_instance_free(&whole.world_instance);
}
