// SPDX-License-Identifier: Apache-2.0
// The second layer of acknowledgement: when a transport ACK is sent, what it completes, what is
// done when none comes, and which are not believed. NAKs, and QPs that never give up.
#include "transport_bench.h"

#include <errno.h>

#define START 0xfffffeu
#define FULL 1024u

static struct transport_config acked(void)
{
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	return config;
}

static const struct transport_counters *counters_of(const struct bench *bench, uint32_t side)
{
	return endpoint_counters(bench->ends[side]);
}

// ---------------------------------------------------------------- the responder, packet by packet

// Gives side 1 a packet of one request of `packets` packets that began at PSN START + `first`.
static void give_data(struct bench *bench, uint32_t n, uint32_t first, uint32_t packets)
{
	uint32_t index = packet_get(&bench->packets), at = n - first;
	uint8_t opcode = at + 1 < packets ? PACKET_WRITE_MIDDLE : PACKET_WRITE_LAST;
	if (at == 0)
		opcode = packets == 1 ? PACKET_WRITE_ONLY : PACKET_WRITE_FIRST;
	*packet_at(&bench->packets,
		   index) = (struct packet){.source = 0,
					    .target = 1,
					    .wire_bytes = 1088,
					    .payload_bytes = FULL,
					    .klass = PACKET_CLASS_DATA,
					    .opcode = opcode,
					    .psn = (START + n) & PSN_MASK,
					    .u.data = {.va = BENCH_VA + at * FULL,
						       .rkey = BENCH_RKEY,
						       .message_bytes = packets * FULL}};
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	bench_poll(bench, 1);
}

// The next answer of side 1, of either plane; opcode 0 when none waits.
static struct packet answer(struct bench *bench)
{
	for (uint32_t plane = 0; plane < 2; plane++) {
		uint32_t index = endpoint_next(bench->ends[1], plane, bench->now, &bench->out);
		if (index == PACKET_NONE)
			continue;
		struct packet packet = *packet_at(&bench->packets, index);
		packet_put(&bench->packets, index);
		return packet;
	}
	return (struct packet){0};
}

static void check_ack(struct bench *bench, uint32_t n, uint32_t msn)
{
	struct packet ack = answer(bench);
	assert_int_equal(ack.opcode, PACKET_ACK);
	assert_int_equal(ack.psn, (START + n) & PSN_MASK);
	assert_int_equal(ack.u.ack.msn, msn);
	assert_int_equal(ack.u.ack.syndrome, PACKET_ACK_FINE);
	assert_int_equal(ack.klass, PACKET_CLASS_CONTROL);
	assert_int_equal(ack.payload, 0);
	assert_int_equal(ack.target, 0);
}

static void an_ack_is_held_while_there_is_a_hole_and_then_speaks_for_all(void **state)
{
	(void)state;
	struct transport_config config = acked();
	config.sack_bytes = 100000;
	struct bench *bench = bench_open(&config, 1, START, 1);
	give_data(bench, 2, 2, 1); // the third request
	give_data(bench, 1, 1, 1);
	give_data(bench, 4, 3, 2); // the last packet of the fourth
	assert_int_equal(answer(bench).opcode, 0);
	give_data(bench, 0, 0, 1);
	check_ack(bench, 2, 3);
	give_data(bench, 3, 3, 2);
	check_ack(bench, 4, 4);
	assert_int_equal(answer(bench).opcode, 0);
	assert_int_equal(counters_of(bench, 1)->acks_sent, 2);
	bench_check_empty(bench);
	bench_close(bench);
}

static void requests_that_end_while_an_ack_waits_share_it(void **state)
{
	(void)state;
	struct transport_config config = acked();
	struct bench *bench = bench_open(&config, 1, START, 1);
	for (uint32_t n = 0; n < 3; n++)
		give_data(bench, n, n, 1);
	assert_int_equal(endpoint_held(bench->ends[1]), 1);
	check_ack(bench, 2, 3);
	give_data(bench, 3, 3, 2);
	assert_int_equal(answer(bench).opcode, PACKET_SACK); // it is the fourth packet
	assert_int_equal(answer(bench).opcode, 0);	     // no request ended
	bench_check_empty(bench);
	bench_close(bench);
}

