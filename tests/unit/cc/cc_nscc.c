// SPDX-License-Identifier: Apache-2.0
// NSCC against its closed forms: the derived constants, the four quadrants, fast increase, quick
// adapt, penalty, and what differs in htsim mode. Each figure is worked out here from BDP, target
// and MTU, not taken from the code under test.

#include "cc_rig.h"

#define A (BDP / 150000.0)
#define FI (5.0 * MTU * A)
#define ETA (0.15 * MTU * A)
#define FI_SCALE (0.25 * A)
#define ALPHA_PER_PS (A * MTU / 3e6)

static void the_window_starts_at_one_and_a_half_bdp(void **)
{
	// rate, base RTT, MaxWnd as htsim derives them (its BDP rounds differently by a few bytes)
	const struct {
		uint64_t rate_bps;
		ps_t rtt_ps;
		double window;
	} rows[] = {{100000000000, 14023000, 262926},
		    {200000000000, 13011000, 487926},
		    {400000000000, 12506000, 937926},
		    {800000000000, 12253000, 1837926}};
	for (uint32_t i = 0; i < 4; i++) {
		struct cc_config config = usual();
		config.rate_bps = rows[i].rate_bps;
		config.base_rtt_ps = rows[i].rtt_ps;
		struct cc cc = start(&config);
		assert_near(cc.window_bytes, rows[i].window, rows[i].window * 1e-4);
	}
	struct cc_config config = usual();
	config.max_cwnd_bytes = 100000;
	struct cc cc = start(&config);
	assert_int_equal(cc.window_bytes, 100000);
}

static void below_the_target_a_window_of_acks_adds_alpha_times_the_distance_and_eta(void **)
{
	for (uint32_t part = 1; part < 8; part++) {
		struct cc_config config = usual();
		struct cc cc = start(&config);
		lose(&cc, 200000);
		double cwnd = cc.window_bytes;
		ps_t delay_ps = TARGET_PS * part / 8;
		ack(&cc, cc.window_bytes, delay_ps, false, RTT_PS);
		double step = ALPHA_PER_PS * (double)(TARGET_PS - delay_ps) + ETA;
		assert_near(cc.window_bytes, cwnd + step, 2);
	}
}

static void the_increase_per_time_below_target_does_not_depend_on_the_target(void **)
{
	double steps[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct cc_config config = usual();
		config.target_delay_ps = TARGET_PS / (1 + i);
		struct cc cc = start(&config);
		lose(&cc, 200000);
		double cwnd = cc.window_bytes;
		ack(&cc, cc.window_bytes, config.target_delay_ps - 2 * PS_PER_US, false, RTT_PS);
		steps[i] = cc.window_bytes - cwnd;
	}
	assert_near(steps[0], ALPHA_PER_PS * 2e6 + ETA, 2);
	assert_near(steps[1], steps[0], 2);
}

static void at_the_target_without_marks_a_window_of_acks_adds_fi_and_eta(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	lose(&cc, 200000);
	double cwnd = cc.window_bytes;
	ack(&cc, cc.window_bytes, TARGET_PS, false, RTT_PS);
	assert_near(cc.window_bytes, cwnd + FI + ETA, 2);
}

// Eight round trips, each packet acknowledged by itself: the slopes per round trip hold as well, up
// to what a window grows by while its own acknowledgements come in.
static void slopes_hold_packet_by_packet(void **)
{
	const struct {
		ps_t delay_ps;
		double slope; // bytes per window of acknowledgements
	} rows[] = {{TARGET_PS / 2, ALPHA_PER_PS * (double)(TARGET_PS - TARGET_PS / 2) + ETA},
		    {TARGET_PS - PS_PER_US, ALPHA_PER_PS * 1e6 + ETA},
		    {TARGET_PS, FI + ETA},
		    {3 * TARGET_PS, FI + ETA}};
	for (uint32_t i = 0; i < 4; i++) {
		struct cc_config config = usual();
		config.max_cwnd_bytes = 100 * (uint32_t)BDP;
		struct cc cc = start(&config);
		lose(&cc, 50 * (uint32_t)BDP);
		double first = cc.window_bytes;
		for (uint32_t trip = 0; trip < 8; trip++) {
			uint32_t packets = (cc.window_bytes + MTU / 2) / MTU;
			for (uint32_t n = 1; n <= packets; n++)
				ack(&cc, MTU, rows[i].delay_ps, false,
				    trip * RTT_PS + RTT_PS * n / packets);
		}
		assert_near((cc.window_bytes - first) / (8 * rows[i].slope), 1, 0.02);
	}
}

