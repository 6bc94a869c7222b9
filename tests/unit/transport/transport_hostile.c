// SPDX-License-Identifier: Apache-2.0
// Data that lie, one field at a time.
#include "transport_hostile.h"

static void the_honest_packet_is_taken(void **state)
{
	(void)state;
	struct packet packet = honest_data();
	packet.payload = 99;
	give(1, &packet);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, FULL);
	assert_int_equal(bench->places_count, 1);
	assert_int_equal(endpoint_held(bench->ends[1]), 1);
	packet = honest_sack();
	give(0, &packet);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->una, START + 1);
	assert_int_equal(transport_refused(endpoint_counters(bench->ends[0])), 0);
}

static void a_foreign_qp_source_or_plane_reaches_nobody(void **state)
{
	(void)state;
	struct books before = books_of(1);
	for (uint32_t i = 0; i < 5; i++) {
		struct packet lie = honest_data();
		lie.payload = 99;
		lie.qpn = i == 0 ? 1 : i == 1 ? 0xffffff : i == 2 ? UINT32_MAX : 0;
		lie.source = i == 3 ? 5 : 0;
		lie.plane = i == 4 ? 255 : 1;
		give(1, &lie);
		assert_int_equal(endpoint_counters(bench->ends[1])->no_qp, i + 1);
	}
	struct books after = books_of(1);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(bench->places_count, 0);
}

static void an_unknown_opcode_is_refused(void **state)
{
	(void)state;
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		if ((opcode >= PACKET_WRITE_FIRST && opcode <= PACKET_WRITE_ONLY_IMM) ||
		    opcode >= 0xd0)
			continue;
		struct packet lie = honest_data();
		lie.opcode = (uint8_t)opcode;
		give_lie(1, &lie, REFUSED_OPCODE);
	}
}

static void an_unknown_key_is_refused(void **state)
{
	(void)state;
	const uint32_t keys[] = {0, 6, 8, BENCH_RKEY + 4, BENCH_RKEY | 1u << 31, UINT32_MAX};
	for (uint32_t i = 0; i < 6; i++) {
		struct packet lie = honest_data();
		lie.payload = 99;
		lie.u.data.rkey = keys[i];
		give_lie(1, &lie, REFUSED_KEY);
	}
}

static void an_address_outside_the_region_is_refused(void **state)
{
	(void)state;
	const uint64_t end = BENCH_VA + BENCH_REGION_BYTES;
	const uint64_t vas[] = {0,
				BENCH_VA - 1,
				BENCH_VA - FULL,
				end - FULL + 1,
				end,
				end + FULL,
				UINT64_MAX,
				UINT64_MAX - FULL,
				BENCH_VA | UINT64_C(1) << 63};
	for (uint32_t i = 0; i < 9; i++) {
		struct packet lie = honest_data();
		lie.u.data.va = vas[i];
		give_lie(1, &lie, REFUSED_BOUNDS);
	}
	struct packet edge = honest_data();
	edge.u.data.va = end - FULL;
	give(1, &edge);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, FULL);
}

// The rest of the message must fit where the packet says that it goes.
static void a_message_that_leaves_the_region_is_refused_at_its_first_and_last_packet(void **state)
{
	(void)state;
	const uint64_t end = BENCH_VA + BENCH_REGION_BYTES;
	struct packet lie = honest_data();
	lie.opcode = PACKET_WRITE_FIRST;
	lie.u.data.va = end - 4 * FULL + 1;
	give_lie(1, &lie, REFUSED_BOUNDS);
	lie.u.data.va = BENCH_VA;
	lie.u.data.message_bytes = UINT32_MAX;
	give_lie(1, &lie, REFUSED_BOUNDS);
	lie = honest_data();
	lie.opcode = PACKET_WRITE_LAST;
	lie.u.data.va = BENCH_VA + 3 * FULL - 1;
	give_lie(1, &lie, REFUSED_BOUNDS);
	lie.u.data.va = FULL; // it would begin before address 0
	give_lie(1, &lie, REFUSED_BOUNDS);
}

static void a_payload_that_contradicts_opcode_or_length_is_refused(void **state)
{
	(void)state;
	static const struct {
		uint8_t opcode;
		uint16_t payload;
		uint32_t message;
	} lies[] = {
		{PACKET_WRITE_FIRST, FULL - 1, 4 * FULL},
		{PACKET_WRITE_FIRST, FULL + 1, 4 * FULL},
		{PACKET_WRITE_FIRST, FULL, FULL},
		{PACKET_WRITE_FIRST, FULL, 0},
		{PACKET_WRITE_MIDDLE, 0, 4 * FULL},
		{PACKET_WRITE_MIDDLE, FULL - 1, 4 * FULL},
		{PACKET_WRITE_MIDDLE, FULL + 1, 4 * FULL},
		{PACKET_WRITE_MIDDLE, FULL, 2 * FULL},
		{PACKET_WRITE_MIDDLE, FULL, 0},
		{PACKET_WRITE_LAST, 0, 4 * FULL},
		{PACKET_WRITE_LAST, FULL, 4 * FULL + 1},
		{PACKET_WRITE_LAST, 5, 4 * FULL + 6},
		{PACKET_WRITE_LAST, FULL, FULL},
		{PACKET_WRITE_LAST, 2 * FULL, 4 * FULL},
		{PACKET_WRITE_LAST, 5, 3},
		{PACKET_WRITE_LAST_IMM, 5, 4 * FULL + 6},
		{PACKET_WRITE_ONLY, 0, 0},
		{PACKET_WRITE_ONLY, 5, 6},
		{PACKET_WRITE_ONLY, 6, 5},
		{PACKET_WRITE_ONLY, 2 * FULL, 2 * FULL},
		{PACKET_WRITE_ONLY_IMM, 5, 6},
	};
	for (uint32_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct packet lie = honest_data();
		lie.opcode = lies[i].opcode;
		lie.payload_bytes = lies[i].payload;
		lie.u.data.va = BENCH_VA + 16 * FULL;
		lie.u.data.message_bytes = lies[i].message;
		give_lie(1, &lie, REFUSED_LENGTH);
	}
}

