// SPDX-License-Identifier: Apache-2.0
// What a fault does to a packet on a cable: when a flap takes it, and when it does not.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cable.h"

// Down in [100, 130), [150, 180), [200, 230), up in between, over at 220.
static const struct cable_fault flap = {
	.kind = FAULT_FLAP, .from_ps = 100, .until_ps = 220, .down_ps = 30, .up_ps = 20};

static bool is_taken(ps_t start, ps_t at)
{
	struct cable cable = {.fault_count = 1};
	struct rng rng = rng_of(1, RNG_CABLE, 0);
	uint8_t is_bad = 0;
	enum drop_reason fate = cable_fate(&cable, &flap, &is_bad, &rng, start, at).drop;
	assert_true(fate == DROP_LINK_DOWN || fate == DROP_REASON_COUNT);
	return fate == DROP_LINK_DOWN;
}

// Time by time, for packets of several lengths.
static void a_flap_takes_what_is_on_the_cable_while_it_is_down(void **)
{
	for (ps_t start = 0; start < 300; start++) {
		for (ps_t length = 1; length < 60; length += 7) {
			bool is_down = false;
			for (ps_t t = start; t <= start + length; t++)
				is_down |= t >= 100 && t < 220 && (t - 100) % 50 < 30;
			assert_int_equal(is_taken(start, start + length), is_down);
		}
	}
}

// The failure that takes a packet is the first one that it meets.
static void a_loss_belongs_to_the_failure_that_caused_it(void **)
{
	struct cable cable = {.fault_count = 1};
	const struct cable_fault down = {.kind = FAULT_LINK_DOWN, .from_ps = 100, .until_ps = 200};
	for (ps_t start = 0; start < 230; start++) {
		if (!is_taken(start, start + 20))
			continue;
		ps_t since = start < 130 ? 100 : start < 180 ? 150 : 200;
		assert_int_equal(cable_down_since(&cable, &flap, start, start + 20), since);
	}
	assert_int_equal(cable_down_since(&cable, &down, 90, 110), 100);
	assert_int_equal(cable_down_since(&cable, &down, 199, 219), 100);
}

static void a_flap_ends_when_it_says(void **)
{
	assert_true(is_taken(219, 400));
	assert_false(is_taken(220, 400));
	assert_false(is_taken(90, 99));
	assert_true(is_taken(90, 100));
}

static struct cable_fate fate_of(const struct cable_fault *fault, struct rng *rng, ps_t start)
{
	const struct cable cable = {.fault_count = 1};
	static uint8_t is_bad;
	is_bad = 0;
	return cable_fate(&cable, fault, &is_bad, rng, start, start + 10);
}

static void dice_are_thrown_only_while_a_fault_is_active(void **)
{
	for (enum fault_kind kind = 0; kind < FAULT_KIND_COUNT; kind++) {
		struct cable_fault fault = flap;
		fault.kind = kind;
		fault.threshold = UINT32_MAX;
		fault.delay_ps = 50;
		struct rng rng = rng_of(1, RNG_CABLE, 0), untouched = rng;
		fate_of(&fault, &rng, 80);
		fate_of(&fault, &rng, 220);
		assert_int_equal(rng.state, untouched.state);
		fate_of(&fault, &rng, 100);
		bool has_share = kind == FAULT_LOSS ||
			(kind >= FAULT_CORRUPT && kind <= FAULT_REORDER);
		assert_int_equal(rng.state != untouched.state, has_share || kind == FAULT_BURST);
		assert_int_equal(fault_has_share(kind), has_share);
	}
}

