// SPDX-License-Identifier: Apache-2.0
// Numbers that come round: PSNs of 24 bits and the running ones of 32, message numbers of 16, send
// times of 32, time stamps of 16, received bytes of 24. Each transfer starts a little before the
// wrap, goes well past it over a bad wire, and must complete exactly once and in order.
#include "transport_bench.h"

#define SIZES 6
static const uint32_t sizes[SIZES] = {1, 1024, 1025, 9000, 63, 3 * 1024};

// Where the numbers stand when a transfer begins.
struct start {
	const char *name;
	uint32_t first_psn;
	uint16_t msn, rqmsn;
	uint32_t send; // running number of the work request
	ps_t now;
	uint64_t rcvd_bytes;
};

#define UNITS(count) ((ps_t)(count) << SENT_SHIFT)

static const struct start starts[] = {
	{.name = "PSN of 24 bits", .first_psn = 0xffff00},
	{.name = "sign of 24 bits", .first_psn = 0x7fff00},
	{.name = "running PSN", .first_psn = 0xffffff00},
	{.name = "sign of the running PSN", .first_psn = 0x7fffff00},
	{.name = "message numbers", .msn = 0xffc0, .rqmsn = 0xffe0},
	{.name = "sign of message numbers", .msn = 0x7fc0, .rqmsn = 0x7fe0},
	{.name = "work requests", .send = 0xffffffc0},
	{.name = "sign of work requests", .send = 0x7fffffc0},
	{.name = "MSN of transport ACKs", .send = 0xffffc0},
	{.name = "sign of MSNs of transport ACKs", .send = 0x7fffc0},
	{.name = "send times", .now = UNITS(1ull << 32) - 50 * PS_PER_US},
	{.name = "sign of send times", .now = UNITS(1ull << 31) - 50 * PS_PER_US},
	{.name = "time stamps", .now = (TIMESTAMP_PS << 16) - 50 * PS_PER_US},
	{.name = "received bytes", .rcvd_bytes = (UINT64_C(1) << 32) - 100000},
	{"all at once", 0xffffff00, 0xfff0, 0xffd0, 0xffffffe0, UNITS(1ull << 32) - 50 * PS_PER_US,
	 (UINT64_C(1) << 32) - 100000},
};
#define STARTS (sizeof(starts) / sizeof(*starts))

static struct bench *open_at(const struct transport_config *config, const struct start *start,
			     uint64_t seed)
{
	struct bench *bench = bench_open(config, 1, start->first_psn, seed);
	struct qp *from = endpoint_qp(bench->ends[0], 0), *to = endpoint_qp(bench->ends[1], 0);
	from->msn = start->msn;
	from->rqmsn = to->rqmsn_wanted = start->rqmsn;
	from->send_done = from->send_una = from->send_at = from->send_tail = start->send;
	to->ops_done = start->send;
	to->rcvd_bytes = start->rcvd_bytes;
	bench->now = start->now;
	return bench;
}

// Takes what the log of `side` holds: the next numbers, in order.
static void take_log(struct bench *bench, uint32_t side, uint32_t *seen)
{
	for (uint32_t i = 0; i < bench->log_count[side]; i++) {
		const struct completion *completion = &bench->log[side][i];
		uint32_t number = side == 0 ? (uint32_t)completion->cookie : completion->imm;
		assert_int_equal(completion->kind,
				 side == 0 ? COMPLETION_SENT : COMPLETION_RECEIVED);
		assert_int_equal(completion->bytes, sizes[*seen % SIZES]);
		assert_int_equal(number, ++*seen);
	}
	bench->log_count[side] = 0;
}

