// SPDX-License-Identifier: Apache-2.0
// Why a packet is sent again and when a QP gives up: each reason of a NACK, and the tries that
// NACKs and waits use up together.
#include "transport_bench.h"

#include <errno.h>

#include "path/history.h"
#include "path/load.h"

#define START 0xfffff0u
#define FULL 1088u

static struct bench *open_one(struct transport_config config)
{
	return bench_open(&config, 1, START, 1);
}

// Sends the next packet on plane 0; returns its EV.
static uint32_t send_one(struct bench *bench)
{
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	assert_int_not_equal(index, PACKET_NONE);
	uint32_t ev = packet_at(&bench->packets, index)->ev;
	packet_put(&bench->packets, index);
	return ev;
}

// All before START + edge are here.
static void give_sack(struct bench *bench, uint32_t edge)
{
	bench_hand_in(bench,
		      &(struct packet){.source = 1,
				       .opcode = PACKET_SACK,
				       .klass = PACKET_CLASS_CONTROL,
				       .psn = (START + edge - 1) & PSN_MASK,
				       .u.sack = {.offset = 1}});
}

// Runs the timers until a packet may leave.
static void wait_for_timer(struct bench *bench)
{
	while (!endpoint_has_work(bench->ends[0]) && bench_qp(bench)->state == QP_RTS) {
		bench->now = endpoint_wake_at(bench->ends[0]);
		assert_true(bench->now != PS_NEVER);
		endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	}
	bench_poll(bench, 0);
}

// ---------------------------------------------------------------- what the window answers

// How much of a window one core trim takes, on a path that `prepare` made known before.
static uint32_t taken_by_a_trim(void (*prepare)(struct path_set *set, uint32_t index))
{
	struct transport_config config = bench_config();
	config.cc = (struct cc_config){.name = "nscc",
				       .rate_bps = 200000000000,
				       .base_rtt_ps = 3 * PS_PER_US,
				       .mtu_bytes = FULL,
				       .has_trimming = true};
	config.plane_share = PLANE_SHARE_MARKS;
	config.skip_ps = SKIP_BY_MARKS;
	struct bench *bench = open_one(config);
	assert_int_equal(bench_post(bench, 0, 0, 8 * 1024, 1), 0);
	uint32_t ev = send_one(bench);
	struct qp *qp = bench_qp(bench);
	if (prepare)
		prepare(&qp->path, qp->slots[START & bench->ends[0]->mpr_mask].ev_index);
	uint32_t before = qp->cc.window_bytes;
	bench_give_nack(bench, START + 0, ev, PACKET_NACK_TRIMMED);
	assert_int_equal(qp->lost_count, 1);
	uint32_t taken = before - qp->cc.window_bytes;
	bench_close(bench);
	return taken;
}

static void slow_plane(struct path_set *set, uint32_t index)
{
	for (uint32_t i = 0; i < 100; i++)
		load_weigh(set, index, true);
	assert_true(load_is_slow(set, index));
}

static void slow_ev(struct path_set *set, uint32_t index)
{
	for (uint32_t i = 0; i < 4; i++)
		history_mark(set, index);
	assert_true(history_stands_out(set, index));
}

static void lost_ev(struct path_set *set, uint32_t index)
{
	assert_int_equal(path_retire(set, index, 0), PATH_CHANGED);
}

static void what_a_path_alone_trims_does_not_close_the_window(void **)
{
	assert_int_equal(taken_by_a_trim(NULL), FULL);
	assert_int_equal(taken_by_a_trim(slow_plane), 0);
	assert_int_equal(taken_by_a_trim(slow_ev), 0);
	assert_int_equal(taken_by_a_trim(lost_ev), 0);
}

// ---------------------------------------------------------------- reasons

static void each_retriable_reason_sends_again_by_another_path(void **state)
{
	(void)state;
	static const uint8_t reasons[] = {PACKET_NACK_TRIMMED,	   PACKET_NACK_TRIMMED_LAST,
					  PACKET_NACK_NO_BITMAP,   PACKET_NACK_NO_PKT_BUFFER,
					  PACKET_NACK_NO_RESOURCE, PACKET_NACK_PSN_OOR_WINDOW};
	for (uint32_t i = 0; i < sizeof(reasons); i++) {
		struct bench *bench = open_one(bench_config());
		bench_post(bench, 0, 0, 1024, 1);
		uint32_t ev = send_one(bench);
		bench->now += PS_PER_US;
		bench_give_nack(bench, START + 0, ev, reasons[i]);
		assert_int_equal(bench_qp(bench)->inflight, 0);
		assert_int_equal(bench_qp(bench)->lost_count, 1);
		assert_int_not_equal(send_one(bench), ev);
		const struct transport_counters *counters = bench_counters(bench);
		assert_int_equal(counters->rtx[RTX_NACK], 1);
		assert_int_equal(counters->nacks_received, 1);
		assert_int_equal(counters->nacks_resource, i >= 2 && i <= 4);
		assert_int_equal(counters->nacks_window, i == 5);
		// only a trim on the way says something about the path
		assert_int_equal(counters->paths_skipped, i == 0);
		assert_int_equal(counters->paths_retired, 0);
		give_sack(bench, 1);
		assert_int_equal(bench->log_count[0], 1);
		assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
		bench_close(bench);
	}
}

