// SPDX-License-Identifier: Apache-2.0
// What a responder owes for each packet that it is given: made by hand, one at a time.
#include "transport_responder.h"

static void give_imm(struct bench *bench, uint32_t n, uint16_t rqmsn)
{
	uint32_t index = data(bench, n);
	struct packet *packet = packet_at(&bench->packets, index);
	packet->opcode = PACKET_WRITE_ONLY_IMM;
	packet->u.data.rqmsn = rqmsn;
	packet->u.data.imm = 500u + rqmsn;
	packet->u.data.message_bytes = 1024;
	give(bench, index);
}

static void a_sack_comes_with_the_threshold(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config()); // 4 packets
	for (uint32_t n = 0; n < 12; n++) {
		give_plain(bench, n);
		const struct packet *packet = answer(bench);
		if (n % 4 != 3) {
			assert_null(packet);
			continue;
		}
		assert_int_equal(packet->opcode, PACKET_SACK);
		assert_int_equal(packet->psn, (START + n) & PSN_MASK);
		assert_int_equal(packet->u.sack.ev_echo, 1000 + n);
		assert_int_equal(packet->timestamp, 100 + n);
		assert_int_equal(packet->u.sack.trigger_offset, 0);
		assert_int_equal(packet->u.sack.bitmap, 0);
		assert_int_equal(packet->u.sack.ooo_count, 0);
		assert_int_equal(packet->u.sack.rcvd_256, ((n + 1) * 1088 + 255) / 256);
		assert_int_equal(packet->source, 1);
		assert_int_equal(packet->target, 0);
		assert_int_equal(packet->klass, PACKET_CLASS_CONTROL);
		assert_int_equal(packet->flags, 0);
		assert_int_equal(packet->plane, 1);
		assert_int_equal(packet->wire_bytes, 64);
		assert_int_equal(packet->payload_bytes, 0);
	}
	bench_check_empty(bench);
	bench_close(bench);
}

static void requests_marks_and_repairs_are_answered_at_once(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_with(bench, 0, PACKET_AR, 0);
	assert_int_equal(answer(bench)->u.sack.mark, 0);
	give_with(bench, 1, PACKET_RTX, 0);
	assert_int_equal(answer(bench)->u.sack.mark, 0);
	give_with(bench, 2, 0, PACKET_CE);
	assert_int_equal(answer(bench)->u.sack.mark, 1);
	give_plain(bench, 3);
	assert_null(answer(bench));
	assert_int_equal(endpoint_counters(bench->ends[1])->marks_received, 1);
	bench_close(bench);
}

static void the_first_packet_is_answered_in_htsim_mode(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.sack_rule = SACK_HTSIM;
	struct bench *bench = open_one(config);
	give_plain(bench, 0);
	assert_non_null(answer(bench));
	give_plain(bench, 1);
	assert_null(answer(bench));
	bench_close(bench);
}

static void a_duplicate_is_answered_and_not_placed(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_plain(bench, 0);
	give_plain(bench, 5);
	give_plain(bench, 0); // below the edge
	const struct packet *packet = answer(bench);
	assert_int_equal(packet->psn, START);
	assert_int_equal(packet->u.sack.trigger_offset, 0);
	give_plain(bench, 5); // above it: the bitmap shows it again
	packet = answer(bench);
	assert_int_equal(packet->u.sack.trigger_offset, 5);
	assert_int_equal(packet->u.sack.bitmap >> (5 - packet->u.sack.offset), 1);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 2);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, 2 * 1024);
	bench_check_empty(bench);
	bench_close(bench);
}

// Marks in `told` which numbers (from START) all answers that wait tell of.
static void take_answers(struct bench *bench, bool *told)
{
	for (const struct packet *packet; (packet = answer(bench)) != NULL;) {
		const struct packet_sack *sack = &packet->u.sack;
		int32_t first = psn_distance(psn_extend(START, packet->psn), START) + sack->offset;
		for (int32_t i = 0; i < 64; i++)
			if (sack->bitmap >> i & 1)
				told[first + i] = true;
	}
}

static void every_arrival_above_a_hole_is_reported(void **state)
{
	(void)state;
	static const uint32_t numbers[] = {200, 10, 12, 80, 230, 77, 231, 11, 240, 232};
	enum { COUNT = sizeof(numbers) / sizeof(*numbers) };
	struct bench *bench = open_one(bench_config());
	bool told[512] = {false};
	for (uint32_t i = 0; i < COUNT; i++) {
		give_plain(bench, numbers[i]);
		take_answers(bench, told);
	}
	for (uint32_t i = 0; i < 8; i++) { // what is asked for tells the rest
		give_with(bench, 246 + i, PACKET_AR, 0);
		take_answers(bench, told);
	}
	for (uint32_t i = 0; i < COUNT; i++)
		assert_true(told[numbers[i]]);
	for (uint32_t number = 0, here = 0; number < 400; number++, here = 0) {
		for (uint32_t i = 0; i < COUNT; i++)
			here |= numbers[i] == number;
		assert_true(!told[number] || here || (number >= 246 && number < 254));
	}
	bench_close(bench);
}

