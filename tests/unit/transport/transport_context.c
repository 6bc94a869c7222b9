// SPDX-License-Identifier: Apache-2.0
// Fewer contexts than QPs: what a QP keeps when its context goes to another, who gets one when, and
// that all that is posted comes to its end however few there are.

#include <errno.h>

#include "transport_bench.h"

#define QPS 12u
#define IMM_BITS 16

// A program that posts again when it is told that it may.
struct poster {
	uint32_t wanted[2][QPS]; // messages still to be posted
	uint32_t next[2][QPS];	 // number of the next one
	uint32_t seen[2][QPS];	 // messages that came, in order
	uint32_t sent[2][QPS];
	uint32_t deferred;
	uint32_t bytes;
	uint32_t busy_max;
};

static struct bench *bench_pooled(uint32_t contexts, uint32_t qps, uint64_t seed)
{
	struct transport_config config = bench_config();
	config.contexts = contexts;
	return bench_open(&config, qps, 0xfffffff0u, seed);
}

static void post_all(struct bench *bench, struct poster *poster, uint32_t side, uint32_t qpn)
{
	while (poster->wanted[side][qpn] > 0) {
		uint32_t imm = (qpn + 1) << IMM_BITS | poster->next[side][qpn];
		int rc = bench_post(bench, side, qpn, poster->bytes, imm);
		if (rc != 0) {
			assert_int_equal(rc, -EAGAIN);
			poster->deferred++;
			return;
		}
		poster->wanted[side][qpn]--;
		poster->next[side][qpn]++;
	}
}

static void take(struct bench *bench, struct poster *poster, uint32_t side,
		 const struct completion *done)
{
	switch (done->kind) {
	case COMPLETION_READY:
		post_all(bench, poster, side, done->qp);
		break;
	case COMPLETION_SENT:
		assert_int_equal(done->cookie,
				 (done->qp + 1) << IMM_BITS | poster->sent[side][done->qp]++);
		break;
	case COMPLETION_RECEIVED:
		assert_int_equal(done->imm,
				 (done->qp + 1) << IMM_BITS | poster->seen[side][done->qp]++);
		assert_int_equal(done->bytes, poster->bytes);
		break;
	case COMPLETION_FLUSHED:
		fail_msg("QP %u of side %u failed", done->qp, side);
	}
}

// Runs until nothing is left, one event at a time, posting as soon as it may.
static void run(struct bench *bench, struct poster *poster)
{
	uint32_t taken[2] = {0};
	for (uint32_t i = 0; i < 5000000; i++) {
		for (uint32_t side = 0; side < 2; side++) {
			while (taken[side] < bench->log_count[side])
				take(bench, poster, side, &bench->log[side][taken[side]++]);
			bench->log_count[side] = taken[side] = 0;
			uint32_t busy = endpoint_contexts_busy(bench->ends[side]);
			poster->busy_max = busy > poster->busy_max ? busy : poster->busy_max;
		}
		bench_pull(bench, 0);
		bench_pull(bench, 1);
		ps_t at = bench_next_at(bench);
		if (at == PS_NEVER)
			return;
		bench_run(bench, ps_max(at, bench->now));
	}
	fail_msg("it does not come to an end");
}

static void check_done(const struct bench *bench, const struct poster *poster, uint32_t qps,
		       uint32_t messages)
{
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t qpn = 0; qpn < qps; qpn++) {
			assert_int_equal(poster->wanted[side][qpn], 0);
			assert_int_equal(poster->sent[side][qpn], messages);
			assert_int_equal(poster->seen[side][qpn], messages);
		}
		assert_int_equal(endpoint_contexts_busy(bench->ends[side]), 0);
		// the answer to a probe may be a duplicate
		const struct transport_counters *counters = endpoint_counters(bench->ends[side]);
		assert_int_equal(transport_refused(counters), counters->refused[REFUSED_PROBE]);
	}
	bench_check_empty(bench);
}

static void start(struct bench *bench, struct poster *poster, uint32_t qps, uint32_t messages)
{
	for (uint32_t qpn = 0; qpn < qps; qpn++) {
		for (uint32_t side = 0; side < 2; side++) {
			poster->wanted[side][qpn] = messages;
			post_all(bench, poster, side, qpn);
		}
	}
}

