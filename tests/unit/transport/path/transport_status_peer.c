// SPDX-License-Identifier: Apache-2.0
// Ports of peers: what is told is believed when it can be true, holds for every QP that leads
// there, and is answered; strangers are not.
#include "../transport_status.h"

static void a_peers_port_that_is_back_is_used_at_once(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 2000 * 1024, 0), 0);
	bench->dark[1] = 2;
	bench_run(bench, bench->now + 40 * PS_PER_US);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	assert_true(path_is_closed(&qp->path, 1));
	set_port(bench, 1, 1, false);
	bench_run(bench, bench->now + 5 * PS_PER_US);
	assert_int_equal(qp->path.peer_down, 2);
	set_port(bench, 1, 1, true);
	bench_run(bench, bench->now + 3 * PS_PER_US);
	assert_int_equal(qp->path.peer_down, 0);
	assert_int_equal(qp->path.planes[1].bad, 0);
	assert_false(path_is_closed(&qp->path, 1));
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

static void an_old_request_is_answered_but_not_believed(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	const struct qp *qp = endpoint_qp(bench->ends[1], 0);
	struct packet newer = request_of(0, 1, 100), older = request_of(0, BOTH, 99);
	struct packet anew = request_of(0, BOTH, 7);
	forge(bench, 1, &newer);
	forge(bench, 1, &older);
	assert_int_equal(counters_of(bench, 1)->responses_sent, 2);
	assert_int_equal(qp->path.peer_down, 2);
	forge(bench, 1, &anew); // far behind: of a NIC that began anew
	assert_int_equal(qp->path.peer_down, 0);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

static void answers_avoid_the_peers_port_that_is_down(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct packet request = request_of(0, 1, 1);
	forge(bench, 1, &request);
	request.plane = 1;
	request.psn = 2;
	request.u.request.op = PACKET_REQUEST_EV_PROBE;
	forge(bench, 1, &request);
	assert_int_equal(bench->ends[1]->control[0].count, 2);
	assert_int_equal(bench->ends[1]->control[1].count, 0);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

static void without_a_common_plane_timers_end_it(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	assert_int_equal(bench_post(bench, 0, 0, 40 * 1024, 0), 0);
	set_port(bench, 0, 0, false);
	bench->dark[1] = 2;
	struct packet request = request_of(1, 1, 1); // it came while its port 1 had light
	forge(bench, 0, &request);
	bench_run(bench, BENCH_TO_THE_END);
	assert_true(data_seen(1, 0) > 0); // its word is no reason not to try
	assert_int_equal(data_seen(0, 0), 0);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 1);
	assert_int_equal(counters_of(bench, 0)->requests_lost, 1);
	bench_close(bench);
}

static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct packet lies[] = {request_of(1, 0, 1), request_of(1, 2, 1), request_of(1, 7, 1),
				request_of(1, UINT32_MAX, 1), request_of(1, BOTH, 1)};
	lies[4].u.request.op = 2;
	for (uint32_t i = 0; i < 5; i++) {
		forge(bench, 0, &lies[i]);
		assert_int_equal(counters_of(bench, 0)->refused[REFUSED_REQUEST], i + 1);
	}
	assert_int_equal(counters_of(bench, 0)->requests_received, 0);
	assert_int_equal(endpoint_held(bench->ends[0]), 0);
	close_done(bench);
}

static void a_stranger_is_not_answered(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct packet stranger = request_of(5, 1, 1), other_qp = request_of(1, 1, 1);
	struct packet beyond = request_of(1, 1, 1), response = request_of(5, 1, 1);
	other_qp.qpn = 3;
	beyond.plane = 2;
	response.opcode = PACKET_ENDPOINT_RESPONSE;
	forge(bench, 0, &stranger);
	forge(bench, 0, &other_qp);
	forge(bench, 0, &beyond);
	forge(bench, 0, &response);
	assert_int_equal(counters_of(bench, 0)->no_qp, 4);
	assert_int_equal(endpoint_held(bench->ends[0]), 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->path.peer_down, 0);
	close_done(bench);
}

