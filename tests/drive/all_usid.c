// SPDX-License-Identifier: Apache-2.0
// Forwarding by SRv6 source routes, seen from outside: static routes of the switches, made here
// from nothing but the cables, and the bytes of the outer destination say which way each frame
// leaves, and that its first uSID is taken off there, or, when it was the last, that the segment of
// an SRH comes next. What has no route, or leads over a dead link, is counted, and EVs learn.

#include "../rig.h"

#define T0_NICS 4u
#define UP_PORTS 4u
#define FABRIC \
	"name: usid\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, planes: 2, link_rate: " \
	"100Gb/s, " \
	"forwarding: usid}\ntransport: {evs: 64, rto: 80us}\nlimits: {packets: 20000, memory: " \
	"256MiB}\n"

#define OUTER_TARGET_AT 38u // Ethernet 14, and 24 of the outer IPv6 header
#define SRH_AT 54u
#define INNER_BYTES 60u // IPv6, UDP, BTH: nothing that a switch changes
#define PLACES (1u << 20)

struct walk {
	const struct world *world;
	uint8_t *waiting; // [PLACES] frames that a switch has, by what must leave and where
	uint64_t passed, ended, outstanding, with_srh;
	uint64_t up[UP_PORTS]; // frames that left a T0 by this up port
};

// Behind the outer IPv6 header, or behind its SRH with one segment.
static size_t inner_of(const uint8_t *frame)
{
	return frame[20] == 43 ? SRH_AT + 24 : SRH_AT;
}

static uint64_t mix_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = rng_mix(hash ^ bytes[i]) + i;
	return hash;
}

// Where a frame with this destination, and this rest, must be on its way out of a switch.
static uint32_t place_of(const uint8_t *target, const uint8_t *frame, uint32_t node, uint32_t port)
{
	uint64_t hash = mix_bytes(rng_mix((uint64_t)node << 32 | port), target, 16);
	return (uint32_t)(mix_bytes(hash, frame + inner_of(frame), INNER_BYTES) >> 44);
}

static uint16_t first_usid(const uint8_t *frame)
{
	return (uint16_t)(frame[OUTER_TARGET_AT + 4] << 8 | frame[OUTER_TARGET_AT + 5]);
}

// The static routes: of a T0 to its NICs (0x800 and up) and its up ports, of a T1 to its T0s.
static uint32_t route_of(const struct topology *topology, uint32_t node, uint16_t usid)
{
	const struct switch_plan *plan = &topology->switches[node - topology->hosts];
	uint32_t number = usid & 0xfff;
	assert_int_equal(usid >> 12, plan->plane + 1);
	if (plan->tier == 1)
		return number;
	return number & 0x800 ? number & 0x7ff : T0_NICS + number;
}

// What the destination is to be when its first uSID was taken off.
static void shift(const uint8_t *frame, uint8_t *ret)
{
	static const uint8_t none[10];
	if (memcmp(frame + OUTER_TARGET_AT + 6, none, sizeof(none)) == 0) {
		assert_true(frame[20] == 43 && frame[SRH_AT + 3] == 1); // a segment is left
		memcpy(ret, frame + SRH_AT + 8, 16);
		return;
	}
	memcpy(ret, frame + OUTER_TARGET_AT, 4);
	memcpy(ret + 4, frame + OUTER_TARGET_AT + 6, 10);
	memset(ret + 14, 0, 2);
}

