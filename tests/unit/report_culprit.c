// SPDX-License-Identifier: Apache-2.0
// Tests of naming culprits: counters of links, hosts and queues are written by hand into a world
// that never runs, and the right place must be named.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include <weft/rng.h>

#include <weft/world_delays.h>

#include "culprit.h"
#include "culprit_tail.h"
#include "slowest.h"

// 32 NICs, two on each host, in two planes of four T0 and four T1 switches: 64 links of NICs and 32
// trunks.
static const char yaml[] =
	"fabric: {nics: 32, nics_per_host: 2, planes: 2, nics_per_t0: 8, t1_count: 4}\n"
	"transport: {evs: 64}\n"
	"scaleup: {rate: 100GB/s}\n"
	"traffic: {kind: tornado, bytes: 1MB}\n"
	"watch: {links: true}\n";

#define ARENA_BYTES ((size_t)24 << 20)
static _Alignas(64) uint8_t memory[ARENA_BYTES];
static struct scenario scenario;
static struct world world;
static struct arena arena;

// A healthy world in which every link has been used.
static void build(void)
{
	struct refusal refusal = {0};
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	int rc = scenario_parse(&scenario, "test", yaml, strlen(yaml), NULL, 0, &refusal);
	if (rc == 0)
		rc = world_build(&world, &arena, &scenario, NULL, 0, &refusal);
	if (rc < 0)
		fail_msg("%s: %s", refusal.file, refusal.text);
	for (uint32_t i = 0; i < world.cable_count; i++)
		world.links.counts[i] = (struct link_count){
			.packets = 1000, .bytes = 4000000, .first_lost_ps = PS_NEVER};
	for (uint32_t i = 0; i < 64; i++)
		for (uint32_t cell = 0; cell < LINK_SPREAD_CELLS; cell++)
			world.links.spread[i][cell] = 10 + cell % 3;
	for (uint32_t i = 0; i < world.topology.hosts; i++)
		world.links.work[i] = (struct work_count){1000, 1000};
}

static struct culprits find(void)
{
	struct culprits culprits;
	assert_int_equal(culprits_find(&culprits, &world), 0);
	return culprits;
}

// The culprit `at` is called so.
static void is_named(const struct culprits *culprits, uint32_t at, enum culprit_finding finding,
		     const char *name)
{
	char found[WORLD_CABLE_NAME_BYTES];
	assert_true(at < culprits->count);
	culprit_name(&culprits->list[at], &world, found, sizeof(found));
	assert_string_equal(found, name);
	assert_int_equal(culprits->list[at].finding, finding);
}

// What happens to a cable.
typedef void harm_fn(struct link_count *count);

static void be_slow(struct link_count *count)
{
	count->slow_bytes = count->bytes / 2; // at a third of the rate: half of it over all
	count->slow_ps = 3 * 160 * PS_PER_US;
}

static void be_lossy(struct link_count *count)
{
	count->lost_random += 10;
	count->first_lost_ps = PS_PER_US;
}

static void be_down(struct link_count *count)
{
	count->lost_down = 7;
	count->downs = 2;
	count->first_lost_ps = 3 * PS_PER_US;
}

// Harms both ways of every link at `place`. Returns how many links.
static uint32_t harm(struct link_place place, harm_fn *do_harm)
{
	uint32_t links = 0;
	for (uint32_t i = 0; i < world.topology.link_count; i++) {
		if (!link_place_hits(&place, &world.topology, i))
			continue;
		do_harm(&world.links.counts[2 * i]);
		do_harm(&world.links.counts[2 * i + 1]);
		links++;
	}
	return links;
}

static void nobody_stands_out_where_all_is_even(void **state)
{
	(void)state;
	build();
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 0);
	assert_int_equal(culprits.links, 96);
	assert_int_equal(culprits.nics, 32);
	assert_int_equal(culprits.hosts, 16);
}

