// SPDX-License-Identifier: Apache-2.0
// Fabrics of a scenario beyond the two trees: what is wrong with one is told at its line and
// column, places are found by name, and an over-subscription becomes counts.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <weft/fabric/fabric_capacity.h>
#include <weft/world/world.h>

static struct scenario scenario;
static struct refusal refusal;

static int parse(const char *text)
{
	refusal = (struct refusal){0};
	return scenario_parse(&scenario, "text", text, strlen(text), NULL, 0, &refusal);
}

static void parse_good(const char *text)
{
	if (parse(text) != 0)
		fail_msg("%u:%u: %s", refusal.line, refusal.column, refusal.text);
}

#define TRAFFIC "traffic: {kind: permutation, bytes: 1MB}\n"
#define GRAPH "fabric:\n  topology: graph\n  nics: 4\n"

static const char good[] = GRAPH "  nodes:\n"
				 "    - {name: a, nics: 2}\n"
				 "    - {name: b_2.x}\n"
				 "    - {name: c, nics: 1}\n"
				 "  links:\n"
				 "    - {from: a, to: b_2.x, count: 2, rate: 40Gb/s, delay: 2us}\n"
				 "    - {from: c, to: b_2.x}\n"
				 "    - {from: b_2.x, nic: 3, delay: 3us}\n" TRAFFIC "faults:\n"
				 "  - {kind: link_down, at: {node: b_2.x}}\n"
				 "  - {kind: link_down, at: {link: c-b_2.x, plane: 0}}\n";

static void a_graph_is_read_as_it_is_written(void **)
{
	parse_good(good);
	const struct graph_plan *graph = &scenario.fabric.graph;
	assert_int_equal(graph->node_count, 3);
	assert_string_equal(graph->names[1], "b_2.x");
	assert_int_equal(graph->link_count, 5);
	assert_true(graph->links[1].is_nic);
	assert_int_equal(graph->links[1].a, 2);
	assert_int_equal(graph->links[1].b, 2); // NICs 0 and 1 are those of `a`
	assert_int_equal(graph->links[2].count, 2);
	assert_int_equal(graph->links[2].rate_bps, 40000000000);
	assert_int_equal(graph->links[2].delay_ps, 2 * PS_PER_US);
	assert_int_equal(graph->links[3].count, 1);
	assert_int_equal(graph->links[3].rate_bps, 0);
	assert_int_equal(graph->links[3].delay_ps, -1);
	assert_int_equal(graph->links[4].b, 3);
	assert_int_equal(scenario.faults[0].at.where, LINK_AT_NODE);
	assert_int_equal(scenario.faults[0].at.index, 1);
	assert_int_equal(scenario.faults[0].at.plane, PLANE_EACH);
	assert_int_equal(scenario.faults[1].at.where, LINK_AT_EDGE);
	assert_int_equal(scenario.faults[1].at.index, 2);
	assert_int_equal(scenario.faults[1].at.port, 1);
	assert_int_equal(scenario.faults[1].at.plane, 0);
}

static void places_of_a_dumbbell_and_a_torus_have_names(void **)
{
	parse_good("fabric: {topology: dumbbell, nics: 4}\n" TRAFFIC
		   "taps: [{at: {link: right-left}}]\n");
	assert_int_equal(scenario.taps[0].at.index, 1);
	assert_int_equal(scenario.taps[0].at.port, 0);
	parse_good("fabric: {topology: torus, nics: 24, nics_per_t0: 1, torus_x: 2, torus_y: 3,"
		   " torus_z: 4}\n" TRAFFIC "faults: [{kind: link_down, at: {node: 1.2.3}}]\n");
	assert_int_equal(scenario.faults[0].at.index, 1 + 2 * 2 + 3 * 6);
}