static void eta_comes_once_per_period(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	lose(&cc, 200000);
	double cwnd = cc.window_bytes;
	ack(&cc, cc.window_bytes, TARGET_PS, false, RTT_PS - 1); // 8 MTU reached, period not
	assert_near(cc.window_bytes, cwnd + FI, 2);
	cwnd = cc.window_bytes;
	ack(&cc, MTU, TARGET_PS, false, RTT_PS - 1); // neither
	assert_int_equal(cc.window_bytes, cwnd);
}

static void without_delay_the_window_grows_by_fi_scale_after_a_clean_window(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	lose(&cc, 200000);
	uint32_t first = cc.window_bytes;
	ack(&cc, first, 0, false, 1); // one clean window: not yet
	double cwnd = cc.window_bytes;
	assert_near(cwnd, first + ALPHA_PER_PS * (double)TARGET_PS, 2);
	ack(&cc, cc.window_bytes, 999999, false, 2); // still none: below 1 us
	assert_near(cc.window_bytes, cwnd * (1.0 + FI_SCALE), 2);
	cwnd = cc.window_bytes;
	ack(&cc, MTU, PS_PER_US, false, 3); // any delay ends it
	ack(&cc, MTU, 0, false, 4);
	assert_int_equal(cc.window_bytes, cwnd);
}

static void a_mark_below_the_target_holds(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	lose(&cc, 100000);
	uint32_t cwnd = cc.window_bytes;
	ack(&cc, cwnd, TARGET_PS - 1, true, RTT_PS - 1);
	assert_int_equal(cc.window_bytes, cwnd);
}

static void a_mark_above_the_target_decreases_by_the_excess_down_to_one_half(void **)
{
	const struct {
		double delay, factor; // average delay in targets
	} rows[] = {{1.25, 0.84}, {2.0, 0.6}, {2.5, 0.52}, {8.0 / 3.0, 0.5}, {5.0, 0.5}};
	for (uint32_t i = 0; i < 5; i++) {
		struct cc_config config = usual();
		struct cc cc = start(&config);
		double cwnd = 1.5 * BDP;
		ps_t delay_ps = (ps_t)(rows[i].delay * (double)TARGET_PS);
		ack(&cc, MTU, delay_ps, true, 1000);
		assert_near(cc.window_bytes, cwnd * rows[i].factor, 3);
		uint32_t after = cc.window_bytes;
		ack(&cc, MTU, delay_ps, true, 1000 + RTT_PS - 1); // not twice in a round trip
		assert_near(cc.window_bytes, after, ETA + 1);
		uint32_t before = cc.window_bytes;
		ack(&cc, MTU, delay_ps, true, 1000 + RTT_PS + 1);
		assert_near(cc.window_bytes, before * rows[i].factor, 3);
	}
}

static void the_average_covers_about_one_window_of_acks(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	ack(&cc, MTU, 0, true, 1); // the first sample is the average
	ack(&cc, MTU, 2 * TARGET_PS, true, 2);
	assert_near(cc.window_bytes, 1.5 * BDP, 1); // one packet does not lift it above the target
	for (uint32_t i = 0; i < 62; i++)
		ack(&cc, MTU, 2 * TARGET_PS, true, 3 + i);
	assert_true(cc.window_bytes < 1.5 * BDP - 1); // a window of them does
}

static void losses_take_their_size_and_leave_one_packet(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	uint32_t cwnd = cc.window_bytes;
	lose(&cc, MTU);
	assert_int_equal(cc.window_bytes, cwnd - MTU);
	lose(&cc, 10000000);
	assert_int_equal(cc.window_bytes, MTU);
	cc = start(&config);
	cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 1);
	assert_int_equal(cc.window_bytes, cwnd - MTU);
	cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true, .is_last_hop = true},
			2);
	assert_int_equal(cc.window_bytes, cwnd - 2 * MTU);
}

static void a_penalty_of_64_over_one_window_halves_it_and_restore_brings_it_back(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	uint32_t cwnd = cc.window_bytes;
	uint32_t inflight = cwnd;
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t bytes = cwnd / 8;
		inflight -= bytes;
		cc.ops->on_ack(&cc,
			       &(struct cc_ack){.newly_bytes = bytes,
						.inflight_bytes = inflight,
						.rtt_ps = -1,
						.penalty = 64},
			       i);
	}
	assert_near(cc.window_bytes, cwnd * 0.5, 8);
	uint32_t half = cc.window_bytes;
	cc.ops->on_ack(&cc, &(struct cc_ack){.rtt_ps = -1}, 20);
	assert_int_equal(cc.window_bytes, half);
	cc.ops->on_ack(&cc, &(struct cc_ack){.rtt_ps = -1, .is_restore = true}, 21);
	assert_int_equal(cc.window_bytes, cwnd);
	cc.ops->on_ack(&cc, &(struct cc_ack){.newly_bytes = cwnd, .rtt_ps = -1, .penalty = 127},
		       22);
	assert_int_equal(cc.window_bytes, MTU); // 127 leaves about one packet
}