// The number that requests are for may be that of a QP, too.
static void a_qp_of_that_number_changes_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_two(4);
	struct packet request = request_of(1, 1, 9);
	forge(bench, 0, &request);
	for (uint32_t qpn = 0; qpn < 4; qpn++)
		assert_int_equal(endpoint_qp(bench->ends[0], qpn)->path.peer_down, 2);
	assert_int_equal(counters_of(bench, 0)->responses_sent, 1);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}

static void an_ev_probe_is_answered(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct packet probe = request_of(1, 0, 0xabcd);
	probe.plane = 1;
	probe.u.request.op = PACKET_REQUEST_EV_PROBE;
	forge(bench, 0, &probe);
	uint32_t index = endpoint_next(bench->ends[0], 1, bench->now, &bench->out);
	assert_int_not_equal(index, PACKET_NONE);
	const struct packet *packet = packet_at(&bench->packets, index);
	assert_int_equal(packet->opcode, PACKET_ENDPOINT_RESPONSE);
	assert_int_equal(packet->u.response.op, PACKET_REQUEST_EV_PROBE);
	assert_int_equal(packet->psn, 0xabcd);
	assert_int_equal(packet->target, 1);
	assert_int_equal(packet->timestamp, 77);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->path.peer_down, 0);
	packet_put(&bench->packets, index);
	close_done(bench);
}

static void a_response_that_answers_nothing_is_refused(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct packet response = request_of(1, 0, 0);
	response.opcode = PACKET_ENDPOINT_RESPONSE;
	forge(bench, 0, &response);
	assert_int_equal(counters_of(bench, 0)->refused[REFUSED_RESPONSE], 1);
	set_port(bench, 0, 1, false);
	assert_int_equal(bench_post(bench, 0, 0, 1024, 0), 0);
	bench_run(bench, bench->now + PS_PER_US);
	for (uint32_t id = 0; id < 0x10000; id += 97) {
		response.psn = id;
		if (id != ID_AT)
			forge(bench, 0, &response);
	}
	assert_int_equal(counters_of(bench, 0)->refused[REFUSED_RESPONSE], 1 + 676);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 0)->responses_received, 1);
	close_done(bench);
}

static void without_port_status_requests_are_foreign(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = open_with(&config, 4);
	struct packet request = request_of(1, 1, 1);
	forge(bench, 0, &request);
	assert_int_equal(counters_of(bench, 0)->refused[REFUSED_OPCODE], 1); // QP 2 got it
	close_done(bench);
}

// Numbers of requests have 16 bits.
static void numbers_of_requests_come_round(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct peer *peer = peers_find(&bench->ends[0]->peers, 1);
	const struct transport_counters *counters = counters_of(bench, 0);
	send_all(bench, 0, 1024);
	peer->request_id = 0xfff8;
	for (uint32_t i = 1; i <= 16; i++) {
		set_port(bench, 0, 1, i % 2 == 0);
		send_all(bench, 0, 1024);
		assert_int_equal(last_request.psn, (0xfff8 + i) & 0xffff);
		assert_int_equal(counters->requests_sent, i);
		assert_int_equal(counters->responses_received, i);
		assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, i % 2 ? 2 : 0);
	}
	struct packet late = last_response;
	late.psn = 0xfffe; // of ten requests ago
	forge(bench, 0, &late);
	assert_int_equal(counters->responses_received, 17);
	late.psn = 0xff00;
	forge(bench, 0, &late);
	assert_int_equal(counters->refused[REFUSED_RESPONSE], 1);
	assert_int_equal(counters->requests_lost, 0);
	close_done(bench);
}

// Numbers of requests begin anew with a NIC that began anew: one that was joined by no QP may have.
static void numbers_of_a_peer_without_qps_are_forgotten(void **state)
{
	(void)state;
	struct bench *bench = open_two(1);
	struct packet newer = request_of(0, BOTH, 100), older = request_of(0, 1, 99);
	forge(bench, 1, &newer);
	assert_int_equal(endpoint_reset(bench->ends[1], 0), 0);
	endpoint_connect(bench->ends[1], 0,
			 &(struct qp_config){.local_nic = 1,
					     .first_psn = 0xfffff0,
					     .capabilities = QP_NOTIFIED |
						     transport_capabilities(&bench->config)},
			 bench->now);
	forge(bench, 1, &older);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->path.peer_down, 2);
	bench_run(bench, BENCH_TO_THE_END);
	close_done(bench);
}
