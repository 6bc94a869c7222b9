// SPDX-License-Identifier: Apache-2.0
// Topologies: counts, derived figures, refusals, and that every NIC reaches every NIC by walking
// the routes over the links.

#include "fabric_walks.h"

#include <errno.h>

static void a_clos_has_its_switches_links_and_ports(void **state)
{
	struct fabric_config config = rig_clos();
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.hosts, 8);
	assert_int_equal(topology.switch_count, 2 * (4 + 4));
	assert_int_equal(topology.link_count, 2 * (32 + 4 * 4 * 2));
	for (uint32_t i = 0; i < topology.switch_count; i++) {
		const struct switch_plan *plan = &topology.switches[i];
		assert_int_equal(plan->port_count, plan->tier == 0 ? 8 + 4 * 2 : 4 * 2);
		assert_int_equal(plan->plane, i / 8);
		assert_int_equal(plan->tier, i % 8 / 4);
		assert_int_equal(plan->index, i % 4);
	}
	assert_wired(&topology);
}

static void a_fat_tree_has_its_switches_links_and_ports(void **state)
{
	struct fabric_config config = rig_fat_tree(UINT64_C(100000000000));
	struct topology topology = built(*state, &config);
	uint32_t tiers[3] = {0};
	assert_int_equal(topology.link_count, 128 * 3);
	for (uint32_t i = 0; i < topology.switch_count; i++) {
		tiers[topology.switches[i].tier]++;
		assert_int_equal(topology.switches[i].port_count, 8);
	}
	assert_int_equal(tiers[0], 32);
	assert_int_equal(tiers[1], 32);
	assert_int_equal(tiers[2], 16);
	assert_wired(&topology);
}

// Aggregation switch p of a pod links to cores p, p + 4, p + 8, p + 12.
static void a_core_links_to_one_position_of_every_pod(void **state)
{
	struct fabric_config config = rig_fat_tree(UINT64_C(100000000000));
	struct topology topology = built(*state, &config);
	uint32_t met = 0;
	for (uint32_t i = 0; i < topology.link_count; i++) {
		const struct link_plan *link = &topology.links[i];
		if (link->tier != 2)
			continue;
		uint32_t agg = topology.switches[link->node_a - topology.hosts].index;
		uint32_t core = topology.switches[link->node_b - topology.hosts].index;
		assert_int_equal(core % 4, agg % 4);
		assert_int_equal(link->port_b, agg / 4);
		met++;
	}
	assert_int_equal(met, 16 * 8);
}

static void every_nic_reaches_every_nic_in_a_clos(void **state)
{
	struct fabric_config config = rig_clos();
	struct topology topology = built(*state, &config);
	assert_all_reach_all(&topology, &config);
}

static void every_nic_reaches_every_nic_in_a_fat_tree(void **state)
{
	struct fabric_config config = rig_fat_tree(UINT64_C(100000000000));
	config.planes = 2;
	config.nics_per_host = 2;
	struct topology topology = built(*state, &config);
	assert_all_reach_all(&topology, &config);
	assert_wired(&topology);
}

// Counts that are no powers of two, and three planes.
static void every_nic_reaches_every_nic_in_odd_worlds(void **state)
{
	struct fabric_config config = rig_clos();
	config.nics = 45;
	config.nics_per_t0 = 9;
	config.nics_per_host = 3;
	config.planes = 3;
	config.t1_count = 5;
	config.bundle = 3;
	struct topology topology = built(*state, &config);
	assert_all_reach_all(&topology, &config);
	assert_wired(&topology);
	config = rig_fat_tree(UINT64_C(100000000000));
	config.nics = 3 * 5 * 7;
	config.tor_nics = 3;
	config.pod_tors = 5;
	config.pod_aggs = 3;
	config.cores = 6;
	topology = built(*state, &config);
	assert_all_reach_all(&topology, &config);
	assert_wired(&topology);
}

static void one_t0_needs_no_t1_and_one_pod_no_core(void **state)
{
	struct fabric_config config = rig_clos();
	config.nics = config.nics_per_t0;
	config.t1_count = 0;
	struct topology topology = built(*state, &config);
	assert_all_reach_all(&topology, &config);
	assert_int_equal(topology.link_count, 2 * 8);
	config = rig_fat_tree(UINT64_C(100000000000));
	config.nics = 16;
	config.cores = 0;
	topology = built(*state, &config);
	assert_all_reach_all(&topology, &config);
	assert_wired(&topology);
}

