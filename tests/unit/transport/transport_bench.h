// SPDX-License-Identifier: Apache-2.0
// Two endpoints wired back to back in memory: NIC 0 and NIC 1, one line per plane and direction,
// with delay, jitter (so reordering), loss, duplication, trims and marks from a seeded stream.
// After each step it checks what must always hold. For the unit tests of transport only.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/heap.h>
#include <weft/core/machine.h>
#include <weft/transport/transport.h>

#include "../../../lib/transport/endpoint/endpoint.h"

#define BENCH_ARENA_BYTES ((size_t)8 << 20)
#define BENCH_PACKETS 20000u
#define BENCH_EVENTS 40000u
#define BENCH_PS_PER_BYTE 80 // 100 Gb/s

// What each end opens: one region for data, one that is told to the host.
#define BENCH_VA UINT64_C(0x10000)
#define BENCH_REGION_BYTES (UINT64_C(64) << 20)
#define BENCH_RKEY 7u
#define BENCH_NOTICE_RKEY (RKEY_NOTICE | 3u)

struct bench {
	struct transport_config config, config_1; // of side 0, of side 1
	void *memory;
	struct arena arena;
	struct packet_pool packets;
	struct fifo_pool chunks;
	struct outbox out;
	struct heap wire; // packets under way, by arrival
	struct rng rng;
	struct refusal refusal;
	struct endpoint *ends[2];
	ps_t now;
	ps_t free_at[2][PLANES_MAX];
	uint64_t sequence;
	uint32_t under_way[BENCH_PACKETS + 1];

	// the wires
	ps_t delay_ps, jitter_ps;
	uint32_t loss_ppm, duplicate_ppm, trim_ppm, trim_last_ppm, mark_ppm, control_loss_ppm;
	uint32_t qps;
	uint32_t dark[2]; // bits of ports of each side that have no light: what enters or leaves
			  // there is lost

	// what was seen
	void (*on_send)(struct bench *, struct packet *);
	bool (*drops)(struct bench *, const struct packet *); // what the wire loses for sure
	struct completion log[2][8192];
	uint32_t log_count[2];
	uint32_t places_count;
	uint64_t lost, duplicated;
};

static inline struct transport_config bench_config(void)
{
	return (struct transport_config){
		.planes = 2,
		.payload_bytes = 1024,
		.header_bytes = 64,
		.control_bytes = 64,
		.ev_count = 32,
		.ev_bits = 32,
		.path_policy = PATH_MRC,
		.mpr = 256,
		.sends_max = 64,
		.wimm_max = 32,
		.regions_max = 2,
		.sack_rule = SACK_MRC,
		.sack_bytes = 4 * 1088,
		.cnp_ps = 50 * PS_PER_US,
		.trim_nack = true,
		.completion = COMPLETION_BY_SACK, // so that hand-made SACKs complete
		.hole_age_ps = 0,
		.rto_ps = 50 * PS_PER_US,
		.rto_linear = 7,
		.rto_doublings = 5,
		.path_retry_ps = 200 * PS_PER_US,
		.cc = {.name = "fixed",
		       .window_bytes = 64 * 1088,
		       .rate_bps = 200000000000,
		       .base_rtt_ps = 3 * PS_PER_US,
		       .mtu_bytes = 1088,
		       .has_trimming = true},
	};
}