static void transfer(struct bench *bench, uint32_t messages)
{
	uint32_t posted = 0, seen[2] = {0};
	uint64_t bytes = 0;
	while (posted < messages) {
		while (posted < messages &&
		       bench_post(bench, 0, 0, sizes[posted % SIZES], posted + 1) == 0)
			bytes += sizes[posted++ % SIZES];
		bench_run(bench, bench->now + 5 * PS_PER_US);
		take_log(bench, 0, &seen[0]);
		take_log(bench, 1, &seen[1]);
	}
	bench_run(bench, BENCH_TO_THE_END);
	take_log(bench, 0, &seen[0]);
	take_log(bench, 1, &seen[1]);
	assert_int_equal(seen[0], messages);
	assert_int_equal(seen[1], messages);
	assert_int_equal(endpoint_counters(bench->ends[0])->payload_bytes_new, bytes);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, bytes);
	for (uint32_t side = 0; side < 2; side++) {
		const struct transport_counters *counters = endpoint_counters(bench->ends[side]);
		assert_int_equal(counters->qps_failed + counters->no_qp + counters->out_of_window,
				 0);
		assert_int_equal(transport_refused(counters), 0);
	}
	bench_check_empty(bench);
}

static void spoil(struct bench *bench, uint32_t weather)
{
	bench->jitter_ps = 4 * PS_PER_US;
	bench->loss_ppm = weather == 0 ? 20000 : 0;
	bench->control_loss_ppm = weather == 0 ? 20000 : 0;
	bench->trim_ppm = weather == 1 ? 50000 : 0;
	bench->mark_ppm = 20000;
	bench->duplicate_ppm = weather == 2 ? 30000 : 0;
}

static void every_wrap_is_passed_over_a_bad_wire(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < STARTS; i++) {
		for (uint32_t weather = 0; weather < 3; weather++) {
			struct transport_config config = bench_config();
			config.hole_age_ps = weather == 2 ? 0 : 8 * PS_PER_US;
			config.cc.name = i % 2 ? "nscc" : "fixed";
			config.completion = weather == 1 ? COMPLETION_BY_SACK : COMPLETION_BY_ACK;
			config.rtt = weather == 2 ? RTT_STAMP : RTT_LOCAL;
			struct bench *bench = open_at(&config, &starts[i], 10 * i + weather);
			spoil(bench, weather);
			transfer(bench, 400);
			bench_close(bench);
		}
	}
}

// Packets that overtake others across a wrap are what they are, and not of long ago.
static void a_wire_that_reorders_needs_no_repair_at_any_wrap(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < STARTS; i++) {
		struct transport_config config = bench_config();
		config.completion = COMPLETION_BY_ACK;
		struct bench *bench = open_at(&config, &starts[i], i);
		bench->jitter_ps = 4 * PS_PER_US;
		transfer(bench, 400);
		for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
			assert_int_equal(endpoint_counters(bench->ends[0])->rtx[reason], 0);
		assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 0);
		bench_close(bench);
	}
}

// The largest window is a good part of all PSNs of 16 bits, in which answers count their distance.
static void every_wrap_is_passed_with_the_largest_window(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < STARTS; i++) {
		struct transport_config config = bench_config();
		config.mpr = 32768;
		config.wimm_max = 1024;
		config.sends_max = 1000;
		config.cc.window_bytes = UINT32_MAX;
		config.sack_bytes = 100 * 1088;
		config.completion = COMPLETION_BY_ACK;
		struct bench *bench = open_at(&config, &starts[i], 77 + i);
		spoil(bench, 0);
		transfer(bench, 1200);
		bench_close(bench);
	}
}