static void thinning_keeps_its_share_of_t1_rounded_up(void **state)
{
	const uint32_t cases[][4] = {{4, 1, 2, 2},   {4, 3, 4, 3}, {4, 1, 3, 2},
				     {4, 1, 100, 1}, {7, 2, 3, 5}, {4, 5, 5, 4}};
	for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fabric_config config = rig_clos();
		config.t1_count = cases[i][0];
		config.trunk_sample_kept = cases[i][1];
		config.trunk_sample_of = cases[i][2];
		struct topology topology = built(*state, &config);
		assert_int_equal(topology.switches[0].route.up_count, cases[i][3] * 2);
		assert_int_equal(topology.link_count, 2 * (32 + 4 * cases[i][3] * 2));
		assert_wired(&topology);
		assert_all_reach_all(&topology, &config);
	}
}

// Of 4 aggregation switches with 4 cores each.
static void a_thinned_fat_tree_keeps_cores_with_their_aggregation(void **state)
{
	const uint32_t cases[][3] = {{1, 2, 2}, {3, 4, 3}, {1, 3, 2}, {1, 100, 1}, {5, 5, 4}};
	for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct fabric_config config = rig_fat_tree(UINT64_C(100000000000));
		uint32_t aggs = cases[i][2];
		config.trunk_sample_kept = cases[i][0];
		config.trunk_sample_of = cases[i][1];
		struct topology topology = built(*state, &config);
		assert_int_equal(topology.switch_count, 32 + 8 * aggs + 4 * aggs);
		assert_int_equal(topology.switches[0].route.up_count, aggs);
		assert_int_equal(topology.switches[32].route.up_count, 4);
		assert_int_equal(topology.link_count, 128 + 32 * aggs + 8 * 4 * aggs);
		assert_wired(&topology);
		assert_all_reach_all(&topology, &config);
	}
}

// Reference figures of htsim for 128 hosts: round trip in ps, queue, low and high in packets.
static void derived_figures_equal_those_of_htsim(void **state)
{
	const struct {
		uint64_t rate_bps;
		ps_t rtt_ps; // printed to 0.1 ns
		uint64_t queue, low, high;
	} cases[] = {
		{UINT64_C(100000000000), 14022700, 178450, 37350, 145250},
		{UINT64_C(400000000000), 12505700, 626650, 128650, 502150},
		{UINT64_C(800000000000), 12252800, 1228400, 249000, 983550},
	};
	for (uint32_t i = 0; i < 3; i++) {
		struct fabric_config config = rig_fat_tree(cases[i].rate_bps);
		struct topology topology = built(*state, &config);
		assert_in_range(topology.base_rtt_ps, cases[i].rtt_ps - 100, cases[i].rtt_ps + 100);
		assert_int_equal(topology.queue_bytes, cases[i].queue);
		assert_int_equal(topology.control_queue_bytes, 2 * cases[i].queue);
		assert_int_equal(topology.ecn_low_bytes, cases[i].low);
		assert_int_equal(topology.ecn_high_bytes, cases[i].high);
	}
}

// 4 serialisations of 332 ns and 5.12 ns, twice 2 x 1 us + 2 x 1.5 us + 3 x 0.3 us.
static void the_round_trip_counts_cables_and_switches(void **state)
{
	struct fabric_config config = rig_clos();
	config.trunk_delay_ps = 1500 * PS_PER_NS;
	config.switch_delay_ps = 300 * PS_PER_NS;
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.base_rtt_ps, 4 * (332000 + 5120) + 2 * 5900000);
	assert_int_equal(topology.delay_min_ps, PS_PER_US);
	for (uint32_t i = 0; i < topology.link_count; i++) {
		const struct link_plan *link = &topology.links[i];
		assert_int_equal(link->delay_ab_ps, link->tier == 0 ? 1300000 : 1800000);
		assert_int_equal(link->delay_ba_ps, link->tier == 0 ? 1000000 : 1800000);
		assert_int_equal(link->rate_bps, config.link_rate_bps);
	}
}

static void a_bdp_counts_with_as_many_packets_as_asked(void **state)
{
	struct fabric_config config = rig_clos();
	uint64_t usual = built(*state, &config).queue_bytes;
	config.bdp_packets_least = 2;
	assert_int_equal(built(*state, &config).queue_bytes, usual);
	config.bdp_packets_least = 1000;
	assert_int_equal(built(*state, &config).queue_bytes, 1000 * 4150);
	config.queue_bytes = 100000;
	assert_int_equal(built(*state, &config).queue_bytes, 100000);
}

