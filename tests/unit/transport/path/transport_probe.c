// SPDX-License-Identifier: Apache-2.0
// Probes: bad entropy values that come back, planes that open again, answers that are no answers,
// and QPs that only receive.
#include "../transport_bench.h"

#define FAST_BPS UINT64_C(4000000000000) // idle probes are a small share of it

static uint32_t bad_index; // the wire loses what goes this way from side 0, until `mended_at`
static uint32_t bad_plane;
static ps_t mended_at;
static uint32_t data_on_bad, probes_seen, answers_seen;
static struct packet last_probe, last_answer;

static void watch(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode == PACKET_PROBE) {
		probes_seen++;
		last_probe = *packet;
	}
	if (packet->opcode == PACKET_SACK && packet->u.sack.is_probe) {
		answers_seen++;
		last_answer = *packet;
	}
}

static bool is_lost(struct bench *bench, const struct packet *packet)
{
	const struct path_set *path = &endpoint_qp(bench->ends[0], 0)->path;
	if (packet->source != 0 || packet->klass != PACKET_CLASS_DATA)
		return false;
	bool is_there = packet->plane == bad_plane || path_index(path, packet->ev) == bad_index;
	data_on_bad += is_there && packet->opcode != PACKET_PROBE;
	return is_there && bench->now < mended_at;
}

static struct bench *open_with(struct transport_config config)
{
	struct bench *bench = bench_open(&config, 1, 0, 7);
	bad_index = bad_plane = UINT32_MAX;
	mended_at = PS_NEVER;
	data_on_bad = probes_seen = answers_seen = 0;
	bench->on_send = watch;
	bench->drops = is_lost;
	return bench;
}

static enum path_state state_of(const struct bench *bench, uint32_t index)
{
	return path_state(&endpoint_qp(bench->ends[0], 0)->path, index);
}

// What is sent is answered, lost, or still out.
static void check_books(const struct bench *bench)
{
	const struct transport_counters *c = bench_counters(bench);
	assert_int_equal(c->probes_sent,
			 c->probes_answered + c->probes_lost +
				 endpoint_qp(bench->ends[0], 0)->probes.out_count);
}

static void a_bad_ev_is_probed_until_one_comes_back(void **state)
{
	(void)state;
	struct bench *bench = open_with(bench_config()); // path_retry 200 us
	bad_index = 5;
	bench_keep_busy(bench, 400 * PS_PER_US);
	assert_int_equal(state_of(bench, 5), PATH_ASSUMED_BAD);
	assert_int_equal(bench_counters(bench)->paths_retired, 1);
	uint32_t lost = data_on_bad;
	bench_keep_busy(bench, 1000 * PS_PER_US);
	assert_int_equal(data_on_bad, lost); // no data try it
	assert_in_range(probes_seen, 3, 5);  // one per retry time
	mended_at = bench->now;
	bench_keep_busy(bench, 1400 * PS_PER_US);
	assert_int_equal(state_of(bench, 5), PATH_GOOD);
	assert_true(data_on_bad > lost + 5);
	assert_int_equal(bench_counters(bench)->probes_answered, 1);
	assert_int_equal(bench_counters(bench)->paths_reinstated, 1);
	assert_int_equal(endpoint_counters(bench->ends[1])->probes_received, 1);
	bench_run(bench, BENCH_TO_THE_END);
	check_books(bench);
	bench_check_empty(bench);
	bench_close(bench);
}

static void probes_end_with_the_work(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.path_retry_ps = 20 * PS_PER_US;
	struct bench *bench = open_with(config);
	bad_index = 5;
	bench_keep_busy(bench, 400 * PS_PER_US);
	ps_t end = bench_run(bench, BENCH_TO_THE_END);
	assert_in_range(end, bench->now - 1, 400 * PS_PER_US + 4 * config.rto_ps);
	assert_int_equal(state_of(bench, 5), PATH_ASSUMED_BAD);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->probes.out_count, 0);
	assert_true(endpoint_wake_at(bench->ends[0]) == PS_NEVER);
	check_books(bench);
	uint32_t before = probes_seen;
	mended_at = 0;
	bench->now += PS_PER_MS;
	bench_keep_busy(bench,
			bench->now + 100 * PS_PER_US); // new work: the first probe leaves at once
	assert_int_equal(probes_seen, before + 1);
	assert_int_equal(state_of(bench, 5), PATH_GOOD);
	bench_close(bench);
}

