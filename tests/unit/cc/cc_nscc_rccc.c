// SPDX-License-Identifier: Apache-2.0
// NSCC and credits together: the narrower of the two rules, each moves by its own rules, and trims
// at the last hop are the credits' business: by the specification alone (UEC 1.0 section 3.6.13, as
// public readings tell it), while uet-htsim's quick adapt hears of them.
#include "cc_rig.h"

#include <weft/core/rng.h>

#define WINDOW 262930u // 1.5 BDP

struct pair {
	struct cc cc;
	uint64_t receiver[CC_RECEIVER_WORDS];
};

static struct pair open_pair(const struct cc_config *config)
{
	struct pair pair = {.cc = {.ops = cc_find("nscc_rccc"), .credit_bytes = UINT32_MAX}};
	pair.cc.ops->init(&pair.cc, config, 0);
	pair.cc.ops->receiver_init(pair.receiver, config);
	assert_true(pair.cc.ops->has_credit && !pair.cc.ops->has_rate);
	assert_in_range(pair.cc.window_bytes, WINDOW - 10, WINDOW + 10);
	assert_int_equal(pair.cc.credit_bytes, pair.cc.window_bytes);
	assert_true(pair.cc.wake_at == PS_NEVER);
	return pair;
}

static void trim(struct cc *cc, bool is_last_hop, ps_t now)
{
	cc->ops->on_loss(cc,
			 &(struct cc_loss){.bytes = MTU,
					   .inflight_bytes = 10 * MTU,
					   .is_trim = true,
					   .is_last_hop = is_last_hop},
			 now);
}

// What NSCC's window is, credits apart.
static uint32_t nscc_of(struct cc *cc)
{
	uint32_t credit_bytes = cc->credit_bytes;
	cc->ops->on_credit(cc, WINDOW, 0);
	uint32_t window_bytes = cc->window_bytes;
	cc->credit_bytes = credit_bytes;
	cc->ops->on_credit(cc, 0, 0);
	return window_bytes;
}

static void the_narrower_one_rules(void **)
{
	struct cc_config config = usual();
	struct pair pair = open_pair(&config);
	struct cc *cc = &pair.cc;
	uint32_t window = cc->window_bytes;
	ack(cc, 10 * MTU, TARGET_PS / 2, false, 1); // spends credit, and NSCC would grow
	assert_int_equal(cc->credit_bytes, window - 10 * MTU);
	assert_int_equal(cc->window_bytes, window - 10 * MTU);
	assert_int_equal(nscc_of(cc), window);
	cc->ops->on_credit(cc, 10 * MTU, 2);
	assert_int_equal(cc->window_bytes, window);
	pair = open_pair(&config);
	ack(cc, MTU, 3 * TARGET_PS, true, 1); // a long queue: NSCC halves
	cc->ops->on_credit(cc, 40 * MTU, RTT_PS);
	assert_near(cc->window_bytes, window / 2.0, 100);
	assert_int_equal(cc->credit_bytes, window + 39 * MTU);
}

static void a_loss_on_the_way_costs_no_credit(void **)
{
	struct cc_config config = usual();
	struct pair pair = open_pair(&config);
	uint32_t window = pair.cc.window_bytes;
	lose(&pair.cc, MTU);
	assert_int_equal(pair.cc.credit_bytes, window);
	assert_int_equal(pair.cc.window_bytes, window - MTU);
}

static void a_trim_in_the_core_costs_both(void **)
{
	struct cc_config config = usual();
	struct pair pair = open_pair(&config);
	uint32_t window = pair.cc.window_bytes;
	trim(&pair.cc, false, 1);
	assert_int_equal(pair.cc.credit_bytes, window - MTU);
	assert_int_equal(nscc_of(&pair.cc), window - MTU);
}

// A period with little achieved and trims in it ends: quick adapt cuts to what was achieved, or
// not.
static uint32_t after_a_bad_period(struct cc_config config, bool is_last_hop)
{
	struct pair pair = open_pair(&config);
	struct cc *cc = &pair.cc;
	ps_t period = RTT_PS + TARGET_PS;
	ack(cc, MTU, 0, false, 1); // the first period begins
	ack(cc, 2 * MTU, 0, false, 2);
	trim(cc, is_last_hop, 3);
	trim(cc, is_last_hop, 4 + period);
	return nscc_of(cc);
}