static void what_stands_out_is_put_down_to_the_smallest_place(void **state)
{
	(void)state;
	static const struct {
		struct link_place place;
		const char *name;
	} places[] = {
		{{.where = LINK_AT_NIC, .index = 5, .plane = 1}, "nic 5 plane 1 - t0 0"},
		{{.where = LINK_AT_TRUNK, .index = 2, .port = 3, .plane = 0},
		 "t0 2 up 3 plane 0 - t1 3"},
		{{.where = LINK_AT_NIC_WHOLE, .index = 30}, "nic 30"},
		{{.where = LINK_AT_HOST, .index = 4}, "host 4"},
		{{.where = LINK_AT_T0, .index = 1, .plane = 1}, "t0 1 plane 1"},
		{{.where = LINK_AT_T1, .index = 3, .plane = 0}, "t1 3 plane 0"},
		{{.where = LINK_AT_PLANE, .plane = 1}, "plane 1"},
	};
	harm_fn *const harms[] = {be_slow, be_lossy, be_down};
	const enum culprit_finding findings[] = {CULPRIT_SLOW, CULPRIT_LOSSY, CULPRIT_DOWN};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		for (size_t h = 0; h < 3; h++) {
			build();
			uint32_t links = harm(places[i].place, harms[h]);
			struct culprits culprits = find();
			assert_int_equal(culprits.count, 1);
			is_named(&culprits, 0, findings[h], places[i].name);
			assert_int_equal(culprits.list[0].links, links);
		}
	}
}

static void two_places_are_two_culprits_the_costlier_first(void **state)
{
	(void)state;
	build();
	harm((struct link_place){.where = LINK_AT_NIC, .index = 1, .plane = 0}, be_lossy);
	harm((struct link_place){.where = LINK_AT_T1, .index = 2, .plane = 1}, be_lossy);
	harm((struct link_place){.where = LINK_AT_NIC, .index = 9, .plane = 1}, be_slow);
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 3);
	is_named(&culprits, 0, CULPRIT_LOSSY, "t1 2 plane 1");
	is_named(&culprits, 1, CULPRIT_LOSSY, "nic 1 plane 0 - t0 0");
	is_named(&culprits, 2, CULPRIT_SLOW, "nic 9 plane 1 - t0 1");
	assert_true(culprits.list[2].measured == 0.5);
}

static void a_way_and_what_it_lost_are_told(void **state)
{
	(void)state;
	char text[160];
	build();
	be_lossy(&world.links.counts[2 * 70 + 1]);
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 1);
	assert_false(culprits.list[0].up);
	assert_true(culprits.list[0].down);
	culprit_evidence(&culprits.list[0], text, sizeof(text));
	assert_string_equal(text,
			    "lost or damaged 1.000 % of the packets sent into it "
			    "(10 of 1,000), from 1.000 us on");
}

// A port of a NIC that carries nothing on either way; on one way alone it may have nobody to talk
// to.
static void a_silent_port_is_silent_on_both_ways(void **state)
{
	(void)state;
	build();
	uint32_t links = 0;
	for (uint32_t i = 0; i < world.topology.link_count; i++) {
		const struct link_place plane = {.where = LINK_AT_PLANE, .plane = 0};
		if (!link_place_hits(&plane, &world.topology, i))
			world.links.counts[2 * i].packets = 0;
		else if (world.topology.links[i].tier == 0 && ++links)
			world.links.counts[2 * i].packets = world.links.counts[2 * i + 1].packets =
				0;
	}
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_SILENT, "plane 0");
	assert_int_equal(culprits.list[0].links, links);
}

// Silences the port of NIC 9 in plane 1, and that of NIC 20, its only peer. Of what they say of the
// light depends which is to blame, and no counter tells the two ends of a cable apart.
static void a_port_with_light_is_not_blamed_for_one_without(void **)
{
	char text[160];
	const uint32_t links[] = {48 + 9, 48 + 20};
	build();
	for (uint32_t i = 0; i < 2; i++)
		world.links.counts[2 * links[i]].packets =
			world.links.counts[2 * links[i] + 1].packets = 0;
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 2);
	culprit_evidence(&culprits.list[0], text, sizeof(text));
	assert_string_equal(text,
			    "carries nothing, but has light: look at its peers and the way there");
	world.links.dark[20 * 2 + 1] = true;
	culprits = find();
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_SILENT, "nic 20 plane 1 - t0 2");
	culprit_evidence(&culprits.list[0], text, sizeof(text));
	assert_string_equal(text,
			    "carries nothing, no light: at which end, or on the way, is not known");
	world.links.dark[9 * 2] = true; // another port of the NIC
	assert_int_equal(find().count, 1);
	world.links.dark[9 * 2 + 1] = true;
	assert_int_equal(find().count, 2);
	world.transport.port_status = false; // NICs do not look
	memset(world.links.dark, 0, 64);
	culprits = find();
	assert_int_equal(culprits.count, 2);
	culprit_evidence(&culprits.list[1], text, sizeof(text));
	assert_string_equal(
		text, "carries nothing, other ports of its NIC do: at which end is not known");
}