static void a_penalty_stops_increases(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	lose(&cc, 100000);
	uint32_t cwnd = cc.window_bytes;
	cc.ops->on_ack(&cc,
		       &(struct cc_ack){.newly_bytes = MTU,
					.inflight_bytes = cwnd - MTU,
					.rtt_ps = RTT_PS + 3 * PS_PER_US,
					.penalty = 1},
		       RTT_PS * 2);
	assert_near(cc.window_bytes, cwnd - MTU / 128.0, 1);
}

static void quick_adapt_sets_the_window_to_what_was_achieved(void **)
{
	struct cc_config config = usual();
	ps_t end = RTT_PS + TARGET_PS;
	struct cc cc = trimmed(&config, 20000);
	uint32_t before = cc.window_bytes;
	ack(&cc, 1000, TARGET_PS, true, end - 1); // the period still runs
	assert_true(cc.window_bytes > 21000);
	assert_near(cc.window_bytes, before + ETA, 2);
	struct cc_loss loss = {.bytes = MTU, .inflight_bytes = 30000, .is_trim = true};
	cc.ops->on_loss(&cc, &loss, end);
	assert_int_equal(cc.window_bytes, 21000);
	// the packets in flight then are ignored, marks and trims alike, until 30000 bytes passed
	cc.ops->on_loss(&cc, &loss, end + 1);
	ack(&cc, 20000, 5 * TARGET_PS, true, end + RTT_PS + 2);
	assert_int_equal(cc.window_bytes, 21000);
	ack(&cc, 10000, 5 * TARGET_PS, true, end + RTT_PS + 3);
	assert_true(cc.window_bytes < 21000);
}

static void quick_adapt_needs_little_achieved_and_can_be_off(void **)
{
	ps_t end = RTT_PS + TARGET_PS;
	struct cc_loss loss = {.bytes = MTU, .inflight_bytes = 30000, .is_trim = true};
	struct cc_config config = usual();
	struct cc cc = trimmed(&config, 33000); // MaxWnd / 8 is 32866
	cc.ops->on_loss(&cc, &loss, end);
	assert_true(cc.window_bytes > 200000);
	config.qa_gate = 2; // MaxWnd / 4
	cc = trimmed(&config, 33000);
	cc.ops->on_loss(&cc, &loss, end);
	assert_int_equal(cc.window_bytes, 33000);
	config.qa_gate = CC_ZERO; // all of it: 262,926 B
	cc = trimmed(&config, 260000);
	cc.ops->on_loss(&cc, &loss, end);
	assert_int_equal(cc.window_bytes, 260000);
	cc = trimmed(&config, 263000);
	uint32_t before = cc.window_bytes;
	cc.ops->on_loss(&cc, &loss, end);
	assert_int_equal(cc.window_bytes, before - MTU);
	config.disable_qa = true;
	cc = trimmed(&config, 100);
	cc.ops->on_loss(&cc, &loss, end);
	assert_true(cc.window_bytes > 200000);
}

static void htsim_replaces_late_unmarked_samples_and_weighs_one_in_eighty(void **)
{
	struct cc_config config = usual();
	config.is_htsim = true;
	config.disable_qa = true;
	struct cc cc = start(&config);
	// the average starts at 0; marked samples of 8 T reach T with the 11th: 8(1 - 0.9875^11) >
	// 1
	for (uint32_t i = 1; i <= 10; i++)
		ack(&cc, MTU, 8 * TARGET_PS, true, i);
	assert_near(cc.window_bytes, 1.5 * BDP, 1);
	ack(&cc, MTU, 8 * TARGET_PS, true, 11);
	double average = 8.0 * (1.0 - pow(0.9875, 11));
	assert_near(cc.window_bytes, 1.5 * BDP * (1.0 - 0.8 * (average - 1.0) / average), 3);
	// unmarked ones above T count as a quarter of the base round trip, T / 3: they never reach
	// T
	cc = start(&config);
	for (uint32_t i = 1; i <= 1000; i++)
		ack(&cc, MTU, 8 * TARGET_PS, false, 1);
	uint32_t cwnd = cc.window_bytes;
	ack(&cc, 1, TARGET_PS, true, 1);
	assert_int_equal(cc.window_bytes, cwnd);
}

