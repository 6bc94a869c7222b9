// SPDX-License-Identifier: Apache-2.0
// A whole switch: exact times through its ports, the same departures for every length of window, an
// independent oracle for order and time, and that no packet is lost or made. The switch is T0 0 of
// plane 0: NICs 0 to 7 at ports 0 to 7, eight up ports behind them.

#include "fabric_rig.h"

#include "switch/port.h"
#include "topology/route.h"
#include <weft/core/order.h>

#define PORTS 16u
#define ARRIVALS_MAX 12000u

struct world {
	struct rig rig;
	struct fabric_config config;
	struct topology topology;
	struct switch_ *machine;
	struct arrival *arrivals; // [count], by time, then in-port
	uint32_t count, given;
	struct departure *sent; // what left, all windows together
	uint32_t sent_count;
};

static void world_open(struct world *world, struct fabric_config config)
{
	memset(world, 0, sizeof *world);
	rig_open(&world->rig);
	world->config = config;
	assert_int_equal(topology_build(&world->topology, &world->rig.arena, &config, 42,
					&world->rig.refusal),
			 0);
	assert_int_equal(switch_create(&world->machine, &world->rig.arena, &world->topology,
				       &config, 0, 42, &world->rig.refusal),
			 0);
	world->arrivals = calloc(ARRIVALS_MAX, sizeof *world->arrivals);
	world->sent = calloc(ARRIVALS_MAX, sizeof *world->sent);
}

static void world_close(struct world *world)
{
	free(world->sent);
	free(world->arrivals);
	rig_close(&world->rig);
}

// Adds an arrival; calls must be in order of time and in-port.
static uint32_t arrive(struct world *world, ps_t at, uint32_t port, uint32_t packet)
{
	assert_in_range(world->count, 0, ARRIVALS_MAX - 1);
	world->arrivals[world->count++] = (struct arrival){at, packet, port};
	return packet;
}

// Lays the arrivals before `until` out as an inbox, runs, collects the departures.
static ps_t run_until(struct world *world, ps_t until)
{
	static struct arrival sorted[ARRIVALS_MAX], scratch[2][ARRIVALS_MAX];
	struct arrival_run runs[PORTS];
	struct inbox in = {.runs = runs, .scratch = {scratch[0], scratch[1]}};
	uint32_t end = world->given, at = 0;
	while (end < world->count && world->arrivals[end].at < until)
		end++;
	for (uint32_t port = 0; port < PORTS; port++) {
		uint32_t first = at;
		for (uint32_t i = world->given; i < end; i++)
			if (world->arrivals[i].port == port)
				sorted[at++] = world->arrivals[i];
		if (at > first)
			runs[in.run_count++] = (struct arrival_run){&sorted[first], at - first};
	}
	in.arrival_count = end - world->given;
	world->given = end;
	ps_t next = switch_run(world->machine, &in, until, &world->rig.out);
	for (uint32_t i = 0; i < world->rig.out.count; i++) {
		assert_true(world->rig.departures[i].start < until);
		world->sent[world->sent_count++] = world->rig.departures[i];
	}
	world->rig.out.count = 0;
	assert_int_equal(world->rig.out.limit, OUTBOX_WITHIN);
	return next;
}

static int by_start(const void *a, const void *b)
{
	const struct departure *left = a, *right = b;
	return ORDER(left->start, right->start) ?: (int)left->port - (int)right->port;
}

static uint32_t data_to(struct world *world, uint32_t target)
{
	return rig_packet(&world->rig, PACKET_CLASS_DATA, 4150, PACKET_ECT | PACKET_TRIMMABLE,
			  target);
}

static void a_packet_passes_an_idle_switch_at_once(void **)
{
	struct world world;
	world_open(&world, rig_clos());
	uint32_t down = arrive(&world, 1000, 8, data_to(&world, 3));
	uint32_t up = arrive(&world, 1000, 9, data_to(&world, 12));
	assert_int_equal(run_until(&world, PS_PER_US), PS_NEVER);
	assert_int_equal(world.sent_count, 2);
	assert_int_equal(world.sent[0].packet, down);
	assert_int_equal(world.sent[0].port, 3);
	assert_int_equal(world.sent[0].start, 1000);
	assert_int_equal(world.sent[0].bytes, 4150);
	assert_int_equal(world.sent[1].packet, up);
	assert_in_range(world.sent[1].port, 8, 15);
	assert_int_equal(world.sent[1].start, 1000);
	assert_int_equal(packet_at(&world.rig.packets, up)->hop, 1);
	assert_int_equal(switch_held(world.machine), 0);
	world_close(&world);
}