static void a_packet_is_held_back_for_at_most_the_delay(void **)
{
	struct cable_fault fault = {.kind = FAULT_REORDER,
				    .until_ps = PS_NEVER,
				    .threshold = UINT32_MAX / 2,
				    .delay_ps = 1000};
	struct rng rng = rng_of(1, RNG_CABLE, 0);
	ps_t longest = 0, sum = 0;
	uint32_t hits = 0;
	for (int i = 0; i < 10000; i++) {
		struct cable_fate fate = fate_of(&fault, &rng, i);
		assert_int_equal(fate.drop, DROP_REASON_COUNT);
		assert_in_range(fate.held_ps, 0, 1000);
		hits += fate.held_ps > 0;
		sum += fate.held_ps;
		longest = ps_max(longest, fate.held_ps);
	}
	assert_in_range(hits, 4800, 5200);
	assert_in_range(sum / hits, 480, 520);
	assert_true(longest > 990);
	fault.delay_ps = 1; // the shortest: what leaves in the same moment overtakes it, no more
	fault.threshold = UINT32_MAX;
	assert_int_equal(fate_of(&fault, &rng, 0).held_ps, 1);
}

// ---------------------------------------------------------------- bursts

#define BURST_PACKETS 4000000

struct burst_seen {
	double lost, bursts; // packets; runs of packets lost one behind the other
};

static struct burst_seen run_burst(const struct fault *fault, uint32_t good_loss, uint32_t bad_loss)
{
	const struct cable cable = {.fault_count = 1};
	const struct cable_fault on_cable = {.kind = FAULT_BURST,
					     .until_ps = PS_NEVER,
					     .burst = fault_burst(fault),
					     .good_threshold = good_loss,
					     .bad_threshold = bad_loss};
	struct rng rng = rng_of(1, RNG_CABLE, 0);
	struct burst_seen seen = {0};
	uint8_t is_bad = 0;
	bool was_lost = false;
	for (int i = 0; i < BURST_PACKETS; i++) {
		enum drop_reason drop =
			cable_fate(&cable, &on_cable, &is_bad, &rng, i, i + 10).drop;
		assert_true(drop == DROP_REASON_COUNT || drop == DROP_BURST_LOSS);
		bool is_lost = drop != DROP_REASON_COUNT;
		seen.lost += is_lost;
		seen.bursts += is_lost && !was_lost;
		was_lost = is_lost;
	}
	return seen;
}

// The chances are those whose stationary share and mean burst are what the fault says, to the last
// of 10^9 parts; runs agree within four standard deviations: losses come in clumps of mean length
// b, whose share has variance s (1 - s) (2 b (1 - s) - 1) / n for the chain with these chances.
static void losses_in_a_row_have_the_share_and_the_length_that_was_asked_for(void **)
{
	static const struct fault faults[] = {
		{.kind = FAULT_BURST, .share_ppb = 10000000, .burst_packets = 8},
		{.kind = FAULT_BURST, .share_ppb = 1000, .burst_packets = 1000},
		{.kind = FAULT_BURST, .share_ppb = 50000000, .burst_packets = 1},
		{.kind = FAULT_BURST, .share_ppb = 800000000, .burst_packets = 4},
		{.kind = FAULT_BURST, .share_ppb = 300000000, .burst_packets = 100},
	};
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct burst_chances chances = fault_burst(&faults[i]);
		long double enter = (long double)chances.enter, leave = (long double)chances.leave;
		long double share = faults[i].share_ppb / 1e9L, length = faults[i].burst_packets;
		long double off = enter / (enter + leave) / share - 1;
		assert_true(off < 1e-9L && off > -1e-9L);
		assert_true(leave * length > 18446744073709550000.0L);
		struct burst_seen seen = run_burst(&faults[i], 0, UINT32_MAX);
		double s = (double)share, b = (double)length, n = BURST_PACKETS;
		double variance = s * (1 - s) * (2 * b * (1 - s) - 1) * n;
		double missing = seen.lost - s * n;
		assert_true(missing * missing < 16 * variance);
		if (seen.bursts < 1000)
			continue;
		double mean = seen.lost / seen.bursts - b;
		assert_true(mean * mean <= 16 * b * (b - 1) / seen.bursts + 1e-9);
	}
}

