// SPDX-License-Identifier: Apache-2.0
// What share of its lines a receiver grants: each rule by itself, with figures by hand.
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weft/cc/cc_throttle.h>

#define RTT (10 * PS_PER_US)

static struct throttle start(uint32_t trunk_ppb)
{
	struct throttle throttle;
	throttle_init(&throttle, RTT, trunk_ppb, rng_of(1, RNG_CREDIT, 0));
	return throttle;
}

enum sort { WHOLE, MARKED, TRIMMED, TRIMMED_LAST };

static void come(struct throttle *throttle, enum sort sort, uint32_t packets)
{
	for (uint32_t i = 0; i < packets; i++)
		throttle_data(throttle, sort == MARKED, sort >= TRIMMED, sort == TRIMMED_LAST,
			      throttle->step_at - 1);
}

// The share after the next step.
static double next(struct throttle *throttle)
{
	throttle_until(throttle, throttle->step_at);
	return throttle->share;
}

static void assert_near(double measured, double expected)
{
	if (fabs(measured - expected) > 1e-9)
		fail_msg("%.12f, expected %.12f", measured, expected);
}

static void a_step_comes_after_one_and_a_half_round_trips_more_or_less(void **)
{
	struct throttle throttle = start(250000000);
	ps_t last = 0, least = PS_NEVER, most = 0, sum = 0;
	enum { STEPS = 4000 };
	for (int i = 0; i < STEPS; i++) {
		ps_t gap = throttle.step_at - last;
		least = gap < least ? gap : least;
		most = gap > most ? gap : most;
		sum += gap;
		last = throttle.step_at;
		come(&throttle, TRIMMED, 1); // so that it has something to do
		next(&throttle);
	}
	assert_in_range(least, RTT * 9 / 8, RTT * 9 / 8 + RTT / 100);
	assert_in_range(most, RTT * 15 / 8 - RTT / 100, RTT * 15 / 8 + 1);
	assert_in_range(sum / STEPS, RTT * 149 / 100, RTT * 151 / 100);
}

static void trims_on_the_way_take_their_part_of_all_that_came(void **)
{
	struct throttle throttle = start(250000000);
	come(&throttle, WHOLE, 85);
	come(&throttle, TRIMMED, 10);
	come(&throttle, TRIMMED_LAST, 5);
	assert_near(next(&throttle), 0.9);
	come(&throttle, WHOLE, 96);
	come(&throttle, TRIMMED, 4);
	assert_near(next(&throttle), 0.86); // what came in the last step is forgotten
}

static void trims_at_the_last_hop_are_the_credits_business(void **)
{
	struct throttle throttle = start(250000000);
	come(&throttle, TRIMMED_LAST, 50);
	assert_near(next(&throttle), 1);
}

// Marks count among whole packets: 0.78 twice, averaged 0.39 and 0.585 with the target at 0.3.
static void marks_above_the_target_lower_it_by_half_of_what_is_above(void **)
{
	struct throttle throttle = start(250000000);
	come(&throttle, MARKED, 39);
	come(&throttle, WHOLE, 11);
	come(&throttle, TRIMMED_LAST, 50);
	assert_near(next(&throttle), 1 - 0.5 * 0.09);
	come(&throttle, MARKED, 39);
	come(&throttle, WHOLE, 11);
	assert_near(next(&throttle), 0.955 * (1 - 0.5 * 0.285));
	come(&throttle, WHOLE, 10); // 0.2925 in the average
	assert_near(next(&throttle), 0.955 * 0.8575 + 0.01);
}

static void steps_up_double_while_nothing_is_marked(void **)
{
	struct throttle throttle = start(250000000);
	come(&throttle, WHOLE, 50);
	come(&throttle, TRIMMED, 50);
	assert_near(next(&throttle), 0.5);
	come(&throttle, WHOLE, 10);
	assert_near(next(&throttle), 0.51);
	come(&throttle, WHOLE, 9);
	come(&throttle, MARKED, 1); // few marks: a small step, and the next one is larger still
	assert_near(next(&throttle), 0.52);
	come(&throttle, WHOLE, 10);
	assert_near(next(&throttle), 0.56);
	come(&throttle, WHOLE, 10);
	assert_near(next(&throttle), 0.64);
	come(&throttle, WHOLE, 99);
	come(&throttle, TRIMMED, 1);
	assert_near(next(&throttle), 0.63);
	come(&throttle, WHOLE, 10);
	assert_near(next(&throttle), 0.64); // begins anew
}

static void the_least_share_is_nine_tenths_of_the_trunks(void **)
{
	static const struct {
		uint32_t trunk_ppb;
		double least;
	} cases[] = {
		{250000000, 0.225}, {125000000, 0.1125}, {1000000, 0.01}, {THROTTLE_ALL, 0.01}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct throttle throttle = start(cases[i].trunk_ppb);
		come(&throttle, TRIMMED, 10);
		assert_near(next(&throttle), cases[i].least);
		come(&throttle, WHOLE, 10);
		assert_near(next(&throttle), cases[i].least + 0.01);
	}
}

static void it_never_grants_more_than_the_lines(void **)
{
	struct throttle throttle = start(250000000);
	for (int i = 0; i < 100; i++) {
		come(&throttle, WHOLE, 1);
		assert_near(next(&throttle), 1);
	}
}

// Seven or eight steps up undo the lowest share; then a silence costs no time, however long.
static void a_long_silence_undoes_all(void **)
{
	struct throttle throttle = start(250000000);
	come(&throttle, MARKED, 50);
	come(&throttle, TRIMMED, 50);
	next(&throttle);
	ps_t from = throttle.step_at, later = from + 3600 * (ps_t)PS_PER_S;
	throttle_until(&throttle, from + 20 * RTT);
	assert_near(throttle.share, 1);
	throttle_until(&throttle, later);
	assert_near(throttle.share, 1);
	assert_in_range(throttle.step_at - later, 1, 2 * RTT);
	come(&throttle, MARKED, 10);
	assert_near(next(&throttle), 1 - 0.5 * 0.2); // nothing is left in the average
}

static void a_receiver_waits_as_long_as_the_share_makes_it(void **)
{
	struct throttle throttle = start(250000000);
	assert_int_equal(throttle_ps(&throttle, 1000, 1), 1000);
	come(&throttle, WHOLE, 50);
	come(&throttle, TRIMMED, 50);
	assert_int_equal(throttle_ps(&throttle, 1000, throttle.step_at - 1), 1000);
	assert_int_equal(throttle_ps(&throttle, 1000, throttle.step_at), 2000);
}
