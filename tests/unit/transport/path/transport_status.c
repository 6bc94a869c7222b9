// SPDX-License-Identifier: Apache-2.0
// Own ports that are down: nothing leaves by them, peers in use are told until they answer, and a
// port that is back is used at once.
#include "../transport_status.h"

static void nothing_leaves_by_a_port_that_is_down(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	set_port(bench, 0, 1, false);
	assert_int_equal(counters_of(bench, 0)->port_downs, 1);
	send_all(bench, 0, 100 * 1024);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(data_seen(1, 0), 0);
	assert_int_equal(data_seen(0, 0), 100); // and nothing was lost
	close_done(bench);
}

static void a_peer_is_told_and_leaves_the_plane(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 1, 0, 400 * 1024, 0), 0);
	bench_run(bench, bench->now + 4 * PS_PER_US);
	assert_true(data_seen(1, 1) > 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + 3 * PS_PER_US); // a way there, and what is on a line
	assert_int_equal(counters_of(bench, 1)->requests_received, 1);
	uint32_t before = data_seen(1, 1);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(data_seen(1, 1), before);
	assert_int_equal(last_request.u.request.port_status_mask, 1);
	assert_int_equal(last_request.plane, 0);
	assert_int_equal(last_request.qpn, PACKET_ENDPOINT_QPN);
	assert_int_equal(last_response.psn, last_request.psn);
	assert_int_equal(last_response.timestamp, last_request.timestamp);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	assert_int_equal(counters_of(bench, 0)->responses_received, 1);
	assert_int_equal(counters_of(bench, 1)->responses_sent, 1);
	assert_int_equal(bench->log_count[1], 1);
	close_done(bench);
}

static void idle_peers_are_told_when_they_come_into_use(void **state)
{
	(void)state;
	struct bench *bench = open_two(4);
	set_port(bench, 0, 1, false);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 0);
	send_all(bench, 0, 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	set_port(bench, 0, 1, true);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 1);
	send_all(bench, 1, 1024); // now it is the peer who sends
	assert_int_equal(counters_of(bench, 0)->requests_sent, 2);
	assert_int_equal(last_request.u.request.port_status_mask, BOTH);
	send_all(bench, 0, 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 2);
	close_done(bench);
}

static void all_qps_to_a_nic_share_one_request(void **state)
{
	(void)state;
	struct bench *bench = open_two(8);
	for (uint32_t qpn = 0; qpn < 8; qpn++)
		assert_int_equal(bench_post(bench, qpn % 2, qpn, 40 * 1024, 0), 0);
	bench_run(bench, bench->now + 2 * PS_PER_US);
	set_port(bench, 1, 0, false);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 1)->requests_sent, 1);
	for (uint32_t qpn = 0; qpn < 8; qpn++)
		assert_int_equal(endpoint_qp(bench->ends[0], qpn)->path.peer_down, 1);
	close_done(bench);
}

static void a_request_is_repeated_until_it_is_answered(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	drops_left = 3;
	set_port(bench, 0, 0, false);
	send_all(bench, 0, 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 4);
	assert_int_equal(counters_of(bench, 0)->requests_lost, 0);
	assert_int_equal(last_request.psn, ID_AT); // it is the same one
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 1);
	close_done(bench);
}

static void a_request_that_nobody_answers_is_given_up_and_counted(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	drops_left = UINT32_MAX;
	set_port(bench, 0, 0, false);
	send_all(bench, 0, 1024);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 7 + 5); // rto_linear, rto_doublings
	assert_int_equal(counters_of(bench, 0)->requests_lost, 1);
	send_all(bench, 0, 1024); // the same is not asked again
	assert_int_equal(counters_of(bench, 0)->requests_lost, 1);
	drops_left = 0;
	set_port(bench, 0, 0, true);
	send_all(bench, 0, 1024);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 13);
	close_done(bench);
}

static void a_port_that_is_back_is_used_at_once(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 2000 * 1024, 0), 0);
	bench_run(bench, bench->now + 10 * PS_PER_US);
	bench->dark[0] = 2; // long before its NIC knows: the plane is held dead
	bench_run(bench, bench->now + 40 * PS_PER_US);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	assert_true(path_is_closed(&qp->path, 1));
	assert_true(qp->path.planes[1].bad > 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + 10 * PS_PER_US);
	set_port(bench, 0, 1, true);
	assert_false(path_is_closed(&qp->path, 1));
	assert_int_equal(qp->path.planes[1].bad, 0);
	uint32_t before = data_seen(1, 0);
	bench_run(bench, bench->now + 10 * PS_PER_US);
	assert_true(data_seen(1, 0) > before + 50);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	close_done(bench);
}

