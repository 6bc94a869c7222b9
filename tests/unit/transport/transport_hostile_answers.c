// SPDX-License-Identifier: Apache-2.0
// SACKs and NACKs that lie, one field at a time.
#include "transport_hostile.h"

// ---------------------------------------------------------------- SACKs

static void a_sack_beyond_what_was_sent_is_refused(void **state)
{
	(void)state;
	const uint32_t ahead[] = {SENT, SENT + 1, 256, 40000, 0x7ffffe};
	for (uint32_t i = 0; i < 5; i++) {
		struct packet lie = honest_sack();
		lie.psn = (START + ahead[i]) & PSN_MASK;
		give_lie(0, &lie, REFUSED_SACK);
	}
}

static void a_bitmap_beyond_what_was_sent_is_refused(void **state)
{
	(void)state;
	for (uint32_t bit = SENT - 1; bit < 64; bit++) { // bit i: START + 1 + i
		struct packet lie = honest_sack();
		lie.u.sack.bitmap = UINT64_C(1) << bit | 1;
		give_lie(0, &lie, REFUSED_SACK);
	}
	const int16_t offsets[] = {8, 100, INT16_MAX};
	for (uint32_t i = 0; i < 3; i++) {
		struct packet lie = honest_sack();
		lie.u.sack.bitmap = 1;
		lie.u.sack.offset = offsets[i];
		give_lie(0, &lie, REFUSED_SACK);
	}
}

static void a_sack_caused_by_a_packet_never_sent_is_refused(void **state)
{
	(void)state;
	const int16_t offsets[] = {SENT, SENT + 1, INT16_MAX};
	for (uint32_t i = 0; i < 3; i++) {
		struct packet lie = honest_sack();
		lie.u.sack.trigger_offset = offsets[i];
		give_lie(0, &lie, REFUSED_SACK);
	}
}

// What lies before the window is old news, whoever tells it; there is no round trip to learn.
static void an_old_sack_moves_nothing(void **state)
{
	(void)state;
	struct books before = books_of(0);
	const uint32_t backs[] = {1, 2, 64, 300, 40000, 0x7fffff};
	bench->now += PS_PER_S; // a round trip so long that a mark would cut the window
	for (uint32_t i = 0; i < 6; i++) {
		struct packet old = honest_sack();
		old.u.sack.mark = 1;
		old.psn = (START - backs[i]) & PSN_MASK;
		old.u.sack.bitmap = backs[i] > 64 ? UINT64_MAX : 0;
		old.u.sack.offset = INT16_MIN;
		old.u.sack.trigger_offset = i % 2 ? INT16_MIN : -1;
		give(0, &old);
	}
	struct books after = books_of(0);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(endpoint_counters(bench->ends[0])->sacks_received, 6);
}

// Fields that only advise: whatever they say, a true SACK takes out what it tells of, no more.
static void wild_advice_in_a_sack_changes_no_books(void **state)
{
	(void)state;
	struct packet wild = honest_sack();
	wild.timestamp = 0xffff;
	wild.u.sack.ev_echo = UINT32_MAX;
	wild.u.sack.rcvd_256 = UINT32_MAX;
	wild.u.sack.ooo_count = 0xffff;
	wild.u.sack.mark = 0xff;
	wild.u.sack.penalty = 0xff;
	wild.wire_bytes = 0;
	wild.payload_bytes = 0xffff;
	wild.flags = 0xff;
	wild.bth = 0xff;
	for (uint32_t i = 0; i < 4; i++)
		give(0, &wild);
	struct books after = books_of(0);
	assert_int_equal(after.una, START + 1);
	assert_int_equal(after.inflight, (SENT - 1) * 1088);
	assert_true(after.window_bytes >= config.cc.mtu_bytes);
	assert_int_equal(endpoint_counters(bench->ends[0])->paths_skipped, 0);
}

// ---------------------------------------------------------------- NACKs

static struct packet honest_nack(uint32_t n)
{
	const struct qp *qp = endpoint_qp(bench->ends[0], 0);
	uint32_t ev_index = qp->slots[(START + n) & bench->ends[0]->mpr_mask].ev_index;
	return (struct packet){
		.source = 1,
		.opcode = PACKET_NACK,
		.klass = PACKET_CLASS_CONTROL,
		.psn = (START + n) & PSN_MASK,
		.u.nack = {.ev_echo = path_value(&qp->path, ev_index),
			   .psn = (START + n) & PSN_MASK,
			   .reason = PACKET_NACK_TRIMMED},
	};
}