static void a_host_is_late_against_the_others(void **state)
{
	(void)state;
	build();
	for (uint32_t i = 0; i < world.topology.hosts; i++)
		world.links.work[i].taken_ps = 1500; // all are: nobody
	assert_int_equal(find().count, 0);
	world.links.work[11].taken_ps = 2000;
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_LATE, "host 11");
	assert_true(culprits.list[0].measured == 2 && culprits.list[0].expected == 1.5);
}

static void a_host_with_few_paths_is_named(void **state)
{
	(void)state;
	build();
	for (uint32_t port = 4 * 6; port < 4 * 7; port++)
		for (uint32_t cell = 0; cell < LINK_SPREAD_CELLS; cell++)
			world.links.spread[port][cell] = cell < 4 ? 200 : 0;
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_EVS, "host 6");
	assert_int_equal(culprits.list[0].links, 4);
	for (uint32_t i = 0; i < 64; i++) // all have few: nobody
		memcpy(world.links.spread[i], world.links.spread[24], sizeof(*world.links.spread));
	assert_int_equal(find().count, 0);
}

// Marks of the first port of a T0.
static void marks_are_held_against_the_depths_that_were_ordered(void **state)
{
	(void)state;
	build();
	struct queue_watch *watch = switch_port_watch(world.switches[2], 8);
	assert_non_null(watch);
	watch->due = 400 * DUE_MARK_ONE;
	watch->marked = 400 - 80; // four sigmas: dice
	watch->marked_min_bytes = (uint32_t)world.topology.ecn_low_bytes + 1;
	watch->clear_max_bytes = (uint32_t)world.topology.ecn_high_bytes;
	assert_int_equal(find().count, 0);
	watch->marked = 300;
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_ECN, "t0 2 plane 0");
	assert_int_equal(culprits.list[0].marks, MARKS_FEW);
	watch->marked = 500;
	assert_int_equal(find().list[0].marks, MARKS_MANY);
	watch->clear_max_bytes++;
	assert_int_equal(find().list[0].marks, MARKS_LATE);
	watch->marked_min_bytes--;
	assert_int_equal(find().list[0].marks, MARKS_EARLY);
}

// 2,022 packets in two planes; of the 22 that took long 20 were in plane 1.
static void a_plane_has_its_share_of_the_slowest_packets(void **)
{
	static _Alignas(64) uint8_t room[(size_t)16 << 20];
	static struct delays delays;
	struct world_delays all = {.whole = &delays};
	struct culprit culprit = {.place = CULPRIT_PLANE, .index = 1};
	struct culprit_tail tail;
	struct arena other;
	build();
	arena_init(&other, room, sizeof(room));
	assert_int_equal(delays_init(&delays, &other, 2, 4, 3), 0);
	world.delays = &all;
	culprit_tail(&tail, &culprit, &world);
	assert_string_equal(tail.reason, "fewer than 1,000 packets were timed");
	hist_add_many(&delays.one_way_plane_ns[0], 1000, 900);
	hist_add_many(&delays.one_way_plane_ns[1], 1000, 1100);
	hist_add_many(&delays.one_way_plane_ns[0], 50000, 2);
	hist_add_many(&delays.one_way_plane_ns[1], 50000, 20);
	culprit_tail(&tail, &culprit, &world);
	assert_null(tail.reason);
	assert_true(tail.is_packets);
	assert_int_equal(tail.at, 20);
	assert_int_equal(tail.of, 22);
	assert_true(tail.all_share > 0.5539 && tail.all_share < 0.5540); // 1,120 of 2,022
	culprit.index = 0;
	culprit_tail(&tail, &culprit, &world);
	assert_int_equal(tail.at, 2);
}

static void has_slowest(const struct slowest *one, const char *name, uint64_t its, double all_share)
{
	char found[WORLD_CABLE_NAME_BYTES];
	culprit_name(&one->at, &world, found, sizeof(found));
	assert_string_equal(found, name);
	assert_int_equal(one->its, its);
	assert_true(one->all_share == all_share);
}