// A lost SACK must not take its news along: while it fits, what was told is told again.
static void news_that_fits_is_told_again(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	bool lost[512] = {false}, told[512] = {false};
	give_with(bench, 5, PACKET_AR, 0);
	take_answers(bench, lost);
	give_with(bench, 7, PACKET_AR, 0);
	take_answers(bench, told);
	assert_true(lost[5] && told[5] && told[7]);
	bench_close(bench);
}

static void a_filled_hole_moves_the_edge_over_all_behind_it(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	for (uint32_t n = 100; n > 0; n--)
		give_plain(bench, n);
	while (answer(bench))
		;
	give_with(bench, 0, PACKET_AR, 0);
	const struct packet *packet = answer(bench);
	assert_int_equal(packet->psn, (START + 100) & PSN_MASK);
	assert_int_equal(packet->u.sack.trigger_offset, -100);
	assert_int_equal(packet->u.sack.ooo_count, 0);
	assert_int_equal(packet->u.sack.bitmap, 0);
	bench_close(bench);
}

static void a_request_that_overtook_others_is_answered_again_when_they_are_here(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_with(bench, 2, PACKET_AR, 0);
	assert_non_null(answer(bench));
	give_plain(bench, 0);
	assert_null(answer(bench));
	give_plain(bench, 1);
	assert_int_equal(answer(bench)->psn, (START + 2) & PSN_MASK);
	give_plain(bench, 3);
	assert_null(answer(bench));
	bench_close(bench);
}

static void a_psn_above_the_window_is_dropped_and_told(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config = bench_config();
		uint32_t silent = i % 2, mpr = i < 2 ? 256 : 384; // less than there are places for
		config.mpr = mpr;
		config.out_of_window = silent ? OUT_OF_WINDOW_SILENT : OUT_OF_WINDOW_NACK;
		struct bench *bench = open_one(config);
		give_with(bench, mpr - 1, PACKET_AR, 0);
		assert_non_null(answer(bench));
		give_with(bench, mpr, PACKET_AR, 0);
		const struct packet *packet = answer(bench);
		if (silent) {
			assert_null(packet);
		} else {
			assert_int_equal(packet->opcode, PACKET_NACK);
			assert_int_equal(packet->u.nack.reason, PACKET_NACK_PSN_OOR_WINDOW);
			assert_int_equal(packet->u.nack.psn, (START + mpr) & PSN_MASK);
			assert_int_equal(packet->u.nack.ev_echo, 1000 + mpr);
		}
		const struct transport_counters *counters = endpoint_counters(bench->ends[1]);
		assert_int_equal(counters->out_of_window, 1);
		assert_int_equal(counters->nacks_sent, !silent);
		assert_int_equal(counters->data_received, 2);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

static void a_psn_far_below_the_window_is_a_duplicate(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_with(bench, (uint32_t)-32768, PACKET_AR, 0); // as far as an answer can tell
	assert_int_equal(answer(bench)->u.sack.trigger_offset, -32767);
	give_with(bench, (uint32_t)-32769, PACKET_AR, 0);
	assert_int_equal(answer(bench)->u.sack.trigger_offset, -32768);
	give_with(bench, 0x800000, PACKET_AR, 0); // 2^23 behind, as far as PSNs can tell
	assert_int_equal(answer(bench)->u.sack.trigger_offset, -32768);
	assert_int_equal(endpoint_counters(bench->ends[1])->out_of_window, 0);
	assert_int_equal(endpoint_counters(bench->ends[1])->duplicates, 3);
	bench_check_empty(bench);
	bench_close(bench);
}

static void immediates_come_up_in_posting_order(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	for (uint32_t i = 8; i > 0; i--) {
		assert_int_equal(bench->log_count[1], 0);
		give_imm(bench, i - 1, (uint16_t)(i - 1));
	}
	assert_int_equal(bench->log_count[1], 8);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(bench->log[1][i].kind, COMPLETION_RECEIVED);
		assert_int_equal(bench->log[1][i].imm, 500 + i);
		assert_int_equal(bench->log[1][i].bytes, 1024);
	}
	bench_close(bench);
}

static void an_immediate_waits_for_plain_packets_before_it(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_imm(bench, 3, 0);
	give_plain(bench, 0);
	give_plain(bench, 2);
	assert_int_equal(bench->log_count[1], 0);
	give_plain(bench, 1);
	assert_int_equal(bench->log_count[1], 1);
	bench_close(bench);
}

