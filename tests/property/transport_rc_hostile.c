// SPDX-License-Identifier: Apache-2.0
// A peer of RoCEv2 RC that lies: between packets of real traffic come others with any fields. The
// endpoint keeps its rings in order, writes nowhere outside its regions, gives every packet back,
// and says of each request what became of it, once. A failing seed is run again by
//   WEFT_HOSTILE_FIRST=<seed> WEFT_HOSTILE_COUNT=1 <this program>
#include "../seeds.h"
#include "../unit/transport/transport_bench.h"

#include <weft/core/opcode.h>

enum { QPS = 3, ROUNDS = 400 };

struct told {
	uint32_t posted[QPS], ended[QPS];
	uint64_t received;
};

static uint8_t any_opcode(struct rng *rng)
{
	static const uint8_t known[] = {
		RC_WRITE_FIRST, RC_WRITE_MIDDLE,   RC_WRITE_LAST, RC_WRITE_LAST_IMM,
		RC_WRITE_ONLY,	RC_WRITE_ONLY_IMM, RC_ACK,	  RC_ACK,
		RC_CNP};
	uint32_t pick = rng_below(rng, sizeof(known) + 1);
	return pick < sizeof(known) ? known[pick] : (uint8_t)rng_next(rng);
}

// A number near `near`, or any.
static uint32_t any_psn(struct rng *rng, uint32_t near)
{
	if (rng_below(rng, 4) == 0)
		return (uint32_t)rng_next(rng) & PSN_MASK;
	return (near + rng_below(rng, 9) - 4) & PSN_MASK;
}

// Writes any packet, as a wire could deliver it to `side`.
static void lie(struct bench *bench, uint32_t side, struct packet *packet, struct rng *rng)
{
	static const uint8_t syndromes[] = {0x00, 0x1f, 0x20, 0x60, 0x60, 0x60, 0x61, 0x7f};
	uint32_t qpn = rng_below(rng, 8) == 0 ? (uint32_t)rng_next(rng) : rng_below(rng, QPS);
	const struct qp *qp = endpoint_qp(bench->ends[side], qpn % QPS);
	bool is_whole = rng_below(rng, 2) == 0;
	uint32_t planes = rng_below(rng, 9) == 0 ? 256 : 2;
	*packet = (struct packet){.target = side, .qpn = qpn, .wire_bytes = 1088};
	packet->source = rng_below(rng, 9) == 0 ? 7 : 1 - side;
	packet->plane = (uint8_t)rng_below(rng, planes);
	packet->flags = (uint8_t)(rng_below(rng, 2) ? PACKET_CE : 0);
	packet->opcode = any_opcode(rng);
	packet->bth = (uint8_t)rng_next(rng);
	packet->payload_bytes = (uint16_t)(is_whole ? 1024 : rng_below(rng, 1025));
	packet->payload = rng_below(rng, 2);
	if (packet->opcode == RC_ACK) {
		packet->psn = any_psn(rng, qp->una);
		packet->u.ack.syndrome = syndromes[rng_below(rng, rng_below(rng, 40) ? 6 : 8)];
		return;
	}
	if (rng_below(rng, 30) == 0)
		packet->flags |= PACKET_TRIMMED;
	packet->psn = any_psn(rng, rng_below(rng, 12) ? qp->rcv_next + 3 : qp->rcv_next);
	packet->u.data.va = rng_below(rng, 3) ? BENCH_VA : rng_next(rng);
	packet->u.data.rkey = rng_below(rng, 3) ? BENCH_RKEY : (uint32_t)rng_next(rng);
	bool is_only = packet->opcode == RC_WRITE_ONLY || packet->opcode == RC_WRITE_ONLY_IMM;
	packet->u.data.message_bytes = packet->payload_bytes + (is_only ? 0 : 4096);
	if (rng_below(rng, 4) == 0)
		packet->u.data.message_bytes = (uint32_t)rng_next(rng);
}

static void check_places(struct bench *bench, uint32_t side)
{
	struct dma_write dma_write;
	while (endpoint_poll_dma_writes(bench->ends[side], &dma_write, 1) == 1) {
		assert_true(dma_write.rkey == BENCH_RKEY || dma_write.rkey == BENCH_NOTICE_RKEY);
		assert_true(dma_write.va >= BENCH_VA);
		assert_true(dma_write.va - BENCH_VA + dma_write.bytes <= BENCH_REGION_BYTES);
	}
}

