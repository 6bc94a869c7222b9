// SPDX-License-Identifier: Apache-2.0
// Two endpoints over good and bad wires: each message completes exactly once and in posting order,
// whatever the wire does, and nothing is left behind.
#include "transport_bench.h"

#include <errno.h>

#include "../../../lib/transport/path/load.h"

#define SIZES 7
static const uint32_t sizes[SIZES] = {1, 1024, 1025, 40000, 63, 3 * 1024, 9000};

// Posts `messages` writes with immediates 1, 2, ... on each QP of side 0, as places come free.
static uint64_t pump(struct bench *bench, uint32_t messages)
{
	uint32_t posted[8] = {0};
	uint64_t bytes = 0;
	for (uint32_t round = 0; round < 100000; round++) {
		bool is_done = true;
		for (uint32_t qpn = 0; qpn < bench->qps; qpn++) {
			while (posted[qpn] < messages) {
				uint32_t size = sizes[(posted[qpn] + qpn) % SIZES];
				if (bench_post(bench, 0, qpn, size, posted[qpn] + 1) != 0)
					break;
				posted[qpn]++;
				bytes += size;
			}
			is_done &= posted[qpn] == messages;
		}
		bench_run(bench, is_done ? BENCH_TO_THE_END : bench->now + 5 * PS_PER_US);
		if (is_done)
			return bytes;
	}
	fail_msg("the messages do not end");
	return 0;
}

// Each QP's completions of `kind` on `side` carry 1, 2, ... messages.
static void check_order(const struct bench *bench, uint32_t side, enum completion_kind kind,
			uint32_t messages)
{
	uint32_t seen[8] = {0};
	for (uint32_t i = 0; i < bench->log_count[side]; i++) {
		const struct completion *completion = &bench->log[side][i];
		uint32_t qpn = completion->qp;
		assert_int_equal(completion->kind, kind);
		uint32_t number = kind == COMPLETION_RECEIVED ? completion->imm
							      : (uint32_t)completion->cookie;
		assert_int_equal(number, ++seen[qpn]);
		assert_int_equal(completion->bytes, sizes[(number - 1 + qpn) % SIZES]);
	}
	for (uint32_t qpn = 0; qpn < bench->qps; qpn++)
		assert_int_equal(seen[qpn], messages);
}

static void check_all(struct bench *bench, uint32_t messages)
{
	uint64_t bytes = pump(bench, messages);
	const struct transport_counters *sender = endpoint_counters(bench->ends[0]);
	const struct transport_counters *target = endpoint_counters(bench->ends[1]);
	check_order(bench, 0, COMPLETION_SENT, messages);
	check_order(bench, 1, COMPLETION_RECEIVED, messages);
	assert_int_equal(target->payload_bytes_placed, bytes);
	assert_int_equal(sender->payload_bytes_new, bytes);
	assert_int_equal(target->messages_received, (uint64_t)messages * bench->qps);
	assert_int_equal(sender->messages_sent, (uint64_t)messages * bench->qps);
	assert_int_equal(sender->qps_failed, 0);
	uint64_t again = sender->refused[REFUSED_PROBE]; // a wire that doubles answers does that
	assert_true(again == 0 || bench->duplicated > 0 || bench->duplicate_ppm > 0);
	assert_int_equal(transport_refused(sender) - again + transport_refused(target), 0);
	assert_int_equal(sender->no_qp + target->no_qp + target->out_of_window, 0);
	assert_int_equal(sender->plane_bytes[0] + sender->plane_bytes[1] + sender->plane_bytes[2] +
				 sender->plane_bytes[3],
			 sender->data_bytes);
	bench_check_empty(bench);
}

static void a_good_wire_completes_all_in_order_without_repair(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	struct bench *bench = bench_open(&config, 3, 0, 1);
	check_all(bench, 200);
	const struct transport_counters *sender = endpoint_counters(bench->ends[0]);
	const struct transport_counters *target = endpoint_counters(bench->ends[1]);
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		assert_int_equal(sender->rtx[reason], 0);
	assert_int_equal(target->acks_sent, sender->acks_received);
	assert_in_range(target->acks_sent, 1, 600); // at most one for each request
	assert_int_equal(sender->data_packets, target->data_received);
	assert_int_equal(target->sacks_sent, sender->sacks_received);
	assert_int_equal(target->duplicates, 0);
	bench_close(bench);
}

