// SPDX-License-Identifier: Apache-2.0
// Trees from .topo files of htsim: the same as from counts, figures of each tier, and refusals with
// their place.

#include "fabric_walks.h"

#include <errno.h>

static const char tree128[] =
	"# 128 nodes\n"
	"Nodes 128\nTiers 3\nPodsize 16\n\n"
	"Tier 0\nDownlink_speed_Gbps 100\nRadix_Up 4\nRadix_Down 4\nDownlink_Latency_ns 1000\n"
	"Tier 1\nDownlink_speed_Gbps 100\nRadix_Up 4\nRadix_Down 4\nDownlink_Latency_ns 1000\n"
	"Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 8\nDownlink_Latency_ns 1000\n";

static struct fabric_config config_of_file(struct rig *rig, const char *text, uint32_t nics)
{
	struct fabric_config config = config_of(TOPOLOGY_FILE, nics);
	config.planes = 1;
	if (tree_parse(&config.tree, text, strlen(text), &rig->refusal) != 0)
		fail_msg("line %u: %s", rig->refusal.line, rig->refusal.text);
	return config;
}

// The same packets take the same ports, and all links are the same, whether arithmetic says the way
// or a table.
static void a_file_gives_the_tree_that_counts_give(void **state)
{
	struct fabric_config by_file = config_of_file(*state, tree128, 128);
	struct fabric_config by_count = rig_fat_tree(UINT64_C(100000000000));
	struct topology file = built(*state, &by_file), count = built(*state, &by_count);
	assert_int_equal(file.switch_count, count.switch_count);
	assert_int_equal(file.link_count, count.link_count);
	assert_int_equal(file.base_rtt_ps, count.base_rtt_ps);
	assert_int_equal(file.queue_bytes, count.queue_bytes);
	assert_int_equal(file.delay_min_ps, count.delay_min_ps);
	for (uint32_t i = 0; i < file.link_count; i++)
		assert_memory_equal(&file.links[i], &count.links[i], sizeof(struct link_plan));
	struct rng rng = rng_of(1, RNG_TEST, 7);
	for (uint32_t at = 0; at < file.switch_count; at++) {
		assert_int_equal(file.switches[at].tier, count.switches[at].tier);
		assert_int_equal(file.switches[at].index, count.switches[at].index);
		assert_int_equal(file.switches[at].up_first, count.switches[at].up_first);
		assert_int_equal(file.switches[at].up_ports, count.switches[at].up_ports);
		for (uint32_t i = 0; i < 500; i++) {
			struct packet packet = {.source = rng_below(&rng, 128)};
			packet.target = rng_below(&rng, 128);
			packet.ev = (uint32_t)rng_next(&rng);
			assert_int_equal(route_port(&file.switches[at].route, &packet),
					 route_port(&count.switches[at].route, &packet));
		}
	}
	assert_sound(&file, &by_file);
}

// Bundles, rates and delays of their own in every tier: closed form of the longest way.
static void tiers_of_a_file_have_figures_of_their_own(void **state)
{
	static const char text[] =
		"nodes 32\ntiers 2\n"
		"tier 0\n downlink_speed_gbps 100\n radix_down 8\n radix_up 2\n oversubscribed 1\n"
		" downlink_latency_ns 300\n switch_latency_ns 50\n"
		"tier 1\n downlink_speed_gbps 400\n radix_down 8\n bundle 2\n"
		" downlink_latency_ns 700\n switch_latency_ns 90\n";
	struct fabric_config config = config_of_file(*state, text, 32);
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.switch_count, 4 + 1);
	assert_int_equal(topology.link_count, 32 + 8);
	assert_int_equal(topology.rate_max_bps, UINT64_C(400000000000));
	assert_int_equal(topology.base_rtt_ps,
			 2 * (332000 + 5120) + 2 * (83000 + 1280) +
				 2 * (2 * 300000 + 2 * 700000 + 2 * 50000 + 90000));
	assert_sound(&topology, &config);
}

#define LOWER_BARE "Tier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500"
#define LOWER LOWER_BARE "\nRadix_Up 2"
#define UPPER "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 500"

