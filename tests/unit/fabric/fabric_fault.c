// SPDX-License-Identifier: Apache-2.0
// Places of faults: which links they hit, and which places there are.

#include "fabric_rig.h"

#include <errno.h>

static struct topology topology;

// How many links a fault hits; the last of them in ret_link.
static uint32_t hits(const struct fault *fault, const struct link_plan **ret_link)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < topology.link_count; i++) {
		if (link_location_hits(&fault->at, &topology, i)) {
			*ret_link = &topology.links[i];
			count++;
		}
	}
	return count;
}

static struct fault fault_at(enum link_where where)
{
	return (struct fault){.kind = FAULT_LINK_DOWN, .at.where = where, .until_ps = PS_NEVER};
}

static void a_nic_fault_hits_its_one_cable(void **)
{
	const struct link_plan *link = NULL;
	struct fault fault = fault_at(LINK_AT_NIC);
	fault.at.index = 13; // host 3, its NIC 1
	fault.at.plane = 1;
	assert_int_equal(hits(&fault, &link), 1);
	assert_int_equal(link->node_a, 3);
	assert_int_equal(link->port_a, 1 * 2 + 1);
	assert_int_equal(link->plane, 1);
	assert_int_equal(link->port_b, 5);
}

static void a_trunk_fault_hits_one_up_port(void **)
{
	for (uint32_t plane = 0; plane < 2; plane++) {
		for (uint32_t port = 0; port < 8; port++) {
			const struct link_plan *link = NULL;
			struct fault fault = fault_at(LINK_AT_TRUNK);
			fault.at.index = 2;
			fault.at.plane = plane;
			fault.at.port = port;
			assert_int_equal(hits(&fault, &link), 1);
			assert_int_equal(link->tier, 1);
			assert_int_equal(link->port_a, 8 + port);
			assert_int_equal(link->node_a, 8 + plane * 8 + 2);
			assert_int_equal(link->node_b, 8 + plane * 8 + 4 + port / 2);
		}
	}
}

static void plane_and_all_hit_every_cable_there(void **)
{
	const struct link_plan *link = NULL;
	struct fault fault = fault_at(LINK_AT_PLANE);
	fault.at.plane = 1;
	assert_int_equal(hits(&fault, &link), topology.link_count / 2);
	assert_int_equal(link->plane, 1);
	fault = fault_at(LINK_AT_ALL);
	assert_int_equal(hits(&fault, &link), topology.link_count);
}

// 8 NICs below a T0 with 8 up ports; 4 T0 with 2 links each to a T1; 2 planes.
static void a_whole_nic_or_switch_has_all_its_cables(void **)
{
	const struct link_plan *link = NULL;
	struct fault fault = fault_at(LINK_AT_NIC_WHOLE);
	fault.at.index = 13;
	assert_int_equal(hits(&fault, &link), 2);
	assert_int_equal(link->node_a, 3);
	fault = fault_at(LINK_AT_T0);
	fault.at.index = 2;
	fault.at.plane = 1;
	assert_int_equal(hits(&fault, &link), 8 + 8);
	assert_int_equal(link->plane, 1);
	assert_true(link->node_a == 8 + 8 + 2 || link->node_b == 8 + 8 + 2);
	fault.at.where = LINK_AT_T1;
	assert_int_equal(hits(&fault, &link), 4 * 2);
	assert_int_equal(link->tier, 1);
	assert_int_equal(link->node_b, 8 + 8 + 4 + 2);
}

static void assert_check(struct fault fault, int expected)
{
	struct refusal refusal = {0};
	assert_int_equal(fault_check(&fault, &topology, &refusal), expected);
	assert_int_equal(refusal.text[0] != '\0', expected != 0);
}

static void a_bundle_is_every_cable_between_a_t0_and_a_t1(void **)
{
	for (uint32_t t1 = 0; t1 < 4; t1++) {
		const struct link_plan *link = NULL;
		struct fault fault = fault_at(LINK_AT_BUNDLE);
		fault.at.index = 3;
		fault.at.plane = 1;
		fault.at.port = t1;
		assert_check(fault, 0);
		assert_int_equal(hits(&fault, &link), 2);
		assert_int_equal(link->node_a, 8 + 8 + 3);
		assert_int_equal(link->node_b, 8 + 8 + 4 + t1);
	}
	struct fault fault = fault_at(LINK_AT_BUNDLE);
	fault.at.port = 4;
	assert_check(fault, -EINVAL);
	fault.at.port = 0;
	fault.at.index = 4;
	assert_check(fault, -EINVAL);
}