static void an_unexpected_event_ends_the_qp_and_flushes_all(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	for (uint32_t i = 1; i <= 5; i++)
		bench_post(bench, 0, 0, 1024, i);
	send_one(bench);
	uint32_t ev = send_one(bench);
	give_sack(bench, 1);
	bench_give_nack(bench, START + 1, ev, PACKET_NACK_UNEXP_EVENT);
	assert_int_equal(bench->log_count[0], 5);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	for (uint32_t i = 1; i < 5; i++) {
		assert_int_equal(bench->log[0][i].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench->log[0][i].cookie, i + 1);
		assert_int_equal(bench->log[0][i].failure, QP_FAILURE_REMOTE);
	}
	assert_int_equal(bench_counters(bench)->qps_failed, 1);
	assert_int_equal(bench_counters(bench)->qps_failed_remote, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1, 9), -ECONNRESET);
	bench_close(bench);
}

static void an_event_of_a_packet_that_is_here_or_never_was_ends_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	bench_post(bench, 0, 0, 2048, 1);
	uint32_t ev = send_one(bench);
	send_one(bench);
	give_sack(bench, 1);
	bench_give_nack(bench, START + 0, ev, PACKET_NACK_UNEXP_EVENT);
	bench_give_nack(bench, START + 2, ev, PACKET_NACK_UNEXP_EVENT);
	bench_give_nack(bench, START + 1, ev ^ 1u << 31, PACKET_NACK_UNEXP_EVENT);
	assert_int_equal(bench_qp(bench)->state, QP_RTS);
	assert_int_equal(bench_counters(bench)->refused[REFUSED_NACK], 2);
	bench_close(bench);
}

static void a_reason_that_there_is_not_is_refused(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	bench_post(bench, 0, 0, 1024, 1);
	uint32_t ev = send_one(bench), refused = 0;
	for (uint32_t reason = 0; reason < 256; reason++) {
		if ((reason >= 0x01 && reason <= 0x02) || reason == 0x06 || reason == 0x07 ||
		    reason == 0x0a || reason == 0x0b || reason == 0x19)
			continue;
		bench_give_nack(bench, START + 0, ev, (uint8_t)reason);
		assert_int_equal(bench_counters(bench)->refused[REFUSED_NACK], ++refused);
	}
	assert_int_equal(bench_qp(bench)->inflight, FULL);
	assert_int_equal(bench_counters(bench)->nacks_received, 0);
	bench_close(bench);
}

// ---------------------------------------------------------------- tries

// A target that never keeps the packet, answering after `flight_ps`, is given up after as long as
// one that never answers: here 50, 50, 100 and 200 us.
static void nacks_use_up_the_tries_as_fast_as_waits(void **state)
{
	(void)state;
	static const ps_t flights[] = {3 * PS_PER_US, 7 * PS_PER_US, 31 * PS_PER_US};
	for (uint32_t i = 0; i < 3; i++) {
		struct transport_config config = bench_config();
		config.rto_linear = config.rto_doublings = 2;
		struct bench *bench = open_one(config);
		bench_post(bench, 0, 0, 1024, 1);
		bench_post(bench, 0, 0, 1024, 2);
		uint32_t nacks = 0;
		for (; bench_qp(bench)->state == QP_RTS; nacks++) {
			uint32_t ev = send_one(bench);
			if (nacks == 0)
				send_one(bench), give_sack(bench, 0); // the other one flies on
			bench->now += flights[i];
			bench_give_nack(bench, START + 0, ev, PACKET_NACK_TRIMMED_LAST);
		}
		assert_in_range(bench->now, 350 * PS_PER_US, 400 * PS_PER_US + flights[i]);
		assert_int_equal(bench->log_count[0], 2);
		for (uint32_t n = 0; n < 2; n++) {
			assert_int_equal(bench->log[0][n].kind, COMPLETION_FLUSHED);
			assert_int_equal(bench->log[0][n].failure, QP_FAILURE_RETRIES);
		}
		assert_int_equal(bench_counters(bench)->qps_failed_remote, 0);
		bench_close(bench);
	}
}

