// SPDX-License-Identifier: Apache-2.0
// The table of peers by itself, and what is known of a peer when QPs leave it and come back, when
// another NIC takes its place, and when its QPs have no context.
#include <errno.h>

#include "transport_status.h"

// ---------------------------------------------------------------- the table

static void a_nic_is_found_again_whatever_its_number(void **state)
{
	(void)state;
	static uint8_t memory[4096] __attribute__((aligned(64)));
	struct arena arena;
	struct peers table;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(peers_init(&table, &arena, 7), 0);
	assert_null(peers_find(&table, 0));
	for (uint32_t i = 0; i < 7; i++) // all want the same place
		assert_int_equal(peers_index(&table, peers_add(&table, i << 16)), i);
	assert_true(peers_are_full(&table));
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(peers_index(&table, peers_find(&table, i << 16)), i);
	assert_null(peers_find(&table, 7 << 16));
	assert_null(peers_find(&table, UINT32_MAX));
}

static void another_nic_takes_a_place_and_all_else_is_found(void **state)
{
	(void)state;
	static uint8_t memory[4096] __attribute__((aligned(64)));
	struct arena arena;
	struct peers table;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(peers_init(&table, &arena, 5), 0);
	for (uint32_t i = 0; i < 5; i++)
		peers_add(&table, i * 16);
	struct peer *peer = peers_find(&table, 2 * 16);
	peer->down = 3;
	peers_replace(&table, peer, 999);
	assert_null(peers_find(&table, 2 * 16));
	assert_ptr_equal(peers_find(&table, 999), peer);
	assert_int_equal(peer->down, 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(i == 2 || peers_index(&table, peers_find(&table, i * 16)) == i);
}

static void a_table_of_none_draws_nothing_and_finds_nobody(void **state)
{
	(void)state;
	struct arena arena;
	struct peers table;
	arena_init(&arena, NULL, 0);
	assert_int_equal(peers_init(&table, &arena, 0), 0);
	assert_int_equal(peers_bytes(0), 0);
	assert_null(peers_find(&table, 0));
}

// ---------------------------------------------------------------- leaving and coming back

static void connect_with(struct bench *bench, uint32_t side, uint32_t qpn, uint32_t nic,
			 uint32_t first_psn)
{
	assert_int_equal(endpoint_connect(bench->ends[side], qpn,
					  &(struct qp_config){.local_nic = side,
							      .remote_nic = nic,
							      .remote_qpn = qpn,
							      .id = 2 * qpn + side,
							      .first_psn = first_psn},
					  bench->now),
			 0);
}

static void connect_again(struct bench *bench, uint32_t qpn, uint32_t first_psn)
{
	for (uint32_t side = 0; side < 2; side++)
		assert_int_equal(endpoint_reset(bench->ends[side], qpn), 0);
	for (uint32_t side = 0; side < 2; side++)
		connect_with(bench, side, qpn, 1 - side, first_psn);
}

static const struct peer *peer_of(const struct bench *bench, uint32_t side)
{
	return peers_find(&bench->ends[side]->peers, 1 - side);
}

static void one_of_two_qps_that_leaves_changes_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	set_port(bench, 0, 1, false);
	send_all(bench, 0, 1024);
	assert_int_equal(peer_of(bench, 1)->down, 2);
	connect_again(bench, 0, 0x1000);
	assert_int_equal(peer_of(bench, 1)->down, 2);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 2); // known at once
	send_all(bench, 0, 10 * 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	close_done(bench);
}

static void a_peer_whom_all_left_is_told_anew(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	set_port(bench, 0, 1, false);
	send_all(bench, 0, 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	connect_again(bench, 0, 0x1000);
	assert_int_equal(peer_of(bench, 1)->down, 0); // it may have mended it meanwhile
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 0);
	send_all(bench, 0, 10 * 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 2);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 2);
	close_done(bench);
}