// Two ends that need not agree.
static inline struct bench *bench_open_two(const struct transport_config *config,
					   const struct transport_config *config_1, uint32_t qps,
					   uint32_t first_psn, uint64_t seed)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	assert_non_null(bench);
	bench->config = *config;
	bench->config_1 = *config_1;
	bench->memory = aligned_alloc(64, BENCH_ARENA_BYTES);
	assert_non_null(bench->memory);
	memset(bench->memory, 0, BENCH_ARENA_BYTES);
	arena_init(&bench->arena, bench->memory, BENCH_ARENA_BYTES);
	assert_int_equal(packet_pool_init(&bench->packets, &bench->arena, BENCH_PACKETS), 0);
	assert_int_equal(fifo_pool_init(&bench->chunks, &bench->arena,
					fifo_chunks_for(2 * PLANES_MAX, BENCH_PACKETS)),
			 0);
	assert_int_equal(heap_init(&bench->wire, &bench->arena, ARENA_DRIVE, BENCH_EVENTS), 0);
	bench->out = (struct outbox){.packets = &bench->packets, .chunks = &bench->chunks};
	bench->rng = rng_of(seed, RNG_TEST, 0);
	bench->delay_ps = PS_PER_US;
	bench->qps = qps;
	for (uint32_t side = 0; side < 2; side++) {
		const struct transport_config *own = side == 0 ? &bench->config : &bench->config_1;
		const struct transport_config *other = side == 1 ? &bench->config
								 : &bench->config_1;
		size_t before = bench->arena.drawn_bytes[ARENA_TRANSPORT];
		assert_int_equal(endpoint_create(&bench->ends[side], &bench->arena, own, side, qps,
						 seed, &bench->refusal),
				 0);
		size_t drawn = bench->arena.drawn_bytes[ARENA_TRANSPORT] - before;
		assert_in_range(drawn, endpoint_bytes(own, qps) - 64, endpoint_bytes(own, qps));
		assert_int_equal(endpoint_register(bench->ends[side], BENCH_RKEY, BENCH_VA,
						   BENCH_REGION_BYTES),
				 0);
		assert_int_equal(endpoint_register(bench->ends[side], BENCH_NOTICE_RKEY, BENCH_VA,
						   BENCH_REGION_BYTES),
				 0);
		for (uint32_t qpn = 0; qpn < qps; qpn++)
			endpoint_connect(bench->ends[side], qpn,
					 &(struct qp_config){.local_nic = side,
							     .remote_nic = 1 - side,
							     .remote_qpn = qpn,
							     .id = 2 * qpn + side,
							     .first_psn = first_psn,
							     .capabilities = QP_NOTIFIED |
								     transport_capabilities(other)},
					 0);
	}
	arena_seal(&bench->arena);
	return bench;
}

static inline struct bench *bench_open(const struct transport_config *config, uint32_t qps,
				       uint32_t first_psn, uint64_t seed)
{
	return bench_open_two(config, config, qps, first_psn, seed);
}

static inline void bench_close(struct bench *bench)
{
	free(bench->memory);
	free(bench);
}

static inline bool bench_dice(struct bench *bench, uint32_t ppm)
{
	return ppm != 0 && rng_below(&bench->rng, 1000000) < ppm;
}

// What the counters of a QP say must be what its rings say.
static inline void bench_check_qp(const struct bench *bench, const struct endpoint *endpoint,
				  const struct qp *qp)
{
	uint32_t inflight = 0, lost = 0, acked = 0;
	if (!qp || qp->state != QP_RTS)
		return;
	const struct send *send = &qp->sends[qp->send_done & endpoint->sends_mask];
	uint32_t at = qp->send_done;
	for (uint32_t psn = qp->una; psn != qp->psn_next; psn++) {
		uint32_t bit = psn & endpoint->mpr_mask;
		while (psn_distance(psn, send->last_psn) > 0)
			send = &qp->sends[++at & endpoint->sends_mask];
		uint32_t bytes = psn == send->last_psn ? send->last_wire : qp->full_bytes;
		if (bitmap_get(qp->acked, bit))
			acked++;
		else if (bitmap_get(qp->lost, bit))
			lost++;
		else
			inflight += bytes;
	}
	assert_int_equal(qp->inflight, inflight);
	assert_int_equal(qp->lost_count, lost);
	assert_int_equal(qp->acked_count, acked);
	assert_true(qp->psn_next - qp->una <= qp->mpr_agreed);
	assert_true(qp->wimm_count <= endpoint->config->wimm_max);
}

static inline void bench_poll(struct bench *bench, uint32_t side)
{
	struct endpoint *endpoint = bench->ends[side];
	struct dma_write places[4];
	bench->places_count += endpoint_poll_dma_writes(endpoint, places, 4);
	uint32_t room = 8192 - bench->log_count[side];
	bench->log_count[side] += endpoint_poll(endpoint, &bench->log[side][bench->log_count[side]],
						room);
	assert_false(endpoint_has_events(endpoint));
}