// A frame on a cable: it is what its switch had to send; then what the next one must do with it.
static void see(void *context, const struct cable_plan *cable, ps_t, uint8_t *frame, uint32_t)
{
	struct walk *walk = context;
	const struct topology *topology = &walk->world->topology;
	if (walk->world == NULL)
		return;
	if (cable->from_machine >= topology->hosts) {
		uint32_t place = place_of(frame + OUTER_TARGET_AT, frame, cable->from_machine,
					  cable->from_port);
		if (walk->waiting[place] == 0)
			fail_msg("a frame left by another way than its uSID says");
		walk->waiting[place]--;
		walk->outstanding--;
		walk->passed++;
		if (cable->from_port >= T0_NICS &&
		    topology->switches[cable->from_machine - topology->hosts].tier == 0)
			walk->up[cable->from_port - T0_NICS]++;
	}
	if (cable->to_machine < topology->hosts) { // the NIC's own
		assert_int_equal(first_usid(frame) & 0xfff, 0xfff);
		if (frame[20] == 43 && frame[SRH_AT + 3] != 0)
			fail_msg("a segment is left at the NIC");
		walk->with_srh += frame[20] == 43;
		walk->ended++;
		return;
	}
	uint8_t shifted[16];
	shift(frame, shifted);
	uint32_t port = route_of(topology, cable->to_machine, first_usid(frame));
	uint32_t place = place_of(shifted, frame, cable->to_machine, port);
	assert_true(walk->waiting[place] < UINT8_MAX);
	walk->waiting[place]++;
	walk->outstanding++;
}

// Runs with frames; each is followed from hop to hop.
static void walk_run(const char *yaml, struct rig *rig, struct walk *walk)
{
	memset(walk, 0, sizeof(*walk));
	walk->waiting = calloc(PLACES, 1);
	walk->world = &rig->world_instance.world;
	assert_non_null(walk->waiting);
	const struct sim_options options = {
		.ports = {.kind = PORTS_MEMORY, .watch = see, .watch_context = walk}};
	rig_run_with(rig, yaml, NULL, &options);
	assert_int_equal(rig->run.payload_bytes_wrong, 0);
	free(walk->waiting);
}

static void each_frame_leaves_by_its_first_usid_which_is_taken_off(void **)
{
	static struct rig rig;
	struct walk walk;
	walk_run(FABRIC "traffic: {kind: permutation, bytes: 300kB}\n", &rig, &walk);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(walk.passed > 3000);
	assert_int_equal(walk.ended, rig.run.delivered);
	assert_int_equal(walk.outstanding, 0);
	world_instance_free(&rig.world_instance);
}

static void so_do_trimmed_ones_and_answers(void **)
{
	static struct rig rig;
	struct walk walk;
	walk_run(FABRIC
		 "traffic: {kind: incast, senders: 12, bytes: 100kB}\nqueue: {bytes: 20kB}\n",
		 &rig, &walk);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(rig.outcome->fabric.trimmed > 10);
	assert_int_equal(walk.ended, rig.run.delivered);
	assert_int_equal(walk.outstanding, 0);
	assert_int_equal(walk.with_srh, 0);
	world_instance_free(&rig.world_instance);
}

static void a_segment_follows_the_last_usid_of_the_switches(void **)
{
	static struct rig rig;
	struct walk walk;
	walk_run(FABRIC "wire: {srh: true}\n"
			"traffic: {kind: incast, senders: 12, bytes: 100kB}\n"
			"queue: {bytes: 20kB}\n",
		 &rig, &walk);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(rig.outcome->fabric.trimmed > 10);
	assert_int_equal(walk.ended, rig.run.delivered);
	assert_int_equal(walk.outstanding, 0);
	assert_int_equal(walk.with_srh, walk.ended);
	world_instance_free(&rig.world_instance);
}

// What virtual time charges is what the frames of a run with frames take on the line.
struct sizes {
	const struct world *world;
	uint64_t writes, sacks;
};

static void weigh(void *context, const struct cable_plan *, ps_t, uint8_t *frame, uint32_t bytes)
{
	struct sizes *sizes = context;
	const uint8_t *udp = frame + inner_of(frame) + 40;
	const struct transport_config *transport = &sizes->world->transport;
	uint32_t on_line = bytes + 24; // FCS 4, preamble and gap 20
	if (udp[8] == PACKET_WRITE_FIRST || udp[8] == PACKET_WRITE_MIDDLE) {
		assert_int_equal(on_line, transport->header_bytes + transport->payload_bytes);
		sizes->writes++;
	} else if (udp[8] == PACKET_SACK) {
		assert_int_equal(on_line, transport->control_bytes);
		sizes->sacks++;
	}
}