struct weather {
	const char *name;
	ps_t jitter_ps, hole_age_ps;
	uint32_t loss, duplicate, trim, trim_last, mark, control_loss; // ppm
};

static const struct weather weathers[] = {
	{"reorder", 5 * PS_PER_US, 0, 0, 0, 0, 0, 0, 0},
	{"duplicates", 2 * PS_PER_US, 0, 0, 50000, 0, 0, 0, 0},
	{"loss", 0, 0, 20000, 0, 0, 0, 0, 0},
	{"loss with holes", PS_PER_US, 4 * PS_PER_US, 20000, 0, 0, 0, 0, 0},
	{"lost answers", PS_PER_US, 0, 0, 0, 0, 0, 0, 100000},
	{"trims", PS_PER_US, 0, 0, 0, 50000, 30000, 0, 0},
	{"marks", PS_PER_US, 0, 0, 0, 0, 0, 200000, 0},
	{"everything", 4 * PS_PER_US, 6 * PS_PER_US, 30000, 20000, 30000, 20000, 100000, 30000},
};

static void run_weather(const struct weather *weather, struct transport_config *config,
			uint32_t first_psn, uint64_t seed)
{
	config->hole_age_ps = weather->hole_age_ps;
	struct bench *bench = bench_open(config, 2, first_psn, seed);
	bench->jitter_ps = weather->jitter_ps;
	bench->loss_ppm = weather->loss;
	bench->duplicate_ppm = weather->duplicate;
	bench->trim_ppm = weather->trim;
	bench->trim_last_ppm = weather->trim_last;
	bench->mark_ppm = weather->mark;
	bench->control_loss_ppm = weather->control_loss;
	check_all(bench, 120);
	bench_close(bench);
}

static void a_bad_wire_completes_all_exactly_once_in_order(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(weathers) / sizeof(weathers[0]); i++) {
		for (uint64_t seed = 1; seed <= 6; seed++) {
			struct transport_config config = bench_config();
			config.sack_rule = seed % 2 ? SACK_MRC : SACK_HTSIM;
			config.cc.name = seed % 3 ? "nscc" : "fixed";
			config.path_policy = (enum path_policy)(seed % 3);
			config.trim_nack = seed != 5;
			config.planes = seed % 2 ? 1 : 4;
			config.completion = seed < 3 ? COMPLETION_BY_SACK : COMPLETION_BY_ACK;
			config.rtt = seed == 4 ? RTT_STAMP : RTT_LOCAL;
			config.service_time = seed >= 4;
			config.dynamic_mpr = seed >= 5;
			config.mpr_budget = 1;
			run_weather(&weathers[i], &config, 0, seed * 100 + i);
		}
	}
}

static void all_completes_across_the_wrap_of_the_psn(void **state)
{
	(void)state;
	const uint32_t starts[] = {0xfffff0u, 0xffff80u, 0x7fffc0u, 0xfffffff0u, 0x7ffffff0u};
	for (uint32_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		for (uint32_t w = 0; w < sizeof(weathers) / sizeof(weathers[0]); w++) {
			struct transport_config config = bench_config();
			config.completion = COMPLETION_BY_ACK;
			run_weather(&weathers[w], &config, starts[i], 7 + w);
		}
	}
}

static void a_small_psn_range_and_a_large_one_complete_all(void **state)
{
	(void)state;
	const uint32_t mprs[] = {64, 4096, 32768};
	for (uint32_t i = 0; i < 3; i++) {
		struct transport_config config = bench_config();
		config.mpr = mprs[i];
		config.cc.window_bytes = 40000000;
		config.sack_bytes = 200 * 1088;
		run_weather(&weathers[7], &config, 0xfffff0, 3 + i);
	}
}