static void both_states_of_a_burst_may_lose_some(void **)
{
	const struct fault fault = {
		.kind = FAULT_BURST, .enter_ppb = 20000000, .leave_ppb = 180000000};
	const uint32_t good = UINT32_MAX / 100, bad = UINT32_MAX / 2; // 1 % and 50 %
	struct burst_seen seen = run_burst(&fault, good, bad);
	double share = 0.9 * 0.01 + 0.1 * 0.5; // a tenth of the time is bad
	assert_true(seen.lost > (share - 0.001) * BURST_PACKETS);
	assert_true(seen.lost < (share + 0.001) * BURST_PACKETS);
}

// ---------------------------------------------------------------- a host that stalls

static void what_comes_to_a_host_that_stalls_waits_until_its_queue_is_full(void **)
{
	static struct fifo_pool chunks;
	static uint8_t memory[1 << 16] __attribute__((aligned(64)));
	struct arena arena;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(fifo_pool_init(&chunks, &arena, 8), 0);
	const struct cable_fault faults[] = {
		{.kind = FAULT_LOSS, .from_ps = 0, .until_ps = 1000},
		{.kind = FAULT_STALL, .from_ps = 150, .until_ps = 200, .queue_packets = 2},
		{.kind = FAULT_STALL, .from_ps = 100, .until_ps = 150, .queue_packets = 3},
	};
	struct stalled stalled;
	stalled_init(&stalled, faults, 3);
	assert_int_equal(stalled.packets_max, 3);
	assert_int_equal(stalled_put(&stalled, &chunks, 99, 7), STALLED_NOT);
	for (ps_t at = 100; at < 103; at++)
		assert_int_equal(stalled_put(&stalled, &chunks, at, (uint64_t)at), STALLED_WAIT);
	assert_int_equal(stalled_put(&stalled, &chunks, 199, 199), STALLED_FULL);
	assert_int_equal(stalled.until, 200); // one stall goes on where the other ends
	assert_false(stalled_is_due(&stalled, 199, 300));
	assert_false(stalled_is_due(&stalled, 300, 200));
	assert_true(stalled_is_due(&stalled, 200, 300));
	for (uint64_t what = 100; what < 103; what++)
		assert_int_equal(fifo_pop(&stalled.fifo, &chunks), what);
	assert_int_equal(stalled_put(&stalled, &chunks, 200, 7), STALLED_NOT);
}

// ---------------------------------------------------------------- beside the list

static struct reorder_queue reorder_queue;

static void what_is_late_comes_in_order_of_arrival(void **)
{
	reorder_queue = (struct reorder_queue){0};
	assert_int_equal(reorder_queue_first_at(&reorder_queue), PS_NEVER);
	const ps_t at[] = {50, 30, 50, 10, 30, 90};
	for (uint64_t i = 0; i < 6; i++)
		reorder_queue_push(&reorder_queue, at[i], i);
	const uint64_t order[] = {3, 1, 4, 0, 2, 5};
	for (int i = 0; i < 6; i++) {
		assert_int_equal(reorder_queue_first_at(&reorder_queue), at[order[i]]);
		assert_int_equal(reorder_queue_pop(&reorder_queue), order[i]);
	}
	assert_int_equal(reorder_queue.count, 0);
}

static void a_cable_has_room_again_when_late_ones_have_arrived(void **)
{
	reorder_queue = (struct reorder_queue){0};
	for (int i = 0; i < REORDER_QUEUE_MAX; i++)
		assert_true(reorder_queue_send(&reorder_queue, i, 1000 + i));
	assert_false(reorder_queue_send(&reorder_queue, 999, 5000));
	assert_true(reorder_queue_send(&reorder_queue, 1000, 5000)); // the first one is there
	assert_false(reorder_queue_send(&reorder_queue, 1000, 5000));
	assert_true(reorder_queue_send(&reorder_queue, 4999, 6000));
	for (int i = 0; i < REORDER_QUEUE_MAX - 2; i++)
		assert_true(reorder_queue_send(&reorder_queue, 4999, 6000));
	assert_false(reorder_queue_send(&reorder_queue, 4999, 6000));
}
