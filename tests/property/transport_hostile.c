// SPDX-License-Identifier: Apache-2.0
// 100,000 packets that nobody sent, each with at least one lie in it, come in the middle of
// transfers over a bad wire. None may place a byte or move a window; each is counted; and the
// transfers still complete exactly once and in order. A failing seed is run again by
//   WEFT_HOSTILE_FIRST=<seed> WEFT_HOSTILE_COUNT=1 <this program>
#include "../seeds.h"
#include "../unit/transport/transport_bench.h"

#define PACKETS_PER_SEED 10000u
#define QPS 2u
#define MESSAGES 1500u

// ---------------------------------------------------------------- what must not change

struct books {
	uint32_t una, psn_next, inflight, lost_count, acked_count, send_done, wimm_count;
	uint32_t window_bytes, rcv_next, ooo_count, pending_imm_count, rqmsn_wanted, state;
	uint32_t unused;
	uint64_t rcvd_bytes, placed, messages, places, peer_down;
};

static void read_books(const struct bench *bench, uint32_t side, uint32_t qpn, struct books *ret)
{
	const struct qp *qp = endpoint_qp(bench->ends[side], qpn);
	const struct transport_counters *counters = endpoint_counters(bench->ends[side]);
	*ret = (struct books){
		.una = qp->una,
		.psn_next = qp->psn_next,
		.inflight = qp->inflight,
		.lost_count = qp->lost_count,
		.acked_count = qp->acked_count,
		.send_done = qp->send_done,
		.wimm_count = qp->wimm_count,
		.window_bytes = qp->cc.window_bytes,
		.rcv_next = qp->rcv_next,
		.ooo_count = qp->ooo_count,
		.pending_imm_count = qp->pending_imm_count,
		.rqmsn_wanted = qp->rqmsn_wanted,
		.state = qp->state,
		.rcvd_bytes = qp->rcvd_bytes,
		.peer_down = qp->path.peer_down,
		.placed = counters->payload_bytes_placed,
		.messages = counters->messages_sent + counters->messages_received,
		.places = bench->places_count,
	};
}

// All that a packet can be counted as; each is one of these, a trimmed one may be two.
static uint64_t counted(const struct transport_counters *of)
{
	return of->no_qp + of->out_of_window + of->duplicates + of->trims_received +
		of->sacks_received + of->nacks_received + of->acks_received + of->naks_received +
		transport_refused(of);
}

// ---------------------------------------------------------------- lies

static uint32_t random_bits(struct rng *rng)
{
	return (uint32_t)rng_next(rng);
}

// A number near `around`, now and then anywhere.
static uint32_t near(struct rng *rng, uint32_t around)
{
	switch (rng_below(rng, 4)) {
	case 0:
		return random_bits(rng);
	case 1:
		return around + rng_below(rng, 70000) - 35000;
	default:
		return around + rng_below(rng, 600) - 300;
	}
}

static void random_packet(struct rng *rng, uint32_t side, struct packet *ret)
{
	uint64_t *words = (void *)ret;
	for (uint32_t i = 0; i < sizeof(*ret) / sizeof(*words); i++)
		words[i] = rng_next(rng);
	ret->source = 1 - side;
	ret->target = side;
	ret->payload = rng_below(rng, 2) ? 99 : 0;
	ret->plane = (uint8_t)rng_below(rng, 2);
	ret->qpn = rng_below(rng, QPS);
}

