// SPDX-License-Identifier: Apache-2.0
// MPRDMA, the DCTCP-like rule and Swift against their rules, worked out here by hand.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/cc/cc.h>

#define MTU 4000u
#define RTT_PS (12 * PS_PER_US)
#define BDP 150000.0
#define WINDOW (1.5 * BDP)

static struct cc start(const char *name, uint32_t window)
{
	struct cc_config config = {.name = name,
				   .rate_bps = 100000000000u,
				   .base_rtt_ps = RTT_PS,
				   .mtu_bytes = MTU,
				   .has_trimming = true};
	struct cc cc = {.ops = cc_find(name)};
	cc.ops->init(&cc, &config, 0);
	assert_int_equal(cc.window_bytes, WINDOW);
	assert_true(cc.wake_at == PS_NEVER);
	if (window != 0)
		cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = (uint32_t)WINDOW - window}, 0);
	return cc;
}

static void ack(struct cc *cc, uint32_t bytes, ps_t delay_ps, bool is_marked, ps_t now)
{
	cc->ops->on_ack(cc,
			&(struct cc_ack){.newly_bytes = bytes,
					 .rtt_ps = delay_ps == -1 ? -1 : RTT_PS + delay_ps,
					 .is_marked = is_marked},
			now);
}

static void assert_near(double value, double expected, double off)
{
	if (fabs(value - expected) > off)
		fail_msg("%f is not within %f of %f", value, off, expected);
}

static void marks_take_a_quarter_or_a_third_of_what_they_cover(void **)
{
	static const struct {
		const char *name;
		uint32_t share;
	} cases[] = {{"mprdma", 4}, {"dctcp", 3}};
	for (int i = 0; i < 2; i++) {
		struct cc cc = start(cases[i].name, 100000);
		ack(&cc, 12000, 0, true, 1);
		assert_int_equal(cc.window_bytes, 100000 - 12000 / cases[i].share);
	}
}

static void a_window_without_marks_adds_a_packet(void **)
{
	struct cc cc = start("mprdma", 100000);
	for (int i = 0; i < 25; i++)
		ack(&cc, 4000, 50 * PS_PER_US, false, 1); // delay is nothing to it
	assert_near(cc.window_bytes, 100000 + MTU, 80); // a little less: the window grew meanwhile
}

static void losses_take_their_size_and_leave_one_packet(void **)
{
	static const char *const names[] = {"mprdma", "dctcp", "swift"};
	for (int i = 0; i < 3; i++) {
		struct cc cc = start(names[i], 100000);
		cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 1);
		assert_int_equal(cc.window_bytes, 100000 - MTU);
		cc.ops->on_loss(&cc, &(struct cc_loss){.bytes = 99999}, 2);
		assert_int_equal(cc.window_bytes, MTU);
		ack(&cc, UINT32_MAX / 2, 0, false, 3); // and never above the largest
		assert_int_equal(cc.window_bytes, WINDOW);
	}
}

// Swift's target above the base round trip for a window of so many packets.
static double swift_target_ps(double packets)
{
	double base = (double)RTT_PS / 2, range = 5 * base;
	double a = range / (1 / sqrt(0.1) - 1 / sqrt(100.0));
	double extra = a / sqrt(packets) - a / sqrt(100.0);
	return base + (extra < 0 ? 0 : extra > range ? range : extra);
}

static void swift_grows_by_a_packet_per_window_below_its_target(void **)
{
	double target = swift_target_ps(25);
	struct cc cc = start("swift", 100000);
	ack(&cc, 10000, (ps_t)target - 1000, true, RTT_PS); // marks are nothing to it
	assert_near(cc.window_bytes, 100000 + 10000.0 * MTU / 100000, 1);
	ack(&cc, 10000, -1, false, RTT_PS); // no sample: nothing is known
	assert_near(cc.window_bytes, 100400, 1);
}

static void swift_shrinks_by_the_excess_once_per_round_trip(void **)
{
	double target = swift_target_ps(25);
	ps_t delay = (ps_t)(target * 1.25);
	struct cc cc = start("swift", 100000);
	ack(&cc, MTU, delay, false, RTT_PS);
	double once = 100000 * (1 - 0.8 * (1.25 - 1) / 1.25);
	assert_near(cc.window_bytes, once, 2);
	ack(&cc, MTU, 9 * delay, false, 2 * RTT_PS); // within a round trip of that: not again
	assert_near(cc.window_bytes, once, 2);
	ack(&cc, MTU, 100 * delay, false, 400 * RTT_PS); // far above: no less than half
	assert_near(cc.window_bytes, once / 2, 2);
}

static void swift_aims_higher_with_a_small_window(void **)
{
	double small = swift_target_ps(2), large = swift_target_ps(50);
	assert_true(small > large);
	ps_t between = (ps_t)((small + large) / 2);
	struct cc cc = start("swift", 2 * MTU);
	ack(&cc, MTU, between, false, RTT_PS);
	assert_true(cc.window_bytes > 2 * MTU);
	cc = start("swift", 50 * MTU);
	ack(&cc, MTU, between, false, RTT_PS);
	assert_true(cc.window_bytes < 50 * MTU);
}

static void swift_forgets_a_round_trip_that_stands_alone(void **)
{
	double target = swift_target_ps(25);
	struct cc cc = start("swift", 100000);
	ack(&cc, MTU, -RTT_PS + 1000, false, 0);
	for (uint32_t i = 0; i < 100; i++)
		ack(&cc, MTU, (ps_t)target / 2, false, i * RTT_PS);
	uint32_t before = cc.window_bytes;
	ack(&cc, MTU, (ps_t)target / 2, false, 200 * RTT_PS); // below the target: it grows
	assert_true(cc.window_bytes > before);
}