static void few_contexts_carry_many_qps(void **state)
{
	static const uint32_t counts[] = {2, 3, 5, 11};
	for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct bench *bench = bench_pooled(counts[i], QPS, i);
		struct poster poster = {.bytes = 5000};
		start(bench, &poster, QPS, 30);
		run(bench, &poster);
		check_done(bench, &poster, QPS, 30);
		assert_true(poster.deferred > 0);
		assert_in_range(poster.busy_max, counts[i] / 2, counts[i]);
		assert_true(endpoint_counters(bench->ends[0])->contexts_taken > 0);
		assert_true(endpoint_counters(bench->ends[0])->posts_deferred > 0);
		bench_close(bench);
	}
}

static void losses_and_duplicates_do_not_matter_to_them(void **state)
{
	uint64_t answers_idle = 0, packets_deferred = 0;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct bench *bench = bench_pooled(2 + seed % 3, QPS, seed);
		struct poster poster = {.bytes = 200 + (uint32_t)seed * 700};
		bench->loss_ppm = bench->control_loss_ppm = 20000;
		bench->duplicate_ppm = bench->trim_ppm = bench->mark_ppm = 20000;
		bench->jitter_ps = 2 * PS_PER_US;
		start(bench, &poster, QPS, 20);
		run(bench, &poster);
		check_done(bench, &poster, QPS, 20);
		packets_deferred += endpoint_counters(bench->ends[0])->packets_deferred;
		answers_idle += endpoint_counters(bench->ends[0])->answers_idle;
		bench_close(bench);
	}
	assert_true(answers_idle > 0 && packets_deferred > 0);
}

static uint64_t hash_of_run(uint32_t contexts)
{
	struct bench *bench = bench_pooled(contexts, 4, 5);
	struct poster poster = {.bytes = 20000};
	bench->loss_ppm = 10000;
	bench->jitter_ps = PS_PER_US;
	start(bench, &poster, 4, 10);
	run(bench, &poster);
	check_done(bench, &poster, 4, 10);
	const struct transport_counters *counters = endpoint_counters(bench->ends[0]);
	uint64_t hash = rng_mix((uint64_t)bench->now) ^ counters->data_packets << 32 ^
		counters->sacks_sent;
	bench_close(bench);
	return hash;
}

static void a_context_for_each_is_no_pool(void **state)
{
	assert_int_equal(hash_of_run(4), hash_of_run(0));
	assert_int_equal(hash_of_run(9), hash_of_run(0));
	assert_int_not_equal(hash_of_run(3), hash_of_run(0));
}

static void one_context_is_refused(void **state)
{
	struct transport_config config = bench_config();
	struct endpoint *endpoint;
	struct arena none;
	struct refusal refusal;
	config.contexts = 1;
	arena_init(&none, NULL, 0);
	assert_int_equal(endpoint_create(&endpoint, &none, &config, 0, 4, 1, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "1 context: must be 2 or more"));
}

static void nobody_has_one_before_it_talks(void **state)
{
	struct bench *bench = bench_pooled(3, 6, 1);
	for (uint32_t qpn = 0; qpn < 6; qpn++)
		assert_false(bench_has_context(bench, 0, qpn) || bench_has_context(bench, 1, qpn));
	bench_say(bench, 0, 4, 1);
	for (uint32_t qpn = 0; qpn < 6; qpn++)
		assert_int_equal(bench_has_context(bench, 0, qpn) +
					 bench_has_context(bench, 1, qpn),
				 qpn == 4 ? 2 : 0);
	bench_close(bench);
}

static void the_one_at_rest_longest_is_taken(void **state)
{
	struct bench *bench = bench_pooled(3, 6, 1);
	bench_say(bench, 0, 0, 1);
	bench_say(bench, 0, 1, 2);
	bench_say(bench, 0, 2, 3);
	bench_say(bench, 0, 0, 4); // once more: now 1 has been at rest longest
	bench_run(bench, bench->now + 400 * PS_PER_US);
	assert_int_equal(endpoint_counters(bench->ends[0])->contexts_taken, 0);
	bench_say(bench, 0, 3, 5);
	assert_false(bench_has_context(bench, 0, 1));
	bench_say(bench, 1, 4, 6); // the same for packets that come in
	assert_false(bench_has_context(bench, 0, 2));
	assert_true(bench_has_context(bench, 0, 0) && bench_has_context(bench, 0, 3) &&
		    bench_has_context(bench, 0, 4));
	bench_close(bench);
}