// The last place of each kind exists, the one after it does not.
static void places_end_where_the_topology_ends(void **)
{
	struct fault fault = fault_at(LINK_AT_NIC);
	fault.at.index = 31;
	fault.at.plane = 1;
	assert_check(fault, 0);
	fault.at.index = 32;
	assert_check(fault, -EINVAL);
	fault.at.index = 0;
	fault.at.plane = 2;
	assert_check(fault, -EINVAL);
	fault.at.where = LINK_AT_ALL;
	assert_check(fault, 0);
	fault.at.where = LINK_AT_PLANE;
	assert_check(fault, -EINVAL);
	fault = fault_at(LINK_AT_TRUNK);
	fault.at.index = 3;
	fault.at.port = 7;
	assert_check(fault, 0);
	fault.at.port = 8;
	assert_check(fault, -EINVAL);
	fault.at.port = 0;
	fault.at.index = 4;
	assert_check(fault, -EINVAL);
	fault = fault_at(LINK_AT_NIC_WHOLE);
	fault.at.index = 31;
	fault.at.plane = 2; // has no meaning there
	assert_check(fault, 0);
	fault.at.index = 32;
	assert_check(fault, -EINVAL);
	for (int i = 0; i < 2; i++) { // there are 4 T0 and 4 T1
		fault = fault_at(i == 0 ? LINK_AT_T0 : LINK_AT_T1);
		fault.at.index = 3;
		fault.at.plane = 1;
		assert_check(fault, 0);
		fault.at.index = 4;
		assert_check(fault, -EINVAL);
		fault.at.index = 0;
		fault.at.plane = 2;
		assert_check(fault, -EINVAL);
	}
	fault.at.where = (enum link_where)9;
	assert_check(fault, -EINVAL);
}

static void times_and_rates_are_checked(void **)
{
	struct fault fault = fault_at(LINK_AT_ALL);
	fault.from_ps = 5;
	fault.until_ps = 5;
	assert_check(fault, -EINVAL);
	fault.until_ps = 6;
	assert_check(fault, 0);
	fault.from_ps = -1;
	assert_check(fault, -EINVAL);
	fault = fault_at(LINK_AT_ALL);
	fault.kind = FAULT_LOSS;
	fault.share_ppb = 1000000000;
	assert_check(fault, 0);
	fault.share_ppb++;
	assert_check(fault, -EINVAL);
	fault.kind = FAULT_FLAP;
	assert_check(fault, -EINVAL);
	fault.down_ps = 1;
	assert_check(fault, -EINVAL);
	fault.up_ps = 1;
	assert_check(fault, 0);
	fault.kind = FAULT_CORRUPT; // its share is still too large
	assert_check(fault, -EINVAL);
	fault.share_ppb--;
	assert_check(fault, 0);
	fault.kind = FAULT_REORDER;
	assert_check(fault, -EINVAL);
	fault.delay_ps = 1;
	assert_check(fault, 0);
	fault.kind = FAULT_KIND_COUNT;
	assert_check(fault, -EINVAL);
}

static void a_burst_has_room_between_its_losses(void **)
{
	struct fault fault = fault_at(LINK_AT_ALL);
	fault.kind = FAULT_BURST;
	assert_check(fault, -EINVAL); // neither a share nor chances
	fault.burst_packets = 3;
	fault.share_ppb = 750000000; // three lost, one not
	assert_check(fault, 0);
	fault.share_ppb++;
	assert_check(fault, -EINVAL);
	fault.share_ppb = 0;
	assert_check(fault, -EINVAL);
	fault.burst_packets = 0;
	fault.enter_ppb = 1;
	assert_check(fault, -EINVAL);
	fault.leave_ppb = 1000000000;
	assert_check(fault, 0);
	fault.bad_loss_ppb = 1000000001;
	assert_check(fault, -EINVAL);
}

static void a_host_is_hit_as_a_whole(void **)
{
	struct fault fault = fault_at(LINK_AT_HOST);
	assert_check(fault, 0); // all its cables may go down
	fault.at.index = topology.hosts - 1;
	for (uint32_t i = 0, hits = 0; i < topology.link_count; i++) {
		hits += link_location_hits(&fault.at, &topology, i);
		if (i + 1 == topology.link_count)
			assert_int_equal(hits, topology.nics_per_host * topology.planes);
	}
	fault.at.index++;
	assert_check(fault, -EINVAL);
	fault.at.index = 0;
	fault.kind = FAULT_STALL;
	fault.until_ps = PS_NEVER;
	assert_check(fault, -EINVAL); // it ends
	fault.until_ps = PS_PER_US;
	assert_check(fault, 0);
	fault.direction = FAULT_UP;
	assert_check(fault, -EINVAL);
	fault = fault_at(LINK_AT_NIC);
	fault.kind = FAULT_STRAGGLER;
	fault.rate_ppb = 500000000;
	assert_check(fault, -EINVAL);
	fault.at.where = LINK_AT_HOST;
	assert_check(fault, 0);
	fault.rate_ppb = 0;
	assert_check(fault, -EINVAL);
}

static int set_up_all(void **state)
{
	static struct rig rig;
	struct fabric_config config = rig_clos();
	rig_open(&rig);
	*state = &rig;
	return topology_build(&topology, &rig.arena, &config, 1, &rig.refusal);
}

static int tear_down_all(void **state)
{
	rig_close(*state);
	return 0;
}
