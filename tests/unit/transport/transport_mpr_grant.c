// SPDX-License-Identifier: Apache-2.0
// Dynamic MPR at one NIC: what is offered to how many, and what a requester makes of it.
#include "transport_bench.h"

#include "../../../lib/transport/mrc/mpr_grant.h"

static struct transport_config offering(uint32_t mpr, uint32_t budget)
{
	struct transport_config config = bench_config();
	config.mpr = mpr;
	config.dynamic_mpr = true;
	config.mpr_budget = budget;
	config.cc.rate_bps = 0; // the shortest epochs
	return config;
}

static uint8_t mpr_grant_to(struct bench *bench, uint32_t qpn, ps_t now)
{
	return mpr_grant_make(bench->ends[1], endpoint_qp(bench->ends[1], qpn), now);
}

#define EPOCH ((ps_t)1 << 24)

static void a_budget_is_shared_by_those_that_receive(void **state)
{
	(void)state;
	struct transport_config config = offering(4096, 8192);
	struct bench *bench = bench_open(&config, 4, 0, 1);
	assert_int_equal(mpr_grant_to(bench, 0, 0), 32); // never more than the MPR
	assert_int_equal(mpr_grant_to(bench, 1, 0), 32);
	assert_int_equal(mpr_grant_to(bench, 2, 0), 21);
	assert_int_equal(mpr_grant_to(bench, 3, 0), 16);
	assert_int_equal(mpr_grant_to(bench, 0, 10), 16);
	assert_int_equal(mpr_grant_to(bench, 0, EPOCH), 16);	 // the others were there just now
	assert_int_equal(mpr_grant_to(bench, 0, 2 * EPOCH), 32); // and are no more
	assert_int_equal(mpr_grant_to(bench, 1, 2 * EPOCH), 32);
	assert_int_equal(mpr_grant_to(bench, 2, 9 * EPOCH), 32); // after a pause of all
	for (uint32_t qpn = 0; qpn < 4; qpn++)
		mpr_grant_to(bench, qpn, 20 * EPOCH);
	assert_int_equal(mpr_grant_to(bench, 0, 22 * EPOCH), 32); // four of long ago count no more
	bench_close(bench);
}

// In an epoch the line brings the budget, or two SACKs' worth to each QP it can hold back.
static void an_epoch_is_as_long_as_the_line_needs(void **state)
{
	(void)state;
	struct transport_config config = offering(4096, 16384);
	assert_int_equal(mpr_grant_epoch_shift(&config), 24);
	config.payload_bytes = 938;
	config.header_bytes = 62;
	config.sack_bytes = 4096;
	config.cc.rate_bps = 100000000000;		      // 16,384 kB need 1.31 ms
	assert_int_equal(mpr_grant_epoch_shift(&config), 31); // 2.15 ms
	config.cc.rate_bps *= 2;
	assert_int_equal(mpr_grant_epoch_shift(&config), 30);
	config.sack_bytes = 1000000; // 2 x 17 of these need 1.36 ms
	assert_int_equal(mpr_grant_epoch_shift(&config), 31);
	config.mpr_budget = 1;
	config.sack_bytes = 4096;
	assert_int_equal(mpr_grant_epoch_shift(&config), 24);
	config.dynamic_mpr = false;
	config.mpr_budget = UINT32_MAX;
	assert_int_equal(mpr_grant_epoch_shift(&config), 24);
	config.dynamic_mpr = true;
	config.cc.rate_bps = 1000000;
	assert_int_equal(mpr_grant_epoch_shift(&config), 50);
}

static void an_offer_is_never_less_than_the_least(void **state)
{
	(void)state;
	static const struct {
		uint32_t mpr, budget;
		uint8_t units;
	} cases[] = {{4096, 1, 8}, {2048, 1024, 8},	   {1024, 1024, 8},   {512, 1024, 4},
		     {128, 1, 1},  {32768, 1u << 30, 255}, {16384, 16384, 64}};
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct transport_config config = offering(cases[i].mpr, cases[i].budget);
		struct bench *bench = bench_open(&config, 2, 0, 1);
		mpr_grant_to(bench, 0, 0);
		assert_int_equal(mpr_grant_to(bench, 1, 0), cases[i].units);
		bench_close(bench);
	}
}

static void the_counts_pass_the_wrap_of_their_epochs(void **state)
{
	(void)state;
	struct transport_config config = offering(4096, 8192);
	struct bench *bench = bench_open(&config, 4, 0, 1);
	ps_t wrap = EPOCH << 32;
	for (uint32_t qpn = 0; qpn < 4; qpn++)
		mpr_grant_to(bench, qpn, wrap - 2 * EPOCH);
	assert_int_equal(mpr_grant_to(bench, 0, wrap - EPOCH), 16);
	mpr_grant_to(bench, 1, wrap - EPOCH);
	mpr_grant_to(bench, 2, wrap - EPOCH);
	assert_int_equal(mpr_grant_to(bench, 0, wrap), 21);
	assert_int_equal(mpr_grant_to(bench, 0, wrap + EPOCH), 32);
	bench_close(bench);
}

static void the_first_of_all_may_come_in_the_epoch_of_the_wrap(void **state)
{
	(void)state;
	struct transport_config config = offering(4096, 8192);
	struct bench *bench = bench_open(&config, 1, 0, 1);
	assert_int_equal(mpr_grant_to(bench, 0, (EPOCH << 32) - EPOCH), 32);
	bench_close(bench);
}