static void given_queue_figures_are_kept(void **state)
{
	struct fabric_config config = rig_clos();
	config.queue_bytes = 100000;
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.queue_bytes, 100000);
	assert_int_equal(topology.control_queue_bytes, 200000);
	assert_int_equal(topology.ecn_low_bytes, 5 * 4150); // 24 packets: 4.8 and 19.2
	assert_int_equal(topology.ecn_high_bytes, 20 * 4150);
	config.control_queue_bytes = 777;
	config.ecn_low_bytes = config.ecn_high_bytes = 5000;
	topology = built(*state, &config);
	assert_int_equal(topology.control_queue_bytes, 777);
	assert_int_equal(topology.ecn_low_bytes, 5000);
	assert_int_equal(topology.ecn_high_bytes, 5000);
}

static void a_pair_is_classed_by_its_distance(void **state)
{
	struct fabric_config config = rig_clos();
	struct topology topology = built(*state, &config);
	assert_int_equal(topology_pair(&topology, 0, 3), PAIR_SAME_RACK);
	assert_int_equal(topology_pair(&topology, 3, 4), PAIR_SAME_T0);
	assert_int_equal(topology_pair(&topology, 7, 8), PAIR_ACROSS_T1);
	assert_int_equal(topology_links(&topology, &config, 0, 3), 2);
	assert_int_equal(topology_links(&topology, &config, 7, 8), 4);
	config = rig_fat_tree(UINT64_C(100000000000));
	topology = built(*state, &config);
	assert_int_equal(topology_links(&topology, &config, 3, 4), 4);
	assert_int_equal(topology_links(&topology, &config, 15, 16), 6);
}

static void assert_refused(struct rig *rig, const struct fabric_config *config, const char *word)
{
	struct topology topology = {.nics = 12345};
	rig->refusal.text[0] = '\0';
	assert_int_equal(topology_build(&topology, &rig->arena, config, 1, &rig->refusal), -EINVAL);
	if (strstr(rig->refusal.text, word) == NULL)
		fail_msg("'%s' does not say '%s'", rig->refusal.text, word);
	assert_int_equal(topology.nics, 12345);
}

// A field of the configuration, the value that is wrong there, and a word of the reason.
struct wrong {
	size_t field;
	uint64_t value;
	size_t bytes;
	const char *word;
};
#define WRONG(member, value, word) \
	{ \
		offsetof(struct fabric_config, member), value, \
			sizeof((struct fabric_config *)0)->member, word \
	}

static void assert_each_refused(struct rig *rig, struct fabric_config good,
				const struct wrong *wrongs, size_t count)
{
	built(rig, &good);
	for (size_t i = 0; i < count; i++) {
		struct fabric_config config = good;
		memcpy((uint8_t *)&config + wrongs[i].field, &wrongs[i].value, wrongs[i].bytes);
		assert_refused(rig, &config, wrongs[i].word);
	}
}

static void a_clos_that_cannot_be_is_refused_with_the_reason(void **state)
{
	const struct wrong wrongs[] = {
		WRONG(nics, 0, "nics must be"),
		WRONG(nics, 1 << 25, "nics must be"),
		WRONG(nics, 36, "whole T0 switches"),
		WRONG(nics, 33, "whole hosts"),
		WRONG(planes, 0, "planes must be"),
		WRONG(planes, 17, "planes must be"),
		WRONG(nics_per_host, 0, "whole hosts"),
		WRONG(nics_per_host, 16, "straddle"),
		WRONG(nics_per_t0, 0, "nics_per_t0"),
		WRONG(t1_count, 0, "need at least one T1"),
		WRONG(t1_count, 100000, "too many"),
		WRONG(t1_count, 60000, "ports"),
		WRONG(bundle, 0, "bundle"),
		WRONG(bundle, 5000, "ports"),
		WRONG(link_rate_bps, 0, "link rate"),
		WRONG(nic_delay_ps, 0, "lookahead"),
		WRONG(trunk_delay_ps, 0, "lookahead"),
		WRONG(trunk_delay_ps, -1, "delay"),
		WRONG(switch_delay_ps, PS_PER_S, "delay"),
		WRONG(mtu_bytes, 0, "mtu_bytes"),
		WRONG(mtu_bytes, 70000, "mtu_bytes"),
		WRONG(control_bytes, 0, "control_bytes"),
		WRONG(trim_bytes, 0, "trim_bytes"),
		WRONG(trim_bytes, 5000, "trim_bytes"),
		WRONG(queue_bytes, 4000, "holds no packet"),
		WRONG(queue_bytes, UINT64_C(1) << 32, "is the most"),
		WRONG(ecn_low_bytes, 5000, "above ecn_high_bytes"),
		WRONG(trunk_sample_kept, 0, "sample"),
		WRONG(trunk_sample_kept, 2, "sample"),
		WRONG(kind, 9, "unknown topology"),
	};
	assert_each_refused(*state, rig_clos(), wrongs, sizeof wrongs / sizeof wrongs[0]);
}