// Each request ends once, in posting order.
static void check_told(struct bench *bench, uint32_t side, struct told *told)
{
	struct completion one;
	while (endpoint_poll(bench->ends[side], &one, 1) == 1) {
		assert_true(one.qp < QPS);
		if (one.kind == COMPLETION_RECEIVED)
			told->received++;
		else
			assert_int_equal(one.cookie, told->ended[one.qp]++);
	}
	for (uint32_t qpn = 0; qpn < QPS; qpn++)
		assert_true(told->ended[qpn] <= told->posted[qpn]);
}

static void step(struct bench *bench, struct told told[2], struct rng *rng)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t qpn = rng_below(rng, QPS);
		struct work work = {.va = BENCH_VA,
				    .rkey = BENCH_RKEY,
				    .bytes = 1 + rng_below(rng, 9000),
				    .cookie = told[side].posted[qpn]};
		work.has_imm = rng_below(rng, 2);
		if (endpoint_post(bench->ends[side], qpn, &work, bench->now) == 0)
			told[side].posted[qpn]++;
		for (uint32_t plane = 0; plane < 2; plane++) {
			uint32_t index = endpoint_next(bench->ends[side], plane, bench->now,
						       &bench->out);
			if (index != PACKET_NONE && rng_below(rng, 20) == 0)
				packet_put(&bench->packets, index);
			else if (index != PACKET_NONE)
				endpoint_receive(bench->ends[1 - side], index, bench->now,
						 &bench->out);
			check_places(bench, 1 - side);
		}
		if (rng_below(rng, 4) == 0) {
			uint32_t index = packet_get(&bench->packets);
			lie(bench, side, packet_at(&bench->packets, index), rng);
			endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
		}
		bench->now += rng_below(rng, 2000) * PS_PER_NS;
		if (endpoint_wake_at(bench->ends[side]) <= bench->now)
			endpoint_on_time(bench->ends[side], bench->now, &bench->out);
	}
	for (uint32_t side = 0; side < 2; side++) {
		check_places(bench, side);
		check_told(bench, side, &told[side]);
		for (uint32_t qpn = 0; qpn < QPS; qpn++)
			bench_check_qp(bench, bench->ends[side],
				       endpoint_qp(bench->ends[side], qpn));
	}
}

// Nothing more is posted and nothing lost: everything ends.
static void finish(struct bench *bench, struct told told[2])
{
	bench->loss_ppm = 0;
	bench_run(bench, BENCH_TO_THE_END);
	for (uint32_t side = 0; side < 2; side++) {
		for (uint32_t i = 0; i < bench->log_count[side]; i++)
			told[side].ended[bench->log[side][i].qp] += bench->log[side][i].kind !=
				COMPLETION_RECEIVED;
		for (uint32_t qpn = 0; qpn < QPS; qpn++)
			assert_int_equal(told[side].ended[qpn], told[side].posted[qpn]);
	}
	bench_check_empty(bench);
}

static void a_peer_that_lies_breaks_no_rule(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_HOSTILE_FIRST", 1);
	uint64_t count = number("WEFT_HOSTILE_COUNT", 600);
	uint64_t refused[REFUSED_REASON_COUNT] = {0}, failed = 0, received = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct transport_config config = bench_config();
		struct told told[2] = {0};
		struct rng rng = rng_of(seed, RNG_TEST, 3);
		config.kind = TRANSPORT_RC;
		seed_begin("WEFT_HOSTILE", seed);
		struct bench *bench = bench_open(&config, QPS, 0xfffff0, seed);
		for (uint32_t round = 0; round < ROUNDS; round++)
			step(bench, told, &rng);
		finish(bench, told);
		for (uint32_t side = 0; side < 2; side++) {
			const struct transport_counters *of = endpoint_counters(bench->ends[side]);
			for (uint32_t reason = 0; reason < REFUSED_REASON_COUNT; reason++)
				refused[reason] += of->refused[reason];
			failed += of->qps_failed;
			received += told[side].received;
		}
		bench_close(bench);
	}
	seeds_end();
	for (uint32_t reason = 0; reason < REFUSED_REASON_COUNT; reason++)
		printf("%u: %llu refused\n", reason, (unsigned long long)refused[reason]);
	printf("%llu QPs failed, %llu messages received\n", (unsigned long long)failed,
	       (unsigned long long)received);
	if (count < 600)
		return;
	assert_true(refused[REFUSED_KEY] > 20 && refused[REFUSED_BOUNDS] > 20);
	assert_true(refused[REFUSED_LENGTH] > 20 && refused[REFUSED_OPCODE] > 20);
	assert_true(refused[REFUSED_SACK] > 20 && refused[REFUSED_NACK] > 20);
	assert_true(failed > 100 && received > 1000);
}