static uint32_t most_out;

static void watch_window(struct bench *bench, struct packet *packet)
{
	if (packet->klass != PACKET_CLASS_DATA)
		return;
	const struct qp *qp = endpoint_qp(bench->ends[0], packet->qpn);
	uint32_t out = qp->psn_next - qp->una;
	most_out = out > most_out ? out : most_out;
}

static void both_ends_must_agree_to_offers(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct transport_config config[2] = {offering(2048, 1024), offering(2048, 1024)};
		config[0].dynamic_mpr = i % 2;
		config[1].dynamic_mpr = i / 2;
		for (uint32_t side = 0; side < 2; side++) {
			config[side].cc.window_bytes = 100000000;
			config[side].rto_ps = PS_PER_S;
		}
		struct bench *bench = bench_open_two(&config[0], &config[1], 1, 0, 1);
		bench->delay_ps = 200 * PS_PER_US;
		assert_int_equal(bench_post(bench, 0, 0, 10000 * 1024, 1), 0);
		bench_run(bench, 700 * PS_PER_US); // the first SACKs have come
		most_out = 0;
		bench->on_send = watch_window;
		bench_run(bench, PS_PER_S / 2);
		assert_int_equal(bench->log_count[0], 1);
		assert_int_equal(most_out, i == 3 ? 1024 : 2048);
		assert_int_equal(endpoint_counters(bench->ends[1])->out_of_window, 0);
		bench_check_empty(bench);
		bench_close(bench);
	}
}

// Side 0 has `sent` packets out when it is offered `units`.
static struct bench *open_sent(uint32_t sent)
{
	struct transport_config config = offering(4096, 4096);
	config.planes = 1;
	config.cc.window_bytes = 100000000;
	struct bench *bench = bench_open(&config, 1, 0, 1);
	assert_int_equal(bench_post(bench, 0, 0, 8000 * 1024, 1), 0);
	for (uint32_t n = 0; n < sent; n++) {
		uint32_t index = endpoint_next(bench->ends[0], 0, 0, &bench->out);
		assert_int_not_equal(index, PACKET_NONE);
		packet_put(&bench->packets, index);
	}
	return bench;
}

static void give_sack(struct bench *bench, uint32_t here, uint8_t units)
{
	uint32_t index = packet_get(&bench->packets);
	*packet_at(&bench->packets, index) = (struct packet){.source = 1,
							     .opcode = PACKET_SACK,
							     .klass = PACKET_CLASS_CONTROL,
							     .psn = (here - 1) & PSN_MASK,
							     .u.sack = {.offset = 1, .mpr = units}};
	endpoint_receive(bench->ends[0], index, bench->now, &bench->out);
}

static uint32_t sendable(struct bench *bench)
{
	uint32_t count = 0, index;
	while ((index = endpoint_next(bench->ends[0], 0, 0, &bench->out)) != PACKET_NONE) {
		packet_put(&bench->packets, index);
		count++;
	}
	return count;
}

static void a_smaller_offer_waits_until_what_is_out_has_arrived(void **state)
{
	(void)state;
	struct bench *bench = open_sent(3000);
	give_sack(bench, 100, 8); // 2,900 are out, 1,024 may be
	assert_int_equal(sendable(bench), 0);
	give_sack(bench, 1976, 8);
	assert_int_equal(sendable(bench), 0);
	give_sack(bench, 1986, 8);
	assert_int_equal(sendable(bench), 10);
	give_sack(bench, 1986, 16); // a larger one holds at once
	assert_int_equal(sendable(bench), 1024);
	give_sack(bench, 1986, 0); // none: the last one stays
	assert_int_equal(sendable(bench), 0);
	give_sack(bench, 1986, 1); // less than may be offered: as the least
	give_sack(bench, 4034, 1);
	assert_int_equal(sendable(bench), 1024);
	give_sack(bench, 5058, 255); // more than the own limit: as that
	assert_int_equal(sendable(bench), 8000 - 5058);
	assert_int_equal(endpoint_qp(bench->ends[0], 0)->mpr_limit, 4096);
	bench_close(bench);
}

static void offers_need_units_and_a_budget(void **state)
{
	(void)state;
	static _Alignas(64) uint8_t memory[1 << 18];
	struct transport_config bad[] = {offering(64, 1024), offering(1024, 0)};
	for (uint32_t i = 0; i < 2; i++) {
		struct arena arena;
		struct endpoint *endpoint = NULL;
		struct refusal refusal = {0};
		arena_init(&arena, memory, sizeof(memory));
		assert_true(endpoint_create(&endpoint, &arena, &bad[i], 0, 1, 1, &refusal) < 0);
		assert_null(endpoint);
		assert_true(refusal.text[0] != 0);
	}
}

// mpr8 is 0 where the target does not offer; what is less than the least of 8 units counts as that.
static void no_offer_changes_nothing(void **state)
{
	(void)state;
	struct transport_config config = offering(4096, 8192);
	struct bench *bench = bench_open(&config, 1, 0, 1);
	struct qp *qp = endpoint_qp(bench->ends[0], 0);
	uint32_t limit = qp->mpr_limit;
	mpr_grant_take(qp, 0);
	assert_int_equal(qp->mpr_limit, limit);
	mpr_grant_take(qp, 1);
	assert_int_equal(qp->mpr_limit, 8 * 128);
	mpr_grant_take(qp, 9);
	assert_int_equal(qp->mpr_limit, 9 * 128);
	bench_close(bench);
}