static void two_runs_of_one_seed_are_the_same(void **state)
{
	(void)state;
	struct transport_counters seen[2];
	ps_t ends[2];
	for (uint32_t run = 0; run < 2; run++) {
		struct transport_config config = bench_config();
		config.cc.name = "nscc";
		struct bench *bench = bench_open(&config, 4, 0, 99);
		bench->loss_ppm = 10000;
		bench->jitter_ps = 3 * PS_PER_US;
		check_all(bench, 60);
		seen[run] = *endpoint_counters(bench->ends[0]);
		ends[run] = bench->now;
		bench_close(bench);
	}
	assert_memory_equal(&seen[0], &seen[1], sizeof(seen[0]));
	assert_int_equal(ends[0], ends[1]);
}

static uint32_t max_packets_out;

static void watch_window(struct bench *bench, struct packet *packet)
{
	if (packet->klass != PACKET_CLASS_DATA)
		return;
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	assert_true(qp->inflight <= qp->cc.window_bytes || qp->inflight == packet->wire_bytes);
	uint32_t out = qp->psn_next - qp->una;
	max_packets_out = out > max_packets_out ? out : max_packets_out;
}

static void the_window_is_never_passed_and_is_used_up(void **state)
{
	(void)state;
	const uint32_t windows[] = {100, 1088, 2175, 5 * 1088, 30 * 1088 + 7};
	for (uint32_t i = 0; i < 5; i++) {
		struct transport_config config = bench_config();
		config.cc.window_bytes = windows[i];
		struct bench *bench = bench_open(&config, 1, 0, 5);
		max_packets_out = 0;
		bench->on_send = watch_window;
		assert_int_equal(bench_post(bench, 0, 0, 200 * 1024, 1), 0);
		bench_run(bench, BENCH_TO_THE_END);
		uint32_t packets = windows[i] / 1088;
		assert_int_equal(max_packets_out, packets > 0 ? packets : 1);
		assert_int_equal(bench->log_count[0], 1);
		assert_true(endpoint_counters(bench->ends[0])->window_stalls > 0);
		bench_close(bench);
	}
}

static void the_psn_range_is_never_passed_and_is_used_up(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.mpr = 64;
	config.cc.window_bytes = 1000 * 1088;
	config.sack_bytes = 1000 * 1088;
	config.rto_ps = PS_PER_S; // no timer may be needed: the last of the range asks for a SACK
	struct bench *bench = bench_open(&config, 1, 0, 5);
	bench->delay_ps = 20 * PS_PER_US;
	max_packets_out = 0;
	bench->on_send = watch_window;
	assert_int_equal(bench_post(bench, 0, 0, 2000 * 1024, 1), 0);
	bench_run(bench, PS_PER_S / 2);
	assert_int_equal(max_packets_out, 64);
	assert_int_equal(bench->log_count[0], 1);
	bench_close(bench);
}

static void more_immediates_than_agreed_wait_for_their_turn(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.sack_bytes = 1000 * 1088;
	config.rto_ps = PS_PER_S;
	struct bench *bench = bench_open(&config, 1, 0, 5);
	for (uint32_t i = 1; i <= 64; i++)
		assert_int_equal(bench_post(bench, 0, 0, 1, i), 0);
	assert_int_equal(bench_post(bench, 0, 0, 1, 65), -ENOBUFS);
	bench_run(bench, 900 * PS_PER_NS);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->wimm_count, 32);
	bench_run(bench, PS_PER_S / 2);
	assert_int_equal(bench->log_count[1], 64);
	bench_close(bench);
}

// A wire that loses everything ends the QP after linear waits and doublings, at the exact time.
static void retry_exhaustion_flushes_all_requests(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.rto_linear = 3;
	config.rto_doublings = 2;
	struct bench *bench = bench_open(&config, 2, 0, 5);
	bench->loss_ppm = 1000000;
	for (uint32_t i = 1; i <= 10; i++)
		assert_int_equal(bench_post(bench, 0, 0, 5000, i), 0);
	ps_t end = bench_run(bench, BENCH_TO_THE_END);
	// waits of 50, 50, 50, 100, 200 us; the repairs queue behind 50 packets on two lines
	assert_in_range(end, 450 * PS_PER_US, 475 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(bench->log[0][i].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench->log[0][i].cookie, i + 1);
		assert_int_equal(bench->log[0][i].posted_at, 0);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->qps_failed, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1, 11), -ECONNRESET);
	assert_int_equal(bench_post(bench, 0, 1, 1, 11), 0);
	bench->loss_ppm = 0;
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 11); // the other QP lives
	bench_check_empty(bench);
	bench_close(bench);
}