static void an_srh_is_in_the_sizes_that_are_charged(void **)
{
	// the default has no TSETH, 4 bytes, which frames have
	static const struct {
		const char *wire;
		uint32_t header, control;
	} cases[] = {{"transport: {header: 166B}\n", 166, 178},
		     {"wire: {srh: true}\ntransport: {header: 190B}\n", 190, 202}};
	for (size_t i = 0; i < 2; i++) {
		static struct rig rig;
		struct sizes sizes = {.world = &rig.world_instance.world};
		char yaml[512];
		const struct sim_options options = {
			.ports = {.kind = PORTS_MEMORY, .watch = weigh, .watch_context = &sizes}};
		snprintf(yaml, sizeof(yaml),
			 "fabric: {nics: 8, nics_per_t0: 4, t1_count: 4, forwarding: usid}\n%s"
			 "traffic: {kind: permutation, bytes: 100kB}\n",
			 cases[i].wire);
		rig_run_with(&rig, yaml, NULL, &options);
		assert_int_equal(rig.run.end, RUN_DONE);
		assert_int_equal(rig.scenario.transport.header_bytes, cases[i].header);
		assert_int_equal(rig.scenario.transport.control_bytes, cases[i].control);
		assert_true(sizes.writes > 100 && sizes.sacks > 8);
		world_instance_free(&rig.world_instance);
	}
}

// Every T1 gets its part: the draw inside the fields reaches all up ports.
static void source_routes_use_all_trunks_about_alike(void **)
{
	static struct rig rig;
	struct walk walk;
	walk_run(FABRIC "traffic: {kind: permutation, bytes: 1MB}\ncc: {algorithm: fixed}\n", &rig,
		 &walk);
	assert_int_equal(rig.run.end, RUN_DONE);
	uint64_t mean = (walk.up[0] + walk.up[1] + walk.up[2] + walk.up[3]) / UP_PORTS;
	assert_true(mean > 500);
	// 16 NICs with 64 EVs each: 1,024 draws of one in four, sd of each 5 % of its mean
	for (uint32_t i = 0; i < UP_PORTS; i++)
		assert_in_range(walk.up[i], mean * 80 / 100, mean * 120 / 100);
	assert_int_equal(rig.outcome->fabric.dropped[DROP_NO_ROUTE], 0);
	world_instance_free(&rig.world_instance);
}

// Up port 9 of 4 is nowhere: its EV is lost each time, until it is held bad.
static void a_usid_without_a_route_is_dropped_and_counted_and_its_ev_retired(void **)
{
	static struct rig rig;
	rig_run(&rig,
		"fabric: {nics: 16, nics_per_t0: 4, t1_count: 4, link_rate: 100Gb/s, forwarding: "
		"usid}\ntransport: {evs: 8, rto: 80us, ev_profile: explicit, ev_values: [{ev: 1}, "
		"{ev: 2097152}, {ev: 4194304}, {ev: 6291456}, {ev: 18874368}, {ev: 2097153}, {ev: "
		"4194305}, {ev: 6291457}]}\n" // 18874368 is 9 << 21
		"traffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 1MB}]}\n",
		NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	uint64_t lost = rig.outcome->fabric.dropped[DROP_NO_ROUTE];
	assert_true(lost > 0);
	assert_true(rig.outcome->transport.paths_retired >= 1);
	assert_true(lost * 8 < rig.run.data_packets); // else it was an eighth of them
	world_instance_free(&rig.world_instance);
}

static void evs_learn_that_a_link_of_their_route_is_down(void **)
{
	static struct rig rig;
	rig_run(&rig,
		FABRIC "traffic: {kind: flows, flows: [{from: 0, to: 15, bytes: 4MB}]}\n"
		       "faults: [{kind: link_down, at: {t0: 0, up: 2, plane: 1}, from: 20us}]\n",
		NULL);
	assert_int_equal(rig.run.end, RUN_DONE);
	assert_true(rig.run.dropped[DROP_LINK_DOWN] > 0);
	assert_true(rig.outcome->transport.paths_retired > 0);
	// an eighth of the data would go there, and be sent again (SACKs are lost there, too)
	uint64_t again = 0;
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		again += rig.outcome->transport.rtx[reason];
	assert_true(again > 0 && again * 16 < rig.run.data_packets);
	world_instance_free(&rig.world_instance);
}