static void an_over_subscription_becomes_counts(void **)
{
	parse_good(
		"fabric: {nics: 64, nics_per_t0: 16, oversubscription: 4:1, bundle: 2}\n" TRAFFIC);
	assert_int_equal(scenario.fabric.t1_count, 2);
	parse_good("fabric: {topology: leaf-spine, nics: 64, nics_per_t0: 16, oversubscription: 2,"
		   " trunk_rate: 400Gb/s}\n" TRAFFIC);
	assert_int_equal(scenario.fabric.t1_count, 2);
	parse_good("fabric: {topology: fat-tree, nics: 64, tor_nics: 8, pod_tors: 4,"
		   " oversubscription: 4}\n" TRAFFIC);
	assert_int_equal(scenario.fabric.pod_aggs, 2);
	assert_int_equal(scenario.fabric.cores, 8);
	parse_good("fabric: {topology: rail, nics: 512, nics_per_host: 8, oversubscription: 2,"
		   " bundle: 4}\n" TRAFFIC);
	assert_int_equal(scenario.fabric.t1_count, 8);
}

#define NODES(list) GRAPH "  nodes:\n" list TRAFFIC
#define LINKS(list) \
	GRAPH "  nodes: [{name: a, nics: 2}, {name: b, nics: 1}]\n  links:\n" list TRAFFIC
#define OTHER(fabric) "fabric:\n" fabric TRAFFIC
#define PLACE(fabric, at) \
	"fabric: " fabric "\n" TRAFFIC "faults:\n  - {kind: link_down, at: " at "}\n"
#define TORUS "{topology: torus, nics: 4, nics_per_t0: 1, torus_x: 2, torus_y: 2}"

static const struct {
	const char *text;
	uint32_t line, column;
	const char *reason;
} wrong[] = {
	{GRAPH TRAFFIC, 2, 3, "fabric.nodes is missing; fabric.topology graph needs it"},
	{GRAPH "  nodes: []\n" TRAFFIC, 4, 10, "at least one is needed"},
	{NODES("    - {name: a-b, nics: 4}\n"), 5, 14, "letters, digits, points"},
	{NODES("    - {name: a, nics: 4}\n    - {name: a}\n"), 6, 14, "two called `a`"},
	{NODES("    - {name: a, nics: 5}\n"), 5, 23, "more than fabric.nics, 4"},
	{NODES("    - {name: a, nics: 3}\n"), 5, 5, "1 of 4 NICs hang at no switch"},
	{NODES("    - {name: a, nics: 4}\n    - {name: b}\n"), 5, 5,
	 "no links lead from `a` to `b`"},
	{NODES("    - {nics: 4}\n"), 5, 7, "name is missing"},
	{LINKS("    - {from: a, to: x}\n"), 6, 21, "no node called `x`"},
	{LINKS("    - {from: x, to: a}\n"), 6, 14, "no node called `x`"},
	{LINKS("    - {from: a, to: a}\n"), 6, 21, "leads nowhere"},
	{LINKS("    - {from: a, to: b}\n    - {from: b, to: a}\n"), 7, 14, "are joined already"},
	{LINKS("    - {from: a}\n"), 6, 7, "leads `to` a switch, or to a `nic`"},
	{LINKS("    - {from: a, to: b, nic: 3}\n"), 6, 7, "leads `to` a switch, or to a `nic`"},
	{LINKS("    - {from: a, nic: 4}\n"), 6, 22, "it may be 0 to 3"},
	{LINKS("    - {from: a, nic: 2}\n"), 6, 22, "NIC 2 hangs at `b` already"},
	{LINKS("    - {from: a, nic: 3, rate: 400Gb/s}\n"), 6, 31, "no NIC is faster"},
	{LINKS("    - {from: a, nic: 1, count: 2}\n"), 6, 22, "NIC 1 hangs at `a` already"},
	{LINKS("    - {from: a, nic: 3, count: 2}\n"), 6, 22, "4 does not exist"},
	{OTHER("  topology: dumbbell\n  nics: 5\n"), 3, 9, "two halves"},
	{OTHER("  topology: dumbbell\n  nics: 4\n  t1_count: 2\n"), 4, 3, "has no effect here"},
	{OTHER("  topology: torus\n  nics: 5\n  nics_per_t0: 1\n  torus_x: 2\n  torus_y: 2\n"), 5,
	 12, "4 routers with 1 NICs each are not the 5"},
	{OTHER("  topology: torus\n  nics: 5\n  nics_per_t0: 1\n  torus_x: 4000\n  torus_y: 4\n"),
	 5, 12, "at most 8192"},
	{OTHER("  topology: torus\n  nics: 2\n  nics_per_t0: 2\n  torus_x: 1\n  torus_y: 1\n"), 5,
	 12, "at least two routers"},
	{OTHER("  topology: rail\n  nics: 8\n"), 2, 3, "fabric.t1_count is missing"},
	{OTHER("  topology: rail\n  nics: 8\n  nics_per_host: 2\n  oversubscription: 3\n"), 5, 21,
	 "4 NICs below a switch, 3 times"},
	{OTHER("  topology: rail\n  nics: 8\n  oversubscription: 2\n  t1_count: 2\n"), 5, 3,
	 "rail without fabric.oversubscription"},
	{OTHER("  topology: file\n  nics: 8\n"), 2, 3, "fabric.file is missing"},
	{OTHER("  topology: file\n  nics: 8\n  file: x\n  nic_delay: 1us\n"), 5, 3,
	 "for each tier"},
	{OTHER("  nics: 8\n  nics_per_t0: 4\n  oversubscription: 3\n"), 4, 21, "in whole links"},
	{OTHER("  nics: 8\n  nics_per_t0: 4\n  oversubscription: 2\n  t1_count: 2\n"), 5, 3,
	 "without fabric.oversubscription"},
	{PLACE(TORUS, "{node: 2.0}"), 4, 34, "there is no switch called `2.0`; they are called"},
	{PLACE(TORUS, "{link: 0.0}"), 4, 34, "written as a-b"},
	{PLACE(TORUS, "{link: 0.0-3.0}"), 4, 34, "no switch called `3.0`"},
	{PLACE(TORUS, "{t0: 0, plane: 0}"), 4, 32, "switches have names here"},
	{PLACE(TORUS, "{node: 0.0, link: 0.0-1.0}"), 4, 34, "a place is all"},
	{PLACE("{nics: 4, nics_per_t0: 4, t1_count: 0}", "{node: a}"), 4, 34, "here they are t0"},
	{PLACE("{topology: rail, nics: 8, nics_per_host: 2, t1_count: 3}", "{t0: 2, plane: 0}"), 4,
	 32, "it may be 0 to 1"},
};