static void a_qp_goes_on_where_it_was(void **state)
{
	struct bench *bench = bench_pooled(2, 8, 1);
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t qpn = 0; qpn < 8; qpn++) {
			struct qp_view view;
			bench_say(bench, round % 2, qpn, 1 + round);
			assert_int_equal(endpoint_query(bench->ends[0], qpn, &view), 0);
			assert_int_equal(view.state, QP_RTS);
			assert_int_equal(view.msn, round / 2 + 1);
			assert_int_equal(view.psn_next, (0xfffffff0u + round / 2 + 1) & PSN_MASK);
			assert_int_equal(view.psn_acked, view.psn_next);
			assert_int_equal(view.psn_wanted,
					 (0xfffffff0u + (round + 1) / 2) & PSN_MASK);
		}
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_TIMEOUT], 0);
	bench_close(bench);
}

static struct packet last_data;

static void keep_data(struct bench *bench, struct packet *packet)
{
	if (packet->klass == PACKET_CLASS_DATA)
		last_data = *packet;
}

static void an_old_packet_is_known_by_the_record_alone(void **state)
{
	struct bench *bench = bench_pooled(2, 8, 1);
	bench->on_send = keep_data;
	bench_say(bench, 0, 0, 1);
	struct packet old = last_data;
	for (uint32_t qpn = 1; qpn < 4; qpn++)
		bench_say(bench, 0, qpn, 1 + qpn);
	assert_false(bench_has_context(bench, 1, 0));
	uint32_t index = packet_get(&bench->packets), messages = bench->log_count[1];
	*packet_at(&bench->packets, index) = old;
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[1], messages);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 1);
	assert_int_equal(endpoint_counters(bench->ends[0])->answers_idle, 1);
	bench_close(bench);
}

static void senders_leave_one_for_those_who_receive(void **state)
{
	struct bench *bench = bench_pooled(3, 6, 1);
	for (uint32_t qpn = 0; qpn < 6; qpn++)
		assert_int_equal(bench_post(bench, 0, qpn, 1000, 1), qpn < 2 ? 0 : -EAGAIN);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 2);
	assert_int_equal(bench_post(bench, 1, 5, 1000, 9), 0);
	bench_run(bench, bench->now + 5 * PS_PER_US);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_RECEIVED);
	assert_int_equal(bench->log[0][0].imm, 9);
	bench_close(bench);
}

// One QP that posts without end and one that waits: it must not wait longer than what was posted
// before it takes.
static void who_waits_is_served_in_turn(void **state)
{
	struct bench *bench = bench_pooled(2, 3, 1);
	uint32_t turns[3] = {0}, taken = 0;
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		bench_post(bench, 0, qpn, 4000, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		bench_pull(bench, 0);
		bench_pull(bench, 1);
		bench_run(bench, bench_next_at(bench));
		for (; taken < bench->log_count[0]; taken++) {
			const struct completion *done = &bench->log[0][taken];
			turns[done->qp] += done->kind == COMPLETION_SENT;
			bench_post(bench, 0, done->qp, 4000, 1); // at once again
		}
	}
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		assert_in_range(turns[qpn], turns[0] - 1, turns[0] + 1);
	assert_true(turns[0] > 10);
	bench_close(bench);
}

// One context for four QPs: the first has it, the next two want it.
static struct bench *two_that_wait(void)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 1000, 2), -EAGAIN);
	assert_int_equal(bench_post(bench, 0, 2, 1000, 3), -EAGAIN);
	return bench;
}

static void who_was_told_and_does_not_come_loses_its_turn(void **state)
{
	struct bench *bench = two_that_wait();
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 3);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	assert_int_equal(bench->log[0][1].kind, COMPLETION_READY);
	assert_int_equal(bench->log[0][1].qp, 1);
	assert_int_equal(bench->log[0][2].kind, COMPLETION_READY);
	assert_int_equal(bench->log[0][2].qp, 2);
	assert_true(bench->now >= 100 * PS_PER_US);
	assert_int_equal(bench_post(bench, 0, 3, 1000, 4), 0); // nobody comes: it is free
	assert_int_equal(endpoint_counters(bench->ends[0])->posts_deferred, 2);
	assert_int_equal(bench_post(bench, 0, 1, 1000, 5), -EAGAIN); // the queue is used again
	assert_int_equal(bench_post(bench, 0, 1, 1000, 5), -EAGAIN); // it waits: not counted twice
	assert_int_equal(endpoint_counters(bench->ends[0])->posts_deferred, 3);
	bench_run(bench, BENCH_TO_THE_END);
	const struct completion *last = &bench->log[0][bench->log_count[0] - 1];
	assert_int_equal(last->kind, COMPLETION_READY);
	assert_int_equal(last->qp, 1);
	bench_check_empty(bench);
	bench_close(bench);
}

