// SPDX-License-Identifier: Apache-2.0
// What SACKs and NACKs, made by hand, and timers do to a requester.
#include "transport_bench.h"

#define START 0xfffff0u
#define FULL 1088u

// An algorithm that writes down what it is told; its window is the configured one.
static struct cc_ack last_ack;
static struct cc_loss last_loss;
static uint32_t ack_count, loss_count;

static void record_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)now;
	last_ack = *ack;
	ack_count++;
}

static void record_loss(struct cc *cc, const struct cc_loss *loss, ps_t now)
{
	(void)cc;
	(void)now;
	last_loss = *loss;
	loss_count++;
}

static struct cc_ops recorder;

static struct bench *open_one(struct transport_config config)
{
	struct bench *bench = bench_open(&config, 1, START, 1);
	recorder = *cc_find("fixed");
	recorder.on_ack = record_ack;
	recorder.on_loss = record_loss;
	endpoint_qp(bench->ends[0], 0)->cc.ops = &recorder;
	ack_count = loss_count = 0;
	return bench;
}

// Posts a message of full packets and sends them 1 us apart on plane 0; returns their EVs.
static void send_packets(struct bench *bench, uint32_t packets, uint32_t *ret_evs)
{
	bench_post(bench, 0, 0, packets * 1024, 1);
	for (uint32_t n = 0; n < packets; n++) {
		bench->now += PS_PER_US;
		uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		ret_evs[n] = packet_at(&bench->packets, index)->ev;
		packet_put(&bench->packets, index);
	}
}

// A SACK: all before START + edge are here, and those of the bitmap from START + from on; caused
// by START + trigger.
static void give_sack(struct bench *bench, uint32_t edge, uint32_t from, uint64_t bitmap,
		      uint32_t trigger)
{
	bench_hand_in(
		bench,
		&(struct packet){.source = 1,
				 .opcode = PACKET_SACK,
				 .klass = PACKET_CLASS_CONTROL,
				 .psn = (START + edge - 1) & PSN_MASK,
				 .u.sack = {.bitmap = bitmap,
					    .offset = (int16_t)(from - edge + 1),
					    .trigger_offset = (int16_t)(trigger - edge + 1)}});
}

static void a_bitmap_takes_single_packets_out_of_flight_once(void **)
{
	struct bench *bench = open_one(bench_config());
	uint32_t evs[10];
	send_packets(bench, 10, evs);
	assert_int_equal(bench_qp(bench)->inflight, 10 * FULL);
	give_sack(bench, 2, 4, 5, 6); // 0, 1, 4, 6
	assert_int_equal(last_ack.newly_bytes, 4 * FULL);
	assert_int_equal(last_ack.inflight_bytes, 6 * FULL);
	give_sack(bench, 2, 4, 5, 6); // the same again
	assert_int_equal(last_ack.newly_bytes, 0);
	give_sack(bench, 8, 8, 0, 7);
	assert_int_equal(last_ack.newly_bytes, 4 * FULL); // 2, 3, 5, 7
	assert_int_equal(bench_qp(bench)->inflight, 2 * FULL);
	assert_int_equal(bench->log_count[0], 0);
	give_sack(bench, 10, 10, 0, 9);
	assert_int_equal(bench_qp(bench)->inflight, 0);
	assert_int_equal(bench->log_count[0], 1);
	bench_close(bench);
}

static void an_overtaken_sack_never_moves_una_back_but_its_news_counts(void **)
{
	struct bench *bench = open_one(bench_config());
	uint32_t evs[10];
	send_packets(bench, 10, evs);
	give_sack(bench, 6, 6, 0, 5);
	give_sack(bench, 3, 4, 0x12, 8); // old edge; 5 (old) and 8 (new)
	assert_int_equal(bench_qp(bench)->una, START + 6);
	assert_int_equal(last_ack.newly_bytes, FULL);
	assert_int_equal(bench_qp(bench)->inflight, 3 * FULL);
	bench_close(bench);
}