static void a_trim_at_the_last_hop_is_the_credits_business(void **)
{
	struct cc_config config = usual();
	assert_in_range(after_a_bad_period(config, true), WINDOW - 10, WINDOW + 10);
	assert_int_equal(after_a_bad_period(config, false), 2 * MTU);
	config.last_hop_rule = CC_RULE_HTSIM;
	assert_int_equal(after_a_bad_period(config, true), 2 * MTU);
	config.is_htsim = true;
	config.last_hop_rule = CC_RULE_AUTO;
	assert_int_equal(after_a_bad_period(config, true), 2 * MTU);
	config.last_hop_rule = CC_RULE_SPEC;
	assert_in_range(after_a_bad_period(config, true), WINDOW - 10, WINDOW + 10);
	config.last_hop_rule = CC_RULE_HTSIM; // its size stays all the same
	config.disable_qa = true;
	assert_in_range(after_a_bad_period(config, true), WINDOW - 10, WINDOW + 10);
	assert_in_range(after_a_bad_period(config, false), WINDOW - 2 * MTU - 10,
			WINDOW - 2 * MTU + 10);
}

static void without_credits_the_last_hop_counts_like_any_other(void **)
{
	for (int rule = CC_RULE_AUTO; rule <= CC_RULE_HTSIM; rule++) {
		struct cc_config config = usual();
		config.last_hop_rule = (enum cc_rule)rule;
		struct cc cc = start(&config);
		uint32_t window = cc.window_bytes;
		trim(&cc, true, 1);
		assert_int_equal(cc.window_bytes, window - MTU);
	}
}

static void without_credit_for_a_packet_it_waits_for_a_millisecond(void **)
{
	struct cc_config config = usual();
	struct pair pair = open_pair(&config);
	struct cc *cc = &pair.cc;
	ack(cc, cc->window_bytes - 1, 0, false, 7);
	assert_true(cc->wake_at == PS_PER_MS + 7);
	cc->ops->on_time(cc, cc->wake_at);
	assert_true(cc->wake_at == PS_NEVER);
	assert_int_equal(cc->window_bytes, MTU + 1);
	cc->ops->on_credit(cc, 3 * MTU, 9); // pays for one
	assert_int_equal(cc->window_bytes, 3 * MTU + 1);
}

static void the_receiver_grants_and_asks_for_its_penalty(void **)
{
	struct cc_config config = usual();
	config.penalty = 33;
	struct pair pair = open_pair(&config);
	const struct cc_ops *ops = pair.cc.ops;
	assert_int_equal(ops->receiver_on_data(pair.receiver, MTU, false, false, 1), 33);
	assert_int_equal(ops->receiver_on_data(pair.receiver, 64, false, true, 1), 33);
	assert_int_equal(ops->receiver_grant(pair.receiver, 0), 2 * MTU);
	assert_int_equal(ops->receiver_grant(pair.receiver, 0), 0);
}

// Whatever NSCC does, what may be in flight by credits, and what is owed, is the first window and
// what came and was not told of.
static void credit_is_conserved(void **)
{
	struct cc_config config = usual();
	struct pair pair = open_pair(&config);
	struct cc *cc = &pair.cc;
	struct rng rng = rng_of(7, RNG_TEST, 0);
	uint32_t first = cc->credit_bytes, inflight = 0, owed = 0, untold = 0;
	for (int step = 0; step < 50000; step++) {
		uint32_t what = rng_below(&rng, 4);
		bool is_trimmed = rng_below(&rng, 9) == 0;
		ps_t delay_ps = (ps_t)rng_below(&rng, 20) * PS_PER_US, now = step * PS_PER_US;
		if (what == 0 && inflight + MTU <= cc->window_bytes) {
			inflight += MTU;
		} else if (what == 1 && inflight > untold && untold < first / 2) {
			cc->ops->receiver_on_data(pair.receiver, is_trimmed ? 64 : MTU, false,
						  is_trimmed, now);
			owed += MTU;
			untold += MTU;
		} else if (what == 2 && untold > 0) {
			inflight -= MTU;
			untold -= MTU;
			if (is_trimmed)
				trim(cc, delay_ps > 5 * PS_PER_US, now);
			else
				ack(cc, MTU, delay_ps, delay_ps > 9 * PS_PER_US, now);
		} else if (what == 3) {
			uint32_t bytes = cc->ops->receiver_grant(pair.receiver, 0);
			owed -= bytes;
			cc->ops->on_credit(cc, bytes, now);
		}
		assert_int_equal(cc->credit_bytes + owed, first + untold);
		assert_true(cc->window_bytes <= cc->credit_bytes && cc->window_bytes <= first);
	}
}