// Data, true but for at least one of QP, source, plane, key, address and length.
static void lie_in_data(const struct bench *bench, uint32_t side, struct rng *rng,
			struct packet *lie)
{
	const struct qp *qp = endpoint_qp(bench->ends[side], lie->qpn);
	bool is_only = rng_below(rng, 2);
	lie->psn = near(rng, qp->rcv_next) & PSN_MASK;
	lie->opcode = (uint8_t)(is_only ? PACKET_WRITE_ONLY + rng_below(rng, 2)
					: PACKET_WRITE_FIRST + rng_below(rng, 3));
	lie->flags = (uint8_t)(rng_below(rng, 8) == 0 ? PACKET_TRIMMED : 0);
	lie->payload_bytes = 1024;
	lie->wire_bytes = 1088;
	lie->u.data.va = BENCH_VA + 8192;
	lie->u.data.rkey = BENCH_RKEY;
	lie->u.data.message_bytes = is_only ? 1024 : 4096;
	lie->u.data.rqmsn = (uint16_t)(qp->rqmsn_wanted + rng_below(rng, 40));
	switch (rng_below(rng, 8)) {
	case 0:
		lie->qpn = QPS + rng_below(rng, 0x10000);
		break;
	case 1:
		lie->source = side + 2 * rng_below(rng, 1000);
		break;
	case 2:
		lie->plane = (uint8_t)(2 + rng_below(rng, 250));
		break;
	case 3:
		lie->u.data.rkey ^= 1u << rng_below(rng, 32);
		break;
	case 4:
		lie->u.data.va = BENCH_VA - 1 - rng_below(rng, 1u << 31);
		break;
	case 5:
		lie->u.data.va = BENCH_VA + BENCH_REGION_BYTES - rng_below(rng, 1024);
		break;
	case 6:
		lie->payload_bytes = (uint16_t)rng_below(rng, 1024);
		lie->u.data.message_bytes = (uint32_t)lie->payload_bytes + 1 + rng_below(rng, 900);
		break;
	default:
		lie->u.data.message_bytes = is_only ? 1025 + random_bits(rng) / 2
						    : rng_below(rng, 1025);
		break;
	}
}

// A SACK that tells of PSNs never sent, or of nothing that is in flight.
static void lie_in_sack(const struct bench *bench, uint32_t side, struct rng *rng,
			struct packet *lie)
{
	const struct qp *qp = endpoint_qp(bench->ends[side], lie->qpn);
	struct packet_sack *sack = &lie->u.sack;
	lie->opcode = PACKET_SACK;
	sack->penalty = 0; // a receiver may ask for less
	switch (rng_below(rng, 4)) {
	case 0: // the cumulative one was never sent
		lie->psn = qp->psn_next + rng_below(rng, 0x700000);
		break;
	case 1: // one of the bitmap
		lie->psn = qp->una - 1 + rng_below(rng, qp->psn_next - qp->una + 1);
		sack->bitmap |= UINT64_C(1) << 63;
		sack->offset = (int16_t)(qp->psn_next - lie->psn + rng_below(rng, 20000) - 63);
		break;
	case 2: // the one that caused it
		lie->psn = qp->una - 1 + rng_below(rng, qp->psn_next - qp->una + 1);
		sack->trigger_offset = (int16_t)(qp->psn_next - lie->psn + rng_below(rng, 20000));
		break;
	default: // old: all of it lies before the window
		lie->psn = qp->una - 1 - rng_below(rng, 0x700000);
		sack->offset = (int16_t)(-64 - (int32_t)rng_below(rng, 32000));
		sack->trigger_offset = (int16_t)-rng_below(rng, 32768);
		break;
	}
	lie->psn &= PSN_MASK;
}

// A NACK of a PSN near the window, over a path that is not the QP's.
static void lie_in_nack(const struct bench *bench, uint32_t side, struct rng *rng,
			struct packet *lie)
{
	const struct qp *qp = endpoint_qp(bench->ends[side], lie->qpn);
	lie->opcode = PACKET_NACK;
	lie->u.nack.psn = near(rng, qp->una) & PSN_MASK;
	lie->u.nack.ev_echo = path_value(&qp->path, rng_below(rng, 32));
	if (rng_below(rng, 3) > 0)
		lie->u.nack.ev_echo ^= 32u << rng_below(rng, 27);
	else
		lie->u.nack.psn = (qp->psn_next + rng_below(rng, 0x700000)) & PSN_MASK;
}