static void a_sack_of_psns_never_sent_is_ignored_and_counted(void **)
{
	struct bench *bench = open_one(bench_config());
	uint32_t evs[4];
	send_packets(bench, 4, evs);
	give_sack(bench, 5, 5, 0, 4);
	give_sack(bench, 1000000, 1000000, 0, 4);
	give_sack(bench, 0, 0, UINT64_C(1) << 4, 4);
	give_sack(bench, 0, 100, 1, 4);
	give_sack(bench, 5, 5, 0, 3);		     // one of the three each: the edge
	give_sack(bench, 4, 4, 0, 4);		     // the cause
	give_sack(bench, 0, 0, UINT64_C(1) << 4, 3); // the last of the bitmap
	assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_SACK], 7);
	assert_int_equal(endpoint_counters(bench->ends[0])->sacks_received, 0);
	assert_int_equal(ack_count, 0);
	assert_int_equal(bench_qp(bench)->una, START);
	assert_int_equal(bench_qp(bench)->inflight, 4 * FULL);
	bench_close(bench);
}

static void round_trips_come_from_packets_sent_once(void **)
{
	struct bench *bench = open_one(bench_config());
	uint32_t evs[4];
	send_packets(bench, 4, evs); // at 1, 2, 3, 4 us
	bench->now = 9 * PS_PER_US;
	give_sack(bench, 1, 1, 4, 3);
	assert_in_range(last_ack.rtt_ps, 5 * PS_PER_US - 1024, 5 * PS_PER_US + 1024);
	bench_give_nack(bench, START + 1, evs[1], PACKET_NACK_TRIMMED);
	assert_int_equal(bench_next(bench)->bth & PACKET_RTX, PACKET_RTX);
	bench->now = 12 * PS_PER_US;
	give_sack(bench, 2, 2, 0, 1); // sent twice: which one was it
	assert_int_equal(last_ack.rtt_ps, -1);
	bench_close(bench);
}

static void a_mark_skips_the_path_of_the_packet_that_met_it(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	uint32_t evs[4];
	send_packets(bench, 4, evs);
	struct packet sack = {.source = 1,
			      .opcode = PACKET_SACK,
			      .psn = START,
			      .u.sack = {.mark = 1, .ev_echo = evs[0], .penalty = 0x80 | 5}};
	bench_hand_in(bench, &sack);
	assert_true(last_ack.is_marked);
	assert_true(last_ack.is_restore);
	assert_int_equal(last_ack.penalty, 5);
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_skipped, 1);
	sack.u.sack.mark = PACKET_MARK_SKIP_ALWAYS; // a path not wanted any more: no congestion
	sack.u.sack.ev_echo = evs[2];
	bench_hand_in(bench, &sack);
	assert_false(last_ack.is_marked);
	sack.u.sack.mark = 1;
	sack.u.sack.ev_echo = evs[1] ^ 0x80000000;
	bench_hand_in(bench, &sack); // not one of its EVs
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_skipped, 1);
	sack.u.sack.mark = 0;
	sack.u.sack.penalty = 0x7f;
	bench_hand_in(bench, &sack);
	assert_false(last_ack.is_marked);
	assert_false(last_ack.is_restore);
	assert_int_equal(last_ack.penalty, 0x7f);
	bench_close(bench);
}

static void trimmed_packets_are_repaired_at_once_oldest_first_by_another_path(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	uint32_t evs[10];
	send_packets(bench, 10, evs);
	bench_post(bench, 0, 0, 1024, 2); // new data waits
	bench_give_nack(bench, START + 7, evs[7], PACKET_NACK_TRIMMED);
	bench_give_nack(bench, START + 3, evs[3], PACKET_NACK_TRIMMED_LAST);
	assert_true(last_loss.is_trim && last_loss.is_last_hop);
	assert_int_equal(last_loss.bytes, FULL);
	assert_int_equal(last_loss.inflight_bytes, 8 * FULL);
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_skipped, 1);
	const uint32_t order[3] = {3, 7, 10};
	for (uint32_t i = 0; i < 3; i++) {
		const struct packet *packet = bench_next(bench);
		assert_int_equal(packet->psn, (START + order[i]) & PSN_MASK);
		assert_int_equal(packet->bth & PACKET_RTX, i < 2 ? PACKET_RTX : 0);
		assert_int_not_equal(packet->ev, evs[order[i] % 10]);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_NACK], 2);
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_reinstated, 0);
	// a second NACK for the first sending says nothing about the second
	bench_give_nack(bench, START + 3, evs[3], PACKET_NACK_TRIMMED_LAST);
	assert_int_equal(loss_count, 2);
	assert_null(bench_next(bench));
	bench_close(bench);
}