static void more_immediates_than_agreed_find_no_room(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_imm(bench, 40, 32); // 0 .. 31 may be under way
	assert_int_equal(endpoint_counters(bench->ends[1])->refused[REFUSED_IMM], 1);
	assert_int_equal(endpoint_counters(bench->ends[1])->payload_bytes_placed, 0);
	const struct packet *packet = answer(bench);
	assert_int_equal(packet->opcode, PACKET_NACK);
	assert_int_equal(packet->u.nack.reason, PACKET_NACK_NO_RESOURCE);
	assert_int_equal(packet->u.nack.psn, (START + 40) & PSN_MASK);
	give_imm(bench, 41, 31);
	assert_int_equal(endpoint_counters(bench->ends[1])->refused[REFUSED_IMM], 1);
	bench_close(bench);
}

static void a_trimmed_header_is_answered_with_its_reason(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_with(bench, 7, 0, PACKET_TRIMMED);
	const struct packet *packet = answer(bench);
	assert_int_equal(packet->opcode, PACKET_NACK);
	assert_int_equal(packet->u.nack.reason, PACKET_NACK_TRIMMED);
	assert_int_equal(packet->u.nack.psn, (START + 7) & PSN_MASK);
	assert_int_equal(packet->u.nack.ev_echo, 1007);
	assert_int_equal(packet->timestamp, 107);
	assert_int_equal(packet->klass, PACKET_CLASS_CONTROL);
	give_with(bench, 8, 0, PACKET_TRIMMED | PACKET_TRIMMED_LAST);
	assert_int_equal(answer(bench)->u.nack.reason, PACKET_NACK_TRIMMED_LAST);
	give_plain(bench, 7);
	give_with(bench, 7, 0, PACKET_TRIMMED); // that one is here: say so
	assert_int_equal(answer(bench)->opcode, PACKET_SACK);
	const struct transport_counters *counters = endpoint_counters(bench->ends[1]);
	assert_int_equal(counters->trims_received, 3);
	assert_int_equal(counters->trims_last_hop, 1);
	assert_int_equal(counters->trims_new, 2);
	assert_int_equal(counters->nacks_sent, 2);
	assert_int_equal(counters->data_received, 1);
	bench_check_empty(bench);
	bench_close(bench);
}

static void without_trim_nacks_a_trimmed_header_is_silent(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.trim_nack = false;
	struct bench *bench = open_one(config);
	give_with(bench, 7, 0, PACKET_TRIMMED);
	assert_null(answer(bench));
	assert_int_equal(endpoint_counters(bench->ends[1])->trims_received, 1);
	bench_check_empty(bench);
	bench_close(bench);
}

static void packets_for_nobody_are_dropped_and_counted(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t index = data(bench, 0);
		struct packet *packet = packet_at(&bench->packets, index);
		packet->qpn = i == 0 ? 1 : i == 1 ? 0xffffff : 0;
		packet->source = i == 2 ? 9 : 0;
		packet->plane = i == 3 ? 2 : 1;
		give(bench, index);
	}
	assert_int_equal(endpoint_counters(bench->ends[1])->no_qp, 4);
	uint32_t index = data(bench, 0);
	packet_at(&bench->packets, index)->opcode = 0x11;
	give(bench, index);
	assert_int_equal(endpoint_counters(bench->ends[1])->refused[REFUSED_OPCODE], 1);
	bench_check_empty(bench);
	bench_close(bench);
}

static void bytes_and_notices_give_place_orders_once(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	give_plain(bench, 0);
	assert_int_equal(bench->places_count, 0);
	for (uint32_t n = 1; n < 3; n++) {
		for (uint32_t again = 0; again < 2; again++) {
			uint32_t index = data(bench, n);
			struct packet *packet = packet_at(&bench->packets, index);
			packet->payload = n == 1 ? 99 : 0;
			packet->u.data.rkey = n == 2 ? BENCH_NOTICE_RKEY : BENCH_RKEY;
			endpoint_receive(bench->ends[1], index, 0, &bench->out);
			struct dma_write dma_write;
			uint32_t count = endpoint_poll_dma_writes(bench->ends[1], &dma_write, 1);
			assert_int_equal(count, again ? 0 : 1);
			if (again)
				continue;
			assert_int_equal(dma_write.payload, n == 1 ? 99 : 0);
			assert_int_equal(dma_write.va, BENCH_VA + 1024 * n);
			assert_int_equal(dma_write.bytes, 1024);
			assert_int_equal(dma_write.rkey, n == 2 ? BENCH_NOTICE_RKEY : BENCH_RKEY);
		}
	}
	bench_close(bench);
}