// Waits that ended are not forgotten by a NACK, though the next wait is a base one again.
static void waits_and_nacks_share_the_tries(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.planes = 1;
	config.rto_linear = 2;
	config.rto_doublings = 1; // 50, 50, 100 us
	struct bench *bench = open_one(config);
	bench_post(bench, 0, 0, 1024, 1);
	send_one(bench);
	for (uint32_t wait = 0; wait < 2; wait++) {
		wait_for_timer(bench);
		if (wait == 0)
			send_one(bench);
	}
	assert_int_equal(slot_tries(&bench_qp(bench)->slots[START & 255]), 2);
	assert_int_equal(slot_waits(&bench_qp(bench)->slots[START & 255]), 2);
	ps_t first = bench->now;
	while (bench_qp(bench)->state == QP_RTS) {
		uint32_t ev = send_one(bench);
		bench->now += 20 * PS_PER_US;
		bench_give_nack(bench, START + 0, ev, PACKET_NACK_TRIMMED);
		assert_int_equal(slot_waits(&bench_qp(bench)->slots[START & 255]), 0);
	}
	assert_true(bench->now - first <= 120 * PS_PER_US);
	assert_int_equal(bench_counters(bench)->rtx[RTX_TIMEOUT], 2);
	assert_int_equal(bench->log[0][0].failure, QP_FAILURE_RETRIES);
	bench_close(bench);
}

static void an_acknowledgement_gives_the_next_packet_all_tries(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.planes = 1;
	config.mpr = 64; // PSN 64 has the slot of PSN 0
	struct bench *bench = open_one(config);
	bench_post(bench, 0, 0, 65 * 1024, 1);
	for (uint32_t n = 0; n < 64; n++)
		send_one(bench);
	give_sack(bench, 0);
	while (slot_tries(&bench_qp(bench)->slots[START & 63]) < 3) {
		wait_for_timer(bench);
		while (endpoint_has_work(bench->ends[0]) && bench_qp(bench)->lost_count > 0)
			send_one(bench);
	}
	give_sack(bench, 64);
	send_one(bench);
	assert_int_equal(slot_tries(&bench_qp(bench)->slots[START & 63]), 0);
	assert_int_equal(slot_waits(&bench_qp(bench)->slots[START & 63]), 0);
	bench_close(bench);
}

// Overload that never ends: a fixed window into a wire that trims all. It ends with the QP.
static void a_wire_that_trims_all_ends_the_qp(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 2, START, 5);
	bench->trim_last_ppm = 1000000;
	for (uint32_t i = 1; i <= 10; i++)
		assert_int_equal(bench_post(bench, 0, 0, 5000, i), 0);
	ps_t end = bench_run(bench, BENCH_TO_THE_END);
	// 7 waits of 50 us, then 100, 200, 400, 800 and 1600; on average, and queues come on top
	assert_in_range(end, 1700 * PS_PER_US, 5 * 3450 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 10);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(bench->log[0][i].kind, COMPLETION_FLUSHED);
		assert_int_equal(bench->log[0][i].cookie, i + 1);
		assert_int_equal(bench->log[0][i].failure, QP_FAILURE_RETRIES);
	}
	assert_int_equal(bench_counters(bench)->qps_failed, 1);
	bench->trim_last_ppm = 0;
	assert_int_equal(bench_post(bench, 0, 1, 5000, 11), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log[0][10].kind, COMPLETION_SENT); // the other QP lives
	bench_check_empty(bench);
	bench_close(bench);
}

