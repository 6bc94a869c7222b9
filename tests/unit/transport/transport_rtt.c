// SPDX-License-Identifier: Apache-2.0
// Where round trips come from: the own table or the time stamp that comes back, with and without
// the time that passes at the responder.
#include "transport_bench.h"

static ps_t samples[64];
static uint32_t sample_count;

static void record(struct cc *cc, const struct cc_ack *ack, ps_t now)
{
	(void)cc;
	(void)now;
	if (sample_count < 64)
		samples[sample_count++] = ack->rtt_ps;
}

static struct bench *open_recording(const struct transport_config *config, uint64_t seed)
{
	static struct cc_ops recorder;
	struct bench *bench = bench_open(config, 1, 0, seed);
	recorder = *cc_find("fixed");
	recorder.on_ack = record;
	endpoint_qp(bench->ends[0], 0)->cc.ops = &recorder;
	sample_count = 0;
	return bench;
}

// Moves a packet that `side` has ready on plane 0 to the other end, `delay` later. Its answers
// wait.
static void carry(struct bench *bench, uint32_t side, ps_t delay)
{
	uint32_t index = endpoint_next(bench->ends[side], 0, bench->now, &bench->out);
	assert_int_not_equal(index, PACKET_NONE);
	bench->now += delay;
	endpoint_receive(bench->ends[1 - side], index, bench->now, &bench->out);
	bench_poll(bench, 1 - side);
}

// The sample of one packet that is 3 us under way, 20 us in service, and whose answer takes 4 us.
static ps_t sample(struct transport_config config, ps_t start, ps_t service)
{
	config.rto_ps = PS_PER_S;
	struct bench *bench = open_recording(&config, 1);
	bench->now = start;
	assert_int_equal(bench_post(bench, 0, 0, 100, 1), 0);
	carry(bench, 0, 3 * PS_PER_US);
	bench->now += service;
	carry(bench, 1, 4 * PS_PER_US);
	assert_int_equal(sample_count, 1);
	bench_close(bench);
	return samples[0];
}

#define TICK TIMESTAMP_PS

static void the_time_of_service_is_left_out_where_both_ends_do_so(void **state)
{
	(void)state;
	const ps_t starts[] = {0, 77 * PS_PER_NS, (TICK << 16) - 10 * PS_PER_US,
			       (TICK << 15) - 3 * PS_PER_US};
	for (uint32_t i = 0; i < 16; i++) {
		struct transport_config config = bench_config();
		config.service_time = i % 2;
		config.rtt = i / 2 % 2 ? RTT_STAMP : RTT_LOCAL;
		ps_t rtt = sample(config, starts[i / 4], 20 * PS_PER_US);
		ps_t right = 7 * PS_PER_US + (config.service_time ? 0 : 20 * PS_PER_US);
		bool is_exact = config.rtt == RTT_LOCAL && !config.service_time;
		ps_t off = is_exact ? 1024 : 2 * TICK;
		assert_in_range(rtt, right - off, right + off);
	}
}

static void one_end_alone_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config = bench_config(), other = config;
		uint32_t requester = i % 2;
		config.rtt = i / 2 ? RTT_STAMP : RTT_LOCAL;
		config.rto_ps = other.rto_ps = PS_PER_S;
		config.service_time = requester;
		other.service_time = !requester;
		struct bench *bench = bench_open_two(&config, &other, 1, 0, 1);
		static struct cc_ops recorder;
		recorder = *cc_find("fixed");
		recorder.on_ack = record;
		endpoint_qp(bench->ends[0], 0)->cc.ops = &recorder;
		sample_count = 0;
		assert_int_equal(bench_post(bench, 0, 0, 100, 1), 0);
		carry(bench, 0, 3 * PS_PER_US);
		bench->now += 20 * PS_PER_US;
		carry(bench, 1, 4 * PS_PER_US);
		assert_in_range(samples[0], 27 * PS_PER_US - TICK, 27 * PS_PER_US + TICK);
		bench_close(bench);
	}
}

static void a_stamp_older_than_half_a_wrap_is_counted_and_dropped(void **state)
{
	(void)state;
	const ps_t half = TICK << 15;
	for (uint32_t i = 0; i < 2; i++) {
		struct transport_config config = bench_config();
		config.rtt = RTT_STAMP;
		config.rto_ps = PS_PER_S;
		struct bench *bench = open_recording(&config, 1);
		assert_int_equal(bench_post(bench, 0, 0, 100, 1), 0);
		carry(bench, 0, 3 * PS_PER_US);
		carry(bench, 1, half + (i == 0 ? -10 : 10) * PS_PER_US);
		if (i == 0)
			assert_in_range(samples[0], half - 8 * PS_PER_US, half - 6 * PS_PER_US);
		else
			assert_int_equal(samples[0], -1);
		assert_int_equal(endpoint_counters(bench->ends[0])->stamps_stale, i);
		bench_close(bench);
	}
}

