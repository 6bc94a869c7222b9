// SPDX-License-Identifier: Apache-2.0
// What a sender asks credit for, packet by packet: when the first answer comes, when more is posted
// or lost, and what the receiver grants for that.
#include "../transport_bench.h"

#include <weft/core/opcode.h>

#define FULL 1024u
#define WIRE 1088u
#define FIRST (56250 / WIRE) // packets that may leave without credit: 1.5 BDP

static struct packet_demand told;
static uint32_t told_count, granted, grants;

static struct bench *open_bench(void)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.cc = (struct cc_config){.name = "rccc",
				       .rate_bps = 100000000000u,
				       .base_rtt_ps = 3 * PS_PER_US,
				       .mtu_bytes = WIRE,
				       .has_trimming = true,
				       .credit_notified = true};
	told = (struct packet_demand){0};
	told_count = granted = grants = 0;
	return bench_open(&config, 1, 0, 1);
}

// All that NIC 0 has to say now: data up to number `most` reach NIC 1 and the others are lost.
// Returns how many packets of data left.
static uint32_t send_all(struct bench *bench, uint32_t most)
{
	uint32_t count = 0;
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	for (uint32_t index;
	     (index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != PACKET_NONE;) {
		const struct packet *packet = packet_at(&bench->packets, index);
		if (packet->opcode == PACKET_DEMAND) {
			told = packet->u.demand;
			told_count++;
			assert_int_equal(packet->klass, PACKET_CLASS_CONTROL);
			endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
		} else if (count++ < most) {
			endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
		} else {
			packet_put(&bench->packets, index);
		}
		bench_poll(bench, 1);
	}
	return count;
}

// What NIC 1 has to say at once; credits are counted, and reach NIC 0 if they may.
static void answer(struct bench *bench, bool has_credits)
{
	for (uint32_t index;
	     (index = endpoint_next(bench->ends[1], 0, bench->now, &bench->out)) != PACKET_NONE;) {
		const struct packet *packet = packet_at(&bench->packets, index);
		bool is_credit = packet->opcode == PACKET_CREDIT;
		if (is_credit) {
			granted = packet->u.credit.granted;
			grants++;
		}
		if (is_credit && !has_credits)
			packet_put(&bench->packets, index);
		else
			endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
		bench_poll(bench, 0);
	}
}

// NIC 1 grants until it owes nothing.
static void grant_all(struct bench *bench, bool has_credits)
{
	for (int i = 0; i < 1000 && endpoint_wake_at(bench->ends[1]) != PS_NEVER; i++) {
		bench->now = ps_max(bench->now, endpoint_wake_at(bench->ends[1]));
		endpoint_on_time(bench->ends[1], bench->now, &bench->out);
		answer(bench, has_credits);
	}
}

// A packet reaches NIC 1, which grants what it owes then.
static void hand_over(struct bench *bench, uint32_t index)
{
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	bench_poll(bench, 1);
	grant_all(bench, true);
}

// One packet of many comes, and its sender is granted a first window more; returns what that is.
static uint32_t send_first(struct bench *bench)
{
	assert_int_equal(bench_post(bench, 0, 0, 1000 * FULL, 0), 0);
	hand_over(bench, endpoint_next(bench->ends[0], 0, bench->now, &bench->out));
	send_all(bench, UINT32_MAX);
	grant_all(bench, true);
	return granted;
}

// Ten packets are under way when the one behind them comes: they have left, so as much more is
// granted, and nothing for them when they come, whole or trimmed; nor for one that was lost, once
// it is here.
static void what_a_later_packet_passed_is_granted_before_it_comes(void **state)
{
	(void)state;
	enum { HELD = 10 };
	struct bench *bench = open_bench();
	uint32_t held[HELD], last, first = send_first(bench);
	for (uint32_t i = 0; i < HELD; i++)
		held[i] = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	last = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	assert_int_not_equal(last, PACKET_NONE);
	hand_over(bench, last);
	assert_int_equal(granted - first, (1 + HELD) * WIRE);
	packet_at(&bench->packets, held[3])->flags |= PACKET_TRIMMED;
	for (uint32_t i = 0; i < HELD - 1; i++)
		hand_over(bench, held[i]);
	assert_int_equal(granted - first, (1 + HELD) * WIRE);
	uint32_t again = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	assert_true(packet_at(&bench->packets, again)->bth & PACKET_RTX); // the trimmed one
	hand_over(bench, again);
	assert_int_equal(granted - first, (2 + HELD) * WIRE);
	packet_at(&bench->packets, held[HELD - 1])->bth |= PACKET_RTX; // its first was lost
	hand_over(bench, held[HELD - 1]);
	assert_int_equal(granted - first, (2 + HELD) * WIRE);
	bench_close(bench);
}

// 10 of 51 packets have left when the first answer comes: the other 41 wait, and are asked for.
static void the_first_answer_ends_what_is_free(void **state)
{
	(void)state;
	struct bench *bench = open_bench();
	assert_int_equal(bench_post(bench, 0, 0, 60 * FULL, 0), 0);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
		bench_poll(bench, 1);
	}
	answer(bench, false);
	assert_int_equal(send_all(bench, UINT32_MAX), 0);
	assert_int_equal(told_count, 1);
	assert_int_equal(told.asked, 50 * WIRE);
	assert_int_equal(told.unpaid, 10 * WIRE);
	grant_all(bench, true);
	assert_int_equal(granted, 50 * WIRE);
	assert_int_equal(send_all(bench, UINT32_MAX), 50);
	grant_all(bench, true);
	assert_int_equal(granted, 50 * WIRE); // nothing waits any more
	assert_int_equal(bench_qp(bench)->psn_next, bench_qp(bench)->psn_posted);
	bench_close(bench);
}

