// SPDX-License-Identifier: Apache-2.0
// What leaves, in which order and by which path; and what an endpoint refuses to be.
#include "transport_bench.h"

#include <errno.h>

static struct packet *next_on(struct bench *bench, uint32_t plane)
{
	uint32_t index = endpoint_next(bench->ends[0], plane, bench->now, &bench->out);
	return index == PACKET_NONE ? NULL : packet_at(&bench->packets, index);
}

static struct packet *next(struct bench *bench)
{
	return next_on(bench, 0);
}

static uint64_t counters_rtx(const struct bench *bench, uint32_t side)
{
	uint64_t sum = 0;
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		sum += endpoint_counters(bench->ends[side])->rtx[reason];
	return sum;
}

static void a_message_is_cut_into_first_middle_and_last(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0xfffffe, 1);
	const uint8_t plain[4] = {PACKET_WRITE_FIRST, PACKET_WRITE_MIDDLE, PACKET_WRITE_MIDDLE,
				  PACKET_WRITE_LAST};
	bench->now = 128 * 5 * PS_PER_NS + 1;
	bench_post(bench, 0, 0, 3 * 1024 + 1, 0);
	bench_post(bench, 0, 0, 3 * 1024 + 1, 77);
	for (uint32_t i = 0; i < 8; i++) {
		struct packet *packet = next(bench);
		bool is_last = i % 4 == 3;
		assert_non_null(packet);
		assert_int_equal(packet->opcode, i == 7 ? PACKET_WRITE_LAST_IMM : plain[i % 4]);
		assert_int_equal(packet->psn, (0xfffffe + i) & 0xffffff);
		assert_int_equal(packet->payload_bytes, is_last ? 1 : 1024);
		assert_int_equal(packet->wire_bytes, packet->payload_bytes + 64);
		assert_int_equal(packet->u.data.va, 0x10000 + i % 4 * 1024);
		assert_int_equal(packet->u.data.rkey, 7);
		assert_int_equal(packet->u.data.message_bytes, 3 * 1024 + 1);
		assert_int_equal(packet->u.data.msn, i / 4);
		assert_int_equal(packet->u.data.rqmsn, 0);
		assert_int_equal(packet->u.data.imm, i == 7 ? 77 : 0);
		assert_int_equal(packet->timestamp, 5);
		assert_int_equal(packet->source, 0);
		assert_int_equal(packet->target, 1);
		assert_int_equal(packet->klass, PACKET_CLASS_DATA);
		assert_int_equal(packet->flags, PACKET_ECT | PACKET_TRIMMABLE);
		assert_int_equal(packet->bth, is_last ? PACKET_AR : 0); // somebody waits for it
	}
	assert_null(next(bench));
	assert_false(endpoint_has_work(bench->ends[0]));
	bench_close(bench);
}

static void a_short_message_is_one_packet(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench_post(bench, 0, 0, 1024, 0);
	bench_post(bench, 0, 0, 1, 5);
	bench_post(bench, 0, 0, 2, 6);
	assert_int_equal(next(bench)->opcode, PACKET_WRITE_ONLY);
	for (uint32_t i = 0; i < 2; i++) {
		struct packet *packet = next(bench);
		assert_int_equal(packet->opcode, PACKET_WRITE_ONLY_IMM);
		assert_int_equal(packet->u.data.imm, 5 + i);
		assert_int_equal(packet->u.data.rqmsn, i);
		assert_int_equal(packet->u.data.msn, 1 + i);
	}
	bench_close(bench);
}

static void the_qps_of_a_nic_take_turns(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 3, 0, 1);
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		bench_post(bench, 0, qpn, 10 * 1024, 0);
	for (uint32_t i = 0; i < 30; i++)
		assert_int_equal(next_on(bench, i % 2)->qpn, i % 3);
	assert_null(next(bench));
	bench_close(bench);
}

static void control_leaves_before_data(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench_post(bench, 1, 0, 1, 0);
	uint32_t index = endpoint_next(bench->ends[1], 1, 0, &bench->out);
	bench_post(bench, 0, 0, 2048, 0);
	endpoint_receive(bench->ends[0], index, 5, &bench->out);
	assert_int_equal(endpoint_held(bench->ends[0]), 1);
	assert_int_equal(next_on(bench, 0)->opcode, PACKET_WRITE_FIRST); // the SACK is for plane 1
	assert_int_equal(next_on(bench, 1)->opcode, PACKET_SACK);
	assert_int_equal(next_on(bench, 1)->opcode, PACKET_WRITE_LAST);
	assert_int_equal(endpoint_held(bench->ends[0]), 0);
	bench_close(bench);
}

static void an_empty_pool_stops_with_its_limit_and_loses_nothing(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench_post(bench, 0, 0, 1, 0);
	uint32_t kept = bench->packets.capacity, returned = bench->packets.returned;
	bench->packets.capacity = bench->packets.fresh - 1;
	bench->packets.returned = 0;
	assert_null(next(bench));
	assert_int_equal(bench->out.limit, OUTBOX_NO_PACKET);
	bench->packets.capacity = kept;
	bench->packets.returned = returned;
	assert_int_equal(next(bench)->opcode, PACKET_WRITE_ONLY);
	bench_close(bench);
}