static void a_qp_that_fails_probes_no_more(void **state)
{
	(void)state;
	struct bench *bench = open_with(bench_config());
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	bad_index = 3;
	while (qp->probes.out_count == 0) {
		bench_keep_busy(bench, bench->now + PS_PER_US);
		assert_true(bench->now < 100 * PS_PER_MS);
	}
	assert_int_equal(endpoint_fail(bench->ends[0], 0), 0);
	uint32_t before = probes_seen;
	bench_run(bench, bench->now + bench->config.rto_ps); // the last that any timer waits for
	assert_int_equal(endpoint_wake_at(bench->ends[0]), PS_NEVER);
	assert_int_equal(probes_seen, before);
	assert_true(qp_is_at_rest(qp)); // so that its context can be had by another
	bench_close(bench);
}

static void a_dead_plane_gets_probes_and_no_data_until_one_is_answered(void **state)
{
	(void)state;
	struct bench *bench = open_with(bench_config());
	bad_plane = 1;
	bench_keep_busy(bench, 300 * PS_PER_US);
	const struct path_set *path = &endpoint_qp(bench->ends[0], 0)->path;
	assert_true(path_is_closed(path, 1));
	uint32_t lost = data_on_bad;
	probes_seen = 0;
	bench_keep_busy(bench, 1300 * PS_PER_US);
	assert_int_equal(data_on_bad, lost);
	assert_in_range(probes_seen, 4, 6); // of all its EVs one per retry time
	mended_at = bench->now;
	bench_keep_busy(bench, 1500 * PS_PER_US + 20 * PS_PER_US);
	assert_false(path_is_closed(path, 1));
	bench_keep_busy(bench, 2000 * PS_PER_US);
	assert_int_equal(path->held, 0); // and each EV of it that was bad came back
	assert_true(data_on_bad > lost);
	bench_run(bench, BENCH_TO_THE_END);
	check_books(bench);
	bench_close(bench);
}

// Retires an EV and lets its probe out to a wire that does what `config` of the bench says.
static struct bench *probe_over(uint32_t trim_ppm, uint32_t trim_last_ppm, uint32_t mark_ppm)
{
	struct bench *bench = open_with(bench_config());
	probe_retire(bench->ends[0], endpoint_qp(bench->ends[0], 0), 5, 0);
	bench->now = 300 * PS_PER_US;
	bench->trim_ppm = trim_ppm;
	bench->trim_last_ppm = trim_last_ppm;
	bench->mark_ppm = mark_ppm;
	assert_int_equal(bench_post(bench, 0, 0, 1, 1), 0);
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	bench_run(bench, bench->now + 4 * PS_PER_US);
	assert_int_equal(answers_seen, 1);
	assert_int_equal(last_answer.u.sack.probe_id, last_probe.u.probe.probe_id);
	assert_int_equal(last_answer.u.sack.trigger_offset, 0);
	assert_int_equal(last_answer.u.sack.ev_echo, last_probe.ev);
	assert_int_equal(last_probe.klass, PACKET_CLASS_DATA);
	assert_int_equal(last_probe.psn, 0); // it takes none
	return bench;
}

static void a_marked_or_trimmed_probe_says_skip_and_a_last_hop_trim_says_good(void **state)
{
	(void)state;
	const struct {
		uint32_t trim, trim_last, mark;
		enum path_state state;
	} cases[] = {
		{0, 0, 0, PATH_GOOD},
		{0, 0, 1000000, PATH_SKIP},
		{1000000, 0, 0, PATH_SKIP},
		{0, 1000000, 0, PATH_GOOD},
	};
	for (uint32_t i = 0; i < 4; i++) {
		struct bench *bench = probe_over(cases[i].trim, cases[i].trim_last, cases[i].mark);
		assert_int_equal(state_of(bench, 5), cases[i].state);
		bench_close(bench);
	}
}

