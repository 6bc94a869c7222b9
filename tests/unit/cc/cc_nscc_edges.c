// SPDX-License-Identifier: Apache-2.0
// NSCC at the edges of its quadrants and periods, and what a NACK does to average and quick adapt.

#include "cc_rig.h"

// A NACK gives the average a sample of the configured base round trip, T * 4/3, by the packet's
// share of the window; a mark at T itself is above the target then.
static void a_trim_lifts_the_average_and_a_mark_at_the_target_decreases(void **)
{
	struct cc_config config = usual();
	config.disable_qa = true;
	struct cc cc = start(&config);
	cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 1);
	double cwnd = cc.window_bytes;
	ack(&cc, MTU, TARGET_PS, true, 2);
	double average = 4.0 / 3.0 - MTU / cwnd / 3.0; // in targets
	assert_near(cc.window_bytes, cwnd * (1.0 - 0.8 * (average - 1.0) / average), 3);
}

// In htsim's average each sample weighs 1/80, and only unmarked ones are replaced: a NACK's is not.
static void htsim_averages_nacks_as_they_are(void **)
{
	struct cc_config config = usual();
	config.is_htsim = true;
	config.disable_qa = true;
	struct cc cc = start(&config);
	for (uint32_t i = 0; i < 115; i++)
		cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = 1, .is_trim = true}, 1);
	double cwnd = cc.window_bytes;
	double average = 4.0 / 3.0 * (1.0 - pow(0.9875, 115)); // in targets: above one
	average += 0.0125 * (1.0 - average);
	ack(&cc, 1, TARGET_PS, true, 2);
	assert_near(cc.window_bytes, cwnd * (1.0 - 0.8 * (average - 1.0) / average), 3);
}

// The trim asks for quick adapt; the period's end may come with whatever feedback.
static void a_trim_asks_for_quick_adapt_at_the_end_of_the_period(void **)
{
	struct cc_config config = usual();
	struct cc cc = trimmed(&config, 20000);
	ack(&cc, 1000, TARGET_PS / 2, false, RTT_PS + TARGET_PS);
	assert_int_equal(cc.window_bytes, 21000);
}

static void quick_adapt_needs_less_than_the_share_not_as_much(void **)
{
	struct cc_loss loss = {.bytes = MTU, .inflight_bytes = 30000, .is_trim = true};
	struct cc_config config = usual();
	config.max_cwnd_bytes = 80000; // an eighth of it: 10000
	struct cc cc = trimmed(&config, 10000);
	uint32_t before = cc.window_bytes;
	cc.ops->on_loss(&cc, &loss, RTT_PS + TARGET_PS);
	assert_int_equal(cc.window_bytes, before - MTU);
	cc = trimmed(&config, 9999);
	cc.ops->on_loss(&cc, &loss, RTT_PS + TARGET_PS);
	assert_int_equal(cc.window_bytes, 9999);
}

// Any delay ends fast increase, that of the other quadrants too.
static void a_delay_of_the_target_ends_fast_increase(void **)
{
	for (uint32_t is_marked = 0; is_marked < 2; is_marked++) {
		struct cc_config config = usual();
		config.disable_qa = true;
		config.fi_bytes = config.eta_bytes = CC_ZERO;
		struct cc cc = start(&config);
		lose(&cc, 200000);
		ack(&cc, cc.window_bytes + MTU, 0, false, 1); // a clean window: fast from here on
		lose(&cc, cc.window_bytes - 60000);
		ack(&cc, MTU, TARGET_PS, is_marked, 2);
		uint32_t before = cc.window_bytes;
		ack(&cc, MTU, 0, false, 3);
		assert_int_equal(cc.window_bytes, before);
	}
}

// A penalty takes its share from what was in flight when the window is not used up, and never gives
// window.
static void a_penalty_begins_at_what_is_in_flight_or_the_window(void **)
{
	const struct {
		uint32_t inflight_bytes, from;
	} rows[] = {{90000, 100000}, {400000, 0}};
	for (uint32_t i = 0; i < 2; i++) {
		struct cc_config config = usual();
		struct cc cc = start(&config);
		uint32_t from = rows[i].from ? rows[i].from : cc.window_bytes;
		cc.ops->on_ack(&cc,
			       &(struct cc_ack){.newly_bytes = 10000,
						.inflight_bytes = rows[i].inflight_bytes,
						.rtt_ps = -1,
						.penalty = 64},
			       1);
		assert_near(cc.window_bytes, from - 5000, 1);
	}
}

// Where switches trim, what is lost without a word met a dead path, not a full queue: the window
// answers only where what arrived tells of queues, or nothing has told of them yet.
static void a_silent_loss_where_queues_are_short_is_a_paths(void **)
{
	static const struct {
		ps_t delay_ps; // -1: nothing was heard
		bool has_trimming, is_htsim, is_cut;
	} rows[] = {{0, true, false, false},
		    {TARGET_PS / 2, true, false, false},
		    {2 * TARGET_PS, true, false, true},
		    {-1, true, false, true},
		    {0, false, false, true},
		    {0, true, true, true}};
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cc_config config = usual();
		config.has_trimming = rows[i].has_trimming;
		config.is_htsim = rows[i].is_htsim;
		struct cc cc = start(&config);
		if (rows[i].delay_ps >= 0)
			ack(&cc, cc.window_bytes / 2, rows[i].delay_ps, true, 1);
		uint32_t before = cc.window_bytes;
		cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU}, 2);
		assert_int_equal(before - cc.window_bytes, rows[i].is_cut ? MTU : 0);
		cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 3);
		assert_true(cc.window_bytes < before); // a trim is a full queue
	}
}
