// SPDX-License-Identifier: Apache-2.0
// Fetching ahead reads an endpoint in every state and changes nothing of it; it knows whose context
// is wanted next.
#include "transport_bench.h"

static void fetch_all(const struct bench *bench)
{
	for (uint32_t side = 0; side < 2; side++)
		for (int step = ENDPOINT_FETCH_SELF; step <= ENDPOINT_FETCH_RINGS; step++)
			endpoint_fetch(bench->ends[side], (enum endpoint_fetch)step);
}

// All steps, between two looks at all that the endpoints have.
static void check_unchanged(const struct bench *bench)
{
	size_t used = bench->arena.used;
	uint8_t *before = malloc(used);
	assert_non_null(before);
	memcpy(before, bench->memory, used);
	fetch_all(bench);
	assert_memory_equal(before, bench->memory, used);
	free(before);
}

static void nothing_is_changed(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 3, 0xffffff, 1);
	check_unchanged(bench); // nobody has received yet
	for (uint32_t qpn = 0; qpn < 3; qpn++)
		bench_post(bench, qpn % 2, qpn, 64 * 1024, 1);
	bench->loss_ppm = 100000;
	for (int i = 1; i <= 20; i++) {
		bench_run(bench, i * PS_PER_US);
		fetch_all(bench);
	}
	check_unchanged(bench);
	bench_run(bench, BENCH_TO_THE_END);
	check_unchanged(bench);
	bench_check_empty(bench);
	bench_close(bench);
}

static void who_received_last_is_known(void **state)
{
	(void)state;
	struct transport_config config = bench_config();
	struct bench *bench = bench_open(&config, 3, 0, 1);
	for (uint32_t qpn = 0; qpn < 3; qpn++) {
		bench_post(bench, 0, qpn, 64 * 1024, 1);
		bench_run(bench, BENCH_TO_THE_END);
		assert_ptr_equal(bench->ends[0]->recent[1], endpoint_qp(bench->ends[0], qpn));
		assert_ptr_equal(bench->ends[1]->recent[0], endpoint_qp(bench->ends[1], qpn));
	}
	assert_null(bench->ends[0]->recent[0]);
	assert_null(bench->ends[1]->recent[1]);
	bench_close(bench);
}
