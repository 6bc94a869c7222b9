// SPDX-License-Identifier: Apache-2.0
// SLEEK with SACKs made by hand: how many packets out of order are a loss, what goes again and how
// often, when a probe leaves and what its answer does. The figures are uet-htsim's: one and a half
// windows in payloads, at least five packets; 3 and 5 base round trips; base and target at the end.
#include "transport_bench.h"

#include <errno.h>

#define START 0xfffff0u
#define FULL 1088u
#define WINDOW_PACKETS 20u
#define BASE (3 * PS_PER_US)
#define TARGET (BASE * 3 / 4)
#define LIMIT (WINDOW_PACKETS * FULL * 3 / 2 / 1024) // 31 packets of payload

static struct transport_config sleek_config(uint32_t window_packets)
{
	struct transport_config config = bench_config();
	config.planes = 1;
	config.sleek = true;
	config.rto_ps = PS_PER_S;
	config.cc.window_bytes = window_packets * FULL;
	return config;
}

static struct bench *open_one(uint32_t window_packets)
{
	struct transport_config config = sleek_config(window_packets);
	return bench_open(&config, 1, START, 1);
}

static uint32_t send_all(struct bench *bench)
{
	uint32_t count = 0;
	while (bench_next(bench) != NULL)
		count++;
	return count;
}

// A SACK of all before START + edge, with packets of [from, from + 64) as bits, and so many out of
// order; it answers a probe when `probe` is one.
static void give_sack(struct bench *bench, uint32_t edge, uint32_t from, uint64_t bitmap,
		      uint32_t ooo_count, const struct packet *probe)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){
		.source = 1,
		.opcode = PACKET_SACK,
		.klass = PACKET_CLASS_CONTROL,
		.psn = (START + edge - 1) & PSN_MASK,
		.timestamp = probe != NULL ? probe->timestamp : 0,
		.u.sack = {.bitmap = bitmap,
			   .offset = (int16_t)(from - edge + 1),
			   .ooo_count = (uint16_t)ooo_count,
			   .ev_echo = probe != NULL ? probe->ev : 0,
			   .is_probe = probe != NULL,
			   .probe_id = probe != NULL ? probe->u.probe.probe_id : 0}};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	bench_poll(bench, 0);
	bench_check_qp(bench, bench->ends[0], bench_qp(bench));
}

static uint64_t sleek_count(const struct bench *bench)
{
	return endpoint_counters(bench->ends[0])->rtx[RTX_SLEEK];
}

// Rings timers up to `until`; the packet that left then, with its time in bench->now.
static const struct packet *wait_for_packet(struct bench *bench, ps_t until)
{
	while (endpoint_wake_at(bench->ends[0]) <= until) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
		const struct packet *packet = bench_next(bench);
		if (packet != NULL)
			return packet;
	}
	return NULL;
}

static void one_and_a_half_windows_out_of_order_are_a_loss(void **state)
{
	(void)state;
	struct bench *bench = open_one(WINDOW_PACKETS);
	uint32_t window = bench_qp(bench)->cc.window_bytes;
	bench_post(bench, 0, 0, 200 * 1024, 0);
	assert_int_equal(send_all(bench), WINDOW_PACKETS);
	give_sack(bench, 1, 3, 0x3, LIMIT - 1, NULL); // 0, 3, 4
	assert_int_equal(send_all(bench), 3);
	assert_int_equal(sleek_count(bench), 0);
	give_sack(bench, 1, 3, 0x3, LIMIT, NULL);
	// of 23 all but 0, 3, 4 are out, and a window of 21 payloads from the oldest on goes again
	assert_int_equal(bench_qp(bench)->lost_count, 19);
	for (uint32_t psn = 1; psn <= 21; psn++) {
		if (psn == 3 || psn == 4)
			continue;
		const struct packet *again = bench_next(bench);
		assert_int_equal(again->psn, (START + psn) & PSN_MASK);
		assert_true(again->bth & PACKET_RTX);
	}
	assert_null(bench_next(bench));
	assert_int_equal(sleek_count(bench), 19);
	assert_int_equal(bench_qp(bench)->cc.window_bytes, window);
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_retired, 0);
	bench_close(bench);
}