// Of steps: host 2 has 6 of 8, and a quarter of all 32; host 3 has 3. Of packets see below; all of
// them came in by the port of NIC 9 in plane 0, which carries most of all bytes.
static void the_slowest_were_where_most_are_beyond_chance(uint64_t (*counts)[192])
{
	static struct worst_step list[32];
	const struct worst_steps steps = {.list = list, .count = 32, .worst = 8};
	struct slowest_list found;
	for (uint32_t i = 0; i < 32; i++)
		list[i] = i < 6	 ? (struct worst_step){9, 4, 16 + i}
			: i < 8	 ? (struct worst_step){9, 6, 7}
			: i < 10 ? (struct worst_step){1, 5, 9}
				 : (struct worst_step){1, 0, 8};
	counts[3][2 * 9] = 27;
	world.links.counts[2 * 9].data_bytes = 137000;
	slowest_find(&found, &world, &steps);
	assert_null(found.reason);
	assert_int_equal(found.packets, 27);
	assert_int_equal(found.count, 4);
	has_slowest(&found.list[0], "t0 0 up 0 plane 0 - t1 0", 22, 800. / 200000);
	has_slowest(&found.list[1], "t1 0 plane 0", 19, 500. / 200000);
	has_slowest(&found.list[2], "nic 4", 6, 6. / 32);
	has_slowest(&found.list[3], "host 2", 6, 8. / 32);
	counts[3][2 * 9] = 0;
	world.links.counts[2 * 9].data_bytes = 1000;
}

#define TRUNK 32u // the first of plane 0, from T0 0 to T1 0

// 2,000 packets were timed: the slowest 20 of them, in whole levels, are the 27 from level 3 on.
static void a_trunk_and_its_switch_have_their_shares_of_late_packets(void **)
{
	static _Alignas(64) uint8_t room[(size_t)16 << 20];
	static struct delays delays;
	static uint64_t counts[TAIL_LEVELS][192];
	struct tail late = {.cables = 192,
			    .counts = &counts[0][0],
			    .packets = {[0] = 100, [3] = 15, [10] = 12}};
	struct world_delays all = {.whole = &delays, .tail_reason = "why"};
	struct culprit culprit = {.place = CULPRIT_LINK, .index = TRUNK};
	struct culprit_tail tail;
	struct arena other;
	build();
	arena_init(&other, room, sizeof(room));
	assert_int_equal(delays_init(&delays, &other, 2, 4, 3), 0);
	hist_add_many(&delays.one_way_ns[PAIR_ACROSS_T1], 5000, 2000);
	world.delays = &all;
	culprit_tail(&tail, &culprit, &world);
	assert_string_equal(tail.reason, "why");
	all.tail = &late;
	for (uint32_t i = 0; i < world.topology.link_count; i++)
		if (world.topology.links[i].tier == 0)
			world.links.counts[2 * i].data_bytes = 1000;
	world.links.counts[2 * TRUNK].data_bytes = 500;
	world.links.counts[2 * TRUNK + 1].data_bytes = 300;
	counts[0][2 * TRUNK] = 50;
	counts[3][2 * TRUNK] = 10;
	counts[10][2 * TRUNK] = 9;
	counts[10][2 * TRUNK + 1] = 3;
	culprit_tail(&tail, &culprit, &world);
	assert_null(tail.reason);
	assert_true(tail.is_packets);
	assert_int_equal(tail.of, 27);
	assert_int_equal(tail.at, 22);
	assert_true(tail.all_share == 800. / 64000);
	culprit.up = true; // it stands out on its way up alone
	culprit_tail(&tail, &culprit, &world);
	assert_int_equal(tail.at, 19);
	assert_true(tail.all_share == 500. / 64000);
	culprit = (struct culprit){.place = CULPRIT_SWITCH,
				   .index = world.topology.links[TRUNK].node_b -
					   world.topology.hosts};
	culprit_tail(&tail, &culprit, &world); // what comes into the T1, once
	assert_int_equal(tail.at, 19);
	assert_int_equal(tail.of, 27);
	the_slowest_were_where_most_are_beyond_chance(counts);
	memset(late.packets, 0, sizeof(late.packets));
	culprit_tail(&tail, &culprit, &world);
	assert_string_equal(tail.reason, "no packet took one and a quarter base round trips");
	hist_empty(&delays.one_way_ns[PAIR_ACROSS_T1]);
	culprit_tail(&tail, &culprit, &world);
	assert_string_equal(tail.reason, "fewer than 1,000 packets were timed");
}

