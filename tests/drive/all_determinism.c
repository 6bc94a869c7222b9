// SPDX-License-Identifier: Apache-2.0
// A run is named by scenario and seed: two runs have one digest, another seed has another, and the
// length of the window, which is only how the engine cuts time, changes nothing.

#include "../rig.h"

struct world_case {
	const char *name;
	const char *yaml;
};

#define FABRIC \
	"fabric: {topology: clos, nics: 32, nics_per_t0: 8, t1_count: 4, planes: 2, link_rate: " \
	"100Gb/s, " \
	"nic_delay: 350ns, trunk_delay: 700ns, switch_delay: 140ns}\ntransport: {evs: 32, rto: " \
	"80us, path: mrc}\n"

static const struct world_case cases[] = {
	{"permutation", "name: a\n" FABRIC "traffic: {kind: permutation, bytes: 300kB}\n"},
	{"loss",
	 "name: a\n" FABRIC "traffic: {kind: permutation, bytes: 100kB}\n"
	 "faults: [{kind: loss, at: all, probability: 1%}]\n"},
	{"link down",
	 "name: a\n" FABRIC "traffic: {kind: permutation, bytes: 200kB}\n"
	 "faults: [{kind: link_down, at: {t0: 1, plane: 0, up: 2}, from: 5us, until: 40us}]\n"},
	{"trims",
	 "name: a\n" FABRIC
	 "queue: {bytes: 30000B}\ntraffic: {kind: incast, senders: 12, bytes: 100kB}\n"},
	{"ring",
	 "name: a\n" FABRIC
	 "traffic: {kind: ring, collective: all_reduce, ranks: 32, bytes: 4MiB, channels: 2}\n"},
	{"two GPUs a host",
	 "name: a\nfabric: {topology: clos, nics: 32, nics_per_host: 2, nics_per_t0: 8, t1_count: "
	 "4, "
	 "planes: 2, link_rate: 100Gb/s, nic_delay: 350ns, trunk_delay: 700ns, switch_delay: "
	 "140ns}\n"
	 "scaleup: {rate: 450GB/s, delay: 900ns}\ntransport: {evs: 32}\n"
	 "traffic: {kind: ring, collective: reduce_scatter, ranks: 32, bytes: 4MiB, channels: 4}\n"
	 "faults: [{kind: loss, at: all, probability: 0.2%}]\n"},
};

static uint64_t digest_of(const char *yaml, const char *const *sets)
{
	static struct rig rig;
	rig_run(&rig, yaml, sets);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_int_equal(rig.run.held, 0);
	assert_int_equal(packet_pool_taken(&rig.world_instance.world.packets), 0);
	uint64_t digest = rig.run.digest;
	world_instance_free(&rig.world_instance);
	return digest;
}

static void two_runs_have_one_digest_and_another_seed_another(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t first = digest_of(cases[i].yaml, NULL);
		assert_int_equal(digest_of(cases[i].yaml, NULL), first);
		uint64_t other = digest_of(cases[i].yaml, (const char *const[]){"seed=4711", NULL});
		printf("%-12s %016llx, other seed %016llx\n", cases[i].name,
		       (unsigned long long)first, (unsigned long long)other);
		assert_int_not_equal(other, first);
	}
}

static void the_length_of_the_window_changes_nothing(void **state)
{
	// The lookahead is 350 ns: L/2, L/7, and two that do not divide it.
	static const char *const windows[] = {"limits.window=175ns", "limits.window=50ns",
					      "limits.window=333ns", "limits.window=7ns"};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t whole = digest_of(cases[i].yaml, NULL);
		for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++)
			assert_int_equal(
				digest_of(cases[i].yaml, (const char *const[]){windows[w], NULL}),
				whole);
	}
}

static void the_traffic_of_the_cases_is_what_their_names_say(void **state)
{
	static struct rig rig;
	rig_run(&rig, cases[1].yaml, NULL);
	assert_true(rig.run.dropped[DROP_RANDOM_LOSS] > 0);
	world_instance_free(&rig.world_instance);
	rig_run(&rig, cases[2].yaml, NULL);
	assert_true(rig.run.dropped[DROP_LINK_DOWN] > 0);
	assert_true(rig.outcome->transport.paths_retired > 0);
	world_instance_free(&rig.world_instance);
	rig_run(&rig, cases[3].yaml, NULL);
	assert_true(rig.outcome->fabric.trimmed > 0);
	assert_true(rig.outcome->transport.rtx[RTX_NACK] > 0);
	world_instance_free(&rig.world_instance);
}