// A transport ACK of requests not sent, of an unknown syndrome, or of what is long done; a NAK of
// what is long done.
static void lie_in_ack(const struct bench *bench, uint32_t side, struct rng *rng,
		       struct packet *lie)
{
	static const uint8_t unknown[] = {0x20, 0x3f, 0x5f, 0x60, 0x64, 0x80, 0xff};
	const struct qp *qp = endpoint_qp(bench->ends[side], lie->qpn);
	uint32_t unsent = qp->send_at + 1;
	lie->opcode = PACKET_ACK;
	lie->psn = qp->una - 1;
	lie->u.ack.syndrome = (uint8_t)(rng_below(rng, 4) ? PACKET_ACK_FINE : rng_below(rng, 32));
	lie->u.ack.msn = qp->send_done - rng_below(rng, 0x700000); // of old
	switch (rng_below(rng, 4)) {
	case 0:
		lie->u.ack.msn = unsent + rng_below(rng, 0x700000);
		break;
	case 1:
		lie->u.ack.syndrome = unknown[rng_below(rng, sizeof(unknown))];
		break;
	case 2:
		lie->psn = qp->psn_next + rng_below(rng, 0x700000);
		break;
	default:
		if (qp->send_done == qp->send_una && rng_below(rng, 2))
			lie->u.ack.syndrome = PACKET_NAK_ACCESS; // of a request that is done
		lie->psn -= rng_below(rng, 300) + 64;		 // not in what is waited for
		break;
	}
	lie->psn &= PSN_MASK;
	lie->u.ack.msn &= PSN_MASK;
}

static void lie_in_opcode(struct rng *rng, struct packet *lie)
{
	do {
		lie->opcode = (uint8_t)rng_below(rng, 0xd0);
	} while (lie->opcode >= PACKET_WRITE_FIRST && lie->opcode <= PACKET_WRITE_ONLY_IMM);
}

// An endpoint request of ports that cannot be, or of an unknown operation; or a response that
// answers nothing, for nothing was ever asked. Else it is of a stranger.
static void lie_in_status(struct rng *rng, struct packet *lie)
{
	uint32_t mask = random_bits(rng) & 3;
	lie->opcode = PACKET_ENDPOINT_RESPONSE;
	lie->qpn = PACKET_ENDPOINT_QPN;
	if (rng_below(rng, 3) == 0)
		return;
	lie->opcode = PACKET_ENDPOINT_REQUEST;
	lie->u.request = (struct packet_request){.port_status_mask = mask};
	switch (rng_below(rng, 5)) {
	case 0: // the port that it came by is down
		lie->u.request.port_status_mask &= ~(UINT32_C(1) << lie->plane);
		break;
	case 1: // a port that is not there
		lie->u.request.port_status_mask |= UINT32_C(4) << rng_below(rng, 30);
		break;
	case 2:
		lie->u.request.op = (uint8_t)(2 + rng_below(rng, 254));
		break;
	case 3:
		lie->qpn = 3 + rng_below(rng, 0x10000);
		break;
	default:
		lie->source += 2 + rng_below(rng, 1000);
		break;
	}
}

static void give_lie(struct bench *bench, struct rng *rng)
{
	struct books before[2][QPS], after[2][QPS];
	uint32_t side = rng_below(rng, 2);
	uint32_t index = packet_get(&bench->packets);
	struct packet *lie = packet_at(&bench->packets, index);
	random_packet(rng, side, lie);
	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		lie_in_sack(bench, side, rng, lie);
		break;
	case 2:
		lie_in_nack(bench, side, rng, lie);
		break;
	case 3:
		lie_in_opcode(rng, lie);
		break;
	case 4:
		lie_in_ack(bench, side, rng, lie);
		break;
	case 5:
		lie_in_status(rng, lie);
		break;
	default:
		lie_in_data(bench, side, rng, lie);
		break;
	}
	for (uint32_t i = 0; i < 2 * QPS; i++)
		read_books(bench, i / QPS, i % QPS, &before[i / QPS][i % QPS]);
	uint64_t count = counted(endpoint_counters(bench->ends[side]));
	endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
	bench_poll(bench, side);
	for (uint32_t i = 0; i < 2 * QPS; i++)
		read_books(bench, i / QPS, i % QPS, &after[i / QPS][i % QPS]);
	assert_memory_equal(before, after, sizeof(before));
	assert_true(counted(endpoint_counters(bench->ends[side])) > count);
}

// ---------------------------------------------------------------- transfers