static inline void bench_launch(struct bench *bench, uint32_t index, ps_t at)
{
	ps_t jitter_ps = 0;
	if (bench->jitter_ps > 0)
		jitter_ps = (ps_t)(rng_next(&bench->rng) % (uint64_t)bench->jitter_ps);
	heap_push(&bench->wire, at + bench->delay_ps + jitter_ps, bench->sequence++ << 20 | index);
}

// What the wire does to a packet.
static inline void bench_carry(struct bench *bench, uint32_t index, ps_t at)
{
	struct packet *packet = packet_at(&bench->packets, index);
	bool is_data = packet->klass == PACKET_CLASS_DATA;
	if (bench->on_send)
		bench->on_send(bench, packet);
	bool is_dark = (bench->dark[0] | bench->dark[1]) >> packet->plane & 1;
	bool is_dropped = is_dark || (bench->drops && bench->drops(bench, packet));
	if (is_dropped || bench_dice(bench, is_data ? bench->loss_ppm : bench->control_loss_ppm)) {
		bench->lost++;
		packet_put(&bench->packets, index);
		return;
	}
	if (bench_dice(bench, bench->duplicate_ppm)) {
		uint32_t copy = packet_get(&bench->packets);
		assert_int_not_equal(copy, PACKET_NONE);
		*packet_at(&bench->packets, copy) = *packet;
		bench->duplicated += is_data;
		bench_launch(bench, copy, at);
	}
	if (is_data && bench_dice(bench, bench->mark_ppm))
		packet->flags |= PACKET_CE;
	bool is_last = bench_dice(bench, bench->trim_last_ppm);
	if (is_data && (is_last || bench_dice(bench, bench->trim_ppm))) {
		packet->flags |= PACKET_TRIMMED | (is_last ? PACKET_TRIMMED_LAST : 0);
		packet->wire_bytes = 64;
		packet->payload_bytes = 0;
		packet->klass = PACKET_CLASS_CONTROL;
	}
	bench_launch(bench, index, at);
}

// Lets each free line of `side` take its next packets.
static inline void bench_pull(struct bench *bench, uint32_t side)
{
	struct endpoint *endpoint = bench->ends[side];
	for (uint32_t plane = 0; plane < bench->config.planes; plane++) {
		if (bench->free_at[side][plane] > bench->now)
			continue;
		bool had_work = endpoint_has_work(endpoint);
		uint32_t index = endpoint_next(endpoint, plane, bench->now, &bench->out);
		if (index == PACKET_NONE)
			continue;
		assert_true(had_work);
		const struct packet *packet = packet_at(&bench->packets, index);
		assert_int_equal(packet->plane, plane);
		bench->free_at[side][plane] = bench->now +
			(ps_t)packet->wire_bytes * BENCH_PS_PER_BYTE;
		bench_carry(bench, index, bench->free_at[side][plane]);
	}
}

// The next time at which something happens.
static inline ps_t bench_next_at(const struct bench *bench)
{
	ps_t at = heap_next_at(&bench->wire);
	for (uint32_t side = 0; side < 2; side++) {
		at = ps_min(at, endpoint_wake_at(bench->ends[side]));
		for (uint32_t plane = 0; plane < bench->config.planes; plane++) {
			ps_t free_at = bench->free_at[side][plane];
			if (free_at > bench->now && endpoint_has_work(bench->ends[side]))
				at = ps_min(at, free_at);
		}
	}
	return at;
}

static inline void bench_arrive(struct bench *bench)
{
	uint32_t index = (uint32_t)(heap_pop(&bench->wire).key & 0xfffff);
	uint32_t side = packet_at(&bench->packets, index)->target;
	endpoint_receive(bench->ends[side], index, bench->now, &bench->out);
	bench_poll(bench, side);
}

// Hands a packet of a test's own making to its target, now.
static inline void bench_give(struct bench *bench, const struct packet *packet)
{
	uint32_t index = packet_get(&bench->packets);
	assert_int_not_equal(index, PACKET_NONE);
	*packet_at(&bench->packets, index) = *packet;
	endpoint_receive(bench->ends[packet->target], index, bench->now, &bench->out);
	bench_poll(bench, packet->target);
}

#define BENCH_TO_THE_END (PS_NEVER - 1)

