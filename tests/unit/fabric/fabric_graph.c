// SPDX-License-Identifier: Apache-2.0
// Fabrics whose ways stand in tables: what each kind is made of, that every NIC reaches every NIC
// by a shortest way, closed forms of the base round trip, places by name, and refusals.

#include "fabric_walks.h"

#include <errno.h>

// One packet of 4150 B out and one of 64 B back over `links` links of 100 Gb/s and 1 us.
static ps_t round_trip(uint32_t links)
{
	return links * (332000 + 5120 + 2 * PS_PER_US);
}

static void a_dumbbell_has_two_switches_and_a_bundle(void **state)
{
	struct fabric_config config = config_of(TOPOLOGY_DUMBBELL, 10);
	config.bundle = 3;
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.switch_count, 2 * 2);
	assert_int_equal(topology.link_count, 2 * (10 + 3));
	assert_int_equal(topology.switches[0].port_count, 5 + 3);
	assert_int_equal(topology.base_rtt_ps, round_trip(3));
	assert_sound(&topology, &config);
	assert_string_equal(topology.names[0], "left");
	assert_string_equal(topology.names[1], "right");
}

static void every_link_of_a_bundle_is_used(void **state)
{
	struct fabric_config config = config_of(TOPOLOGY_DUMBBELL, 4);
	config.bundle = 3;
	struct topology topology = built(*state, &config);
	uint32_t used[8] = {0};
	for (uint32_t ev = 0; ev < 256; ev++) {
		struct packet packet = {.source = 0, .target = 3, .ev = ev};
		used[route_port(&topology.switches[0].route, &packet)]++;
	}
	for (uint32_t port = 2; port < 5; port++)
		assert_in_range(used[port], 50, 120);
}

static void rails_gather_one_nic_of_every_host(void **state)
{
	struct fabric_config config = config_of(TOPOLOGY_RAIL, 32);
	config.nics_per_host = 8;
	config.t1_count = 2;
	config.bundle = 2;
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.switch_count, 2 * (8 + 2));
	assert_int_equal(topology.link_count, 2 * (32 + 8 * 2 * 2));
	assert_int_equal(topology.switches[0].port_count, 4 + 2 * 2);
	assert_int_equal(topology.switches[0].up_first, 4);
	assert_int_equal(topology.switches[0].up_ports, 4);
	assert_int_equal(topology.switches[9].tier, 1);
	assert_int_equal(topology.switches[9].index, 1);
	assert_sound(&topology, &config);
	assert_int_equal(topology_links(&topology, &config, 3, 11), 2); // the same rail
	assert_int_equal(topology_links(&topology, &config, 3, 4), 4);	// the same host
	assert_int_equal(topology_pair(&topology, 3, 4), PAIR_SAME_RACK);
	assert_int_equal(topology_pair(&topology, 3, 11), PAIR_SAME_T0);
	assert_int_equal(topology_pair(&topology, 3, 12), PAIR_ACROSS_T1);
}

static void rails_without_spines_are_apart(void **state)
{
	struct fabric_config config = config_of(TOPOLOGY_RAIL, 16);
	config.nics_per_host = 4;
	config.t1_count = 0;
	struct topology topology = built(*state, &config);
	assert_wired(&topology);
	assert_int_equal(topology_links(&topology, &config, 1, 5), 2);
	assert_int_equal(topology_links(&topology, &config, 1, 6), 0);
	struct packet packet = {.source = 1, .target = 6};
	assert_int_equal(route_port(&topology.switches[1].route, &packet), ROUTE_NONE);
	assert_int_equal(topology.base_rtt_ps, round_trip(2));
}

static void a_torus_has_its_rings(void **state)
{
	const struct {
		uint32_t x, y, z, per, links, longest;
	} cases[] = {
		{4, 4, 1, 1, 32, 2 + 4},
		{3, 5, 1, 2, 30, 2 + 1 + 2},
		{4, 3, 2, 1, 24 + 24 + 12, 2 + 4},
		{2, 2, 2, 1, 12, 2 + 3},
		{2, 1, 1, 3, 1, 3},
		{5, 1, 1, 1, 5, 4},
		{1, 1, 6, 1, 6, 2 + 3},
	};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint32_t routers = cases[i].x * cases[i].y * cases[i].z;
		struct fabric_config config = config_of(TOPOLOGY_TORUS, routers * cases[i].per);
		config.torus[0] = cases[i].x;
		config.torus[1] = cases[i].y;
		config.torus[2] = cases[i].z;
		config.nics_per_t0 = cases[i].per;
		struct topology topology = built(*state, &config);
		assert_int_equal(topology.switch_count, 2 * routers);
		assert_int_equal(topology.link_count, 2 * (config.nics + cases[i].links));
		assert_int_equal(topology.links_max, cases[i].longest);
		assert_int_equal(topology.base_rtt_ps, round_trip(cases[i].longest));
		assert_sound(&topology, &config);
	}
}