// What is sent again because its ACK was lost must be told again; what is sent again of a request
// that is not done, or from above a hole, needs its SACK only.
static void a_duplicate_is_acknowledged_again_where_its_request_is_done(void **state)
{
	(void)state;
	struct transport_config config = acked();
	struct bench *bench = bench_open(&config, 1, START, 1);
	give_data(bench, 0, 0, 1);
	check_ack(bench, 0, 1);
	give_data(bench, 1, 1, 3);
	give_data(bench, 3, 1, 3);
	assert_int_equal(answer(bench).opcode, 0);
	give_data(bench, 0, 0, 1); // done
	assert_int_equal(answer(bench).opcode, PACKET_SACK);
	check_ack(bench, 0, 1);
	give_data(bench, 1, 1, 3); // here, but not done
	assert_int_equal(answer(bench).opcode, PACKET_SACK);
	assert_int_equal(answer(bench).opcode, 0);
	give_data(bench, 3, 1, 3); // above the left edge
	assert_int_equal(answer(bench).opcode, PACKET_SACK);
	assert_int_equal(answer(bench).opcode, 0);
	assert_int_equal(counters_of(bench, 1)->duplicates, 3);
	bench_check_empty(bench);
	bench_close(bench);
}

static void no_ack_is_sent_to_a_peer_that_does_not_know_them(void **state)
{
	(void)state;
	struct transport_config config = acked(), old = bench_config();
	struct bench *bench = bench_open_two(&old, &config, 1, START, 1);
	assert_int_equal(bench_post(bench, 0, 0, 9000, 1), 0);
	assert_int_equal(bench_post(bench, 1, 0, 9000, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
	for (uint32_t side = 0; side < 2; side++) {
		assert_int_equal(counters_of(bench, side)->messages_sent, 1);
		assert_int_equal(counters_of(bench, side)->acks_sent, 0);
	}
	bench_close(bench);
}

// ---------------------------------------------------------------- what completes

static uint32_t drop_opcode, drops_left;
static uint32_t reminders;

static void drop_some(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode == drop_opcode && drops_left > 0) {
		drops_left--;
		packet->qpn = 99; // nobody's: it is lost
	}
	reminders += packet->klass == PACKET_CLASS_DATA && packet->bth == PACKET_RTX;
}

static struct bench *open_dropping(const struct transport_config *config, uint8_t opcode,
				   uint32_t count)
{
	struct bench *bench = bench_open(config, 1, START, 1);
	bench->on_send = drop_some;
	drop_opcode = opcode;
	drops_left = count;
	reminders = 0;
	return bench;
}

static void a_request_completes_by_its_ack_not_by_its_sacks(void **state)
{
	(void)state;
	struct transport_config config = acked();
	config.rto_ps = PS_PER_S;
	struct bench *bench = open_dropping(&config, PACKET_ACK, 1);
	assert_int_equal(bench_post(bench, 0, 0, 5000, 1), 0);
	bench_run(bench, PS_PER_MS);
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	assert_int_equal(qp->una, qp->psn_next); // all packets are known to be there
	assert_int_equal(qp->wimm_count, 0);
	assert_int_equal(bench->log_count[0], 0);
	assert_int_equal(bench->log_count[1], 1);
	assert_int_equal(bench_post(bench, 0, 0, 5000, 2), 0); // its ACK speaks for both
	bench_run(bench, 2 * PS_PER_MS);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][0].cookie, 1);
	assert_int_equal(counters_of(bench, 0)->rtx[RTX_ACK], 0);
	bench_close(bench);
}

static void an_ack_that_overtakes_its_sack_speaks_for_both(void **state)
{
	(void)state;
	struct transport_config config = acked();
	config.rto_ps = PS_PER_S; // no timer may be needed
	struct bench *bench = open_dropping(&config, PACKET_SACK, 1000);
	for (uint32_t i = 1; i <= 20; i++)
		assert_int_equal(bench_post(bench, 0, 0, 5000, i), 0);
	bench_run(bench, PS_PER_S / 2);
	assert_int_equal(bench->log_count[0], 20);
	assert_int_equal(counters_of(bench, 0)->sacks_received, 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->inflight, 0);
	bench_close(bench);
}

static void a_lost_ack_is_asked_for_by_the_last_packet(void **state)
{
	(void)state;
	struct transport_config config = acked();
	struct bench *bench = open_dropping(&config, PACKET_ACK, 3);
	assert_int_equal(bench_post(bench, 0, 0, 5000, 1), 0);
	bench_run(bench, 150 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 0);
	bench_run(bench, 165 * PS_PER_US); // three waits of 50 us
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[1], 1); // delivered once
	assert_int_equal(counters_of(bench, 0)->rtx[RTX_ACK], 3);
	assert_int_equal(reminders, 3);
	assert_int_equal(counters_of(bench, 0)->rtx[RTX_TIMEOUT], 0);
	assert_int_equal(counters_of(bench, 1)->duplicates, 3);
	bench_check_empty(bench);
	bench_close(bench);
}