static void packets_to_one_nic_follow_back_to_back(void **)
{
	struct world world;
	uint32_t packets[5];
	world_open(&world, rig_clos());
	for (uint32_t i = 0; i < 5; i++)
		packets[i] = arrive(&world, 1000, 8 + i, data_to(&world, 3));
	assert_int_equal(run_until(&world, 400 * PS_PER_NS), 1000 + 2 * 332000);
	assert_int_equal(switch_held(world.machine), 3);
	assert_int_equal(run_until(&world, 400 * PS_PER_NS), 1000 + 2 * 332000); // nothing to do
	assert_int_equal(world.sent_count, 2);
	assert_int_equal(run_until(&world, PS_PER_MS), PS_NEVER);
	assert_int_equal(world.sent_count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(world.sent[i].packet, packets[i]);
		assert_int_equal(world.sent[i].start, 1000 + i * 332000);
	}
	world_close(&world);
}

static void a_packet_without_a_way_is_counted_and_given_back(void **)
{
	struct world world;
	struct fabric_config config = rig_clos();
	config.nics = 8;
	config.t1_count = 0;
	world_open(&world, config);
	uint32_t taken = packet_pool_taken(&world.rig.packets);
	arrive(&world, 5, 0, data_to(&world, 8));
	assert_int_equal(run_until(&world, PS_PER_US), PS_NEVER);
	assert_int_equal(switch_counters(world.machine)->dropped[DROP_NO_ROUTE], 1);
	assert_int_equal(packet_pool_taken(&world.rig.packets), taken);
	assert_int_equal(world.sent_count, 0);
	world_close(&world);
}

static uint32_t marks_of_incast(bool ecn_on, bool last_hop, uint32_t target)
{
	struct world world;
	struct fabric_config config = rig_clos();
	config.ecn_on = ecn_on;
	config.ecn_last_hop = last_hop;
	config.t1_count = config.bundle = 1;
	config.ecn_low_bytes = config.ecn_high_bytes = 4150;
	world_open(&world, config);
	for (uint32_t i = 0; i < 6; i++)
		arrive(&world, 0, i, data_to(&world, target));
	run_until(&world, PS_PER_MS);
	uint32_t marks = (uint32_t)switch_counters(world.machine)->marked;
	assert_int_equal(world.sent_count, 6);
	world_close(&world);
	return marks;
}

// Six at once: five wait; the step at one packet marks those that leave 4, 3 and 2 behind.
static void marking_at_the_last_hop_is_a_choice(void **)
{
	assert_int_equal(marks_of_incast(true, false, 7), 0);
	assert_int_equal(marks_of_incast(true, true, 7), 3);
	assert_int_equal(marks_of_incast(true, false, 20), 3);
	assert_int_equal(marks_of_incast(false, true, 7), 0);
	assert_int_equal(marks_of_incast(false, true, 20), 0);
}

static void a_trim_towards_a_nic_says_last_hop(void **)
{
	struct world world;
	struct fabric_config config = rig_clos();
	config.queue_bytes = 4150;
	config.t1_count = config.bundle = 1;
	world_open(&world, config);
	for (uint32_t i = 0; i < 3; i++)
		arrive(&world, 0, i, data_to(&world, 7));
	for (uint32_t i = 3; i < 7; i++)
		arrive(&world, 0, i, data_to(&world, 20));
	run_until(&world, PS_PER_MS);
	const struct fabric_counters *counters = switch_counters(world.machine);
	assert_int_equal(counters->trimmed, 1 + 2);
	assert_int_equal(counters->trimmed_last_hop, 1);
	for (uint32_t i = 0; i < world.sent_count; i++) {
		const struct packet *packet = packet_at(&world.rig.packets, world.sent[i].packet);
		bool is_last = (packet->flags & PACKET_TRIMMED) && packet->target == 7;
		assert_int_equal((packet->flags & PACKET_TRIMMED_LAST) != 0, is_last);
	}
	world_close(&world);
}