// Of 1,000 packets no more than a first window is granted that has not come.
static void no_more_than_a_window_is_under_way(void **state)
{
	(void)state;
	struct bench *bench = open_bench();
	assert_int_equal(bench_post(bench, 0, 0, 1000 * FULL, 0), 0);
	assert_int_equal(send_all(bench, UINT32_MAX), FIRST);
	answer(bench, false);
	assert_int_equal(send_all(bench, UINT32_MAX), 0);
	assert_int_equal(told.asked, (1000 - FIRST) * WIRE);
	grant_all(bench, false);
	assert_in_range(granted, 56250 - 4, 56250);
	bench_close(bench);
}

// More work on a busy QP is asked for; a QP with nothing out begins anew, without credit.
static void work_is_asked_for_or_begins_anew(void **state)
{
	(void)state;
	struct bench *bench = open_bench();
	assert_int_equal(bench_post(bench, 0, 0, 60 * FULL, 0), 0);
	assert_int_equal(send_all(bench, UINT32_MAX), FIRST);
	answer(bench, false);
	assert_int_equal(bench_post(bench, 0, 0, 3 * FULL, 0), 0);
	send_all(bench, UINT32_MAX);
	assert_int_equal(told.asked, (60 - FIRST + 3) * WIRE);
	grant_all(bench, true);
	while (send_all(bench, UINT32_MAX) > 0)
		grant_all(bench, true);
	answer(bench, true);
	assert_int_equal(bench_qp(bench)->una, 63);
	assert_int_equal(bench_post(bench, 0, 0, 40 * FULL, 0), 0);
	assert_int_equal(send_all(bench, UINT32_MAX), 40);
	answer(bench, false);
	send_all(bench, UINT32_MAX);
	assert_int_equal(told.asked, (60 - FIRST + 3) * WIRE); // all of it left already
	assert_int_equal(told.unpaid, (FIRST + 40) * WIRE);
	bench_close(bench);
}

// Packets that vanish keep their credit: they go again, and nothing is asked for.
static void what_is_lost_keeps_its_credit(void **state)
{
	(void)state;
	struct bench *bench = open_bench();
	assert_int_equal(bench_post(bench, 0, 0, FIRST * FULL, 0), 0);
	assert_int_equal(send_all(bench, FIRST - 5), FIRST);
	answer(bench, false);
	send_all(bench, UINT32_MAX);
	assert_int_equal(told.asked, 0);
	assert_int_equal(told.unpaid, FIRST * WIRE);
	bench->now += 60 * PS_PER_US;			    // the timer
	assert_in_range(send_all(bench, UINT32_MAX), 5, 8); // and those that no SACK told of
	assert_int_equal(told_count, 1);
	answer(bench, true);
	assert_int_equal(bench_qp(bench)->una, FIRST);
	bench_close(bench);
}