// What is left of it waits in no queue: it says how slow the path is, where it took that path.
static void a_trim_that_took_long_makes_its_ev_rest_for_longer(void **)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.skip_ps = SKIP_BY_MARKS;
	struct bench *bench = open_one(config);
	const uint8_t *history = bench_qp(bench)->path.history;
	uint32_t evs[10], mask = bench_qp(bench)->path.shape->index_mask;
	send_packets(bench, 10, evs);
	for (uint32_t i = 0; i < 6; i++)
		bench_hand_in(bench,
			      &(struct packet){.source = 1,
					       .opcode = PACKET_SACK,
					       .psn = (START + i) & PSN_MASK,
					       .u.sack = {.ev_echo = evs[i]}});
	bench_give_nack(bench, START + 7, evs[7], PACKET_NACK_TRIMMED);
	bench->now += 30 * PS_PER_US;
	bench_give_nack(bench, START + 8, evs[8], PACKET_NACK_TRIMMED);
	bench_give_nack(bench, START + 8, evs[9], PACKET_NACK_TRIMMED); // of another sending
	assert_int_equal(history[evs[7] & mask], 3);
	assert_int_equal(history[evs[8] & mask], 9);
	assert_int_equal(history[evs[9] & mask], 3);
	assert_int_equal(loss_count, 1); // a path that slow is no matter of the window
	path_lose(&bench_qp(bench)->path, evs[0] & mask, bench->now); // now it is known who lives
	bench_give_nack(bench, START + 6, evs[6], PACKET_NACK_TRIMMED_LAST);
	assert_int_equal(path_last_heard(&bench_qp(bench)->path, 0), evs[6] & mask);
	bench_give_nack(bench, START + 9, evs[6], PACKET_NACK_TRIMMED);
	assert_int_equal(path_last_heard(&bench_qp(bench)->path, 0), PATH_NO_EV);
	bench_close(bench);
}

static void a_nack_of_the_acknowledged_or_never_sent_changes_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	uint32_t evs[4];
	send_packets(bench, 4, evs);
	give_sack(bench, 1, 1, 2, 2); // 0 and 2
	bench_give_nack(bench, START + 0, evs[0], PACKET_NACK_TRIMMED);
	bench_give_nack(bench, START + 2, evs[2], PACKET_NACK_TRIMMED);
	assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_NACK], 0);
	bench_give_nack(bench, START + 4, evs[0], PACKET_NACK_TRIMMED);
	assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_NACK], 1);
	assert_int_equal(loss_count, 0);
	assert_int_equal(bench_qp(bench)->inflight, 2 * FULL);
	bench_close(bench);
}

static void a_lost_packet_that_arrived_after_all_is_not_sent_again(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	uint32_t evs[4];
	send_packets(bench, 4, evs);
	bench_give_nack(bench, START + 1, evs[1], PACKET_NACK_TRIMMED);
	bench_give_nack(bench, START + 2, evs[2], PACKET_NACK_TRIMMED);
	give_sack(bench, 2, 3, 1, 3); // 0, 1, 3
	assert_int_equal(bench_next(bench)->psn, (START + 2) & PSN_MASK);
	assert_null(bench_next(bench));
	bench_close(bench);
}