static void a_nack_of_a_psn_never_sent_is_refused(void **state)
{
	(void)state;
	const uint32_t ahead[] = {SENT, 256, 40000, 0x7fffff};
	for (uint32_t i = 0; i < 4; i++) {
		struct packet lie = honest_nack(0);
		lie.u.nack.psn = (START + ahead[i]) & PSN_MASK;
		give_lie(0, &lie, REFUSED_NACK);
	}
}

static void a_nack_over_a_foreign_path_is_refused(void **state)
{
	(void)state;
	for (uint32_t bit = 5; bit < 32; bit++) { // 32 EVs
		struct packet lie = honest_nack(3);
		lie.u.nack.ev_echo ^= UINT32_C(1) << bit;
		give_lie(0, &lie, REFUSED_NACK);
	}
}

static void a_nack_of_an_old_psn_changes_nothing(void **state)
{
	(void)state;
	struct packet sack = honest_sack();
	sack.psn = (START + 3) & PSN_MASK;
	give(0, &sack);
	struct books before = books_of(0);
	const uint32_t backs[] = {0, 1, 64, 40000, 0x7fffff};
	for (uint32_t i = 0; i < 5; i++) {
		struct packet old = honest_nack(3);
		old.u.nack.psn = (START + 3 - backs[i]) & PSN_MASK;
		give(0, &old);
	}
	struct books after = books_of(0);
	assert_memory_equal(&before, &after, sizeof(before));
}

// Nor an ACK that speaks of more than was sent whole, nor one that is none.
static void an_ack_of_requests_not_sent_whole_is_refused(void **state)
{
	(void)state;
	static const uint8_t unknown[] = {0x20, 0x40, 0x5f, 0x60, 0x64, 0x7f, 0x80, 0xff};
	assert_int_equal(bench_post(bench, 0, 0, 2 * FULL, 2), 0);
	packet_put(&bench->packets, endpoint_next(bench->ends[0], 0, bench->now, &bench->out));
	const struct packet honest = {.source = 1,
				      .opcode = PACKET_ACK,
				      .klass = PACKET_CLASS_CONTROL,
				      .psn = (START + SENT - 1) & PSN_MASK,
				      .u.ack = {.msn = 1, .syndrome = PACKET_ACK_FINE}};
	for (uint32_t bit = 1; bit < 23; bit++) {
		struct packet lie = honest;
		lie.u.ack.msn = UINT32_C(1) << bit;
		give_lie(0, &lie, REFUSED_ACK);
		lie = honest;
		lie.psn = (START + SENT + (UINT32_C(1) << bit)) & PSN_MASK;
		give_lie(0, &lie, REFUSED_ACK);
	}
	for (uint32_t i = 0; i < sizeof(unknown); i++) {
		struct packet lie = honest;
		lie.u.ack.syndrome = unknown[i];
		give_lie(0, &lie, REFUSED_ACK);
	}
	give(0, &honest); // that one is true, but this QP completes by its SACKs
	assert_int_equal(books_of(0).messages, 0);
}

// The same NACK again and again costs one retransmission.
static void a_nack_counts_once(void **state)
{
	(void)state;
	struct packet nack = honest_nack(3);
	for (uint32_t i = 0; i < 100; i++)
		give(0, &nack);
	assert_int_equal(books_of(0).lost_count, 1);
	uint32_t index = endpoint_next(bench->ends[0], 0, bench->now, &bench->out);
	assert_int_not_equal(index, PACKET_NONE);
	packet_put(&bench->packets, index);
	for (uint32_t i = 0; i < 100; i++)
		give(0, &nack);
	assert_int_equal(books_of(0).lost_count, 0);
	assert_int_equal(endpoint_counters(bench->ends[0])->rtx[RTX_NACK], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIE(a_sack_beyond_what_was_sent_is_refused),
		LIE(a_bitmap_beyond_what_was_sent_is_refused),
		LIE(a_sack_caused_by_a_packet_never_sent_is_refused),
		LIE(an_old_sack_moves_nothing),
		LIE(wild_advice_in_a_sack_changes_no_books),
		LIE(a_nack_of_a_psn_never_sent_is_refused),
		LIE(a_nack_over_a_foreign_path_is_refused),
		LIE(a_nack_of_an_old_psn_changes_nothing),
		LIE(a_nack_counts_once),
		LIE(an_ack_of_requests_not_sent_whole_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