static uint32_t ev_seen[64];

static void count_ev(struct bench *bench, struct packet *packet)
{
	if (packet->klass != PACKET_CLASS_DATA)
		return;
	uint32_t index = path_index(&endpoint_qp(bench->ends[0], 0)->path, packet->ev);
	assert_true(index < bench->config.ev_count);
	assert_int_equal(index % bench->config.planes, packet->plane);
	ev_seen[index]++;
}

static void all_evs_are_used_equally_and_on_their_own_plane(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.planes = 4;
	config.ev_count = 64;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	memset(ev_seen, 0, sizeof(ev_seen));
	bench->on_send = count_ev;
	for (uint32_t i = 0; i < 4; i++)
		bench_post(bench, 0, 0, 1600 * 1024, 0);
	bench_run(bench, BENCH_TO_THE_END);
	for (uint32_t i = 0; i < 64; i++)
		assert_in_range(ev_seen[i], 98, 102);
	bench_close(bench);
}

static void a_single_path_qp_keeps_to_its_plane(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.path_policy = PATH_SINGLE;
	config.planes = 4;
	struct bench *bench = bench_open(&config, 8, 0, 1);
	uint32_t planes_used = 0;
	for (uint32_t qpn = 0; qpn < 8; qpn++) {
		bench_post(bench, 0, qpn, 4096, 0);
		uint32_t found = 0;
		for (uint32_t plane = 0; plane < 4; plane++) {
			while (next_on(bench, plane)) {
				found++;
				planes_used |= 1u << plane;
				assert_int_equal(endpoint_qp(bench->ends[0], qpn)->path.single % 4,
						 plane);
			}
		}
		assert_int_equal(found, 4);
	}
	assert_true((planes_used & (planes_used - 1)) != 0); // not all QPs on one
	bench_close(bench);
}

// Few packets, far apart, on a QP with a high SACK threshold: no timer may be needed.
static void a_slow_qp_asks_before_its_timer_rings(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.sack_bytes = 1000000;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	bench_post(bench, 0, 0, 40 * 1024, 0);
	uint32_t asked = 0;
	for (uint32_t i = 0; i < 39; i++) {
		bench->now += 10 * PS_PER_US;
		asked += (next(bench)->bth & PACKET_AR) != 0;
	}
	assert_in_range(asked, 39 * 10 / 50, 39 * 10 / 12); // each quarter of 50 us, or rarer
	bench_close(bench);
}

static void bad_sizes_are_refused(void **state)
{
	(void)state;
	const struct transport_config good = bench_config();
	struct transport_config bad[17];
	for (uint32_t i = 0; i < 17; i++)
		bad[i] = good;
	bad[0].planes = 0;
	bad[1].planes = 17;
	bad[2].ev_count = 33;
	bad[3].ev_count = 24;
	bad[4].mpr = 100;
	bad[5].mpr = 32;
	bad[6].mpr = 65536;
	bad[7].wimm_max = 31;
	bad[8].sends_max = 0;
	bad[9].payload_bytes = 65500;
	bad[10].rto_ps = 0;
	bad[11].cc.name = "best";
	bad[12].cc.mtu_bytes = 0;
	bad[13].rto_linear = bad[13].rto_doublings = 0;
	bad[14].ev_bits = 0;
	bad[15].ev_bits = 20;
	bad[16].ev_bits = 16;
	bad[16].ev_count = 32768;
	static uint64_t memory[1 << 15];
	for (uint32_t i = 0; i < 17; i++) {
		struct arena arena;
		struct endpoint *endpoint = NULL;
		struct refusal refusal = {0};
		arena_init(&arena, memory, sizeof(memory));
		assert_int_equal(endpoint_create(&endpoint, &arena, &bad[i], 0, 1, 1, &refusal),
				 -EINVAL);
		assert_null(endpoint);
		assert_true(refusal.text[0] != 0);
	}
}

static void too_little_memory_is_refused(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	static _Alignas(64) uint8_t memory[1 << 16];
	for (size_t size = 0; size < sizeof(memory); size += 4096) {
		struct arena arena;
		struct endpoint *endpoint = NULL;
		struct refusal refusal = {0};
		arena_init(&arena, memory, size);
		assert_int_equal(endpoint_create(&endpoint, &arena, &config, 0, 8, 1, &refusal),
				 -ENOMEM);
		assert_null(endpoint);
	}
}

// However small the packets are: a write that would need more numbers than can be told apart waits
// for ever, and says so.
static void more_packets_than_have_numbers_are_refused(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.payload_bytes = 1;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	assert_int_equal(bench_post(bench, 0, 0, 1000, 1), 0);
	assert_int_equal(bench_post(bench, 0, 0, UINT32_MAX, 2), -ENOBUFS);
	assert_int_equal(bench_post(bench, 0, 0, 0x40000000u - 999, 3), -ENOBUFS);
	assert_int_equal(bench_post(bench, 0, 0, 1000, 4), 0);
	bench_run(bench, PS_PER_S);
	assert_int_equal(endpoint_counters(bench->ends[0])->messages_sent, 2);
	bench_close(bench);
}

