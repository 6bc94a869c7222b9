// SPDX-License-Identifier: Apache-2.0
// The table of algorithms, and the window that never moves.
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/cc/cc.h>

static void each_algorithm_is_found_by_its_name_and_is_whole(void **)
{
	uint32_t count = 0;
	for (; cc_all[count]; count++) {
		const struct cc_ops *ops = cc_all[count];
		assert_ptr_equal(cc_find(ops->name), ops);
		assert_true(ops->init && ops->on_ack && ops->on_loss && ops->on_cnp &&
			    ops->on_sent && ops->on_time);
		assert_true(ops->receiver_init && ops->receiver_on_data && ops->receiver_grant);
		assert_true(ops->on_credit && ops->aims);
	}
	assert_true(count >= 2);
	assert_non_null(cc_find("fixed"));
	assert_non_null(cc_find("nscc"));
	assert_null(cc_find("nsc"));
	assert_null(cc_find(""));
}

static void bdp_is_rate_times_round_trip(void **)
{
	struct cc_config config = {.rate_bps = 100000000000, .base_rtt_ps = 12 * PS_PER_US};
	assert_int_equal(cc_bdp_bytes(&config), 150000);
	config.rate_bps = 800000000000;
	config.base_rtt_ps = PS_PER_MS; // beyond 64 bits before the division
	assert_int_equal(cc_bdp_bytes(&config), 100000000);
}

static void the_window_is_the_given_one_or_one_and_a_half_bdp(void **)
{
	const struct cc_ops *ops = cc_find("fixed");
	struct cc_config config = {
		.rate_bps = 100000000000, .base_rtt_ps = 12 * PS_PER_US, .mtu_bytes = 4150};
	struct cc cc = {.ops = ops};
	ops->init(&cc, &config, 5);
	assert_int_equal(cc.window_bytes, 225000);
	config.window_bytes = 12345;
	ops->init(&cc, &config, 5);
	assert_int_equal(cc.window_bytes, 12345);
	config.window_bytes = 12;
	ops->init(&cc, &config, 5);
	assert_int_equal(cc.window_bytes, 4150);
	assert_int_equal(cc.rate_bps, 0);
	assert_true(cc.wake_at == PS_NEVER);
}

static void nothing_moves_the_window(void **)
{
	const struct cc_ops *ops = cc_find("fixed");
	struct cc_config config = {.window_bytes = 50000, .mtu_bytes = 4150};
	struct cc cc = {.ops = ops};
	uint64_t receiver[CC_RECEIVER_WORDS] = {1, 2, 3, 4};
	ops->init(&cc, &config, 0);
	ops->on_ack(&cc, &(struct cc_ack){.newly_bytes = 9000, .rtt_ps = 9, .penalty = 127}, 1);
	ops->on_loss(&cc, &(struct cc_loss){.bytes = 4150, .is_trim = true}, 2);
	ops->on_time(&cc, 3);
	assert_int_equal(cc.window_bytes, 50000);
	ops->receiver_init(receiver, &config);
	assert_int_equal(ops->receiver_on_data(receiver, 4150, true, true, 4), 0);
}