// The port came back while no QP was there to tell it by; the word of before must not last.
static void a_port_that_came_back_between_two_lives_is_told(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	set_port(bench, 0, 1, false);
	send_all(bench, 0, 1024);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0); // the other end keeps its QP
	set_port(bench, 0, 1, true);
	connect_with(bench, 0, 0, 1, 0xfffff0 + 1);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 2);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 0), 0);
	bench_run(bench, bench->now + 10 * PS_PER_US);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 0);
	bench_run(bench, BENCH_TO_THE_END);
	bench_close(bench);
}

static void a_request_that_is_out_when_its_qp_leaves_is_forgotten(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	drops_left = UINT32_MAX;
	set_port(bench, 0, 1, false);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 0), 0);
	bench_run(bench, bench->now + 2 * PS_PER_US);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1); // nobody is asked again
	assert_int_equal(counters_of(bench, 0)->requests_lost, 0);
	assert_int_equal(endpoint_wake_at(bench->ends[0]), PS_NEVER);
	close_done(bench);
}

static void one_who_waits_to_be_told_when_its_qp_leaves_is_not(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 0), 0);
	set_port(bench, 0, 1, false);
	assert_true(peer_of(bench, 0)->is_queued);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	assert_false(peer_of(bench, 0)->is_queued);
	assert_int_equal(endpoint_next(bench->ends[0], 0, bench->now, &bench->out), PACKET_NONE);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 0);
	close_done(bench);
}

// Each QP goes to a NIC of its own, over and over: there are as many places as QPs, no more.
static void places_of_peers_are_used_again(void **state)
{
	(void)state;
	struct bench *bench = open_two(4);
	struct endpoint *endpoint = bench->ends[0];
	struct rng rng = rng_of(11, RNG_TEST, 0);
	uint32_t nic_of[4] = {1, 1, 1, 1};
	set_port(bench, 0, 1, false);
	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t qpn = rng_below(&rng, 4), nic = 1 + rng_below(&rng, 12);
		assert_int_equal(endpoint_reset(endpoint, qpn), 0);
		connect_with(bench, 0, qpn, nic, round);
		nic_of[qpn] = nic;
		if (rng_below(&rng, 2) == 0) { // sent, and what came of it is nobody's
			bench_post(bench, 0, qpn, 100, 0);
			uint32_t index = endpoint_next(endpoint, 0, bench->now, &bench->out);
			if (index != PACKET_NONE)
				packet_put(&bench->packets, index);
		}
		if (rng_below(&rng, 4) == 0)
			endpoint_port(endpoint, 1, rng_below(&rng, 2), bench->now, &bench->out);
		bench->now += PS_PER_US;
		endpoint_on_time(endpoint, bench->now, &bench->out);
		bench_poll(bench, 0);
		assert_true(endpoint->peers.count <= 4);
		for (uint32_t i = 0; i < 4; i++) {
			const struct peer *peer = peers_find(&endpoint->peers, nic_of[i]);
			assert_non_null(peer);
			assert_int_equal(endpoint->records[i].peer,
					 peers_index(&endpoint->peers, peer) + 1);
		}
	}
	for (uint32_t qpn = 0; qpn < 4; qpn++)
		assert_int_equal(endpoint_reset(endpoint, qpn), 0);
	assert_false(endpoint_has_work(endpoint));
	assert_int_equal(endpoint_wake_at(endpoint), PS_NEVER);
	bench_close(bench);
}

// ---------------------------------------------------------------- few contexts

static struct bench *open_pooled(uint32_t contexts, uint32_t qps)
{
	struct transport_config config = status_config();
	config.contexts = contexts;
	return open_with(&config, qps);
}