static void a_wrong_file_is_refused_at_its_line(void **state)
{
	struct rig *rig = *state;
	static const struct {
		const char *text, *word;
		uint32_t line, column;
	} cases[] = {
		{"Nodes 16\nTiers x\n", "a whole number", 2, 7},
		{"Nodes 16\nTiers 9\n", "may be 2 to 3", 2, 7},
		{"Nodes 16\nNodes 16\n", "twice", 2, 1},
		{"Nodes 16\n  Planes 2\n", "not a figure", 2, 3},
		{"Nodes 16 17\n", "nothing may follow", 1, 10},
		{"Nodes\n", "a number is expected", 1, 6},
		{"Nodes 16\nRadix_Down 4\n", "belongs below a line", 2, 1},
		{"Nodes 16\nTier 0\nQueue_Up 100\n", "queue.bytes", 3, 1},
		{"Nodes 16\nTier 0\nTier 0\n", "twice", 3, 1},
		{"Nodes 16\n", "Nodes and Tiers", 2, 0},
		{"Nodes 16\nTiers 2\n# here\n Tier 0\nRadix_Down 4\n", "tier 0 needs", 4, 2},
		{"Nodes 16\nTiers 2\n" LOWER "\n", "tier 1 needs", 2, 1},
		{"Nodes 16\nTiers 2\nTier 2\n", "Tiers says 2", 3, 1},
		{"Nodes 16\nTiers 2\n" LOWER "\n" UPPER "\nRadix_Up 2\n", "but the top one, 1", 12,
		 1},
		{"Nodes 16\nTiers 2\n" LOWER_BARE "\n" UPPER "\n", "but the top one, 1", 3, 1},
		{"Nodes 16\nTiers 2\n" LOWER "\nOversubscribed 3\n" UPPER "\n", "relation", 8, 1},
		{"Nodes 16\nTiers 2\n" LOWER "\n" UPPER "\n  Oversubscribed 2\n",
		 "nothing is above the top tier", 12, 3},
		{"Nodes 17\nTiers 2\n" LOWER "\n" UPPER "\n", "whole pods", 1, 1},
		{"Nodes 16\nTiers 2\nPodsize 8\n" LOWER "\n" UPPER "\n", "one pod", 3, 1},
		{"Nodes 16\nTiers 2\n" LOWER "\n" UPPER "\nBundle 4\n", "multiple of Bundle", 7, 1},
		{"Nodes 8\nTiers 2\n" LOWER "\n" UPPER "\n", "Radix_Down of tier 1", 10, 1},
	};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tree_plan tree;
		rig->refusal = (struct refusal){0};
		assert_int_equal(
			tree_parse(&tree, cases[i].text, strlen(cases[i].text), &rig->refusal),
			-EINVAL);
		if (strstr(rig->refusal.text, cases[i].word) == NULL ||
		    rig->refusal.line != cases[i].line || rig->refusal.column != cases[i].column)
			fail_msg("%u: %u:%u: %s", i, rig->refusal.line, rig->refusal.column,
				 rig->refusal.text);
	}
}

static void assert_tree_refused(struct rig *rig, const char *from, const char *to, const char *word)
{
	char text[sizeof tree128 + 64];
	const char *at = strstr(tree128, from);
	assert_non_null(at);
	snprintf(text, sizeof text, "%.*s%s%s", (int)(at - tree128), tree128, to,
		 at + strlen(from));
	struct fabric_config config = config_of(TOPOLOGY_FILE, 128);
	struct topology topology;
	int rc = tree_parse(&config.tree, text, strlen(text), &rig->refusal);
	if (rc == 0)
		rc = topology_build(&topology, &rig->arena, &config, 1, &rig->refusal);
	assert_int_equal(rc, -EINVAL);
	if (strstr(rig->refusal.text, word) == NULL)
		fail_msg("expected `%s`: %s", word, rig->refusal.text);
}

static void figures_of_a_file_must_fit_together(void **state)
{
	struct rig *rig = *state;
	struct fabric_config config = config_of_file(rig, tree128, 64);
	struct topology topology;
	assert_int_equal(topology_build(&topology, &rig->arena, &config, 1, &rig->refusal),
			 -EINVAL);
	assert_non_null(strstr(rig->refusal.text, "set fabric.nics=128"));
	assert_tree_refused(*state, "Nodes 128", "Nodes 64", "4 pods");
	assert_tree_refused(*state, "Podsize 16", "Podsize 48", "whole pods");
	assert_tree_refused(*state, "Tier 0\n", "Tier 0\nOversubscribed 4\n", "relation");
	assert_tree_refused(*state, "Radix_Down 8", "Radix_Down 6", "tier 2");
	assert_tree_refused(*state, "Tier 1\n", "Tier 1\nBundle 3\n", "Bundle");
	assert_tree_refused(*state, "Tiers 3", "Tiers 2", "Tiers says 2");
	assert_tree_refused(*state, "Gbps 100", "Gbps 400", "fabric.link_rate");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_file_gives_the_tree_that_counts_give),
		WITH_RIG(tiers_of_a_file_have_figures_of_their_own),
		WITH_RIG(a_wrong_file_is_refused_at_its_line),
		WITH_RIG(figures_of_a_file_must_fit_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