static void five_packets_are_the_least(void **state)
{
	(void)state;
	struct bench *bench = open_one(2);
	bench_post(bench, 0, 0, 200 * 1024, 0);
	assert_int_equal(send_all(bench), 2);
	give_sack(bench, 0, 0, 0, 4, NULL);
	assert_null(bench_next(bench));
	give_sack(bench, 0, 0, 0, 5, NULL);
	assert_int_equal(send_all(bench), 2);
	assert_int_equal(sleek_count(bench), 2);
	bench_close(bench);
}

static void no_more_than_the_largest_window_is_asked(void **state)
{
	(void)state;
	struct transport_config config = sleek_config(WINDOW_PACKETS);
	config.cc.max_cwnd_bytes = WINDOW_PACKETS * FULL;
	struct bench *bench = bench_open(&config, 1, START, 1);
	bench_post(bench, 0, 0, 200 * 1024, 0);
	send_all(bench);
	give_sack(bench, 0, 0, 0, WINDOW_PACKETS * FULL / 1024 - 1, NULL);
	assert_null(bench_next(bench));
	give_sack(bench, 0, 0, 0, WINDOW_PACKETS * FULL / 1024, NULL);
	assert_int_equal(send_all(bench), WINDOW_PACKETS);
	bench_close(bench);
}

// Until all that was out when it began is acknowledged, more of it goes as the window moves on,
// none twice; then the count is asked anew.
static void in_a_recovery_each_goes_again_once(void **state)
{
	(void)state;
	struct bench *bench = open_one(4);
	bench_post(bench, 0, 0, 200 * 1024, 0);
	assert_int_equal(send_all(bench), 4);
	give_sack(bench, 0, 1, 0x7, 3, NULL); // 1 to 3 came
	assert_int_equal(send_all(bench), 3); // 4 to 6
	give_sack(bench, 0, 1, 0x3f, 6, NULL);
	// 0 alone is out: six packets out of order are one and a half windows, and it goes first
	assert_int_equal(bench_next(bench)->psn, START & PSN_MASK);
	assert_int_equal(send_all(bench), 3); // 7 to 9, new
	give_sack(bench, 0, 1, 0x1ff, 9, NULL);
	for (const struct packet *packet; (packet = bench_next(bench)) != NULL;) // lost once more
		assert_false(packet->bth & PACKET_RTX);
	assert_int_equal(sleek_count(bench), 1);
	give_sack(bench, 10, 10, 0, 0, NULL); // the recovery is over
	send_all(bench);
	give_sack(bench, 10, 11, 0x7, 5, NULL); // five of four packets: no
	send_all(bench);
	assert_int_equal(sleek_count(bench), 1);
	give_sack(bench, 10, 11, 0x7, 6, NULL);
	send_all(bench);
	assert_in_range(sleek_count(bench), 2, 5);
	bench_close(bench);
}

static void repairs_pass_a_window_that_was_cut(void **state)
{
	(void)state;
	struct bench *bench = open_one(WINDOW_PACKETS);
	struct qp *qp = bench_qp(bench);
	bench_post(bench, 0, 0, 200 * 1024, 0);
	send_all(bench);
	qp->cc.window_bytes = 6 * FULL; // now 9 packets are enough, and 6 go again
	give_sack(bench, 0, 0, 0, 9, NULL);
	assert_int_equal(qp->lost_count, 6);
	assert_true(qp->inflight > qp->cc.window_bytes);
	for (uint32_t i = 0; i < 6; i++)
		assert_true(bench_next(bench)->bth & PACKET_RTX);
	assert_null(bench_next(bench)); // new data do not
	bench_close(bench);
}

// With nothing more to send: one base round trip and the target after the last SACK, then again
// after five base round trips.
static void at_the_end_a_probe_leaves_early(void **state)
{
	(void)state;
	struct bench *bench = open_one(WINDOW_PACKETS);
	bench_post(bench, 0, 0, 10 * 1024, 0);
	assert_int_equal(send_all(bench), 10);
	bench->now = 7 * PS_PER_US;
	assert_null(wait_for_packet(bench, 40 * BASE)); // before the first SACK there is none
	give_sack(bench, 8, 8, 0, 0, NULL);
	ps_t heard_at = bench->now;
	const struct packet *probe = wait_for_packet(bench, heard_at + 3 * BASE);
	assert_int_equal(probe->opcode, PACKET_PROBE);
	assert_true(bench->now == heard_at + BASE + TARGET);
	probe = wait_for_packet(bench, heard_at + 20 * BASE);
	assert_int_equal(probe->opcode, PACKET_PROBE);
	assert_true(bench->now == heard_at + BASE + TARGET + 5 * BASE);
	bench_close(bench);
}