static void a_fat_tree_that_cannot_be_is_refused_with_the_reason(void **state)
{
	const struct wrong wrongs[] = {
		WRONG(tor_nics, 0, "at least 1"),      WRONG(pod_aggs, 0, "at least 1"),
		WRONG(pod_tors, 5, "whole pods"),      WRONG(pod_tors, UINT32_MAX, "whole pods"),
		WRONG(cores, 0, "need cores"),	       WRONG(cores, 15, "evenly"),
		WRONG(nics_per_host, 8, "straddle"),   WRONG(trunk_sample_kept, 0, "sample"),
		WRONG(trunk_sample_kept, 2, "sample"), WRONG(pod_aggs, 8192, "evenly"),
		WRONG(cores, 65536, "ports"),
	};
	assert_each_refused(*state, rig_fat_tree(UINT64_C(100000000000)), wrongs,
			    sizeof wrongs / sizeof wrongs[0]);
}

static void a_small_arena_is_refused(void **)
{
	static _Alignas(64) uint8_t memory[1024];
	struct arena arena;
	struct refusal refusal = {0};
	struct fabric_config config = rig_clos();
	struct topology topology = {.nics = 12345};
	arena_init(&arena, memory, sizeof memory);
	assert_int_equal(topology_build(&topology, &arena, &config, 1, &refusal), -ENOMEM);
	assert_int_equal(topology.nics, 12345);
}

static void the_seed_sets_the_salts_and_nothing_else(void **state)
{
	struct rig *rig = *state;
	struct fabric_config config = rig_clos();
	struct topology a = built(rig, &config), b = built(rig, &config), c;
	assert_int_equal(topology_build(&c, &rig->arena, &config, 43, &rig->refusal), 0);
	for (uint32_t i = 0; i < a.switch_count; i++) {
		assert_int_equal(a.switches[i].route.salt, b.switches[i].route.salt);
		assert_int_not_equal(a.switches[i].route.salt, c.switches[i].route.salt);
		for (uint32_t j = 0; j < i; j++)
			assert_int_not_equal(a.switches[i].route.salt, a.switches[j].route.salt);
	}
	assert_memory_equal(a.links, c.links, a.link_count * sizeof *a.links);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_clos_has_its_switches_links_and_ports),
		WITH_RIG(a_fat_tree_has_its_switches_links_and_ports),
		WITH_RIG(a_core_links_to_one_position_of_every_pod),
		WITH_RIG(every_nic_reaches_every_nic_in_a_clos),
		WITH_RIG(every_nic_reaches_every_nic_in_a_fat_tree),
		WITH_RIG(every_nic_reaches_every_nic_in_odd_worlds),
		WITH_RIG(one_t0_needs_no_t1_and_one_pod_no_core),
		WITH_RIG(thinning_keeps_its_share_of_t1_rounded_up),
		WITH_RIG(a_thinned_fat_tree_keeps_cores_with_their_aggregation),
		WITH_RIG(derived_figures_equal_those_of_htsim),
		WITH_RIG(the_round_trip_counts_cables_and_switches),
		WITH_RIG(a_bdp_counts_with_as_many_packets_as_asked),
		WITH_RIG(given_queue_figures_are_kept),
		WITH_RIG(a_pair_is_classed_by_its_distance),
		WITH_RIG(a_clos_that_cannot_be_is_refused_with_the_reason),
		WITH_RIG(a_fat_tree_that_cannot_be_is_refused_with_the_reason),
		WITH_RIG(a_small_arena_is_refused),
		WITH_RIG(the_seed_sets_the_salts_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