// One message of 2^32 - 1 bytes, the longest that a RETH can tell, over all of which the PSN comes
// round, too.
static void the_longest_message_arrives(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	config.payload_bytes = 60000;
	config.cc.window_bytes = 4000000;
	config.cc.mtu_bytes = 60064;
	config.regions_max = 3;
	struct bench *bench = bench_open(&config, 1, 0xffff00, 1);
	struct work work = {.va = 77, .rkey = 9, .bytes = UINT32_MAX, .imm = 5, .has_imm = true};
	assert_int_equal(endpoint_register(bench->ends[1], work.rkey, work.va, UINT32_MAX), 0);
	bench->loss_ppm = bench->control_loss_ppm = 1000;
	bench->jitter_ps = 4 * PS_PER_US;
	assert_int_equal(endpoint_post(bench->ends[0], 0, &work, 0), 0);
	bench_run(bench, BENCH_TO_THE_END);
	assert_int_equal(bench->log_count[0], 1);
	assert_int_equal(bench->log_count[1], 1);
	assert_int_equal(bench->log[0][0].kind, COMPLETION_SENT);
	assert_int_equal(bench->log[0][0].bytes, UINT32_MAX);
	assert_int_equal(bench->log[1][0].bytes, UINT32_MAX);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, UINT32_MAX);
	assert_true(endpoint_qp(bench->ends[0], 0)->una > 0x1000000);
	bench_check_empty(bench);
	bench_close(bench);
}

// No number is set by hand: so many messages that their numbers come round by themselves.
static void seventy_thousand_messages_complete_in_order(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.completion = COMPLETION_BY_ACK;
	struct bench *bench = open_at(&config, &starts[0], 3);
	spoil(bench, 0);
	bench->loss_ppm = 1000;
	transfer(bench, 70000);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->msn, 70000 - 65536);
	assert_int_equal(endpoint_qp(bench->ends[1], 0)->rqmsn_wanted, 70000 - 65536);
	assert_true(bench->now > TIMESTAMP_PS << 16); // and so did time stamps
	bench_close(bench);
}

static uint32_t last_told;
static uint32_t wraps_told;

static void watch_bytes(struct bench *bench, struct packet *packet)
{
	(void)bench;
	if (packet->opcode != PACKET_SACK)
		return;
	uint32_t told = packet->u.sack.rcvd_256;
	assert_true(told <= PSN_MASK);
	assert_in_range((told - last_told) & PSN_MASK, 0, 0x8000); // they never go back
	wraps_told += told < last_told;
	last_told = told;
}

static void received_bytes_are_told_in_24_bits_that_come_round(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	const struct start start = {.rcvd_bytes = (UINT64_C(1) << 32) - 100000};
	struct bench *bench = open_at(&config, &start, 3);
	last_told = (uint32_t)(start.rcvd_bytes >> 8);
	wraps_told = 0;
	bench->on_send = watch_bytes;
	transfer(bench, 200);
	assert_int_equal(wraps_told, 1);
	bench_close(bench);
}

// ---------------------------------------------------------------- round trips

static struct cc_ack last_ack;

static void record_ack(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)now;
	last_ack = *ack;
}

// Sends a packet at `sent_at`, once more `again` later when that is not 0, and acknowledges it
// `age` after that, with the time stamp of sending number `stamp`. Returns the sample.
static ps_t sample(struct bench *bench, ps_t sent_at, ps_t again, ps_t age, uint32_t stamp)
{
	static struct cc_ops recorder;
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	uint16_t stamps[2];
	recorder = *cc_find("fixed");
	recorder.on_ack = record_ack;
	qp->cc.ops = &recorder;
	bench->now = sent_at;
	bench_post(bench, 0, 0, 1, 1);
	for (uint32_t i = 0; i < (again > 0 ? 2 : 1); i++) {
		if (i > 0) {
			bench->now += again;
			endpoint_on_time(bench->ends[0], bench->now, &bench->out);
		}
		uint32_t index = endpoint_next(bench->ends[0], i, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		stamps[i] = packet_at(&bench->packets, index)->timestamp;
		packet_put(&bench->packets, index);
	}
	bench->now += age;
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){.source = 1,
							     .opcode = PACKET_SACK,
							     .klass = PACKET_CLASS_CONTROL,
							     .psn = qp->una & PSN_MASK,
							     .timestamp = stamps[stamp],
							     .u.sack = {.offset = 1}};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	bench_poll(bench, 0);
	return last_ack.rtt_ps;
}