static void true_lengths_are_taken(void **state)
{
	(void)state;
	static const struct {
		uint8_t opcode;
		uint16_t payload;
		uint32_t message;
	} truths[] = {
		{PACKET_WRITE_FIRST, FULL, FULL + 1},	  {PACKET_WRITE_MIDDLE, FULL, 2 * FULL + 1},
		{PACKET_WRITE_LAST, 1, FULL + 1},	  {PACKET_WRITE_LAST, FULL, 2 * FULL},
		{PACKET_WRITE_LAST_IMM, 9, 7 * FULL + 9}, {PACKET_WRITE_ONLY, 1, 1},
		{PACKET_WRITE_ONLY, FULL, FULL},
	};
	uint64_t placed = 0;
	for (uint32_t i = 0; i < sizeof(truths) / sizeof(*truths); i++) {
		struct packet packet = honest_data();
		packet.psn = (START + i) & PSN_MASK;
		packet.opcode = truths[i].opcode;
		packet.payload_bytes = truths[i].payload;
		packet.u.data.va = BENCH_VA + 16 * FULL;
		packet.u.data.message_bytes = truths[i].message;
		give(1, &packet);
		placed += truths[i].payload;
	}
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, placed);
	assert_int_equal(transport_refused(endpoint_counters(bench->ends[1])), 0);
}

static void a_number_of_an_immediate_that_may_not_be_is_refused(void **state)
{
	(void)state;
	struct packet packet = honest_data();
	packet.opcode = PACKET_WRITE_ONLY_IMM;
	packet.u.data.message_bytes = FULL;
	packet.u.data.rqmsn = 3;
	give(1, &packet); // waits above a hole
	const uint16_t numbers[] = {3 /* taken */, 0x8000, 0xfff0, 0xffff /* done */};
	for (uint32_t i = 0; i < 4; i++) {
		packet.psn = (START + 2 + i) & PSN_MASK;
		packet.u.data.rqmsn = numbers[i];
		give_lie(1, &packet, REFUSED_IMM);
	}
}

static void a_psn_far_off_moves_nothing(void **state)
{
	(void)state;
	const uint32_t offs[] = {256, 257, 40000, 0x7fffff};
	struct books before = books_of(1);
	for (uint32_t i = 0; i < 4; i++) {
		struct packet lie = honest_data();
		lie.payload = 99;
		lie.psn = (START + offs[i]) & PSN_MASK;
		give(1, &lie);
		assert_int_equal(endpoint_counters(bench->ends[1])->out_of_window, i + 1);
	}
	const uint32_t backs[] = {1, 2, 300, 32768, 40000, 0x800000};
	for (uint32_t i = 0; i < 6; i++) { // as if it were here already
		struct packet lie = honest_data();
		lie.payload = 99;
		lie.psn = (START - backs[i]) & PSN_MASK;
		give(1, &lie);
	}
	struct books after = books_of(1);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(bench->places_count, 0);
}

static void a_trimmed_packet_with_a_payload_is_not_placed(void **state)
{
	(void)state;
	struct books before = books_of(1);
	struct packet lie = honest_data();
	lie.flags |= PACKET_TRIMMED;
	lie.payload = 99;
	give(1, &lie);
	struct books after = books_of(1);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(bench->places_count, 0);
	assert_int_equal(endpoint_counters(bench->ends[1])->trims_received, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIE(the_honest_packet_is_taken),
		LIE(a_foreign_qp_source_or_plane_reaches_nobody),
		LIE(an_unknown_opcode_is_refused),
		LIE(an_unknown_key_is_refused),
		LIE(an_address_outside_the_region_is_refused),
		LIE(a_message_that_leaves_the_region_is_refused_at_its_first_and_last_packet),
		LIE(a_payload_that_contradicts_opcode_or_length_is_refused),
		LIE(true_lengths_are_taken),
		LIE(a_number_of_an_immediate_that_may_not_be_is_refused),
		LIE(a_psn_far_off_moves_nothing),
		LIE(a_trimmed_packet_with_a_payload_is_not_placed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