// Two probes of one EV are out when retry times are shorter than the wait for an answer.
static void an_older_probe_that_was_lost_is_not_held_against_an_ev_that_is_back(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.path_retry_ps = 100 * PS_PER_US;
	config.rto_ps = 250 * PS_PER_US;
	struct bench *bench = open_with(config);
	probe_retire(bench->ends[0], endpoint_qp(bench->ends[0], 0), 5, 0);
	bad_index = 5;
	mended_at = 150 * PS_PER_US;
	bench_keep_busy(bench, 300 * PS_PER_US);
	assert_int_equal(state_of(bench, 5), PATH_GOOD);
	assert_int_equal(bench_counters(bench)->probes_lost, 0);
	bench_keep_busy(bench, 600 * PS_PER_US);
	assert_int_equal(bench_counters(bench)->probes_lost, 1);
	assert_int_equal(state_of(bench, 5), PATH_GOOD);
	assert_int_equal(bench_counters(bench)->paths_retired, 1);
	bench_close(bench);
}

static void answers_that_answer_nothing_are_refused_and_change_nothing(void **state)
{
	(void)state;
	struct bench *bench = open_with(bench_config());
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	probe_retire(bench->ends[0], qp, 5, 0);
	bench->now = 300 * PS_PER_US;
	assert_int_equal(bench_post(bench, 0, 0, 1, 1), 0);
	endpoint_on_time(bench->ends[0], bench->now, &bench->out);
	assert_int_equal(qp->probes.out_count, 1);
	const struct packet honest = {
		.source = 1,
		.target = 0,
		.opcode = PACKET_SACK,
		.klass = PACKET_CLASS_CONTROL,
		.psn = (qp->una - 1) & PSN_MASK,
		.timestamp = (uint16_t)(bench->now / TIMESTAMP_PS),
		.u.sack = {.is_probe = 1,
			   .probe_id = qp->probes.out[0].id,
			   .ev_echo = path_value(&qp->path, 5)},
	};
	bench->now += 3 * PS_PER_US;
	struct packet lies[6] = {honest, honest, honest, honest, honest, honest};
	lies[0].u.sack.probe_id++;	       // none is out there
	lies[1].u.sack.probe_id += PROBES_OUT; // of another time
	lies[2].u.sack.probe_id = 0;
	lies[3].u.sack.ev_echo = path_value(&qp->path, 6);
	lies[4].u.sack.ev_echo ^= 0x80000000;
	lies[5].timestamp = (uint16_t)(lies[5].timestamp - 3); // before it was sent
	for (uint32_t i = 0; i < 6; i++) {
		bench_give(bench, &lies[i]);
		assert_int_equal(bench_counters(bench)->refused[REFUSED_PROBE], i + 1);
		assert_int_equal(state_of(bench, 5), PATH_ASSUMED_BAD);
	}
	assert_int_equal(bench_counters(bench)->sacks_received, 0);
	bench_give(bench, &honest);
	assert_int_equal(state_of(bench, 5), PATH_GOOD);
	bench_give(bench, &honest); // it comes twice
	assert_int_equal(bench_counters(bench)->refused[REFUSED_PROBE], 7);
	assert_int_equal(bench_counters(bench)->probes_answered, 1);
	bench_close(bench);
}

