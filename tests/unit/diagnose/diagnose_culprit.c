// SPDX-License-Identifier: Apache-2.0
// Tests of naming culprits: counters of links, hosts and queues are written by hand into a world
// that never runs, and the right place must be named.

#include "diagnose_culprit_rig.h"

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

static void be_cut(struct link_count *count)
{
	be_down(count);
	count->lost_down = 500;
}

static void be_double(struct link_count *count)
{
	count->doubled = 3;
	count->first_odd_ps = 2 * PS_PER_US;
}

static void hold_back(struct link_count *count)
{
	count->held_back = 20;
	count->held_max_ps = 5 * PS_PER_US;
	count->first_odd_ps = 4 * PS_PER_US;
}

// Harms both ways of every link at `place`. Returns how many links.
static uint32_t harm(struct link_location place, harm_fn *do_harm)
{
	uint32_t links = 0;
	for (uint32_t i = 0; i < world.topology.link_count; i++) {
		if (!link_location_hits(&place, &world.topology, i))
			continue;
		do_harm(&world.links.counts[2 * i]);
		do_harm(&world.links.counts[2 * i + 1]);
		links++;
	}
	return links;
}

static void nobody_stands_out_where_all_is_even(void **)
{
	build();
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 0);
	assert_int_equal(culprits.links, 96);
	assert_int_equal(culprits.nics, 32);
	assert_int_equal(culprits.hosts, 16);
}

static void what_stands_out_is_put_down_to_the_smallest_place(void **)
{
	static const struct {
		struct link_location place;
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
	harm_fn *const harms[] = {be_slow, be_lossy, be_down, be_double, hold_back};
	const enum culprit_finding findings[] = {CULPRIT_SLOW, CULPRIT_LOSSY, CULPRIT_DOWN,
						 CULPRIT_TWICE, CULPRIT_ORDER};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		for (size_t h = 0; h < 5; h++) {
			build();
			uint32_t links = harm(places[i].place, harms[h]);
			struct culprits culprits = find();
			assert_int_equal(culprits.count, 1);
			is_named(&culprits, 0, findings[h], places[i].name);
			assert_int_equal(culprits.list[0].links, links);
		}
	}
}

static void two_places_are_two_culprits_the_costlier_first(void **)
{
	build();
	harm((struct link_location){.where = LINK_AT_NIC, .index = 1, .plane = 0}, be_lossy);
	harm((struct link_location){.where = LINK_AT_T1, .index = 2, .plane = 1}, be_lossy);
	harm((struct link_location){.where = LINK_AT_NIC, .index = 9, .plane = 1}, be_slow);
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 3);
	is_named(&culprits, 0, CULPRIT_LOSSY, "t1 2 plane 1");
	is_named(&culprits, 1, CULPRIT_LOSSY, "nic 1 plane 0 - t0 0");
	is_named(&culprits, 2, CULPRIT_SLOW, "nic 9 plane 1 - t0 1");
	assert_true(culprits.list[2].measured == 0.5);
}

static void a_way_and_what_it_lost_are_told(void **)
{
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

static void copies_and_what_was_held_back_are_told(void **)
{
	char text[160];
	build();
	be_double(&world.links.counts[2 * 70]);
	hold_back(&world.links.counts[2 * 40]);
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 2);
	culprit_evidence(&culprits.list[0], text, sizeof(text));
	assert_string_equal(text,
			    "delivered twice 0.300 % of the packets sent into it (3 of 1,000), "
			    "from 2.000 us on");
	culprit_evidence(&culprits.list[1], text, sizeof(text));
	assert_string_equal(text,
			    "held back 2.000 % of the packets sent into it (20 of 1,000), up to "
			    "5.000 us, from 4.000 us on");
}

// A host takes at once what comes; a wait of less than a microsecond is none.
static void a_host_at_which_packets_waited_stalled(void **)
{
	char text[160];
	build();
	world.links.work[7].waited = 1;
	world.links.work[7].waited_max_ps = PS_PER_US - 1;
	assert_int_equal(find().count, 0);
	world.links.work[7].waited = 1200;
	world.links.work[7].waited_max_ps = 30 * PS_PER_US;
	world.links.work[7].waited_from_ps = 20 * PS_PER_US;
	world.links.work[7].taken_ps = 2000; // and so its work was late
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 2);
	is_named(&culprits, 0, CULPRIT_STALLED, "host 7");
	is_named(&culprits, 1, CULPRIT_LATE, "host 7");
	culprit_evidence(&culprits.list[0], text, sizeof(text));
	assert_string_equal(text,
			    "took nothing for a while: 1,200 packets waited at its ports, up to "
			    "30.00 us, from 20.00 us on");
}