// x is right before the first step along y, and y before the first along z.
static void a_torus_is_walked_dimension_by_dimension(void **state)
{
	struct fabric_config config = config_of(TOPOLOGY_TORUS, 5 * 4 * 3);
	config.torus[0] = 5;
	config.torus[1] = 4;
	config.torus[2] = 3;
	config.nics_per_t0 = 1;
	struct topology topology = built(*state, &config);
	uint16_t ports[MACHINE_PORTS_MAX];
	for (uint32_t from = 0; from < 60; from++) {
		for (uint32_t to = 0; to < 60; to++) {
			uint32_t count = topology_ports(&topology, from, to, ports);
			for (uint32_t i = 0; from != to && i < count; i++) {
				uint32_t next = topology_behind(&topology, from, ports[i]) - 60;
				bool is_x = from % 5 != to % 5;
				bool is_y = !is_x && from / 5 % 4 != to / 5 % 4;
				assert_int_equal(next % 5 != from % 5, is_x);
				assert_int_equal(next / 5 % 4 != from / 5 % 4, is_y);
				assert_int_equal(next / 20 != from / 20, !is_x && !is_y);
			}
			// half round a ring of four both ways are as long
			bool is_half = from % 5 == to % 5 && (from / 5 + 2) % 4 == to / 5 % 4;
			assert_int_equal(count, is_half ? 2 : 1);
		}
	}
}

static void routers_are_called_by_their_coordinates(void **)
{
	struct fabric_config config = config_of(TOPOLOGY_TORUS, 24);
	char name[NODE_NAME_BYTES];
	config.torus[0] = 12;
	config.torus[1] = 2;
	config.torus[2] = 1;
	topology_name(&config, 23, name);
	assert_string_equal(name, "11.1");
	config.torus[0] = 2;
	config.torus[2] = 6;
	topology_name(&config, 21, name);
	assert_string_equal(name, "1.0.5");
}

// ---------------------------------------------------------------- listed graphs, places, refusals

static char names[4][NODE_NAME_BYTES] = {"a", "b", "c", "d"};

// A ring of four switches with a chord; b-c is slow and long, and twice there.
static struct fabric_config config_listed(struct graph_link *links)
{
	const struct graph_link all[] = {
		{.a = 0, .b = 0, .count = 2, .is_nic = true, .delay_ps = -1},
		{.a = 1, .b = 2, .count = 1, .is_nic = true, .delay_ps = 5 * PS_PER_US},
		{.a = 3, .b = 3, .count = 1, .is_nic = true, .delay_ps = -1},
		{.a = 0, .b = 1, .count = 1, .delay_ps = -1},
		{.a = 1, .b = 2, .count = 2, .rate_bps = 50000000000, .delay_ps = 2 * PS_PER_US},
		{.a = 2, .b = 3, .count = 1, .delay_ps = -1},
	};
	struct fabric_config config = config_of(TOPOLOGY_GRAPH, 4);
	memcpy(links, all, sizeof all);
	config.graph = (struct graph_plan){4, 6, names, links};
	return config;
}

static void a_listed_graph_is_built_as_listed(void **state)
{
	struct graph_link links[8];
	struct fabric_config config = config_listed(links);
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.switch_count, 8);
	assert_int_equal(topology.link_count, 2 * (4 + 4));
	assert_sound(&topology, &config);
	// NIC 2 to NIC 3 is 4 links, NIC 0 to NIC 3 is 5 but has no cable of 5 us
	ps_t far = 4 * (332000 + 5120) + (664000 + 10240) + 2 * (4 + 2) * PS_PER_US;
	ps_t slow = 3 * (332000 + 5120) + (664000 + 10240) + 2 * (5 + 2 + 1 + 1) * PS_PER_US;
	assert_int_equal(topology.base_rtt_ps, ps_max(far, slow));
}

// A place hits the cables of a switch, or those between two, in one plane or in all.
static void named_places_hit_their_cables(void **state)
{
	struct graph_link links[8];
	struct fabric_config config = config_listed(links);
	struct topology topology = built(*state, &config);
	const struct {
		struct link_location place;
		uint32_t hits;
	} cases[] = {
		{{.where = LINK_AT_NODE, .index = 1, .plane = 1}, 1 + 1 + 2},
		{{.where = LINK_AT_NODE, .index = 1, .plane = PLANE_EACH}, 8},
		{{.where = LINK_AT_EDGE, .index = 2, .port = 1, .plane = 0}, 2},
		{{.where = LINK_AT_EDGE, .index = 1, .port = 2, .plane = PLANE_EACH}, 4},
	};
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t hits = 0;
		assert_int_equal(link_location_check(&cases[i].place, &topology, NULL), 0);
		for (uint32_t link = 0; link < topology.link_count; link++)
			hits += link_location_hits(&cases[i].place, &topology, link);
		assert_int_equal(hits, cases[i].hits);
	}
	struct link_location none = {.where = LINK_AT_EDGE, .index = 0, .port = 2};
	assert_int_equal(link_location_check(&none, &topology, NULL), -EINVAL);
	none = (struct link_location){.where = LINK_AT_NODE, .index = 4};
	assert_int_equal(link_location_check(&none, &topology, NULL), -EINVAL);
	none = (struct link_location){.where = LINK_AT_NODE, .plane = 2};
	assert_int_equal(link_location_check(&none, &topology, NULL), -EINVAL);
}