static void a_late_answer_is_one_but_does_not_mend_its_ev(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.rto_ps = 20 * PS_PER_US;
	struct bench *bench = open_with(config);
	probe_retire(bench->ends[0], endpoint_qp(bench->ends[0], 0), 5, 0);
	bench->now = 300 * PS_PER_US;
	bench->delay_ps = 15 * PS_PER_US;
	assert_int_equal(bench_post(bench, 0, 0, 1, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench_counters(bench)->probes_lost, 1);
	assert_int_equal(bench_counters(bench)->probes_late, 1);
	assert_int_equal(bench_counters(bench)->probes_answered, 0);
	assert_int_equal(bench_counters(bench)->refused[REFUSED_PROBE], 0);
	assert_int_equal(bench_counters(bench)->sacks_received,
			 endpoint_counters(bench->ends[1])->sacks_sent);
	assert_int_equal(state_of(bench, 5), PATH_ASSUMED_BAD);
	check_books(bench);
	bench_check_empty(bench);
	bench_close(bench);
}

static void a_probe_without_a_number_is_refused(void **state)
{
	(void)state;
	struct bench *bench = open_with(bench_config());
	bench_give(bench, &(struct packet){.source = 0, .target = 1, .opcode = PACKET_PROBE});
	assert_int_equal(endpoint_counters(bench->ends[1])->refused[REFUSED_PROBE], 1);
	assert_int_equal(endpoint_held(bench->ends[1]), 0);
	bench_check_empty(bench);
	bench_close(bench);
}

// Says "always skip" in each SACK that is caused by a packet over EV number 5.
static void say_always(struct bench *bench, struct packet *packet)
{
	const struct path_set *path = &endpoint_qp(bench->ends[0], 0)->path;
	if (packet->opcode == PACKET_SACK && !packet->u.sack.is_probe &&
	    path_index(path, packet->u.sack.ev_echo) == 5)
		packet->u.sack.mark = PACKET_MARK_SKIP_ALWAYS;
}

static void an_ev_to_be_skipped_always_is_held_bad(void **state)
{
	(void)state;
	struct bench *bench = open_with(bench_config());
	bench->on_send = say_always;
	bench_keep_busy(bench, 100 * PS_PER_US);
	assert_int_equal(state_of(bench, 5), PATH_ASSUMED_BAD);
	assert_int_equal(bench_counters(bench)->paths_retired, 1);
	assert_int_equal(bench_counters(bench)->paths_skipped, 0);
	bench_close(bench);
}

static void a_qp_that_only_receives_probes_once_a_round_trip(void **state)
{
	(void)state;
	struct transport_config config = bench_config(); // base round trip 3 us
	config.probe_idle = PROBE_IDLE_YES;
	config.cc.rate_bps = FAST_BPS;
	struct bench *bench = open_with(config);
	bench_keep_busy(bench, 300 * PS_PER_US);
	const struct transport_counters *receiver = endpoint_counters(bench->ends[1]);
	assert_in_range(receiver->probes_sent, 80, 100);
	assert_in_range(receiver->probes_answered, receiver->probes_sent - 8,
			receiver->probes_sent);
	assert_int_equal(bench_counters(bench)->probes_sent, 0); // the sender has its SACKs
	ps_t busy_until = bench->now;
	bench_run(bench, BENCH_TO_THE_END);
	assert_true(bench->now < busy_until + 100 * PS_PER_US); // and it ends with the data
	assert_int_equal(receiver->probes_sent, receiver->probes_answered);
	assert_int_equal(receiver->paths_retired, 0);
	bench_check_empty(bench);
	bench_close(bench);
}

// A probe and its answer would be a share of it that shows.
static void on_a_slow_line_it_probes_less_often(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.probe_idle = PROBE_IDLE_YES;
	config.cc.rate_bps = FAST_BPS;
	ps_t round_trip = config.cc.base_rtt_ps;
	uint64_t bits = UINT64_C(1600) * config.control_bytes * config.planes;
	config.cc.rate_bps = bits * 1000000 / (uint64_t)(10 * round_trip / PS_PER_US);
	struct bench *bench = open_with(config);
	bench_keep_busy(bench, 100 * round_trip);
	assert_in_range(endpoint_counters(bench->ends[1])->probes_sent, 9, 11);
	bench_close(bench);
}

// The wire loses all that side 1 sends over its EV number 4.
// Numbers of probes have 16 bits, and none of them is 0.
static void numbers_of_probes_come_round(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.probe_idle = PROBE_IDLE_YES;
	config.cc.rate_bps = FAST_BPS;
	struct bench *bench = open_with(config);
	struct qp *receiver = endpoint_qp(bench->ends[1], 0);
	receiver->probes.sequence = (uint16_t)-40;
	bench_keep_busy(bench, 300 * PS_PER_US);
	assert_in_range(receiver->probes.sequence, 1, 100);
	bench_run(bench, BENCH_TO_THE_END);
	const struct transport_counters *counters = endpoint_counters(bench->ends[1]);
	assert_int_equal(counters->probes_sent, counters->probes_answered);
	assert_true(counters->probes_sent > 80);
	assert_int_equal(counters->refused[REFUSED_PROBE], 0);
	assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_PROBE], 0);
	bench_close(bench);
}

