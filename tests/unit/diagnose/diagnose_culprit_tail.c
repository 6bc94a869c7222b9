// SPDX-License-Identifier: Apache-2.0
// Tests of what culprits explain: their shares of the slowest packets and of the worst steps.

#include "diagnose_culprit_rig.h"

#include "culprit_tail.h"
#include "slowest.h"

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
		enum culprit_location place;
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