static void a_reset_gives_the_context_back(void **state)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	assert_int_equal(bench_post(bench, 0, 0, 60000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 1000, 2), -EAGAIN);
	assert_int_equal(bench_post(bench, 0, 2, 1000, 3), -EAGAIN);
	assert_int_equal(bench_post(bench, 0, 3, 1000, 4), -EAGAIN);
	bench_pull(bench, 0);
	assert_int_equal(endpoint_reset(bench->ends[0], 2), 0); // waits
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0); // sends
	bench_poll(bench, 0);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log[0][0].qp, 1);
	assert_int_equal(endpoint_reset(bench->ends[0], 1), 0); // was told
	bench_poll(bench, 0);
	assert_int_equal(bench->log[0][1].qp, 3);
	assert_int_equal(bench_post(bench, 0, 3, 1000, 4), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log[1][bench->log_count[1] - 1].imm, 4);
	bench_check_empty(bench);
	bench_close(bench);
}

static void a_failed_qp_gives_its_context_back(void **state)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	bench->loss_ppm = 1000000;
	assert_int_equal(bench_post(bench, 0, 0, 3000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 3000, 2), -EAGAIN);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_FLUSHED);
	assert_int_equal(bench->log[0][1].kind, COMPLETION_READY);
	bench->loss_ppm = 0;
	assert_int_equal(bench_post(bench, 0, 1, 3000, 2), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log[1][0].imm, 2);
	assert_int_equal(bench_post(bench, 0, 0, 3000, 1), -ECONNRESET);
	bench_check_empty(bench);
	bench_close(bench);
}

// What comes in meanwhile is no reason to keep a turn that is not used.
static void a_turn_that_is_not_used_is_lost_though_packets_come(void **state)
{
	struct bench *bench = two_that_wait();
	bool is_told = false;
	for (uint32_t i = 0; i < 40 && !is_told; i++) {
		assert_int_equal(bench_post(bench, 1, 1, 1000, 10 + i), 0);
		bench_run(bench, bench->now + 20 * PS_PER_US);
		const struct completion *last = &bench->log[0][bench->log_count[0] - 1];
		is_told = last->kind == COMPLETION_READY && last->qp == 2;
	}
	assert_true(is_told);
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}

// They would keep the others waiting for posts that cannot come.
static void a_qp_that_is_failed_waits_no_more(void **state)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1000, 1), 0);
	for (uint32_t qpn = 1; qpn < 4; qpn++)
		assert_int_equal(bench_post(bench, 0, qpn, 1000, 1 + qpn), -EAGAIN);
	assert_int_equal(endpoint_fail(bench->ends[0], 1), 0);
	bench_run(bench, bench->now + 10 * PS_PER_US);
	assert_int_equal(bench->log_count[0], 2);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	assert_int_equal(bench->log[0][1].kind, COMPLETION_READY);
	assert_int_equal(bench->log[0][1].qp, 2);
	assert_int_equal(endpoint_fail(bench->ends[0], 2), 0); // was told
	bench_poll(bench, 0);
	assert_int_equal(bench->log[0][2].kind, COMPLETION_READY);
	assert_int_equal(bench->log[0][2].qp, 3);
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}

// QP 3 is told; nobody else is when it is failed before it hears of it.
static void who_was_told_alone_and_is_failed_leaves_none_to_tell(void **)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	assert_int_equal(bench_post(bench, 0, 0, 60000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 3, 1000, 2), -EAGAIN);
	bench_pull(bench, 0);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0);
	assert_int_equal(endpoint_fail(bench->ends[0], 3), 0);
	bench_poll(bench, 0);
	assert_int_equal(bench->log_count[0], 0);
	bench_close(bench);
}

// A turn that is given to a QP in the middle of a message does not make it one at rest.
static void who_receives_keeps_its_context_when_its_turn_is_over(void **)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	assert_int_equal(bench_post(bench, 1, 1, 60000, 9), 0);
	bench_pull(bench, 1);
	bench_run(bench, bench->now + 2 * PS_PER_US);
	assert_true(bench_has_context(bench, 0, 1));
	assert_int_equal(bench_post(bench, 0, 0, 60000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 1, 1000, 2), -EAGAIN);
	assert_int_equal(endpoint_reset(bench->ends[0], 0), 0); // the turn is that of QP 1
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 1);
	bench_close(bench);
}

