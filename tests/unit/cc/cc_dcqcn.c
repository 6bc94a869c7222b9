// SPDX-License-Identifier: Apache-2.0
// DCQCN's reaction point against the rules of its paper (Zhu et al., SIGCOMM 2015), worked out here
// by hand: what n notifications leave, how alpha decays, the three stages of increase, and how two
// flows come together.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/cc/cc.h>

#define LINE 100e9
#define G (1.0 / 256)
#define T_PS (55 * PS_PER_US) // both timers
#define CNP_PS (50 * PS_PER_US)
#define B_BYTES 10000000u
#define AI (LINE / 1000)
#define HAI (LINE / 100)

static struct cc_config usual(void)
{
	return (struct cc_config){.name = "dcqcn",
				  .rate_bps = (uint64_t)LINE,
				  .base_rtt_ps = 10 * PS_PER_US,
				  .mtu_bytes = 4000};
}

static struct cc start(const struct cc_config *config)
{
	struct cc cc = {.ops = cc_find("dcqcn")};
	cc.ops->init(&cc, config, 0);
	return cc;
}

static struct cc start_usual(void)
{
	struct cc_config config = usual();
	return start(&config);
}

static void assert_near(double value, double expected, double off)
{
	if (fabs(value - expected) > off)
		fail_msg("%f is not within %f of %f", value, off, expected);
}

// The timer rings `count` times, each at its time; returns when it rang last.
static ps_t ring(struct cc *cc, int count)
{
	ps_t now = 0;
	for (int i = 0; i < count; i++) {
		assert_true(cc->wake_at != PS_NEVER);
		now = cc->wake_at;
		cc->ops->on_time(cc, now);
	}
	return now;
}

static void it_starts_at_the_line_without_window_or_timer(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	assert_true(cc.rate_bps == (uint64_t)LINE && cc.window_bytes == UINT32_MAX);
	assert_true(cc.wake_at == PS_NEVER && cc.ops->has_rate);
	config.max_cwnd_bytes = 123456;
	assert_int_equal(start(&config).window_bytes, 123456);
}

static void each_of_n_notifications_halves_while_alpha_is_1(void **)
{
	struct cc cc = start_usual();
	for (int n = 1; n <= 9; n++) { // 50 us apart: alpha has no time to decay
		cc.ops->on_cnp(&cc, n * CNP_PS);
		assert_near((double)cc.rate_bps, LINE / (1 << n), 1);
		assert_true(cc.wake_at == n * CNP_PS + T_PS);
	}
	cc.ops->on_cnp(&cc, 10 * CNP_PS);
	assert_near((double)cc.rate_bps, AI, 1); // no less than that
}

// n notifications, each `periods` alpha timers after the last: alpha before the next is
// f (alpha (1 - g) + g) with f = (1 - g)^periods. The rate does not increase meanwhile.
static void alpha_decays_by_the_formula_between_notifications(void **)
{
	struct cc_config config = usual();
	config.rate_timer_ps = PS_PER_S;
	config.rate_min_bps = 1000000;
	for (int periods = 0; periods <= 40; periods += 8) {
		struct cc cc = start(&config);
		double rate = LINE, alpha = 1, decay = pow(1 - G, periods);
		ps_t now = 0;
		for (int n = 0; n < 12; n++) {
			cc.ops->on_cnp(&cc, now);
			rate *= 1 - alpha / 2;
			alpha = decay * (alpha * (1 - G) + G);
			assert_near((double)cc.rate_bps, rate, 1 + 1e-9 * rate);
			now += periods * T_PS + CNP_PS;
		}
	}
}

static void a_notification_at_the_end_of_a_period_comes_first(void **)
{
	for (int late = 0; late < 2; late++) {
		struct cc cc = start_usual();
		cc.ops->on_cnp(&cc, 0);
		cc.ops->on_cnp(&cc, T_PS + late);
		double alpha = late ? 1 - G : 1;
		assert_near((double)cc.rate_bps, LINE / 2 * (1 - alpha / 2), 1);
	}
}

static void fast_recovery_goes_half_of_the_way_back_f_times(void **)
{
	struct cc cc = start_usual();
	cc.ops->on_cnp(&cc, 0);
	cc.ops->on_cnp(&cc, CNP_PS); // aims at half of the line
	double rate = LINE / 4;
	for (int n = 1; n <= 5; n++) {
		assert_true(ring(&cc, 1) == CNP_PS + n * T_PS);
		rate = (rate + LINE / 2) / 2;
		assert_near((double)cc.rate_bps, rate, 1);
	}
	ring(&cc, 1); // additive: the rate aimed at grows, too
	assert_near((double)cc.rate_bps, (rate + LINE / 2 + AI) / 2, 1);
	assert_near(LINE / 2 - rate, LINE / 4 / 32, 1);
}