static void assert_refused(struct rig *rig, const struct fabric_config *config, const char *word)
{
	struct topology topology;
	assert_int_equal(topology_build(&topology, &rig->arena, config, 1, &rig->refusal), -EINVAL);
	if (strstr(rig->refusal.text, word) == NULL)
		fail_msg("expected `%s`: %s", word, rig->refusal.text);
}

static void what_cannot_be_built_is_refused(void **state)
{
	struct graph_link links[8];
	struct fabric_config config = config_listed(links);
	config.graph.link_count = 5;
	assert_refused(*state, &config, "no way leads from switch 0 to switch 3");
	config = config_listed(links);
	links[2].b = 2;
	assert_refused(*state, &config, "NIC 3 hangs at no switch");
	links[2].b = 4;
	assert_refused(*state, &config, "leads from switch 3 to nothing");
	config = config_listed(links);
	links[0].count = 1;
	assert_refused(*state, &config, "each has one per plane");
	config = config_of(TOPOLOGY_DUMBBELL, 5);
	assert_refused(*state, &config, "two halves");
	config = config_of(TOPOLOGY_TORUS, 8);
	config.torus[0] = config.torus[1] = 2;
	config.torus[2] = 1;
	config.nics_per_t0 = 1;
	assert_refused(*state, &config, "are not the 8 NICs");
	config = config_of(TOPOLOGY_TORUS, 200);
	config.torus[0] = 200;
	config.torus[1] = config.torus[2] = 1;
	config.nics_per_t0 = 1;
	assert_refused(*state, &config, "passes 101 switches; 62 is the most");
	config.nics = config.torus[0] * 50;
	config.torus[1] = 50;
	assert_refused(*state, &config, "tables of ways are made for 1 to 8192");
	config = config_of(TOPOLOGY_FILE, 16);
	assert_refused(*state, &config, "was not read");
	config = config_of(TOPOLOGY_DUMBBELL, 4);
	config.trunk_sample_of = 2;
	assert_refused(*state, &config, "cannot be thinned");
}

static void a_small_arena_is_refused(void **state)
{
	struct rig *rig = *state;
	struct fabric_config config = config_of(TOPOLOGY_TORUS, 64);
	struct topology topology;
	config.torus[0] = config.torus[1] = config.torus[2] = 4;
	config.nics_per_t0 = 1;
	for (size_t bytes = 64; bytes < 16384; bytes += 1000) {
		struct arena arena;
		memset(rig->memory, 0, bytes);
		arena_init(&arena, rig->memory, bytes);
		assert_int_equal(topology_build(&topology, &arena, &config, 1, &rig->refusal),
				 -ENOMEM);
	}
}

// Links between switches may be of another rate: 4 NICs of 100 Gb/s over one of 400.
static void trunks_may_be_faster_than_nics(void **state)
{
	struct fabric_config config = rig_clos();
	config.trunk_rate_bps = UINT64_C(400000000000);
	struct topology topology = built(*state, &config);
	assert_int_equal(topology.base_rtt_ps,
			 2 * (332000 + 5120) + 2 * (83000 + 1280) + 2 * 4 * PS_PER_US);
	assert_int_equal(topology.rate_max_bps, config.trunk_rate_bps);
	for (uint32_t i = 0; i < topology.link_count; i++)
		assert_int_equal(topology.links[i].rate_bps,
				 topology.links[i].tier == 0 ? config.link_rate_bps
							     : config.trunk_rate_bps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(a_dumbbell_has_two_switches_and_a_bundle),
		WITH_RIG(every_link_of_a_bundle_is_used),
		WITH_RIG(rails_gather_one_nic_of_every_host),
		WITH_RIG(rails_without_spines_are_apart),
		WITH_RIG(a_torus_has_its_rings),
		WITH_RIG(a_torus_is_walked_dimension_by_dimension),
		cmocka_unit_test(routers_are_called_by_their_coordinates),
		WITH_RIG(a_listed_graph_is_built_as_listed),
		WITH_RIG(named_places_hit_their_cables),
		WITH_RIG(what_cannot_be_built_is_refused),
		WITH_RIG(a_small_arena_is_refused),
		WITH_RIG(trunks_may_be_faster_than_nics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