static void a_hole_is_lost_when_later_packets_arrived_long_enough(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.hole_age_ps = 3 * PS_PER_US;
	struct bench *bench = open_one(config);
	uint32_t evs[10];
	send_packets(bench, 10, evs); // 1 us apart
	give_sack(bench, 0, 3, 1, 3); // 3 is 3 us after 0: not longer than 3 us
	assert_int_equal(loss_count, 0);
	give_sack(bench, 0, 5, 1, 5); // now 0 and 1 are old
	assert_int_equal(loss_count, 2);
	assert_false(last_loss.is_trim);
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_retired, 2);
	assert_int_equal(bench_next(bench)->psn, START & PSN_MASK);
	assert_int_equal(bench_next(bench)->psn, (START + 1) & PSN_MASK);
	assert_null(bench_next(bench));
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_HOLE], 2);
	give_sack(bench, 0, 6, 1, 6); // sent again just now, the two are young; 2 is old
	assert_int_equal(loss_count, 3);
	bench_close(bench);
}

// One packet that nobody answers leaves at 0, then after each wait, linear ones first.
static void waits_are_linear_then_double(void **state)
{
	(void)state;
	struct transport_config config = bench_config(); // 50 us, 7 linear, 5 doublings
	config.path_policy = PATH_ROTATE;		 // no probes between
	config.planes = 1;
	struct bench *bench = open_one(config);
	uint32_t ev;
	send_packets(bench, 1, &ev);
	ps_t sent_at = bench->now;
	for (uint32_t wait = 0; wait < 12; wait++) {
		ps_t length = 50 * PS_PER_US << (wait < 7 ? 0 : wait - 6);
		while (!endpoint_has_work(bench->ends[0])) {
			ps_t at = endpoint_wake_at(bench->ends[0]);
			assert_true(at != PS_NEVER);
			bench->now = at;
			endpoint_on_time(bench->ends[0], at, &bench->out);
			if (wait == 11 && endpoint_has_events(bench->ends[0]))
				break;
		}
		assert_in_range(bench->now - sent_at, length - 2048, length + 2048);
		if (wait == 11)
			break;
		sent_at = bench->now;
		assert_int_equal(bench_next(bench)->bth, PACKET_RTX | PACKET_AR);
	}
	bench_poll(bench, 0);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_FLUSHED);
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_TIMEOUT], 11);
	assert_int_equal(endpoint_counters(bench->ends[0])->qps_failed, 1);
	bench_close(bench);
}

// A NACK shows that the target is alive: the doubled wait falls back, and the timer follows.
static void a_nack_brings_the_wait_back_to_the_base(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.path_policy = PATH_ROTATE;
	config.planes = 1;
	config.rto_linear = 1;
	struct bench *bench = open_one(config);
	uint32_t ev;
	send_packets(bench, 1, &ev);
	for (uint32_t wait = 0; wait < 3; wait++) { // 50, 100, 200 us; the next would be 400
		while (!endpoint_has_work(bench->ends[0])) {
			bench->now = endpoint_wake_at(bench->ends[0]);
			endpoint_on_time(bench->ends[0], bench->now, &bench->out);
		}
		ev = bench_next(bench)->ev;
	}
	bench_give_nack(bench, START + 0, ev, PACKET_NACK_TRIMMED);
	assert_non_null(bench_next(bench));
	ps_t sent_at = bench->now;
	while (!endpoint_has_work(bench->ends[0])) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	assert_in_range(bench->now - sent_at, 50 * PS_PER_US - 2048, 50 * PS_PER_US + 2048);
	bench_close(bench);
}

// The EV of a NACK is good where the target's own line was the queue, and would have a turn; what
// is sent again does not take it.
static void a_repair_never_takes_the_ev_that_it_had(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 16; n++) { // one of them is next in the rotation
		struct bench *bench = open_one(bench_config());
		uint32_t evs[16];
		send_packets(bench, 16, evs);
		bench_give_nack(bench, START + n, evs[n], PACKET_NACK_TRIMMED_LAST);
		const struct packet *packet = bench_next(bench);
		assert_int_equal(packet->psn, (START + n) & PSN_MASK);
		assert_int_not_equal(packet->ev, evs[n]);
		bench_close(bench);
	}
}