static void htsim_takes_the_average_delay_where_there_is_no_round_trip(void **)
{
	for (uint32_t is_htsim = 0; is_htsim < 2; is_htsim++) {
		struct cc_config config = usual();
		config.no_sample_rule = is_htsim ? CC_RULE_HTSIM : CC_RULE_SPEC;
		struct cc cc = start(&config);
		lose(&cc, 200000);
		ack(&cc, cc.window_bytes, TARGET_PS / 2, false, 1); // the first one is the average
		double cwnd = cc.window_bytes;
		cc.ops->on_ack(&cc, &(struct cc_ack){.newly_bytes = 50000, .rtt_ps = -1}, 2);
		double step = ALPHA_PER_PS * (double)(TARGET_PS - TARGET_PS / 2) * 50000 / cwnd;
		assert_near(cc.window_bytes, cwnd + (is_htsim ? step : 0), 2);
	}
}

static void htsim_grows_by_payloads(void **)
{
	for (uint32_t is_htsim = 0; is_htsim < 2; is_htsim++) {
		struct cc_config config = usual();
		config.payload_bytes = 4086;
		config.growth_rule = is_htsim ? CC_RULE_HTSIM : CC_RULE_SPEC;
		struct cc cc = start(&config);
		lose(&cc, 200000);
		double cwnd = cc.window_bytes;
		ack(&cc, cc.window_bytes, TARGET_PS, false, RTT_PS);
		// 23,874 and 716 bytes are what htsim itself says of this network
		assert_near(cc.window_bytes, cwnd + (is_htsim ? 23874 + 716 : FI + ETA), 10);
	}
}

static void htsim_learns_the_base_round_trip_from_nacks_too(void **)
{
	for (uint32_t is_htsim = 0; is_htsim < 2; is_htsim++) {
		struct cc_config config = usual();
		config.nack_rtt_rule = is_htsim ? CC_RULE_HTSIM : CC_RULE_SPEC;
		struct cc cc = start(&config);
		struct cc_loss loss = {.bytes = MTU, .is_trim = true, .rtt_ps = RTT_PS / 2};
		cc.ops->on_loss(&cc, &loss, 1);
		// no delay was any: now half a round trip is 2/3 of the target
		lose(&cc, 200000);
		double cwnd = cc.window_bytes;
		cc.ops->on_ack(&cc,
			       &(struct cc_ack){.newly_bytes = cc.window_bytes,
						.rtt_ps = RTT_PS + TARGET_PS / 2},
			       RTT_PS);
		double right = is_htsim ? FI + ETA : ALPHA_PER_PS * (double)TARGET_PS / 2 + ETA;
		assert_near(cc.window_bytes, cwnd + right, 20);
	}
}

static void htsim_keeps_the_delay_threshold_of_quick_adapt_with_trimming(void **)
{
	ps_t end = RTT_PS + TARGET_PS;
	for (uint32_t is_htsim = 0; is_htsim < 2; is_htsim++) {
		struct cc_config config = usual();
		config.is_htsim = is_htsim;
		struct cc cc = start(&config);
		ack(&cc, MTU, 0, true, 0);
		ack(&cc, 5000, 4 * TARGET_PS + 1, false, end); // htsim: not yet over, needs later
		assert_true(cc.window_bytes > 200000);
		cc = start(&config);
		ack(&cc, MTU, 0, true, 0);
		ack(&cc, 5000, 4 * TARGET_PS + 1, false, end + 1);
		if (is_htsim)
			assert_int_equal(cc.window_bytes, 5000);
		else
			assert_true(cc.window_bytes > 200000);
	}
}

static void a_shorter_round_trip_shrinks_the_maximum(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	cc.ops->on_ack(&cc, &(struct cc_ack){.newly_bytes = MTU, .rtt_ps = RTT_PS / 2}, RTT_PS);
	assert_near(cc.window_bytes, 0.75 * BDP, 3);
}

static void an_ambiguous_round_trip_changes_nothing(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	lose(&cc, 100000);
	uint32_t cwnd = cc.window_bytes;
	cc.ops->on_ack(&cc, &(struct cc_ack){.newly_bytes = 90000, .rtt_ps = -1}, RTT_PS);
	assert_int_equal(cc.window_bytes, cwnd);
}