static void a_change_while_a_request_is_out_makes_a_new_one(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 100 * 1024, 0), 0);
	set_port(bench, 0, 1, false);
	bench_run(bench, bench->now + PS_PER_US); // on its way
	assert_int_equal(last_request.u.request.port_status_mask, 1);
	set_port(bench, 0, 1, true);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(last_request.psn, ID_AT + 1);
	assert_int_equal(counters_of(bench, 0)->requests_sent, 2);
	assert_int_equal(counters_of(bench, 0)->responses_received, 2); // the first is no lie
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 0);
	close_done(bench);
}

static void what_waits_for_a_port_moves_to_another(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct endpoint *endpoint = bench->ends[1];
	for (uint16_t id = 1; id <= 5; id++) {
		struct packet request = request_of(0, BOTH, id);
		request.plane = 1;
		forge(bench, 1, &request);
	}
	assert_int_equal(endpoint->control[1].count, 5);
	set_port(bench, 1, 1, false);
	assert_int_equal(endpoint->control[1].count, 0);
	assert_int_equal(endpoint->control[0].count, 5);
	assert_int_equal(endpoint_held(endpoint), 5);
	uint32_t index = endpoint_next(endpoint, 0, bench->now, &bench->out);
	const struct packet *packet = packet_at(&bench->packets, index);
	const struct qp *qp = endpoint_qp(endpoint, 0);
	assert_int_equal(packet->plane, 0);
	assert_int_equal(path_index(&qp->path, packet->ev) % 2, 0);
	packet_put(&bench->packets, index);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

// The other plane's queue is full of SACKs: what moves there is lost, and an ACK must not be waited
// for then.
static void an_ack_that_finds_no_room_to_move_to_is_made_anew(void **state)
{
	(void)state;
	struct transport_config config = status_config();
	config.completion = COMPLETION_BY_ACK;
	struct bench *bench = open_with(&config, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 1), 0);
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	struct packet packet = *packet_at(&bench->packets, index);
	packet_put(&bench->packets, index);
	forge(bench, 1, &packet);
	assert_int_equal(endpoint_held(bench->ends[1]), 2); // a SACK, and the ACK
	packet.plane = 1;
	for (uint32_t i = 0; i < ENDPOINT_CONTROL_MAX; i++)
		forge(bench, 1, &packet);
	assert_int_equal(endpoint_held(bench->ends[1]), 2 + ENDPOINT_CONTROL_MAX);
	endpoint_port(bench->ends[1], 0, false, bench->now, &bench->out);
	assert_int_equal(counters_of(bench, 1)->answers_dropped, 2);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	close_done(bench);
}

static void without_a_port_all_waits_and_then_goes_on(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 400 * 1024, 0), 0);
	bench_run(bench, bench->now + 5 * PS_PER_US);
	set_port(bench, 0, 0, false);
	set_port(bench, 0, 1, false);
	uint32_t sent = data_seen(0, 0) + data_seen(1, 0);
	bench_run(bench, bench->now + 500 * PS_PER_US);
	assert_int_equal(data_seen(0, 0) + data_seen(1, 0), sent);
	set_port(bench, 0, 1, true);
	ps_t end_at = bench_run(bench, bench->now + 60 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	assert_true(end_at > 0);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

static void without_a_port_for_all_tries_the_qps_in_use_end(void **state)
{
	(void)state;
	struct bench *bench = open_two(2);
	assert_int_equal(bench_post(bench, 0, 0, 40 * 1024, 0), 0);
	set_port(bench, 0, 0, false);
	set_port(bench, 0, 1, false);
	ps_t waits_ps = (7 + 2 + 4 + 8 + 16 + 32) * bench->config.rto_ps;
	ps_t end_at = bench_run(bench, BENCH_TO_THE_END);
	assert_in_range(end_at, waits_ps, waits_ps + waits_ps / 1000);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_FLUSHED);
	assert_int_equal(bench->log[0][0].failure, QP_FAILURE_RETRIES);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 1); // the other has nothing to send
	assert_int_equal(bench_post(bench, 0, 1, 1024, 0), 0);	// and now it has
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 2);
	bench_close(bench);
}

static void a_loss_on_a_port_that_is_down_blames_no_path(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 400 * 1024, 0), 0);
	bench_run(bench, bench->now + 5 * PS_PER_US);
	bench->dark[0] = 1;
	bench_run(bench, bench->now + 2 * PS_PER_US); // several packets go into the dark
	set_port(bench, 0, 0, false);
	bench_run(bench, BENCH_TO_THE_END);
	assert_true(counters_of(bench, 0)->rtx[RTX_HOLE] > 5);
	assert_int_equal(counters_of(bench, 0)->paths_retired, 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->path.bad, 0);
	close_done(bench);
}