// The tries are those of a packet: 50, 50, 100 and 200 us.
static void acks_that_never_come_end_the_qp(void **state)
{
	(void)state;
	struct transport_config config = acked();
	config.rto_linear = config.rto_doublings = 2;
	struct bench *bench = open_dropping(&config, PACKET_ACK, 1000);
	for (uint32_t i = 1; i <= 3; i++)
		assert_int_equal(bench_post(bench, 0, 0, 100, i), 0);
	ps_t end = bench_run(bench, BENCH_TO_THE_END);
	assert_in_range(end, 400 * PS_PER_US, 425 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(bench->log[0][i].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench->log[0][i].cookie, i + 1);
		assert_int_equal(bench->log[0][i].failure, QP_FAILURE_RETRIES);
	}
	assert_int_equal(counters_of(bench, 0)->rtx[RTX_ACK], 3);
	bench_check_empty(bench);
	bench_close(bench);
}

// Its slot belongs to another PSN by then, and its distance no longer fits a SACK.
static void the_last_packet_of_long_ago_is_sent_again(void **state)
{
	(void)state;
	struct transport_config config = acked();
	config.mpr = 64;
	config.rto_ps = 3 * PS_PER_MS / 2;
	struct bench *bench = open_dropping(&config, PACKET_ACK, 1);
	assert_int_equal(bench_post(bench, 0, 0, 100, 1), 0);
	assert_int_equal(bench_post(bench, 0, 0, 40000 * FULL, 2), 0);
	bench_run(bench, config.rto_ps);
	assert_int_equal(bench->log_count[0], 0);
	assert_true(endpoint_qp(bench->ends[0], 0)->una - START > 33000);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(reminders, 1);
	assert_int_equal(counters_of(bench, 0)->rtx[RTX_ACK], 1);
	assert_int_equal(counters_of(bench, 1)->out_of_window, 0);
	bench_check_empty(bench);
	bench_close(bench);
}

static void every_lost_ack_and_sack_is_mended(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct transport_config config = acked();
		struct bench *bench = bench_open(&config, 1, START, seed);
		bench->control_loss_ppm = 400000;
		bench->jitter_ps = 5 * PS_PER_US;
		for (uint32_t i = 1; i <= 64; i++)
			assert_int_equal(bench_post(bench, 0, 0, 100 * i, i), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log_count[0], 64);
		assert_int_equal(bench->log_count[1], 64);
		assert_int_equal(counters_of(bench, 0)->qps_failed, 0);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

// ---------------------------------------------------------------- what is not believed

static void give_ack(struct bench *bench, uint32_t psn, uint32_t msn, uint8_t syndrome)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets,
		   index) = (struct packet){.source = 1,
					    .opcode = PACKET_ACK,
					    .klass = PACKET_CLASS_CONTROL,
					    .psn = psn & PSN_MASK,
					    .u.ack = {.msn = msn & PSN_MASK, .syndrome = syndrome}};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	bench_poll(bench, 0);
	bench_check_qp(bench, bench->ends[0], endpoint_qp(bench->ends[0], 0));
}

// Two requests of two packets each are posted; the first and half of the second have left.
static struct bench *open_half(void)
{
	struct transport_config config = acked();
	struct bench *bench = bench_open(&config, 1, START, 1);
	assert_int_equal(bench_post(bench, 0, 0, 2 * FULL, 1), 0);
	assert_int_equal(bench_post(bench, 0, 0, 2 * FULL, 2), 0);
	for (uint32_t n = 0; n < 3; n++)
		packet_put(&bench->packets, endpoint_next(bench->ends[0], 0, 0, &bench->out));
	return bench;
}

static void an_ack_of_what_was_not_sent_is_refused(void **state)
{
	(void)state;
	struct bench *bench = open_half();
	const struct transport_counters *counters = counters_of(bench, 0);
	give_ack(bench, START + 2, 2, PACKET_ACK_FINE); // its last packet has not left
	give_ack(bench, START + 1, 3, PACKET_ACK_FINE); // never posted
	give_ack(bench, START + 3, 1, PACKET_ACK_FINE); // PSN never sent
	give_ack(bench, START + 1, 1, 0x20);		// RNR, which MRC does not know
	give_ack(bench, START + 1, 1, PACKET_NAK_SEQUENCE);
	give_ack(bench, START + 1, 1, 0xff);
	give_ack(bench, START + 1, 2, PACKET_NAK_ACCESS); // two cannot be done
	assert_int_equal(counters->refused[REFUSED_ACK], 7);
	assert_int_equal(counters->acks_received + counters->naks_received, 0);
	assert_int_equal(bench->log_count[0], 0);
	give_ack(bench, START - 1, 0, PACKET_ACK_FINE); // nothing is done: true, and no news
	give_ack(bench, START + 1, 1, PACKET_ACK_FINE);
	give_ack(bench, START + 1, 1, PACKET_ACK_FINE);
	assert_int_equal(counters->acks_received, 3);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->una, START + 2);
	for (uint32_t credits = 0; credits < PACKET_ACK_FINE; credits++) // which mean nothing here
		give_ack(bench, START + 1, 1, (uint8_t)credits);
	assert_int_equal(counters->acks_received, 3 + PACKET_ACK_FINE);
	assert_int_equal(counters->refused[REFUSED_ACK], 7);
	bench_close(bench);
}