// A port of a NIC that carries nothing on either way; on one way alone it may have nobody to talk
// to.
static void a_silent_port_is_silent_on_both_ways(void **)
{
	build();
	uint32_t links = 0;
	for (uint32_t i = 0; i < world.topology.link_count; i++) {
		const struct link_location plane = {.where = LINK_AT_PLANE, .plane = 0};
		if (!link_location_hits(&plane, &world.topology, i))
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
	world.links.was_down[20 * 2 + 1] = true;
	culprits = find();
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_SILENT, "nic 20 plane 1 - t0 2");
	culprit_evidence(&culprits.list[0], text, sizeof(text));
	assert_string_equal(text,
			    "carries nothing, no light: at which end, or on the way, is not known");
	world.links.was_down[9 * 2] = true; // another port of the NIC
	assert_int_equal(find().count, 1);
	world.links.was_down[9 * 2 + 1] = true;
	assert_int_equal(find().count, 2);
	world.transport.port_status = false; // NICs do not look
	memset(world.links.was_down, 0, 64);
	culprits = find();
	assert_int_equal(culprits.count, 2);
	culprit_evidence(&culprits.list[1], text, sizeof(text));
	assert_string_equal(
		text, "carries nothing, other ports of its NIC do: at which end is not known");
}

static void a_host_is_late_against_the_others(void **)
{
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

static void a_host_with_few_paths_is_named(void **)
{
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

static void take_few_paths(uint32_t nic)
{
	for (uint32_t port = 2 * nic; port < 2 * (nic + 1); port++)
		for (uint32_t cell = 0; cell < LINK_SPREAD_CELLS; cell++)
			world.links.spread[port][cell] = cell < 4 ? 200 : 0;
}

// Tornado: NIC 16 more, or less, is whom a NIC talks to.
static void few_paths_that_loss_explains_are_not_named(void **)
{
	static const uint32_t peers[] = {4, 20};
	for (size_t i = 0; i < sizeof(peers) / sizeof(*peers); i++) {
		build();
		take_few_paths(peers[i]);
		take_few_paths(9); // talks to neither
		struct culprits culprits = find();
		assert_int_equal(culprits.count, 2);
		harm((struct link_location){.where = LINK_AT_NIC, .index = 4, .plane = 0}, be_cut);
		culprits = find();
		assert_int_equal(culprits.count, 2);
		is_named(&culprits, 0, CULPRIT_DOWN, "nic 4 plane 0 - t0 0");
		is_named(&culprits, 1, CULPRIT_EVS, "nic 9");
	}
}

// Marks of the first port of a T0.
static void marks_are_held_against_the_depths_that_were_ordered(void **)
{
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

// Where no mark was due, that none came says nothing.
static void a_switch_that_never_marks_is_judged_by_what_was_due(void **)
{
	build();
	struct queue_watch *watch = switch_port_watch(world.switches[2], 8);
	watch->due = 20 * DUE_MARK_ONE; // 4.5 sigmas are 20.1
	struct culprits culprits = find();
	assert_int_equal(culprits.count, 0);
	assert_int_equal(culprits.switches, world.topology.switch_count);
	assert_int_equal(culprits.switches_judged, 0);
	assert_string_equal(culprits.reason[CULPRIT_ECN],
			    "cannot be judged at this load: hardly a mark was due");
	watch->due = 21 * DUE_MARK_ONE;
	culprits = find();
	assert_int_equal(culprits.switches_judged, 1);
	assert_null(culprits.reason[CULPRIT_ECN]);
	assert_int_equal(culprits.count, 1);
	is_named(&culprits, 0, CULPRIT_ECN, "t0 2 plane 0");
}

static void what_cannot_be_looked_for_has_a_reason(void **)
{
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
