// SPDX-License-Identifier: Apache-2.0
// One entropy value on several planes is as many paths: an answer carries the value alone, and what
// it says is held to be of the path that the packet took.
#include "../transport_bench.h"

#include "path/pair.h"

#define TWICE 500u // on both planes

static const uint32_t table[] = {TWICE, TWICE, 600, 601};

static struct bench *open_two_planes(void)
{
	struct transport_config config = bench_config();
	config.planes = 2;
	config.ev_count = 4;
	config.path_policy = PATH_MRC;
	config.ev_mode = EV_EXPLICIT;
	config.ev_values = table;
	config.cc.window_bytes = 100000;
	struct bench *bench = bench_open(&config, 1, 0, 7);
	assert_int_equal(bench_post(bench, 0, 0, 20000, 0), 0);
	return bench;
}

// Sends until a packet with the value left by `plane`: its PSN.
static uint32_t send_over(struct bench *bench, uint32_t plane)
{
	for (;;) {
		uint32_t index = endpoint_next(bench->ends[0], plane, bench->now, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		struct packet packet = *packet_at(&bench->packets, index);
		packet_put(&bench->packets, index);
		if (packet.ev == TWICE)
			return packet.psn;
	}
}

static void give(struct bench *bench, struct packet packet)
{
	uint32_t index = packet_get(&bench->packets);
	packet.source = 1;
	packet.klass = PACKET_CLASS_CONTROL;
	*packet_at(&bench->packets, index) = packet;
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
}

static enum path_state state_on(const struct bench *bench, uint32_t plane)
{
	const struct path_set *path = &endpoint_qp(bench->ends[0], 0)->path;
	return path_state(path, pair_find(path, TWICE, plane));
}

// A SACK that nothing but this packet came, which was marked.
static void sack_marked(struct bench *bench, uint32_t psn, uint32_t plane)
{
	give(bench,
	     (struct packet){.opcode = PACKET_SACK,
			     .psn = PSN_MASK,
			     .plane = (uint8_t)plane,
			     .u.sack = {.ev_echo = TWICE,
					.mark = PACKET_MARK_SKIP_ONCE,
					.trigger_offset = (int16_t)(psn + 1),
					.offset = 1,
					.bitmap = UINT64_C(1) << psn}});
}

static void nack_trimmed(struct bench *bench, uint32_t psn, uint32_t plane)
{
	give(bench,
	     (struct packet){
		     .opcode = PACKET_NACK,
		     .plane = (uint8_t)plane,
		     .u.nack = {.ev_echo = TWICE, .psn = psn, .reason = PACKET_NACK_TRIMMED}});
}

static void a_sack_marks_the_path_that_the_packet_took(void **state)
{
	(void)state;
	for (uint32_t plane = 0; plane < 2; plane++) {
		for (uint32_t back = 0; back < 2; back++) { // wherever it comes in
			struct bench *bench = open_two_planes();
			sack_marked(bench, send_over(bench, plane), back);
			assert_int_equal(state_on(bench, plane), PATH_SKIP);
			assert_int_equal(state_on(bench, 1 - plane), PATH_GOOD);
			bench_close(bench);
		}
	}
}

static void a_nack_marks_the_path_that_the_packet_took(void **state)
{
	(void)state;
	for (uint32_t plane = 0; plane < 2; plane++) {
		struct bench *bench = open_two_planes();
		nack_trimmed(bench, send_over(bench, plane), 1 - plane);
		assert_int_equal(state_on(bench, plane), PATH_SKIP);
		assert_int_equal(state_on(bench, 1 - plane), PATH_GOOD);
		assert_int_equal(endpoint_counters(bench->ends[0])->refused[REFUSED_NACK], 0);
		bench_close(bench);
	}
}

// Of a packet that went again since, over another path, the plane where the answer comes in says
// it.
static void of_a_packet_that_went_again_the_plane_says_it(void **state)
{
	(void)state;
	struct bench *bench = open_two_planes();
	uint32_t psn = send_over(bench, 0);
	nack_trimmed(bench, psn, 0);
	uint32_t again = PACKET_NONE;
	while (again == PACKET_NONE)
		again = endpoint_next(bench->ends[0], 1, bench->now, &bench->out);
	assert_int_equal(packet_at(&bench->packets, again)->psn, psn);
	packet_put(&bench->packets, again);
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	for (uint32_t plane = 0; plane < 2; plane++) {
		assert_int_equal(pair_of(bench->ends[0], qp, TWICE, psn, plane),
				 pair_find(&qp->path, TWICE, plane));
	}
	assert_int_equal(pair_of(bench->ends[0], qp, 601, psn, 0), 3); // on plane 1 alone
	assert_int_equal(pair_of(bench->ends[0], qp, 7, psn, 0), PATH_NO_EV);
	bench_close(bench);
}

// A slot of the ring may be another packet's by now: then it says nothing.
static void of_a_packet_that_is_no_longer_kept_the_plane_says_it(void **state)
{
	(void)state;
	struct bench *bench = open_two_planes();
	uint32_t psn = send_over(bench, 0), ring = bench->ends[0]->mpr_mask + 1;
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	uint32_t there = pair_find(&qp->path, TWICE, 1);
	assert_int_not_equal(pair_of(bench->ends[0], qp, TWICE, psn, 1), there);
	assert_int_equal(pair_of(bench->ends[0], qp, TWICE, psn - ring, 1), there);
	assert_int_equal(pair_of(bench->ends[0], qp, TWICE, psn + ring, 1), there);
	bench_close(bench);
}