static void a_qp_without_a_context_learns_of_it_when_it_has_one(void **state)
{
	(void)state;
	struct bench *bench = open_pooled(2, 8);
	send_all(bench, 0, 1024); // QP 0 has one
	set_port(bench, 1, 1, false);
	assert_int_equal(bench_post(bench, 1, 0, 1024, 0), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(peer_of(bench, 0)->down, 2);
	assert_null(endpoint_qp(bench->ends[0], 7));
	uint32_t before = data_seen(1, 0);
	assert_int_equal(bench_post(bench, 0, 7, 100 * 1024, 1), 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 7)->path.peer_down, 2);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(data_seen(1, 0), before);
	assert_int_equal(counters_of(bench, 1)->requests_sent, 1); // for all eight
	close_done(bench);
}

static void a_request_is_answered_where_no_qp_has_a_context(void **state)
{
	(void)state;
	struct bench *bench = open_pooled(2, 4);
	struct packet request = request_of(1, 1, 5);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 0);
	forge(bench, 0, &request);
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	assert_int_not_equal(index, PACKET_NONE);
	assert_int_equal(packet_at(&bench->packets, index)->opcode, PACKET_ENDPOINT_RESPONSE);
	assert_int_equal(packet_at(&bench->packets, index)->psn, 5);
	packet_put(&bench->packets, index);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 0);
	close_done(bench);
}

// Contexts held by QPs that wait in the dark go to others once these end.
static void contexts_come_back_from_the_dark(void **state)
{
	(void)state;
	struct bench *bench = open_pooled(2, 4);
	set_port(bench, 0, 0, false);
	set_port(bench, 0, 1, false);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 1024, 1), -EAGAIN);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 1);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_FLUSHED);
	assert_int_equal(bench->log[0][1].kind, COMPLETION_READY);
	assert_int_equal(bench->log[0][1].qp, 1);
	set_port(bench, 0, 0, true);
	assert_int_equal(bench_post(bench, 0, 2, 1024, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log[0][2].kind, COMPLETION_SENT);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 0);
	close_done(bench);
}

// Posts what it may on every QP of both sides; returns whether something is left.
static bool post_more(struct bench *bench, uint32_t left[2][8])
{
	bool is_left = false;
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t *of = &left[i % 2][i / 2];
		while (*of > 0 && bench_post(bench, i % 2, i / 2, 3000, 1 + *of) == 0)
			--*of;
		is_left |= *of > 0;
	}
	return is_left;
}

static void flapping_ports_and_few_contexts_lose_no_message(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct transport_config config = status_config();
		config.planes = 4;
		config.rto_doublings = 20;
		config.contexts = 2 + (uint32_t)seed % 3;
		struct bench *bench = open_with(&config, 8);
		struct rng rng = rng_of(seed, RNG_TEST, 5);
		uint32_t left[2][8];
		for (uint32_t i = 0; i < 16; i++)
			left[i % 2][i / 2] = 20;
		bench->rng = rng_of(seed, RNG_TEST, 6);
		bench->loss_ppm = bench->control_loss_ppm = 5000;
		bench->jitter_ps = PS_PER_US;
		for (uint32_t n = 0; post_more(bench, left); n++) {
			assert_true(n < 20000);
			uint32_t side = rng_below(&rng, 2), plane = rng_below(&rng, 4);
			set_port(bench, side, plane, rng_below(&rng, 2) || n > 500);
			bench_run(bench, bench->now + (ps_t)rng_below(&rng, 20000) * PS_PER_NS);
		}
		for (uint32_t i = 0; i < 8; i++)
			set_port(bench, i / 4, i % 4, true);
		bench_run(bench, BENCH_TO_THE_END);
		for (uint32_t side = 0; side < 2; side++) {
			assert_int_equal(counters_of(bench, side)->qps_failed, 0);
			assert_int_equal(counters_of(bench, side)->messages_sent, 8 * 20);
			assert_int_equal(counters_of(bench, side)->messages_received, 8 * 20);
			assert_int_equal(endpoint_contexts_busy(bench->ends[side]), 0);
		}
		close_done(bench);
	}
}