// A hundred messages, each after the last is done: credit that is granted and not used is given up
// by both, else the receiver would hold ever more to be under way.
static void what_is_given_up_is_forgotten_by_both(void **state)
{
	(void)state;
	struct bench *bench = open_bench();
	for (uint32_t i = 0; i < 100; i++) {
		ps_t began = bench->now;
		assert_int_equal(bench_post(bench, 0, 0, 80 * FULL - 1000, 0), 0);
		while (bench_qp(bench)->una != bench_qp(bench)->psn_posted) {
			send_all(bench, UINT32_MAX);
			answer(bench, true);
			send_all(bench, UINT32_MAX);
			grant_all(bench, true);
			assert_true(bench->now < began + 100 * PS_PER_US); // nobody waits
		}
	}
	bench_close(bench);
}

// Whoever has no credits, or is not told, refuses a demand.
static void others_refuse_a_demand(void **state)
{
	(void)state;
	static const char *const names[] = {"rccc", "fixed"};
	for (int i = 0; i < 2; i++) {
		struct transport_config config = bench_config();
		config.cc.name = names[i];
		struct bench *bench = bench_open(&config, 1, 0, 1);
		uint32_t index = packet_get(&bench->packets);
		*packet_at(&bench->packets, index) = (struct packet){
			.source = 1, .opcode = PACKET_DEMAND, .u.demand = {5000, 0}};
		endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
		assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_OPCODE], 1);
		bench_close(bench);
	}
}

// The last of 10 packets is trimmed, and its NACK is the first that is heard.
static void a_first_answer_that_is_a_nack_ends_what_is_free(void **)
{
	struct bench *bench = open_bench();
	assert_int_equal(bench_post(bench, 0, 0, 60 * FULL, 0), 0);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		struct packet *packet = packet_at(&bench->packets, index);
		if (i < 9) { // under way
			packet_put(&bench->packets, index);
			continue;
		}
		packet->flags |= PACKET_TRIMMED;
		packet->wire_bytes = 64;
		packet->payload_bytes = 0;
		packet->klass = PACKET_CLASS_CONTROL;
		endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	}
	uint32_t nack = endpoint_next(bench->ends[1], 0, bench->now, &bench->out);
	assert_int_not_equal(nack, PACKET_NONE);
	assert_int_equal(packet_at(&bench->packets, nack)->opcode, PACKET_NACK);
	endpoint_receive(bench->ends[0], nack, bench->now, &bench->out);
	assert_true(send_all(bench, UINT32_MAX) <= 1); // the trimmed one
	assert_int_equal(told_count, 1);
	assert_int_equal(told.asked, 50 * WIRE);
	assert_int_equal(told.unpaid, 10 * WIRE);
	bench_close(bench);
}

// The sender has nothing out, and its clock for credit that does not come has it ask once more.
static void a_demand_that_is_lost_is_told_again(void **)
{
	struct bench *bench = open_bench();
	uint32_t demands = 0;
	assert_int_equal(bench_post(bench, 0, 0, 1000 * FULL, 0), 0);
	send_all(bench, UINT32_MAX);
	answer(bench, false);
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	for (uint32_t index;
	     (index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != PACKET_NONE;) {
		demands += packet_at(&bench->packets, index)->opcode == PACKET_DEMAND;
		packet_put(&bench->packets, index);
	}
	assert_int_equal(demands, 1);
	for (uint32_t i = 0; i < 10 && told_count == 0; i++) {
		assert_true(endpoint_wake_at(bench->ends[0]) <= PS_PER_MS);
		bench->now = endpoint_wake_at(bench->ends[0]);
		send_all(bench, UINT32_MAX);
	}
	assert_int_equal(told_count, 1);
	assert_int_equal(told.asked, (1000 - FIRST) * WIRE);
	bench_close(bench);
}
