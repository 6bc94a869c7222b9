// SPDX-License-Identifier: Apache-2.0
// Which round trips NSCC takes for that of the empty network.
#include "cc_rig.h"

static void sample(struct cc *cc, ps_t rtt_ps, ps_t now)
{
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = MTU, .rtt_ps = rtt_ps}, now);
}

static ps_t base_rtt_of(const struct cc *cc, const struct cc_config *config, uint32_t *ret_max)
{
	struct cc_aims aims;
	cc->ops->aims(cc, config, &aims);
	*ret_max = aims.window_max;
	return aims.base_rtt_ps;
}

// One short round trip among long ones told wrong: it is no base for good.
static void a_round_trip_that_stands_alone_is_forgotten(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	uint32_t first = cc.window_bytes, most;
	sample(&cc, 0, RTT_PS);
	assert_true(base_rtt_of(&cc, &config, &most) == 0);
	assert_int_equal(cc.window_bytes, MTU);
	for (uint32_t i = 0; i < 100; i++)
		sample(&cc, RTT_PS * 3 / 2 - i % 7 * 1000, (2 + i) * RTT_PS);
	assert_near((double)base_rtt_of(&cc, &config, &most), RTT_PS, 8192);
	assert_in_range(most, first - 200, first);
	for (uint32_t i = 0; i < 2000; i++) // without a queue it grows back
		sample(&cc, RTT_PS, (200 + i) * RTT_PS);
	assert_in_range(cc.window_bytes, first - 200, first);
}

// One that others come near to is true, however long a queue stands later.
static void a_short_round_trip_that_comes_again_stays(void **)
{
	struct cc_config config = usual();
	struct cc cc = start(&config);
	uint32_t most;
	sample(&cc, RTT_PS / 5, RTT_PS);
	for (uint32_t i = 0; i < 40; i++)
		sample(&cc, RTT_PS * 2, (2 + i) * RTT_PS);
	sample(&cc, RTT_PS / 3, 50 * RTT_PS);
	for (uint32_t i = 0; i < 400; i++)
		sample(&cc, RTT_PS * 2, (60 + i) * RTT_PS);
	assert_true(base_rtt_of(&cc, &config, &most) == RTT_PS / 5);
	assert_near(most, 0.3 * BDP, 3);
}