// Runs until `until`, or until nothing is left to do; returns the time of the last thing done.
static inline ps_t bench_run(struct bench *bench, ps_t until)
{
	for (;;) {
		bench_pull(bench, 0);
		bench_pull(bench, 1);
		ps_t at = bench_next_at(bench);
		if (at > until) {
			ps_t last = bench->now;
			if (until != BENCH_TO_THE_END)
				bench->now = until;
			return last;
		}
		bench->now = ps_max(at, bench->now);
		while (heap_next_at(&bench->wire) <= bench->now)
			bench_arrive(bench);
		for (uint32_t side = 0; side < 2; side++) {
			if (endpoint_wake_at(bench->ends[side]) <= bench->now)
				endpoint_on_time(bench->ends[side], bench->now, &bench->out);
			bench_poll(bench, side);
			for (uint32_t qpn = 0; qpn < bench->qps; qpn++)
				bench_check_qp(bench, bench->ends[side],
					       endpoint_qp(bench->ends[side], qpn));
		}
	}
}

static inline int bench_post(struct bench *bench, uint32_t side, uint32_t qpn, uint32_t bytes,
			     uint32_t imm)
{
	return endpoint_post(bench->ends[side], qpn,
			     &(struct work){.va = BENCH_VA,
					    .rkey = BENCH_RKEY,
					    .bytes = bytes,
					    .imm = imm,
					    .has_imm = imm != 0,
					    .cookie = imm},
			     bench->now);
}

static inline bool bench_has_context(const struct bench *bench, uint32_t side, uint32_t qpn)
{
	return endpoint_qp(bench->ends[side], qpn) != NULL;
}

// A write that arrives within 20 us.
static inline void bench_say(struct bench *bench, uint32_t side, uint32_t qpn, uint32_t imm)
{
	assert_int_equal(bench_post(bench, side, qpn, 1000, imm), 0);
	bench_run(bench, bench->now + 20 * PS_PER_US);
	assert_int_equal(bench->log[1 - side][bench->log_count[1 - side] - 1].imm, imm);
}

// All packets must be back in the pool, all lists empty.
static inline void bench_check_empty(const struct bench *bench)
{
	assert_int_equal(packet_pool_taken(&bench->packets), 0);
	assert_int_equal(bench->chunks.free_count, bench->chunks.capacity);
	for (uint32_t side = 0; side < 2; side++) {
		assert_int_equal(endpoint_held(bench->ends[side]), 0);
		assert_false(endpoint_has_work(bench->ends[side]));
	}
}

// ---------------------------------------------------------------- QP 0 of side 0

static inline struct qp *bench_qp(const struct bench *bench)
{
	return endpoint_qp(bench->ends[0], 0);
}

static inline const struct transport_counters *bench_counters(const struct bench *bench)
{
	return endpoint_counters(bench->ends[0]);
}

// What would leave now on plane 0, put back at once; NULL: nothing.
static inline const struct packet *bench_next(struct bench *bench)
{
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	if (index == PACKET_NONE)
		return NULL;
	packet_put(&bench->packets, index);
	return packet_at(&bench->packets, index);
}

static inline void bench_hand_in(struct bench *bench, const struct packet *content)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = *content;
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
	bench_poll(bench, 0);
	bench_check_qp(bench, bench->ends[0], bench_qp(bench));
}

static inline void bench_give_nack(struct bench *bench, uint32_t psn, uint32_t ev, uint8_t reason)
{
	bench_hand_in(bench,
		      &(struct packet){
			      .source = 1,
			      .opcode = PACKET_NACK,
			      .klass = PACKET_CLASS_CONTROL,
			      .u.nack = {.ev_echo = ev, .psn = psn & PSN_MASK, .reason = reason}});
}

// It is busy until `until`.
static inline void bench_keep_busy(struct bench *bench, ps_t until)
{
	for (uint32_t imm = 1; bench->now < until; imm++) {
		while (bench_post(bench, 0, 0, 20000, imm) == 0)
			imm++;
		bench_run(bench, ps_min(bench->now + 10 * PS_PER_US, until));
		bench->log_count[0] = bench->log_count[1] = 0;
	}
}