// A random crowd: bursts, ties, control packets, odd sizes, three hot targets.
static void crowd(struct world *world, uint64_t seed, uint32_t count)
{
	struct rng rng = rng_of(seed, RNG_TEST, 3);
	ps_t at = 0;
	uint32_t port = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t step = rng_below(&rng, 4); // 0: the same time at a later in-port
		if (step > 0 || port + 1 >= PORTS) {
			at += step == 1 ? 83000
					: rng_below(&rng, 150000); // 83,000: ties with lines
			port = 0;
		} else {
			port++;
		}
		bool is_control = rng_below(&rng, 4) == 0;
		uint32_t target = rng_below(&rng, 3) == 0 ? rng_below(&rng, 32) : 5;
		uint32_t bytes = rng_below(&rng, 3) == 0 ? 65 + rng_below(&rng, 4000) : 4150;
		uint8_t flags = rng_below(&rng, 8) == 0 ? 0 : PACKET_ECT | PACKET_TRIMMABLE;
		uint32_t packet = rig_packet(&world->rig,
					     is_control ? PACKET_CLASS_CONTROL : PACKET_CLASS_DATA,
					     is_control ? 64 : bytes, flags, target);
		packet_at(&world->rig.packets, packet)->ev = (uint32_t)rng_next(&rng);
		arrive(world, at, port, packet);
	}
}

static struct fabric_config tight(void)
{
	struct fabric_config config = rig_clos();
	config.queue_bytes = 12 * 4150;
	config.control_queue_bytes = 2 * 64;
	config.ecn_last_hop = true;
	return config;
}

// Runs a crowd in windows of `window` (0: of random length); the world stays open.
static void run_crowd(struct world *world, uint64_t seed, ps_t window)
{
	struct rng rng = rng_of(seed, RNG_TEST, 4);
	world_open(world, tight());
	crowd(world, seed, 6000);
	ps_t until = 0, next = 0;
	while (world->given < world->count || next != PS_NEVER) {
		until += window > 0 ? window : 1 + rng_below(&rng, 2000000);
		next = run_until(world, until);
		assert_true(next >= until);
	}
	assert_int_equal(switch_held(world->machine), 0);
	qsort(world->sent, world->sent_count, sizeof *world->sent, by_start);
}

static void the_length_of_the_window_changes_nothing(void **)
{
	const ps_t windows[] = {PS_PER_S, 50 * PS_PER_NS, 333 * PS_PER_NS, 1000001, 0};
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct world whole;
		run_crowd(&whole, seed, windows[0]);
		assert_true(switch_counters(whole.machine)->marked > 0);
		assert_true(switch_counters(whole.machine)->trimmed > 0);
		assert_true(switch_counters(whole.machine)->dropped[DROP_QUEUE_FULL] > 0);
		assert_true(switch_counters(whole.machine)->dropped[DROP_CONTROL_FULL] > 0);
		for (uint32_t i = 1; i < sizeof windows / sizeof windows[0]; i++) {
			struct world parts;
			run_crowd(&parts, seed, windows[i]);
			assert_int_equal(parts.sent_count, whole.sent_count);
			assert_memory_equal(parts.sent, whole.sent,
					    whole.sent_count * sizeof *whole.sent);
			assert_memory_equal(switch_counters(parts.machine),
					    switch_counters(whole.machine),
					    sizeof(struct fabric_counters));
			assert_memory_equal(parts.rig.packets.packets + 1,
					    whole.rig.packets.packets + 1,
					    6000 * sizeof(struct packet));
			world_close(&parts);
		}
		world_close(&whole);
	}
}