// Whatever an answer echoes, a round trip is never longer than the packet has been away.
static void a_stamp_of_another_time_gives_no_round_trip(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config = bench_config();
		config.rtt = RTT_STAMP;
		config.service_time = i % 2;
		config.rto_ps = PS_PER_S;
		struct bench *bench = open_recording(&config, 1);
		bench->now = PS_PER_MS;
		assert_int_equal(bench_post(bench, 0, 0, 100, 1), 0);
		carry(bench, 0, 3 * PS_PER_US);
		uint32_t index = endpoint_next(bench->ends[1], 0, bench->now, &bench->out);
		struct packet *sack = packet_at(&bench->packets, index);
		bench->now += 4 * PS_PER_US;
		sack->timestamp = (uint16_t)(sack->timestamp + (i < 2 ? 100 : -100));
		endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
		assert_int_equal(samples[0], -1);
		bench_close(bench);
	}
}

// Carries the packet that is ready, and cuts its payload off on the way.
static void carry_trimmed(struct bench *bench)
{
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	struct packet *packet = packet_at(&bench->packets, index);
	packet->payload_bytes = 0;
	packet->flags |= PACKET_TRIMMED;
	bench->now += 3 * PS_PER_US;
	endpoint_receive(bench->ends[1], index, bench->now, &bench->out);
}

// UEC: of a packet that was sent again once the echo tells which sending came, of more it does not.
static void once_takes_no_round_trip_of_what_was_sent_again_twice(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 6; i++) {
		struct transport_config config = bench_config();
		uint32_t trims = i % 3;
		config.rtt = i < 3 ? RTT_ONCE : RTT_LOCAL;
		config.rto_ps = PS_PER_S;
		struct bench *bench = open_recording(&config, 1);
		assert_int_equal(bench_post(bench, 0, 0, 100, 1), 0);
		for (uint32_t n = 0; n < trims; n++) {
			carry_trimmed(bench);
			carry(bench, 1, 4 * PS_PER_US);
		}
		carry(bench, 0, 3 * PS_PER_US);
		carry(bench, 1, 4 * PS_PER_US);
		assert_int_equal(sample_count, 1);
		if (config.rtt == RTT_ONCE && trims == 2)
			assert_int_equal(samples[0], -1);
		else
			assert_in_range(samples[0], 7 * PS_PER_US - 1024, 7 * PS_PER_US + 1024);
		bench_close(bench);
	}
}

static void a_transfer_over_a_bad_wire_samples_the_wire_alone(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config = bench_config();
		config.rtt = i % 2 ? RTT_STAMP : RTT_LOCAL;
		config.service_time = i / 2;
		struct bench *bench = open_recording(&config, i + 1);
		bench->loss_ppm = 20000;
		bench->jitter_ps = 4 * PS_PER_US;
		for (uint32_t n = 1; n <= 40; n++)
			assert_int_equal(bench_post(bench, 0, 0, 3000, n), 0);
		bench_run(bench, BENCH_TO_THE_END);
		assert_int_equal(bench->log_count[0], 40);
		uint32_t known = 0;
		for (uint32_t n = 0; n < sample_count; n++) {
			known += samples[n] >= 0;
			if (samples[n] >= 0) // 2 us and twice up to 4; lines and ticks come on top
				assert_in_range(samples[n], 2 * PS_PER_US - 2 * TICK,
						14 * PS_PER_US);
		}
		assert_true(known > sample_count / 2);
		bench_close(bench);
	}
}

// Where round trips are kept, each SACK that has one adds it to the histogram of its plane.
static void each_round_trip_is_timed_for_its_path(void **)
{
	static uint8_t memory[4 << 20];
	static struct delays delays;
	struct transport_config config = bench_config();
	struct arena arena;
	uint64_t count = 0;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(delays_init(&delays, &arena, config.planes, config.ev_count, 0), 0);
	struct bench *bench = open_recording(&config, 1);
	endpoint_time(bench->ends[0], &delays);
	assert_int_equal(bench_post(bench, 0, 0, 60000, 1), 0);
	bench_run(bench, BENCH_TO_THE_END);
	delays_settle(&delays);
	for (uint32_t plane = 0; plane < config.planes; plane++)
		count += delays.rtt_plane_ns[plane].total;
	assert_in_range(sample_count, 4, 63);
	assert_int_equal(count, sample_count);
	bench_close(bench);
}