static bool is_answer_lost(struct bench *bench, const struct packet *packet)
{
	const struct path_set *path = &endpoint_qp(bench->ends[1], 0)->path;
	bool is_there = packet->source == 1 && path_index(path, packet->ev) == 4;
	data_on_bad += is_there && packet->opcode != PACKET_PROBE;
	return is_there;
}

static void answers_avoid_what_probes_found_bad(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.probe_idle = PROBE_IDLE_YES;
	struct bench *bench = open_with(config);
	bench->drops = is_answer_lost;
	bench_keep_busy(bench, 500 * PS_PER_US); // about 160 probes over 32 EVs
	const struct qp *receiver = endpoint_qp(bench->ends[1], 0);
	assert_int_equal(path_state(&receiver->path, 4), PATH_ASSUMED_BAD);
	uint32_t before = data_on_bad;
	bench_keep_busy(bench, 800 * PS_PER_US);
	assert_int_equal(data_on_bad, before);
	bench_close(bench);
}

static bool is_sack(struct bench *, const struct packet *packet)
{
	return packet->source == 1 && packet->opcode == PACKET_SACK;
}

// All is here, and no answer arrives: what comes again says that the ways of answers are to be
// looked at.
static void repeats_keep_a_receiver_probing(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.probe_idle = PROBE_IDLE_YES;
	config.cc.rate_bps = FAST_BPS;
	struct bench *bench = open_with(config);
	bench->drops = is_sack;
	assert_int_equal(bench_post(bench, 0, 0, 1024, 1), 0);
	bench_run(bench, 300 * PS_PER_US);
	const struct transport_counters *receiver = endpoint_counters(bench->ends[1]);
	assert_int_equal(receiver->data_received - receiver->duplicates, 1);
	assert_in_range(receiver->duplicates, 4, 6);		       // a timer of 50 us
	assert_int_equal(receiver->probes_sent, receiver->duplicates); // a timer after each
	bench_close(bench);
}

static bool has_lost;

static bool loses_first(struct bench *, const struct packet *packet)
{
	bool is_first = packet->klass == PACKET_CLASS_DATA && !has_lost;
	has_lost |= is_first;
	return is_first;
}

// Where all contexts are taken a probe is dropped, and its buffer is free again.
static void a_probe_that_finds_no_context_leaves_nothing(void **)
{
	struct transport_config config = bench_config();
	config.contexts = 2;
	struct bench *bench = bench_open(&config, 4, 0, 1);
	bench->drops = loses_first;
	has_lost = false;
	assert_int_equal(bench_post(bench, 0, 1, 9000, 1), 0); // its receiver waits for a repair
	while (endpoint_contexts_busy(bench->ends[1]) < 1)
		bench_run(bench, bench->now + PS_PER_US);
	assert_int_equal(bench_post(bench, 1, 0, 60000, 2), 0);
	assert_int_equal(endpoint_contexts_busy(bench->ends[1]), 2);
	uint32_t taken = packet_pool_taken(&bench->packets);
	bench_give(bench,
		   &(struct packet){.source = 0,
				    .target = 1,
				    .wire_bytes = 64,
				    .opcode = PACKET_PROBE,
				    .qpn = 3,
				    .u.probe = {.probe_id = 8}});
	assert_int_equal(endpoint_counters(bench->ends[1])->packets_deferred, 1);
	assert_int_equal(packet_pool_taken(&bench->packets), taken);
	bench_run(bench, BENCH_TO_THE_END);
	bench_check_empty(bench);
	bench_close(bench);
}