static void with_more_to_send_it_leaves_after_three_round_trips(void **state)
{
	(void)state;
	struct bench *bench = open_one(WINDOW_PACKETS);
	bench_post(bench, 0, 0, 200 * 1024, 0);
	send_all(bench);
	bench->now = 7 * PS_PER_US;
	give_sack(bench, 8, 8, 0, 0, NULL);
	send_all(bench);
	const struct packet *probe = wait_for_packet(bench, 40 * BASE);
	assert_int_equal(probe->opcode, PACKET_PROBE);
	assert_true(bench->now == 7 * PS_PER_US + 3 * BASE);
	bench_close(bench);
}

// Sends 10 packets of which 8 are acknowledged, waits for the probe, and answers it after a round
// trip of so long.
static struct bench *answer_after(ps_t rtt_ps)
{
	struct bench *bench = open_one(WINDOW_PACKETS);
	bench_post(bench, 0, 0, 10 * 1024, 0);
	send_all(bench);
	give_sack(bench, 8, 8, 0, 0, NULL);
	struct packet probe = *wait_for_packet(bench, 40 * BASE);
	bench->now += rtt_ps;
	give_sack(bench, 8, 8, 0, 0, &probe);
	return bench;
}

static void a_probe_that_met_no_queue_repairs_the_tail(void **state)
{
	(void)state;
	struct bench *bench = answer_after(BASE + TARGET - 2 * TIMESTAMP_PS);
	assert_int_equal(endpoint_counters(bench->ends[0])->probes_answered, 1);
	assert_int_equal(bench_next(bench)->psn, (START + 8) & PSN_MASK);
	assert_int_equal(bench_next(bench)->psn, (START + 9) & PSN_MASK);
	assert_null(bench_next(bench));
	// and again by the next one
	struct packet probe = *wait_for_packet(bench, bench->now + 40 * BASE);
	bench->now += BASE;
	give_sack(bench, 8, 8, 0, 0, &probe);
	assert_int_equal(send_all(bench), 2);
	assert_int_equal(sleek_count(bench), 4);
	bench_close(bench);
}

static void a_probe_that_met_a_queue_says_nothing(void **state)
{
	(void)state;
	struct bench *bench = answer_after(BASE + TARGET + 2 * TIMESTAMP_PS);
	assert_int_equal(endpoint_counters(bench->ends[0])->probes_answered, 1);
	assert_null(bench_next(bench));
	assert_int_equal(sleek_count(bench), 0);
	bench_close(bench);
}

static void when_all_is_acknowledged_no_timer_is_left(void **state)
{
	(void)state;
	struct bench *bench = open_one(WINDOW_PACKETS);
	bench_post(bench, 0, 0, 10 * 1024, 0);
	send_all(bench);
	give_sack(bench, 8, 8, 0, 0, NULL);
	give_sack(bench, 10, 10, 0, 0, NULL);
	assert_null(wait_for_packet(bench, PS_NEVER - 1));
	assert_int_equal(endpoint_counters(bench->ends[0])->probes_sent, 0);
	bench_close(bench);
}

static void a_qp_that_failed_or_was_reset_rings_no_more(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench *bench = open_one(WINDOW_PACKETS);
		bench_post(bench, 0, 0, 10 * 1024, 0);
		send_all(bench);
		give_sack(bench, 8, 8, 0, 0, NULL);
		assert_int_equal(i == 0 ? endpoint_fail(bench->ends[0], 0)
					: endpoint_reset(bench->ends[0], 0),
				 0);
		assert_null(wait_for_packet(bench, PS_NEVER - 1));
		bench_close(bench);
	}
}

static void what_has_no_window_or_no_round_trip_is_refused(void **state)
{
	(void)state;
	static _Alignas(64) uint8_t memory[1 << 20];
	struct endpoint *endpoint;
	struct refusal refusal;
	struct arena arena;
	for (int i = 0; i < 4; i++) {
		struct transport_config config = sleek_config(WINDOW_PACKETS);
		arena_init(&arena, memory, sizeof(memory));
		if (i == 1)
			config.kind = TRANSPORT_RC;
		if (i == 2)
			config.cc.name = "rccc";
		if (i == 3)
			config.cc.base_rtt_ps = 0;
		assert_int_equal(endpoint_create(&endpoint, &arena, &config, 0, 1, 1, &refusal),
				 i == 0 ? 0 : -EINVAL);
	}
}