static void what_is_wrong_is_told_at_its_place(void **)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		int rc = parse(wrong[i].text);
		if (rc == 0 || refusal.line != wrong[i].line || refusal.column != wrong[i].column ||
		    strstr(refusal.text, wrong[i].reason) == NULL)
			fail_msg("%s\nrc %d, %u:%u: %s\nexpected %u:%u: %s", wrong[i].text, rc,
				 refusal.line, refusal.column, refusal.text, wrong[i].line,
				 wrong[i].column, wrong[i].reason);
	}
}

// A link to NICs that a node brought takes them out of the node's own.
static void nics_of_a_node_may_have_rates_of_their_own(void **)
{
	static const struct {
		const char *link;
		uint64_t gbps[4];
	} cases[] = {
		{"{from: a, nic: 0, rate: 25Gb/s}", {25, 100, 100, 100}},
		{"{from: a, nic: 1, count: 2, rate: 25Gb/s}", {100, 25, 25, 100}},
		{"{from: a, nic: 3, rate: 40Gb/s}", {100, 100, 100, 40}},
		{"{from: a, nic: 0, count: 4, rate: 10Gb/s}", {10, 10, 10, 10}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[512];
		snprintf(text, sizeof(text),
			 GRAPH "  nodes: [{name: a, nics: 4}]\n  links: [%s]\n" TRAFFIC,
			 cases[i].link);
		parse_good(text);
		uint64_t least = 100;
		uint32_t count = 0;
		for (uint32_t j = 0; j < scenario.fabric.graph.link_count; j++)
			count += scenario.fabric.graph.links[j].count;
		assert_int_equal(count, 4);
		for (uint32_t nic = 0; nic < 4; nic++) {
			uint64_t want = cases[i].gbps[nic];
			least = want < least ? want : least;
			assert_int_equal(fabric_nic_rate(&scenario.fabric, nic), want * 1000000000);
		}
		assert_int_equal(fabric_nic_rate_least(&scenario.fabric), least * 1000000000);
	}
}