static void each_repair_is_counted_by_its_own_reason(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.path_policy = PATH_ROTATE;
	config.hole_age_ps = 3 * PS_PER_US;
	struct bench *bench = open_one(config);
	const uint64_t *rtx = endpoint_counters(bench->ends[0])->rtx;
	uint32_t evs[10];
	send_packets(bench, 10, evs);
	give_sack(bench, 0, 9, 1, 9); // 0 to 5 are holes
	assert_int_equal(rtx[RTX_HOLE] + loss_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		evs[i] = bench_next(bench)->ev;
	assert_int_equal(rtx[RTX_HOLE], 6);
	for (uint32_t again = 1; again < 4; again++) { // now trims take the first, each time
		bench_give_nack(bench, START + 0, evs[0], PACKET_NACK_TRIMMED_LAST);
		evs[0] = bench_next(bench)->ev;
		assert_int_equal(rtx[RTX_NACK], again);
	}
	assert_int_equal(rtx[RTX_HOLE], 6);
	assert_int_equal(rtx[RTX_TIMEOUT] + rtx[RTX_SLEEK] + rtx[RTX_ACK], 0);
	bench_close(bench);
}

// A NACK ended the flight of the packet, so that no timer is left; then it is there all the same.
// What is awaited now is its ACK.
static void an_ack_is_awaited_from_its_sack_on(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	struct bench *bench = open_one(config);
	uint32_t ev;
	send_packets(bench, 1, &ev);
	bench_give_nack(bench, START + 0, ev, PACKET_NACK_TRIMMED_LAST);
	while (endpoint_wake_at(bench->ends[0]) != PS_NEVER) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	bench->now += 10 * PS_PER_US;
	give_sack(bench, 1, 1, 0, 0);
	assert_null(bench_next(bench)); // nothing is lost any more
	ps_t heard_at = bench->now;
	while (!endpoint_has_work(bench->ends[0])) {
		assert_true(endpoint_wake_at(bench->ends[0]) != PS_NEVER);
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	assert_in_range(bench->now - heard_at, 50 * PS_PER_US - 2048, 50 * PS_PER_US + 2048);
	assert_int_equal(bench_next(bench)->psn, START & PSN_MASK);
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_ACK], 1);
	bench_close(bench);
}

// Both requests are there; the ACK of the first shows that the target is alive, and the wait for
// the second begins anew.
static void an_ack_begins_the_wait_for_the_next(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	struct bench *bench = open_one(config);
	uint32_t ev;
	send_packets(bench, 1, &ev);
	send_packets(bench, 1, &ev);
	give_sack(bench, 2, 2, 0, 1);
	ps_t heard_at = bench->now;
	bench->now += 40 * PS_PER_US; // of 50
	bench_hand_in(bench,
		      &(struct packet){.source = 1,
				       .opcode = PACKET_ACK,
				       .klass = PACKET_CLASS_CONTROL,
				       .psn = START & PSN_MASK,
				       .u.ack = {.msn = 1, .syndrome = PACKET_ACK_FINE}});
	assert_int_equal(bench->log_count[0], 1);
	while (!endpoint_has_work(bench->ends[0])) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	assert_in_range(bench->now - heard_at, 90 * PS_PER_US - 2048, 90 * PS_PER_US + 2048);
	bench_close(bench);
}

// REPS sends again over the EV of what came unmarked, and not over that of a mark.
static void an_ev_is_recycled_where_its_packet_was_not_marked(void **state)
{
	(void)state;
	for (uint8_t mark = 0; mark < 2; mark++) {
		struct transport_config config = bench_config();
		config.path_policy = PATH_REPS;
		config.planes = 1;
		struct bench *bench = open_one(config);
		uint32_t ev, again;
		send_packets(bench, 1, &ev);
		bench_hand_in(bench,
			      &(struct packet){.source = 1,
					       .opcode = PACKET_SACK,
					       .psn = START,
					       .u.sack = {.mark = mark, .ev_echo = ev}});
		send_packets(bench, 1, &again);
		assert_int_equal(again == ev, mark == 0);
		bench_close(bench);
	}
}