static void both_directions_of_a_qp_work_at_once(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 2, 0, 5);
	bench->loss_ppm = 10000;
	for (uint32_t i = 1; i <= 30; i++) {
		for (uint32_t side = 0; side < 2; side++) {
			assert_int_equal(bench_post(bench, side, 0, 10000, i), 0);
			assert_int_equal(bench_post(bench, side, 1, 100, i), 0);
		}
	}
	bench_run(bench, BENCH_TO_THE_END);
	for (uint32_t side = 0; side < 2; side++) {
		assert_int_equal(bench->log_count[side], 120);
		assert_int_equal(endpoint_counters(bench->ends[side])->messages_received, 60);
		assert_int_equal(endpoint_counters(bench->ends[side])->messages_sent, 60);
	}
	bench_check_empty(bench);
	bench_close(bench);
}

static void a_long_pause_does_not_look_like_loss(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.hole_age_ps = 10 * PS_PER_US;
	struct bench *bench = bench_open(&config, 1, 0, 5);
	bench->jitter_ps = 3 * PS_PER_US;
	for (uint32_t i = 1; i <= 5; i++) {
		assert_int_equal(bench_post(bench, 0, 0, 50000, i), 0);
		bench_run(bench, BENCH_TO_THE_END);
		bench->now += 3 * PS_PER_S; // the send times have wrapped in between
	}
	const struct transport_counters *sender = endpoint_counters(bench->ends[0]);
	assert_int_equal(sender->messages_sent, 5);
	assert_int_equal(sender->rtx[RTX_HOLE] + sender->rtx[RTX_TIMEOUT], 0);
	bench_close(bench);
}

// Nobody may be told of a message under the number of a QP that begins anew.
static void a_reset_forgets_what_was_not_polled(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	struct completion done;
	assert_int_equal(bench_post(bench, 0, 0, 100, 5), 0);
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	assert_true(endpoint_has_events(bench->ends[1]));
	assert_int_equal(endpoint_reset(bench->ends[1], 0), 0);
	assert_int_equal(endpoint_poll(bench->ends[1], &done, 1), 0);
	bench_close(bench);
}

static void what_no_qp_would_take_completes_nothing(void **)
{
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 2, 0, 1);
	struct packet packet = {.target = 1, .opcode = PACKET_WRITE_ONLY, .qpn = 1};
	assert_true(endpoint_may_complete(bench->ends[1], &packet));
	packet.plane = (uint8_t)config.planes;
	assert_false(endpoint_may_complete(bench->ends[1], &packet));
	packet.plane = 0;
	packet.qpn = 2;
	assert_false(endpoint_may_complete(bench->ends[1], &packet));
	packet.qpn = 1;
	packet.source = 1; // not whom it talks to
	assert_false(endpoint_may_complete(bench->ends[1], &packet));
	bench_close(bench);
}

// The audit adds up what planes hold, with packets out and when all have arrived.
static void planes_hold_what_is_in_flight(void **)
{
	struct transport_config config = bench_config();
	config.plane_share = PLANE_SHARE_MARKS;
	struct bench *bench = bench_open(&config, 2, 0, 5);
	bench->loss_ppm = 20000;
	bench->mark_ppm = 100000;
	bench->trim_ppm = 20000;
	bench->jitter_ps = PS_PER_US;
	assert_int_equal(bench_post(bench, 0, 0, 100000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 100000, 1), 0);
	for (int i = 0; i < 20; i++) {
		bench_run(bench, bench->now + PS_PER_US);
		endpoint_audit(bench->ends[0]);
	}
	assert_true(endpoint_qp(bench->ends[0], 0)->inflight > 0);
	bench_run(bench, BENCH_TO_THE_END);
	endpoint_audit(bench->ends[0]);
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		const struct qp *qp = endpoint_qp(bench->ends[0], qpn);
		for (uint32_t plane = 0; plane < config.planes; plane++)
			assert_int_equal(qp->path.load->planes[plane].flying, 0);
	}
	assert_int_equal(bench->log_count[1], 2);
	bench_close(bench);
}
