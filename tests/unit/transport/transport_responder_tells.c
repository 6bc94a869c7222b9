// SPDX-License-Identifier: Apache-2.0
// What a responder tells of what it has: the ends of its bitmap, repairs, its penalty.
#include "transport_responder.h"

#include "mrc/reorder.h"

// The last PSN of the window, mpr above the left edge, is told of like all others.
static void the_last_psn_of_the_window_is_in_the_bitmap(void **state)
{
	(void)state;
	static const uint32_t sizes[] = {64, 256, 32768};
	for (uint32_t i = 0; i < 3; i++) {
		struct transport_config config = bench_config();
		config.mpr = sizes[i];
		struct bench *bench = open_one(config);
		give_with(bench, sizes[i] - 1, PACKET_AR, 0);
		const struct packet_sack *sack = &answer(bench)->u.sack;
		// bit i covers cack_psn + sack_offset + i; cack_psn is START - 1
		assert_int_equal(sack->bitmap, UINT64_C(1) << (sizes[i] - sack->offset));
		assert_int_equal(sack->trigger_offset,
				 (int32_t)sizes[i] > 32767 ? 32767 : sizes[i]);
		assert_int_equal(sack->ooo_count, 1);
		bench_close(bench);
	}
}

// Wider news than one bitmap can tell does not wait for the bytes that make a SACK due.
static void news_as_wide_as_a_bitmap_is_told_at_once(void **state)
{
	(void)state;
	for (uint32_t last = 62; last < 66; last++) {
		struct transport_config config = bench_config();
		config.sack_bytes = 1000000;
		struct bench *bench = open_one(config);
		give_plain(bench, 1);
		assert_null(answer(bench));
		give_plain(bench, last);
		assert_int_equal(answer(bench) != NULL, last >= 64);
		bench_close(bench);
	}
}

static void repairs_are_counted_by_what_they_were_for(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	const struct transport_counters *counters = endpoint_counters(bench->ends[1]);
	give_plain(bench, 0);
	give_plain(bench, 0); // a copy that the network made
	assert_int_equal(counters->duplicates, 1);
	assert_int_equal(counters->rtx_spurious, 0);
	give_with(bench, 0, PACKET_RTX, PACKET_TRIMMED); // sent again, but it brings nothing
	assert_int_equal(counters->duplicates, 1);
	assert_int_equal(counters->rtx_spurious, 0);
	give_with(bench, 0, PACKET_RTX, 0); // sent again though it was here
	assert_int_equal(counters->duplicates, 2);
	assert_int_equal(counters->rtx_spurious, 1);
	assert_int_equal(counters->rtx_placed, 0);
	give_with(bench, 1, PACKET_RTX, 0);
	give_with(bench, 2, PACKET_RTX | PACKET_AR, 0);
	give_with(bench, 3, PACKET_AR, 0);
	assert_int_equal(counters->rtx_placed, 2);
	bench_close(bench);
}

static void a_receivers_penalty_goes_out_with_each_sack(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	config.cc.name = "nscc";
	config.cc.penalty = 64;
	struct bench *bench = open_one(config);
	for (uint32_t n = 0; n < 3; n++) {
		give_with(bench, 2 * n, PACKET_AR, 0);
		assert_int_equal(answer(bench)->u.sack.penalty, 64);
	}
	bench_close(bench);
}

// How far out of order a packet came: the PSNs below it that were here and will be waited for.
static void arrivals_below_a_packet_are_counted(void **state)
{
	(void)state;
	struct bench *bench = open_one(bench_config());
	const struct qp *qp = endpoint_qp(bench->ends[1], 0);
	for (uint32_t n = 1; n < 200; n++)
		if (n % 3 != 0)
			give_plain(bench, n);
	for (uint32_t n = 1; n < 230; n++) {
		uint32_t here = 0;
		for (uint32_t below = 1; below < n && below < 200; below++)
			here += below % 3 != 0;
		assert_int_equal(reorder_below(bench->ends[1], qp, START + n), here);
	}
	bench_close(bench);
}