// At every window: in = out + dropped + held; the pool agrees; starts never go back on a port.
static void no_packet_is_lost_or_made(void **)
{
	struct world world;
	world_open(&world, tight());
	crowd(&world, 9, 8000);
	ps_t last[PORTS] = {0};
	uint32_t seen = 0;
	ps_t next = 0;
	for (ps_t until = 700000; next != PS_NEVER || world.given < world.count; until += 700000) {
		next = run_until(&world, until);
		const struct fabric_counters *counters = switch_counters(world.machine);
		uint64_t dropped = 0;
		for (uint32_t i = 0; i < DROP_REASON_COUNT; i++)
			dropped += counters->dropped[i];
		assert_int_equal(world.given,
				 world.sent_count + dropped + switch_held(world.machine));
		assert_int_equal(packet_pool_taken(&world.rig.packets), world.count - dropped);
		assert_int_equal(counters->forwarded[0] + counters->forwarded[1], world.sent_count);
		for (; seen < world.sent_count; seen++) {
			assert_true(world.sent[seen].start >= last[world.sent[seen].port]);
			last[world.sent[seen].port] = world.sent[seen].start;
		}
	}
	assert_in_range(switch_counters(world.machine)->queue_bytes_max, 11 * 4150, 12 * 4150);
	switch_audit(world.machine, &world.rig.chunks);
	assert_int_equal(world.rig.chunks.free_count, world.rig.chunks.capacity);
	world_close(&world);
}

// The oracle plans a port backwards from the rule: when the line is free at T, the oldest control
// packet that came before T goes, else the oldest data packet, else the next one to arrive, at
// once.
struct oracle {
	const struct world *world;
	bool *is_gone;	// [world->count]
	uint32_t *port; // [world->count] out-port of each arrival
};

static uint32_t oracle_next(const struct oracle *oracle, uint32_t port, ps_t free_at)
{
	uint32_t best = UINT32_MAX;
	uint8_t best_class = UINT8_MAX;
	for (uint32_t i = 0; i < oracle->world->count; i++) {
		const struct arrival *arrival = &oracle->world->arrivals[i];
		if (oracle->is_gone[i] || oracle->port[i] != port)
			continue;
		uint8_t klass = packet_at(&oracle->world->rig.packets, arrival->packet)->klass;
		if (arrival->at >= free_at)
			return best == UINT32_MAX ? i : best;
		if (klass < best_class) {
			best = i;
			best_class = klass;
		}
	}
	return best;
}

static void every_departure_is_as_the_oracle_plans(void **)
{
	struct world world;
	struct fabric_config config = rig_clos();
	config.queue_bytes = config.control_queue_bytes = UINT64_C(1) << 30;
	world_open(&world, config);
	crowd(&world, 21, 3000);
	struct oracle oracle = {&world, calloc(world.count, 1), calloc(world.count, 4)};
	for (uint32_t i = 0; i < world.count; i++)
		oracle.port[i] = route_port(
			&world.topology.switches[0].route,
			packet_at(&world.rig.packets, world.arrivals[i].packet));
	run_until(&world, PS_PER_S);
	assert_int_equal(world.sent_count, world.count);
	ps_t free_at[PORTS] = {0};
	for (uint32_t i = 0; i < world.sent_count; i++) {
		const struct departure *departure = &world.sent[i];
		uint32_t port = departure->port;
		uint32_t planned = oracle_next(&oracle, port, free_at[port]);
		assert_in_range(planned, 0, world.count - 1);
		const struct arrival *arrival = &world.arrivals[planned];
		assert_int_equal(departure->packet, arrival->packet);
		assert_int_equal(departure->start, ps_max(arrival->at, free_at[port]));
		free_at[port] = departure->start + (ps_t)departure->bytes * 80;
		oracle.is_gone[planned] = true;
	}
	free(oracle.is_gone);
	free(oracle.port);
	world_close(&world);
}

static void a_small_arena_is_refused(void **)
{
	struct world world;
	struct switch_ *machine = NULL;
	struct refusal refusal = {0};
	static _Alignas(64) uint8_t memory[1024];
	struct arena arena;
	world_open(&world, rig_clos());
	arena_init(&arena, memory, sizeof memory);
	assert_true(switch_create(&machine, &arena, &world.topology, &world.config, 0, 1,
				  &refusal) < 0);
	assert_null(machine);
	assert_true(refusal.text[0] != '\0');
	world_close(&world);
}