static uint32_t size_of(uint32_t qpn, uint32_t n)
{
	static const uint32_t sizes[] = {1, 1024, 1025, 20000, 63, 3 * 1024, 9000};
	return sizes[(n + qpn) % 7];
}

static uint64_t post_more(struct bench *bench, uint32_t posted[2][QPS])
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < 2 * QPS; i++) {
		uint32_t side = i / QPS, qpn = i % QPS, *n = &posted[side][qpn];
		while (*n < MESSAGES && bench_post(bench, side, qpn, size_of(qpn, *n), *n + 1) == 0)
			bytes += size_of(qpn, (*n)++);
	}
	return bytes;
}

static void check_log(const struct bench *bench, uint32_t side)
{
	uint32_t seen[2][QPS] = {0};
	assert_int_equal(bench->log_count[side], 2 * QPS * MESSAGES);
	for (uint32_t i = 0; i < bench->log_count[side]; i++) {
		const struct completion *completion = &bench->log[side][i];
		bool is_sent = completion->kind == COMPLETION_SENT;
		uint32_t *n = &seen[is_sent][completion->qp];
		assert_true(is_sent || completion->kind == COMPLETION_RECEIVED);
		assert_int_equal(is_sent ? (uint32_t)completion->cookie : completion->imm, *n + 1);
		assert_int_equal(completion->bytes, size_of(completion->qp, (*n)++));
	}
}

static void run_seed(uint64_t seed)
{
	struct transport_config config = bench_config();
	config.port_status = true;
	config.hole_age_ps = seed % 2 ? 6 * PS_PER_US : 0;
	config.completion = seed % 4 ? COMPLETION_BY_ACK : COMPLETION_BY_SACK;
	config.rtt = seed % 3 ? RTT_LOCAL : RTT_STAMP;
	config.service_time = seed % 5 == 0;
	struct bench *bench = bench_open(&config, QPS, seed % 3 ? 0xfff000u : 0xfffff000u, seed);
	struct rng rng = rng_of(seed, RNG_TEST, 7);
	uint32_t posted[2][QPS] = {0};
	uint64_t bytes = 0;
	bench->jitter_ps = 2 * PS_PER_US;
	bench->loss_ppm = bench->trim_ppm = bench->trim_last_ppm = bench->mark_ppm = 10000;
	for (uint32_t given = 0; given < PACKETS_PER_SEED;) {
		bytes += post_more(bench, posted);
		for (uint32_t burst = rng_below(&rng, 40); burst > 0; burst--, given++)
			give_lie(bench, &rng);
		bench_run(bench, bench->now + (ps_t)rng_below(&rng, 2000) * PS_PER_NS);
	}
	assert_true(posted[0][0] < MESSAGES && posted[1][0] < MESSAGES); // all lies came meanwhile
	while (bytes += post_more(bench, posted),
	       posted[0][0] < MESSAGES || posted[0][1] < MESSAGES || posted[1][0] < MESSAGES ||
		       posted[1][1] < MESSAGES)
		bench_run(bench, bench->now + 20 * PS_PER_US);
	bench_run(bench, BENCH_TO_THE_END);
	uint64_t placed = 0, refused = 0;
	for (uint32_t side = 0; side < 2; side++) {
		const struct transport_counters *counters = endpoint_counters(bench->ends[side]);
		check_log(bench, side);
		placed += counters->payload_bytes_placed;
		refused += transport_refused(counters);
		for (int reason = 0; reason < REFUSED_REASON_COUNT; reason++)
			assert_true(reason == REFUSED_IMM || counters->refused[reason] > 0);
		assert_int_equal(counters->qps_failed, 0);
	}
	assert_int_equal(placed, bytes);
	assert_true(refused > PACKETS_PER_SEED / 4);
	bench_check_empty(bench);
	bench_close(bench);
}

static void lies_in_the_middle_of_transfers_change_nothing(void **state)
{
	(void)state;
	uint64_t first = number("WEFT_HOSTILE_FIRST", 1), count = number("WEFT_HOSTILE_COUNT", 10);
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_HOSTILE", seed);
		run_seed(seed);
	}
	seeds_end();
}