static uint32_t losses_left;

static bool loses_data(struct bench *bench, const struct packet *packet)
{
	(void)bench;
	return packet->klass == PACKET_CLASS_DATA && losses_left > 0 && losses_left-- > 0;
}

// What would mend them goes with what is known of them; else one loss would hold a context for as
// long as a path is tried again, and nobody would be left to receive.
static void bad_paths_hold_no_context(void **state)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	bench->drops = loses_data;
	losses_left = 2;
	assert_int_equal(bench_post(bench, 0, 0, 1000, 1), 0);
	while (bench->log_count[0] == 0)
		bench_run(bench, bench->now + PS_PER_US);
	assert_true(endpoint_qp(bench->ends[0], 0)->has_probe_timer);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 0);
	bench_say(bench, 0, 1, 2);
	bench_say(bench, 0, 2, 3);
	assert_false(bench_has_context(bench, 0, 0));
	assert_false(endpoint_qp(bench->ends[0], 2)->has_probe_timer);
	bench_run(bench, BENCH_TO_THE_END);
	assert_true(endpoint_wake_at(bench->ends[0]) == PS_NEVER);
	bench_check_empty(bench);
	bench_close(bench);
}

// What arrived of one message must not be taken for that of the next QP.
static void a_reset_leaves_no_marks_in_the_context(void **)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	bench->drops = loses_data;
	losses_left = 1;
	assert_int_equal(bench_post(bench, 1, 1, 60000, 1), 0);
	bench_pull(bench, 1);
	bench_run(bench, bench->now + 3 * PS_PER_US);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 1);
	assert_int_equal(endpoint_reset(bench->ends[0], 1), 0);
	assert_int_equal(endpoint_reset(bench->ends[1], 1), 0);
	for (uint32_t qpn = 2; qpn < 4; qpn++) { // one for each context
		assert_int_equal(bench_post(bench, 1, qpn, 60000, qpn), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log[0][bench->log_count[0] - 1].imm, qpn);
	}
	assert_int_equal(endpoint_counters(bench->ends[0])->duplicates, 0);
	bench_check_empty(bench);
	bench_close(bench);
}

static void who_was_told_with_others_is_taken_out_alone(void **)
{
	struct bench *bench = bench_pooled(4, 7, 1);
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		assert_int_equal(bench_post(bench, 0, qpn, 60000, 1), 0);
	for (uint32_t qpn = 3; qpn < 7; qpn++)
		assert_int_equal(bench_post(bench, 0, qpn, 1000, 2), -EAGAIN);
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		assert_int_equal(endpoint_reset(bench->ends[0], qpn), 0);
	assert_int_equal(endpoint_reset(bench->ends[0], 4), 0); // was told, and not yet asked
	bench_poll(bench, 0);
	assert_int_equal(bench->log_count[0], 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(bench->log[0][i].kind, COMPLETION_READY);
	assert_int_equal(bench->log[0][0].qp, 3);
	assert_int_equal(bench->log[0][1].qp, 5);
	assert_int_equal(bench->log[0][2].qp, 6);
	bench_close(bench);
}

// Only a QP that waited is given a time to come.
static void a_packet_that_finds_a_context_is_given_no_time(void **)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	for (uint32_t qpn = 0; qpn < 2; qpn++) {
		bench_say(bench, 0, qpn, 1 + qpn);
		assert_false(bench->ends[1]->pool.has_timer);
	}
	bench_close(bench);
}

// A repair that nobody needs any more waits for no line, in a context that may be another's next.
static void a_repair_that_was_not_needed_leaves_its_queue(void **)
{
	struct bench *bench = bench_pooled(2, 4, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1000, 1), 0);
	uint32_t psn = bench_qp(bench)->psn_next & PSN_MASK;
	const struct packet *sent = bench_next(bench);
	uint32_t ev = sent->ev;
	bench_give_nack(bench, psn, ev, PACKET_NACK_TRIMMED);
	assert_true(bench_qp(bench)->is_queued);
	bench_hand_in(bench,
		      &(struct packet){.source = 1,
				       .opcode = PACKET_SACK,
				       .klass = PACKET_CLASS_CONTROL,
				       .psn = psn,
				       .u.sack = {.ev_echo = ev}});
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(endpoint_contexts_busy(bench->ends[0]), 0);
	assert_false(bench_qp(bench)->is_queued);
	assert_false(endpoint_has_work(bench->ends[0]));
	bench_close(bench);
}