// 25 doublings: a target that is away for long is waited for, and one that trims for long, too. The
// waits grow to the longest there is, and what counts them overflows into nothing.
static void a_qp_that_never_gives_up_outlives_all(void **state)
{
	(void)state;
	for (uint32_t trims = 0; trims < 2; trims++) {
		struct transport_config config = bench_config();
		config.rto_linear = 0;
		config.rto_doublings = RTO_DOUBLINGS_FOREVER;
		config.completion = COMPLETION_BY_ACK;
		struct bench *bench = bench_open(&config, 1, START, 5);
		*(trims ? &bench->trim_last_ppm : &bench->loss_ppm) = 1000000;
		assert_int_equal(bench_post(bench, 0, 0, 3000, 1), 0);
		ps_t end = trims ? 20 * PS_PER_MS : 200 * PS_PER_S;
		bench_run(bench, end);
		assert_int_equal(bench_qp(bench)->state, QP_RTS);
		assert_int_equal(bench->log_count[0], 0);
		if (trims)
			assert_true(bench_counters(bench)->rtx[RTX_NACK] > 1000);
		else // 16 doublings to 3.3 s, but none is longer than 2.2 s
			assert_in_range(bench_counters(bench)->rtx[RTX_TIMEOUT], 3 * 80, 3 * 120);
		assert_true(slot_waits(&bench_qp(bench)->slots[START & 255]) <= SLOT_FIVE_BITS);
		bench->trim_last_ppm = bench->loss_ppm = 0;
		bench->control_loss_ppm = 1000000; // so that ACKs are waited for, as long
		bench_run(bench, end + 20 * PS_PER_S);
		assert_int_equal(bench_qp(bench)->state, QP_RTS);
		bench->control_loss_ppm = 0;
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log_count[0], 1);
		assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
		assert_int_equal(bench->log_count[1], 1);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

static void tries_have_the_range_that_controllers_know(void **state)
{
	(void)state;
	static const struct {
		uint32_t linear, doublings;
		bool is_good;
	} cases[] = {{0, 0, false}, {1, 0, true},  {0, 1, true},   {7, 24, true},
		     {7, 25, true}, {8, 0, false}, {0, 26, false}, {UINT32_MAX, 1, false}};
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		static _Alignas(64) uint8_t memory[1 << 17];
		struct transport_config config = bench_config();
		struct arena arena;
		struct endpoint *endpoint = NULL;
		struct refusal refusal = {0};
		config.rto_linear = cases[i].linear;
		config.rto_doublings = cases[i].doublings;
		arena_init(&arena, memory, sizeof(memory));
		int rc = endpoint_create(&endpoint, &arena, &config, 0, 1, 1, &refusal);
		assert_int_equal(rc, cases[i].is_good ? 0 : -EINVAL);
	}
}

// An incast trims nearly everything, but what is sent again gets through at last.
static void nine_trims_of_ten_end_no_qp(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct transport_config config = bench_config();
		struct bench *bench = bench_open(&config, 1, START, seed);
		bench->trim_last_ppm = 900000;
		for (uint32_t i = 1; i <= 30; i++)
			assert_int_equal(bench_post(bench, 0, 0, 50000, i), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench_counters(bench)->qps_failed, 0);
		assert_int_equal(bench_counters(bench)->messages_sent, 30);
		assert_true(bench_counters(bench)->rtx[RTX_NACK] > 5000);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

// ---------------------------------------------------------------- limits that differ

// The requester may have more PSNs in flight than the responder takes: it is told, and repeats.
static void a_smaller_window_at_the_target_slows_and_ends_nothing(void **state)
{
	(void)state;
	for (uint32_t silent = 0; silent < 2; silent++) {
		struct transport_config config = bench_config(), small = config;
		config.cc.window_bytes = 1000 * FULL;
		small.mpr = 64;
		small.out_of_window = silent ? OUT_OF_WINDOW_SILENT : OUT_OF_WINDOW_NACK;
		struct bench *bench = bench_open_two(&config, &small, 1, START, 5);
		bench->jitter_ps = 10 * PS_PER_US; // so that packets come before their turn
		assert_int_equal(bench_post(bench, 0, 0, 1000 * 1024, 1), 0);
		bench_run(bench, BENCH_TO_THE_END);
		const struct transport_counters *target = endpoint_counters(bench->ends[1]);
		assert_int_equal(bench_counters(bench)->messages_sent, 1);
		assert_int_equal(target->payload_bytes_placed, 1000 * 1024);
		assert_true(target->out_of_window > 100);
		assert_int_equal(bench_counters(bench)->nacks_window,
				 silent ? 0 : target->out_of_window);
		assert_true(silent == (bench_counters(bench)->rtx[RTX_TIMEOUT] > 0));
		bench_check_empty(bench);
		bench_close(bench);
	}
}

static void fewer_immediates_at_the_target_slow_and_end_nothing(void **state)
{
	(void)state;
	struct transport_config config = bench_config(), small = config;
	config.wimm_max = 64;
	struct bench *bench = bench_open_two(&config, &small, 1, START, 5);
	bench->loss_ppm = 100000;
	bench->delay_ps = 5 * PS_PER_US;
	for (uint32_t i = 1; i <= 64; i++)
		assert_int_equal(bench_post(bench, 0, 0, 100, i), 0);
	bench_run(bench, BENCH_TO_THE_END);
	const struct transport_counters *target = endpoint_counters(bench->ends[1]);
	assert_int_equal(bench_counters(bench)->messages_sent, 64);
	assert_int_equal(bench->log_count[1], 64);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(bench->log[1][i].imm, i + 1);
	assert_true(target->refused[REFUSED_IMM] > 0);
	assert_true(bench_counters(bench)->nacks_resource > 0);
	bench_check_empty(bench);
	bench_close(bench);
}