// They are noticed when the port is up again, at either end.
static void a_loss_from_before_a_port_was_back_blames_no_path(void **state)
{
	(void)state;
	for (uint32_t side = 0; side < 2; side++) {
		struct bench *bench = open_two(1);
		assert_int_equal(bench_post(bench, 0, 0, 2000 * 1024, 0), 0);
		bench_run(bench, bench->now + 10 * PS_PER_US);
		bench->dark[side] = 2; // several packets go into the dark
		bench_run(bench, bench->now + PS_PER_US);
		set_port(bench, side, 1, false);
		bench_run(bench, bench->now + PS_PER_US);
		set_port(bench, side, 1, true);
		bench_run(bench, BENCH_TO_THE_END);
		assert_true(counters_of(bench, 0)->rtx[RTX_HOLE] > 5);
		assert_int_equal(counters_of(bench, 0)->paths_retired, 0);
		assert_int_equal(endpoint_qp(bench->ends[0], 0)->path.closed, 0);
		close_done(bench);
	}
}

// Nothing is to be probed on a plane that is down; that must not keep the others from it.
static void a_bad_path_of_a_plane_that_is_down_hinders_no_probe_of_others(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	path_retire(&qp->path, 1, bench->now);
	set_port(bench, 0, 1, false);
	assert_int_equal(bench_post(bench, 0, 0, 8 << 20, 0), 0);
	probe_lose(bench->ends[0], qp, 0, bench->now);
	assert_int_equal(path_state(&qp->path, 0), PATH_ASSUMED_BAD);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(path_state(&qp->path, 0), PATH_GOOD);
	assert_true(counters_of(bench, 0)->probes_answered > 0);
	close_done(bench);
}

static void the_planes_that_are_left_share_alike(void **state)
{
	(void)state;
	struct transport_config config = status_config();
	config.planes = 4;
	struct bench *bench = open_with(&config, 1);
	set_port(bench, 0, 1, false);
	set_port(bench, 1, 2, false);
	send_all(bench, 0, 4000 * 1024);
	assert_int_equal(data_seen(1, 0), 0);
	// until the peer was heard
	assert_true(data_seen(2, 0) < 40);
	uint32_t first = data_seen(0, 0), second = data_seen(3, 0);
	assert_in_range(first, 1900, 2100);
	assert_in_range(second, 1900, 2100);
	close_done(bench);
}

static void port_status_needs_paths_with_states(void **state)
{
	(void)state;
	const enum path_policy policies[] = {PATH_ROTATE, PATH_SINGLE};
	for (uint32_t i = 0; i < 2; i++) {
		struct transport_config config = status_config();
		struct endpoint *endpoint;
		struct refusal refusal = {0};
		struct arena none;
		arena_init(&none, NULL, 0);
		config.path_policy = policies[i];
		assert_int_equal(endpoint_create(&endpoint, &none, &config, 0, 1, 1, &refusal),
				 -EINVAL);
		assert_non_null(strstr(refusal.text, "port status"));
	}
}

// Ports of both ends come and go at random, over bad wires: every message comes once, in order.
static void ports_that_flap_lose_no_message(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct transport_config config = status_config();
		config.planes = 4;
		config.rto_doublings = 20;
		struct bench *bench = bench_open(&config, 3, 0xfffff0, seed);
		struct rng rng = rng_of(seed, RNG_TEST, 3);
		bench->jitter_ps = 2 * PS_PER_US;
		bench->loss_ppm = bench->control_loss_ppm = bench->trim_ppm = 10000;
		for (uint32_t n = 0; n < 60; n++)
			for (uint32_t i = 0; i < 6; i++)
				assert_int_equal(bench_post(bench, i % 2, i / 2,
							    1 + rng_below(&rng, 20000), n + 1),
						 0);
		for (uint32_t n = 0; n < 400; n++) {
			uint32_t side = rng_below(&rng, 2), plane = rng_below(&rng, 4);
			bool is_up = rng_below(&rng, 2);
			set_port(bench, side, plane, is_up);
			bench_run(bench, bench->now + (ps_t)rng_below(&rng, 20000) * PS_PER_NS);
		}
		for (uint32_t i = 0; i < 8; i++)
			set_port(bench, i / 4, i % 4, true);
		bench_run(bench, BENCH_TO_THE_END);
		uint32_t next[2][2][3] = {0};
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(bench->log_count[i], 2 * 3 * 60);
			for (uint32_t at = 0; at < bench->log_count[i]; at++) {
				const struct completion *done = &bench->log[i][at];
				bool is_sent = done->kind == COMPLETION_SENT;
				uint32_t *n = &next[i][is_sent][done->qp];
				assert_int_equal(is_sent ? (uint32_t)done->cookie : done->imm,
						 ++*n);
			}
			assert_int_equal(counters_of(bench, i)->qps_failed, 0);
			assert_int_equal(transport_refused(counters_of(bench, i)), 0);
		}
		close_done(bench);
	}
}