// Where each QP carries one message in each direction, with repairs: all of them come through in
// rings of one place.
static void qps_of_one_message_each_take_little_room(void **state)
{
	(void)state;
	enum { QPS = 6, BYTES = 40 * 1024 };
	struct transport_config config = bench_config();
	uint64_t whole = endpoint_bytes(&config, QPS);
	config.messages_max = 1;
	uint64_t ring = config.sends_max * sizeof(struct send);
	assert_in_range(endpoint_bytes(&config, QPS), 1,
			whole - QPS * (ring - sizeof(struct send)));
	for (uint32_t has_loss = 0; has_loss < 2; has_loss++) {
		struct bench *bench = bench_open(&config, QPS, 0xffffff, 1);
		bench->loss_ppm = has_loss * 50000;
		for (uint32_t i = 0; i < 2 * QPS; i++)
			assert_int_equal(bench_post(bench, i / QPS, i % QPS, BYTES, i + 1), 0);
		bench_run(bench, PS_PER_S);
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t sent = 0;
			for (uint32_t i = 0; i < bench->log_count[side]; i++)
				sent += bench->log[side][i].kind == COMPLETION_SENT;
			assert_int_equal(bench->log_count[side], 2 * QPS);
			assert_int_equal(sent, QPS);
			assert_int_equal(counters_rtx(bench, side) > 0, has_loss);
		}
		bench_check_empty(bench);
		bench_close(bench);
	}
}

static void one_message_and_rc_or_few_contexts_are_refused(void **state)
{
	(void)state;
	struct arena none;
	struct endpoint *endpoint;
	arena_init(&none, NULL, 0);
	for (uint32_t is_rc = 0; is_rc < 2; is_rc++) {
		struct transport_config config = bench_config();
		struct refusal refusal = {0};
		config.messages_max = 1;
		config.kind = is_rc ? TRANSPORT_RC : TRANSPORT_MRC;
		config.contexts = is_rc ? 0 : 2;
		assert_int_equal(endpoint_create(&endpoint, &none, &config, 0, 4, 1, &refusal),
				 -EINVAL);
		assert_non_null(strstr(refusal.text, "1 messages of a QP"));
	}
}

// Distances of PSNs are signed: 2^30 of them may be between the oldest and the last that is posted.
static void the_posted_psns_are_bounded(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.sends_max = 512;
	struct bench *bench = bench_open(&config, 1, 0xfffffe, 1);
	for (uint32_t i = 0; i < 256; i++) // 2^22 packets each
		assert_int_equal(bench_post(bench, 0, 0, UINT32_MAX, 0), 0);
	assert_int_equal(bench_post(bench, 0, 0, 1, 0), -ENOBUFS);
	bench_close(bench);
}

// The window was cut below what flies, and nothing that flies asks for an answer: one more packet
// leaves and asks. What already asked waits for its answer; htsim waits in any case.
static void a_cut_window_does_not_leave_a_qp_mute(void **state)
{
	(void)state;
	for (uint32_t is_htsim = 0; is_htsim < 2; is_htsim++) {
		struct transport_config config = bench_config();
		config.sack_rule = is_htsim ? SACK_HTSIM : SACK_MRC;
		struct bench *bench = bench_open(&config, 1, 0, 1);
		bench_post(bench, 0, 0, 40 * 1024, 0);
		for (uint32_t i = 0; i < 10; i++)
			assert_int_equal(next(bench)->bth & PACKET_AR, 0);
		endpoint_qp(bench->ends[0], 0)->cc.window_bytes = 2 * 1088;
		const struct packet *packet = next(bench);
		if (is_htsim)
			assert_null(packet);
		else
			assert_int_equal(packet->bth, PACKET_AR);
		assert_null(next(bench));
		bench_close(bench);
	}
}

// The largest that an endpoint may be is not refused but for lack of memory, and one more is.
static void the_limits_of_an_endpoint_are_allowed(void **state)
{
	(void)state;
	for (uint32_t more = 0; more < 2; more++) {
		struct transport_config configs[3] = {bench_config(), bench_config(),
						      bench_config()};
		configs[0].skip_ps = PS_PER_S + more;
		configs[1].planes = 1; // as many as there are ephemeral ports
		configs[1].ev_bits = 16;
		configs[1].ev_count = 16384;
		configs[1].ev_universe = 16384 + more;
		configs[2].cc.name = "nscc"; // some round trip there must be
		configs[2].cc.base_rtt_ps = 1 - more;
		for (uint32_t i = 0; i < 3; i++) {
			struct arena none;
			struct endpoint *endpoint;
			struct refusal refusal = {0};
			arena_init(&none, NULL, 0);
			assert_int_equal(
				endpoint_create(&endpoint, &none, &configs[i], 0, 1, 1, &refusal),
				more ? -EINVAL : -ENOMEM);
		}
	}
}