static void a_round_trip_is_right_across_the_wraps_of_its_clocks(void **state)
{
	(void)state;
	const ps_t wraps[] = {TIMESTAMP_PS << 16, TIMESTAMP_PS << 15, UNITS(1ull << 32),
			      UNITS(1ull << 31)};
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t again = 0; again < 2; again++) {
			struct transport_config config = bench_config();
			config.rto_ps = 100 * PS_PER_US;
			struct bench *bench = bench_open(&config, 1, 0xffffff, 1);
			// the last sending is 20 us before the wrap, its answer 20 us behind it
			ps_t before = wraps[i] - 20 * PS_PER_US, first = again * 200 * PS_PER_US;
			ps_t rtt = sample(bench, before - first, first, 40 * PS_PER_US, again);
			assert_in_range(rtt, 40 * PS_PER_US - 1024, 40 * PS_PER_US + 1024);
			bench_close(bench);
		}
	}
}

static void an_answer_to_an_earlier_sending_gives_no_round_trip(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.rto_ps = 100 * PS_PER_US;
	struct bench *bench = bench_open(&config, 1, 0xffffff, 1);
	assert_int_equal(sample(bench, PS_PER_MS, 200 * PS_PER_US, PS_PER_US, 0), -1);
	assert_int_equal(endpoint_counters(bench->ends[0])->stamps_stale, 0);
	bench_close(bench);
}

// A whole wrap between two sendings makes their time stamps equal. What is that old is told to
// nobody, even when it may be right.
static void an_old_time_stamp_gives_no_round_trip_and_is_counted(void **state)
{
	(void)state;
	const ps_t half = TIMESTAMP_PS << 15;
	const ps_t ages[] = {half - PS_PER_US, half + PS_PER_US, 2 * half, 3 * half};
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config = bench_config();
		config.rto_ps = PS_PER_S / 10;
		struct bench *bench = bench_open(&config, 1, 0xffffff, 1);
		ps_t rtt = sample(bench, PS_PER_MS, PS_PER_S / 5, ages[i], 1);
		if (i == 0)
			assert_in_range(rtt, ages[i] - 1024, ages[i] + 1024);
		else
			assert_int_equal(rtt, -1);
		assert_int_equal(endpoint_counters(bench->ends[0])->stamps_stale, i > 0);
		bench_close(bench);
	}
}

// Send times come round after 4.4 s. What was acknowledged last was sent more than half of that
// ago, so it must not pass for newer than all that is out now.
static void a_silence_of_seconds_makes_no_holes_of_what_follows(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.hole_age_ps = 5 * PS_PER_US;
	config.path_policy = PATH_ROTATE;
	config.rto_ps = PS_PER_S;
	struct bench *bench = bench_open(&config, 1, 0xffffff, 1);
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	struct packet sack = {.source = 1, .opcode = PACKET_SACK, .psn = 0xffffff};
	assert_int_equal(bench_post(bench, 0, 0, 4 * 1024, 1), 0);
	for (uint32_t round = 0; round < 4; round++) { // sent, and sent again after 1, 2 and 3 s
		for (uint32_t index;
		     (index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out)) != 0;)
			packet_put(&bench->packets, index);
		assert_int_equal(qp->lost_count, 0);
		if (round == 3) { // the last of the three that are out
			sack.u.sack.offset = 3;
			sack.u.sack.bitmap = 1;
		}
		uint32_t index = packet_get(&bench->packets);
		*packet_at(&bench->packets, index) = sack;
		endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
		if (round == 3)
			break;
		while (qp->lost_count == 0) {
			bench->now = endpoint_wake_at(bench->ends[0]);
			endpoint_on_time(bench->ends[0], bench->now, &bench->out);
		}
	}
	assert_in_range(bench->now, 3 * PS_PER_S, 3 * PS_PER_S + PS_PER_MS);
	assert_int_equal(qp->acked_count, 1);
	assert_int_equal(qp->lost_count, 0); // they left together with it
	bench_close(bench);
}