// The number alone would tell of requests of this life: they begin with 0 again.
static void an_ack_of_an_earlier_life_is_refused(void **state)
{
	(void)state;
	struct bench *bench = open_half();
	give_ack(bench, START - 1000, 1, PACKET_ACK_FINE);
	give_ack(bench, START, 1, PACKET_ACK_FINE); // not the last of its packets
	assert_int_equal(bench->log_count[0], 0);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->una, START);
	assert_int_equal(counters_of(bench, 0)->refused[REFUSED_ACK], 2);
	give_ack(bench, START + 1, 1, PACKET_ACK_FINE);
	assert_int_equal(bench->log_count[0], 1);
	bench_close(bench);
}

// ---------------------------------------------------------------- NAKs

static void spoil_key(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode == PACKET_WRITE_MIDDLE)
		packet->u.data.rkey = 12345;
}

static void spoil_bounds(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode == PACKET_WRITE_MIDDLE)
		packet->u.data.va = BENCH_VA + BENCH_REGION_BYTES - 1;
}

static void spoil_length(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode == PACKET_WRITE_MIDDLE)
		packet->u.data.message_bytes = 5;
}

static void spoil_imm(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode == PACKET_WRITE_LAST_IMM)
		packet->u.data.rqmsn = 77;
}

static uint8_t syndrome_seen;
static void (*spoil)(struct bench *, struct packet *);

static void watch_naks(struct bench *bench, struct packet *packet)
{
	spoil(bench, packet);
	if (packet->opcode == PACKET_ACK && packet->u.ack.syndrome != PACKET_ACK_FINE)
		syndrome_seen = packet->u.ack.syndrome;
}

static void what_is_refused_ends_the_qp_where_that_is_asked_for(void **state)
{
	(void)state;
	static const struct {
		void (*spoil)(struct bench *, struct packet *);
		uint8_t syndrome;
	} cases[] = {{spoil_key, PACKET_NAK_ACCESS},
		     {spoil_bounds, PACKET_NAK_ACCESS},
		     {spoil_length, PACKET_NAK_REQUEST},
		     {spoil_imm, PACKET_NAK_REQUEST}};
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config = acked();
		config.refused = REFUSED_NAK;
		struct bench *bench = bench_open(&config, 2, START, 1);
		spoil = cases[i].spoil;
		syndrome_seen = 0;
		bench->on_send = watch_naks;
		for (uint32_t n = 1; n <= 3; n++)
			assert_int_equal(bench_post(bench, 0, 0, 5 * FULL, n), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(syndrome_seen, cases[i].syndrome);
		assert_true(counters_of(bench, 1)->naks_sent > 0);
		assert_int_equal(counters_of(bench, 0)->naks_received, 1); // the QP is over then
		assert_int_equal(counters_of(bench, 0)->qps_failed_remote, 1);
		assert_int_equal(bench->log_count[0], 3);
		for (uint32_t n = 0; n < 3; n++) {
			assert_int_equal(bench->log[0][n].kind, COMPLETION_FLUSHED);
			assert_int_equal(bench->log[0][n].failure, QP_FAILURE_REMOTE);
		}
		bench->on_send = NULL;
		assert_int_equal(bench_post(bench, 0, 1, 5 * FULL, 9), 0); // another QP lives
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log[0][3].kind, COMPLETION_SENT);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

static void what_is_refused_is_not_answered_by_default(void **state)
{
	(void)state;
	struct transport_config config = acked();
	struct bench *bench = bench_open(&config, 1, START, 1);
	bench->on_send = spoil_key;
	assert_int_equal(bench_post(bench, 0, 0, 5 * FULL, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(counters_of(bench, 1)->naks_sent, 0);
	assert_int_equal(bench->log[0][0].failure, QP_FAILURE_RETRIES);
	bench_close(bench);
}

static void a_nak_of_a_request_that_is_done_ends_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_half();
	give_ack(bench, START + 1, 1, PACKET_ACK_FINE);
	give_ack(bench, START + 1, 1, PACKET_NAK_ACCESS);
	assert_int_equal(counters_of(bench, 0)->naks_received, 1);
	assert_int_equal(counters_of(bench, 0)->qps_failed, 0);
	give_ack(bench, START + 2, 1, PACKET_NAK_OPERATION);
	assert_int_equal(counters_of(bench, 0)->qps_failed_remote, 1);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][1].failure, QP_FAILURE_REMOTE);
	bench_close(bench);
}
