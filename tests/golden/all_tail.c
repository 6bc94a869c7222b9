// SPDX-License-Identifier: Apache-2.0
// Late packets are put down to the cables that they went by: where every packet is late, the count
// of each cable is that of the packets that entered it, of which switches, ports and hashes know
// nothing of each other. In every kind of network.

#include "../rig.h"

#include <weft/world/world_delays.h>

static struct rig rig;

#define WIRE_BYTES 4150u // of every packet: payload 4086 and header 64

// A line of 2 Gb/s takes 16.6 us for a packet, so that each is late.
static const char head[] =
	"name: tail\nwatch: {delays: true, links: true}\n"
	"queue: {bytes: 4MB, ecn: false, trim_bytes: 64B}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 64, rto: 50ms}\n"
	"cc: {algorithm: fixed, window: 100MB}\n"
	"traffic: {kind: permutation, bytes: 20430B}\n"
	"faults: [{kind: slow, at: all, rate: 2%%}]\n"
	"fabric: {link_rate: 100Gb/s, nics: %s}\n";

static const struct kind {
	const char *name, *fabric;
} kinds[] = {
	{"clos", "64, topology: clos, nics_per_t0: 8, t1_count: 4, planes: 2"},
	{"clos with bundles",
	 "32, topology: clos, nics_per_t0: 8, t1_count: 2, bundle: 3, planes: 4"},
	{"source routes",
	 "32, topology: clos, nics_per_t0: 8, t1_count: 4, planes: 2, forwarding: usid"},
	{"hosts of four", "64, nics_per_host: 4, topology: clos, nics_per_t0: 16, t1_count: 8"},
	{"fat tree", "64, topology: fat-tree, tor_nics: 4, pod_tors: 4, pod_aggs: 4, cores: 8"},
	{"rail", "32, topology: rail, nics_per_host: 4, t1_count: 3"},
	{"torus", "27, topology: torus, nics_per_t0: 1, torus_x: 3, torus_y: 3, torus_z: 3"},
	{"graph",
	 "4, topology: graph, nodes: [{name: a, nics: 2}, {name: b}, {name: c}, {name: d, nics: "
	 "2}], "
	 "links: [{from: a, to: b}, {from: a, to: c}, {from: b, to: d}, {from: c, to: d}]"},
	{"dumbbell", "16, topology: dumbbell, bundle: 5"},
};

static uint64_t counted(const struct tail *tail, uint32_t cable)
{
	uint64_t sum = 0;
	for (uint32_t level = 0; level < TAIL_LEVELS; level++)
		sum += tail->counts[(size_t)level * tail->cables + cable];
	return sum;
}

static void each_way_is_the_one_that_was_taken(void **)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char yaml[1024];
		uint64_t late = 0, timed = 0, used = 0;
		snprintf(yaml, sizeof(yaml), head, kinds[i].fabric);
		rig_run(&rig, yaml, NULL);
		assert_int_equal(rig.run.end, RUN_DONE);
		const struct world *world = &rig.world_instance.world;
		const struct tail *tail = world->delays->tail;
		assert_non_null(tail);
		for (uint32_t level = 0; level < TAIL_LEVELS; level++)
			late += tail->packets[level];
		for (int pair = 0; pair < PAIR_CLASS_COUNT; pair++)
			timed += world->delays->whole->one_way_ns[pair].total;
		if (late != timed || timed < 5 * world->topology.nics)
			fail_msg("%s: %lu of %lu packets are late", kinds[i].name, late, timed);
		for (uint32_t cable = 0; cable < world->cable_count; cable++) {
			uint64_t went = world->links.counts[cable].data_bytes / WIRE_BYTES;
			used += went > 0;
			if (went != counted(tail, cable))
				fail_msg("%s: %lu packets went by cable %u, of another way are %lu",
					 kinds[i].name, went, cable, counted(tail, cable));
		}
		assert_true(used >= 2 * world->topology.nics);
		world_instance_free(&rig.world_instance);
	}
}

static void switches_that_look_at_queues_give_a_reason(void **)
{
	char yaml[1024];
	const char *const sets[] = {"fabric.spray=adaptive", NULL};
	snprintf(yaml, sizeof(yaml), head, kinds[0].fabric);
	rig_run(&rig, yaml, sets);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_null(rig.world_instance.world.delays->tail);
	assert_non_null(rig.world_instance.world.delays->tail_reason);
	world_instance_free(&rig.world_instance);
}
