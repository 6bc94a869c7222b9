// SPDX-License-Identifier: Apache-2.0
// The knobs of the MRC controller structure, one by one: each changes what it names, by the figure
// that it gives. And htsim's rules one by one: all three together are cc_config.is_htsim.

#include "cc_rig.h"

#define WINDOW (1.5 * BDP)

static void eta_and_the_period_say_what_comes_on_top_and_when(void **)
{
	struct cc_config config = usual();
	config.eta_bytes = 10000;
	config.adjust_period_ps = 3 * RTT_PS;
	config.disable_qa = true;
	struct cc cc = start(&config);
	lose(&cc, 100000);
	uint32_t before = cc.window_bytes;
	ack(&cc, 1, TARGET_PS - 1, false, 3 * RTT_PS - 1); // nothing yet: too early, too few bytes
	assert_int_equal(cc.window_bytes, before);
	ack(&cc, 1, TARGET_PS - 1, false, 3 * RTT_PS);
	assert_near(cc.window_bytes - before, 10000, 1);
}

// 0 is a figure like others: no growth per period, none per window, none without a queue.
static void knobs_may_be_0(void **)
{
	struct cc_config config = usual();
	config.eta_bytes = config.fi_bytes = CC_ZERO;
	config.fi_scale_ppb = CC_ZERO_PPB;
	config.disable_qa = true;
	config.adjust_bytes = 1;
	struct cc cc = start(&config);
	lose(&cc, 100000);
	uint32_t before = cc.window_bytes;
	ack(&cc, before, TARGET_PS, false, 3 * RTT_PS); // fi and eta are due
	assert_int_equal(cc.window_bytes, before);
	cc = start(&config);
	lose(&cc, (uint32_t)WINDOW - 2 * MTU);
	ack(&cc, 10 * MTU, 0, false, 1); // more than a clean window: fast from here on, by nothing
	assert_int_equal(cc.window_bytes, 2 * MTU);
}

static void fi_comes_per_window_of_bytes(void **)
{
	struct cc_config config = usual();
	config.fi_bytes = 5000;
	config.adjust_bytes = 1;
	config.disable_qa = true;
	struct cc cc = start(&config);
	lose(&cc, 100000);
	double before = cc.window_bytes;
	ack(&cc, (uint32_t)before / 10, TARGET_PS, false, 1);
	assert_near(cc.window_bytes - before, 500, 1);
}

static void adjust_bytes_says_after_how_many_bytes_growth_is_applied(void **)
{
	struct cc_config config = usual();
	config.fi_bytes = 50000;
	config.adjust_bytes = 20000;
	config.disable_qa = true;
	struct cc cc = start(&config);
	lose(&cc, 100000);
	uint32_t before = cc.window_bytes;
	ack(&cc, 20000, TARGET_PS, false, 1); // not more than the threshold
	assert_int_equal(cc.window_bytes, before);
	ack(&cc, 1, TARGET_PS, false, 2);
	assert_near(cc.window_bytes - before, 50000.0 * 20001 / before, 1);
}

static void fi_scale_is_bytes_per_byte_without_a_queue(void **)
{
	struct cc_config config = usual();
	config.fi_scale_ppb = 2000000000; // 2 for 1
	config.disable_qa = true;
	struct cc cc = start(&config);
	lose(&cc, (uint32_t)WINDOW - 2 * MTU);
	ack(&cc, 10 * MTU, 0, false, 1); // more than a clean window: fast from here on
	assert_near(cc.window_bytes, 22.0 * MTU, 3);
}

static void gamma_and_max_md_jump_shape_a_decrease(void **)
{
	struct cc_config config = usual();
	config.gamma_ppb = 400000000;
	struct cc cc = start(&config);
	ack(&cc, (uint32_t)WINDOW, 2 * TARGET_PS, true, RTT_PS - 1); // average: twice the target
	assert_near(cc.window_bytes, WINDOW * (1 - 0.4 * 0.5), 3);
	config.gamma_ppb = 1000000000;
	config.max_md_jump_ppb = 750000000;
	cc = start(&config);
	ack(&cc, (uint32_t)WINDOW, 2 * TARGET_PS, true, RTT_PS - 1);
	assert_near(cc.window_bytes, WINDOW * 0.75, 3);
}