// 400 steps of which 5 are the worst: three from NIC 5 to others, one inside its host, one of
// others; of the rest 95 are to NIC 5, 100 inside its host, and 200 of others.
static void a_culprit_has_its_share_of_the_worst_steps(void **)
{
	static struct worst_step list[400] = {
		{50, 5, 9}, {50, 4, 5}, {40, 5, 30}, {30, 5, 9}, {30, 1, 2}};
	const struct worst_steps steps = {.list = list, .count = 400, .worst = 5};
	const struct {
		enum culprit_place place;
		uint32_t index, worst_at, at;
	} shares[] = {
		{CULPRIT_LINK, 48 + 5, 3, 98}, // the NIC's link in plane 1
		{CULPRIT_NIC, 5, 3, 98},
		{CULPRIT_NIC, 4, 0, 0}, // inside the host no packet was sent
		{CULPRIT_HOST, 2, 4, 199},
		{CULPRIT_SWITCH, 0, 4,
		 199}, // T0 0 of plane 0: NICs 0 to 7, not what stays in a host
		{CULPRIT_SWITCH, 3, 1, 201}, // T0 3: NIC 30, and NICs 24 and 31 of the others
	};
	struct culprit_steps of;
	build();
	for (uint32_t i = 5; i < 400; i++)
		list[i] = i < 100 ? (struct worst_step){20, 17, 5}
			: i < 200 ? (struct worst_step){20, 4, 5}
				  : (struct worst_step){20, 24, i % 2 ? 31 : 7};
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		const struct culprit culprit = {.place = shares[i].place, .index = shares[i].index};
		culprit_steps(&of, &culprit, &world, &steps);
		assert_null(of.reason);
		assert_int_equal(of.worst_at, shares[i].worst_at);
		assert_int_equal(of.at, shares[i].at);
	}
	const struct culprit spread[] = {{.place = CULPRIT_PLANE, .index = 1},
					 {.place = CULPRIT_SWITCH, .index = 4}, // a T1
					 {.place = CULPRIT_LINK, .index = 32}}; // a trunk
	for (size_t i = 0; i < 3; i++) {
		culprit_steps(&of, &spread[i], &world, &steps);
		assert_string_equal(of.reason, "messages of all pairs are spread over it");
	}
	const struct worst_steps none = {.reason = "why"};
	const struct culprit culprit = {.place = CULPRIT_HOST};
	culprit_steps(&of, &culprit, &world, &none);
	assert_string_equal(of.reason, "why");
}

static void what_cannot_be_looked_for_has_a_reason(void **state)
{
	(void)state;
	build();
	world.fabric.ecn_on = false;
	world.transport.path_policy = PATH_SINGLE;
	memset(world.links.work, 0, world.topology.hosts * sizeof(*world.links.work));
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 0);
	assert_non_null(culprits.reason[CULPRIT_ECN]);
	assert_non_null(culprits.reason[CULPRIT_EVS]);
	assert_non_null(culprits.reason[CULPRIT_SILENT]);
	assert_non_null(culprits.reason[CULPRIT_LATE]);
	assert_null(culprits.reason[CULPRIT_LOSSY]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_stands_out_where_all_is_even),
		cmocka_unit_test(what_stands_out_is_put_down_to_the_smallest_place),
		cmocka_unit_test(two_places_are_two_culprits_the_costlier_first),
		cmocka_unit_test(a_way_and_what_it_lost_are_told),
		cmocka_unit_test(a_silent_port_is_silent_on_both_ways),
		cmocka_unit_test(a_port_with_light_is_not_blamed_for_one_without),
		cmocka_unit_test(a_host_is_late_against_the_others),
		cmocka_unit_test(a_host_with_few_paths_is_named),
		cmocka_unit_test(marks_are_held_against_the_depths_that_were_ordered),
		cmocka_unit_test(a_plane_has_its_share_of_the_slowest_packets),
		cmocka_unit_test(a_trunk_and_its_switch_have_their_shares_of_late_packets),
		cmocka_unit_test(a_culprit_has_its_share_of_the_worst_steps),
		cmocka_unit_test(what_cannot_be_looked_for_has_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