static void bytes_increase_as_time_does(void **)
{
	struct cc by_bytes = start_usual(), by_time = start_usual();
	by_bytes.ops->on_cnp(&by_bytes, 0);
	by_time.ops->on_cnp(&by_time, 0);
	for (int n = 0; n < 20; n++) {
		uint64_t before = by_bytes.rate_bps;
		by_bytes.ops->on_sent(&by_bytes, B_BYTES - 1, 1);
		assert_true(by_bytes.rate_bps == before);
		by_bytes.ops->on_sent(&by_bytes, 1, 1);
		ring(&by_time, 1);
		assert_true(by_bytes.rate_bps == by_time.rate_bps);
	}
	by_bytes.ops->on_sent(&by_bytes, B_BYTES - 1, 1);
	by_bytes.ops->on_cnp(&by_bytes, CNP_PS); // counting begins anew
	uint64_t cut = by_bytes.rate_bps;
	by_bytes.ops->on_sent(&by_bytes, B_BYTES - 1, CNP_PS);
	assert_true(by_bytes.rate_bps == cut);
}

static void more_than_f_by_both_is_hyper_increase(void **)
{
	struct cc cc = start_usual();
	for (int n = 0; n < 3; n++)
		cc.ops->on_cnp(&cc, n * CNP_PS);
	ring(&cc, 6); // one of them is additive
	for (int n = 0; n < 5; n++)
		cc.ops->on_sent(&cc, B_BYTES, cc.wake_at); // and so are these
	double target = LINE / 4 + 6 * AI, before = (double)cc.rate_bps;
	cc.ops->on_sent(&cc, B_BYTES, cc.wake_at);
	assert_near((double)cc.rate_bps, (before + target + HAI) / 2, 2);
}

static void the_timer_ends_at_the_line(void **)
{
	struct cc cc = start_usual();
	cc.ops->on_cnp(&cc, 0);
	int rounds = 0;
	for (; cc.wake_at != PS_NEVER; rounds++)
		ring(&cc, 1);
	assert_true(cc.rate_bps >= (uint64_t)LINE - 1);
	assert_int_equal(rounds, 36); // 50e9 / 2^36 is below a bit per second
	cc.ops->on_sent(&cc, 10 * B_BYTES, PS_PER_S);
	assert_true(cc.rate_bps >= (uint64_t)LINE - 1 && cc.wake_at == PS_NEVER);
}

static void each_parameter_is_heard(void **)
{
	struct cc_config config = usual();
	config.gain_ppb = 500000000;
	config.alpha_timer_ps = 7 * PS_PER_US;
	config.rate_timer_ps = 9 * PS_PER_US;
	config.rate_bytes = 1000;
	config.recovery_rounds = 1;
	config.rate_ai_bps = 3000000000;
	config.rate_hai_bps = 8000000000;
	config.rate_min_bps = 10000000000;
	struct cc cc = start(&config);
	cc.ops->on_cnp(&cc, 0);		    // to 50 Gb/s
	cc.ops->on_cnp(&cc, 8 * PS_PER_US); // alpha 1/2: to 37.5 of 50
	assert_near((double)cc.rate_bps, 37.5e9, 1);
	assert_true(cc.wake_at == 17 * PS_PER_US);
	ring(&cc, 1);
	assert_near((double)cc.rate_bps, 43.75e9, 1); // recovery
	cc.ops->on_sent(&cc, 1000, 0);
	assert_near((double)cc.rate_bps, 46.875e9, 1); // recovery
	ring(&cc, 1);
	assert_near((double)cc.rate_bps, (46.875e9 + 53e9) / 2, 1); // additive
	cc.ops->on_sent(&cc, 1000, 0);
	assert_near((double)cc.rate_bps, ((46.875e9 + 53e9) / 2 + 61e9) / 2, 1); // hyper
	for (int n = 0; n < 9; n++)
		cc.ops->on_cnp(&cc, 20 * PS_PER_US + n);
	assert_true(cc.rate_bps == 10000000000);
}

// Two flows that get the same notifications: a cut multiplies their difference, recovery gives all
// of it but alpha / 2^(j + 1) back after j increases, and what is added is the same for both. So
// each cycle takes the factor 1 - alpha / 2^(j + 1), whatever else happens.
static void two_flows_come_together_by_the_closed_form(void **)
{
	enum { CYCLES = 400 };
	for (int increases = 0; increases <= 4; increases += 2) {
		struct cc_config config = usual();
		config.rate_min_bps = 1000000;
		config.rate_ai_bps = 1000000; // recovery alone
		struct cc high = start(&config);
		config.rate_bps /= 8;
		struct cc low = start(&config);
		double alpha = 1, gap = LINE - LINE / 8;
		int cycle = 0;
		for (ps_t now = 0; cycle < CYCLES && gap > 2e7; cycle++) {
			high.ops->on_cnp(&high, now);
			low.ops->on_cnp(&low, now);
			gap *= 1 - alpha / (2 << increases);
			for (int i = 0; i < increases; i++) {
				ring(&high, 1);
				ring(&low, 1);
			}
			now += increases * T_PS + PS_PER_US;
			alpha = pow(1 - G, increases) * (alpha * (1 - G) + G);
			assert_near((double)high.rate_bps - (double)low.rate_bps, gap,
				    2 + 1e-6 * gap);
		}
		assert_true(cycle > 10);
	}
}

// It learns from marks alone: a fabric without them cannot run it.
static void it_needs_marks(void **)
{
	assert_true(cc_find("dcqcn")->needs_marks);
	assert_true(cc_find("nscc")->needs_marks);
	assert_false(cc_find("fixed")->needs_marks);
}