// A row of feedback that tells the rules apart; the windows after each.
static void play(const struct cc_config *config, uint32_t ret[5])
{
	ps_t end = RTT_PS + TARGET_PS;
	struct cc cc = start(config);
	ack(&cc, MTU, 0, true, 0);
	ack(&cc, 5000, 4 * TARGET_PS + 1, false, end); // a period's last instant
	ret[0] = cc.window_bytes;
	cc = start(config);
	ack(&cc, MTU, 0, true, 0);
	cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, end);
	ret[1] = cc.window_bytes;
	cc = start(config);
	ack(&cc, MTU, 0, true, 0);
	ack(&cc, 5000, 4 * TARGET_PS + 1, false, end + 1); // after it
	ret[2] = cc.window_bytes;
	cc = start(config);
	for (int i = 0; i < 1000; i++)
		ack(&cc, MTU, 3 * TARGET_PS, false, 1);
	ack(&cc, 1, TARGET_PS, true, RTT_PS / 2);
	ret[3] = cc.window_bytes;
	ret[4] = 0;
}

static void the_rules_of_htsim_can_be_chosen_one_by_one(void **)
{
	struct cc_config spec = usual(), htsim = usual();
	uint32_t of_spec[5], of_htsim[5], one[5];
	htsim.is_htsim = true;
	play(&spec, of_spec);
	play(&htsim, of_htsim);
	struct cc_config config = usual();
	config.qa_period_rule = CC_RULE_HTSIM;
	play(&config, one);
	assert_int_not_equal(of_spec[1], of_htsim[1]); // adapted at the last instant, or not
	assert_int_equal(one[1], of_htsim[1]);
	assert_int_equal(one[2], of_spec[2]);
	assert_int_equal(one[3], of_spec[3]);
	config = usual();
	config.qa_delay_rule = CC_RULE_HTSIM;
	play(&config, one);
	assert_int_not_equal(of_spec[2], of_htsim[2]);
	assert_int_equal(one[1], of_spec[1]);
	assert_int_equal(one[2], of_htsim[2]);
	assert_int_equal(one[3], of_spec[3]);
	config = usual();
	config.average_rule = CC_RULE_HTSIM;
	play(&config, one);
	assert_int_not_equal(of_spec[3], of_htsim[3]);
	assert_int_equal(one[1], of_spec[1]);
	assert_int_equal(one[2], of_spec[2]);
	assert_int_equal(one[3], of_htsim[3]);
}

static void a_rule_of_the_specification_holds_in_htsim_mode_too(void **)
{
	struct cc_config spec = usual(), config = usual();
	uint32_t of_spec[5], mixed[5];
	config.is_htsim = true;
	config.average_rule = config.qa_delay_rule = config.qa_period_rule = CC_RULE_SPEC;
	play(&spec, of_spec);
	play(&config, mixed);
	assert_memory_equal(of_spec, mixed, sizeof(mixed));
}

// What is derived is told as the controller's structure has it.
static void knobs_are_told_as_they_are_derived(void **)
{
	struct cc_config config = usual();
	struct cc_settings knobs;
	assert_true(cc_settings_of(&config, &knobs));
	assert_int_equal(knobs.base_rtt_ns, 14023);
	assert_in_range(knobs.target_delay_ns, 10517, 10518); // three quarters of it
	assert_near(knobs.max_cwnd, WINDOW, WINDOW * 1e-4);
	assert_near(knobs.gamma, 0.8, 1e-9);
	assert_near(knobs.max_md_jump, 0.5, 1e-9);
	assert_near(knobs.fi, 5 * MTU * BDP / 150000, 2);
	assert_int_equal(knobs.qa_gate, 3);
	config.name = "fixed";
	assert_false(cc_settings_of(&config, &knobs));
}
