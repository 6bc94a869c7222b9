// SPDX-License-Identifier: Apache-2.0
// Credits of the receiver, both halves: what is owed, what a turn grants, and that no byte of
// credit is made or lost between the halves while none is lost on the way.
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/cc/cc.h>
#include <weft/core/rng.h>

#define MTU 4000u
#define WINDOW 225000u // 1.5 times 100 Gb/s for 12 us

struct pair {
	struct cc cc;
	uint64_t receiver[CC_RECEIVER_WORDS];
	uint32_t inflight;
};

static struct pair start(uint32_t quantum_bytes)
{
	struct cc_config config = {.name = "rccc",
				   .rate_bps = 100000000000u,
				   .base_rtt_ps = 12 * PS_PER_US,
				   .mtu_bytes = MTU,
				   .credit_quantum_bytes = quantum_bytes};
	struct pair pair = {.cc = {.ops = cc_find("rccc")}};
	pair.cc.ops->init(&pair.cc, &config, 0);
	pair.cc.ops->receiver_init(pair.receiver, &config);
	assert_true(pair.cc.ops->has_credit && !pair.cc.ops->has_rate);
	assert_int_equal(pair.cc.window_bytes, WINDOW);
	assert_true(pair.cc.wake_at == PS_NEVER);
	return pair;
}

static void arrive(struct pair *pair, uint32_t bytes, bool is_trimmed)
{
	assert_int_equal(pair->cc.ops->receiver_on_data(pair->receiver, bytes, true, is_trimmed, 1),
			 0);
}

static uint32_t grant(struct pair *pair)
{
	return pair->cc.ops->receiver_grant(pair->receiver, 0);
}

static void a_turn_grants_a_quantum_of_what_came(void **)
{
	struct pair pair = start(0);
	assert_int_equal(grant(&pair), 0);
	for (int i = 0; i < 9; i++)
		arrive(&pair, MTU, false);
	assert_int_equal(grant(&pair), 4 * MTU);
	assert_int_equal(grant(&pair), 4 * MTU);
	assert_int_equal(grant(&pair), MTU);
	assert_int_equal(grant(&pair), 0);
	pair = start(10000);
	arrive(&pair, MTU, false);
	arrive(&pair, MTU, false);
	arrive(&pair, 2500, false);
	assert_int_equal(grant(&pair), 10000);
	assert_int_equal(grant(&pair), 500);
}

// Told what waits, a first window may be granted that has not left: what was passed on the way has,
// but counts as half a window at most.
static void what_was_passed_on_the_way_makes_room(void **)
{
	struct pair pair = start(10 * WINDOW);
	pair.cc.ops->receiver_notified(pair.receiver, 100 * WINDOW, 0);
	assert_int_equal(pair.cc.ops->receiver_grant(pair.receiver, 0), WINDOW);
	assert_int_equal(pair.cc.ops->receiver_grant(pair.receiver, 0), 0);
	assert_int_equal(pair.cc.ops->receiver_grant(pair.receiver, 3 * MTU), 3 * MTU);
	assert_int_equal(pair.cc.ops->receiver_grant(pair.receiver, 3 * MTU), 0);
	for (int i = 0; i < 3; i++)
		arrive(&pair, MTU, false); // they came, and are not granted a second time
	assert_int_equal(pair.cc.ops->receiver_grant(pair.receiver, 0), 0);
	assert_int_equal(pair.cc.ops->receiver_grant(pair.receiver, 9 * WINDOW), WINDOW / 2);
}

static void a_trimmed_packet_is_owed_a_full_one(void **)
{
	struct pair pair = start(0);
	arrive(&pair, 64, true);
	assert_int_equal(grant(&pair), MTU);
}

static void what_is_acknowledged_or_trimmed_takes_its_credit_along(void **)
{
	struct pair pair = start(0);
	struct cc *cc = &pair.cc;
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = 5 * MTU, .rtt_ps = -1}, 1);
	assert_int_equal(cc->window_bytes, WINDOW - 5 * MTU);
	cc->ops->on_loss(cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 1);
	assert_int_equal(cc->window_bytes, WINDOW - 6 * MTU);
	cc->ops->on_loss(cc, &(struct cc_loss){.bytes = MTU}, 1); // never reached the receiver
	assert_int_equal(cc->window_bytes, WINDOW - 6 * MTU);
	cc->ops->on_credit(cc, 2 * MTU, 1);
	assert_int_equal(cc->window_bytes, WINDOW - 4 * MTU);
}

static void no_credit_makes_more_than_two_first_windows_or_less_than_none(void **)
{
	struct pair pair = start(0);
	struct cc *cc = &pair.cc;
	cc->ops->on_credit(cc, WINDOW, 1); // before all acknowledgements
	assert_int_equal(cc->window_bytes, 2 * WINDOW);
	cc->ops->on_credit(cc, 1, 1);
	assert_int_equal(cc->window_bytes, 2 * WINDOW);
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = UINT32_MAX, .rtt_ps = -1}, 1);
	assert_int_equal(cc->window_bytes, 0);
	cc->ops->on_credit(cc, UINT32_MAX, 1);
	assert_int_equal(cc->window_bytes, 2 * WINDOW);
}

// SACKs tell bytes in whole units, so a packet may be told of before all of its credit is there.
static void what_was_taken_too_much_is_paid_for(void **)
{
	struct pair pair = start(0);
	struct cc *cc = &pair.cc;
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = WINDOW - MTU + 86, .rtt_ps = -1}, 1);
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = MTU, .rtt_ps = -1}, 1);
	assert_int_equal(cc->window_bytes, 0);
	cc->ops->on_credit(cc, MTU, 2);
	assert_int_equal(cc->window_bytes, MTU - 86);
	cc->ops->on_credit(cc, MTU, 2);
	assert_int_equal(cc->window_bytes, 2 * MTU - 86);
}

static void without_credit_for_a_packet_it_waits_for_a_millisecond(void **)
{
	struct pair pair = start(0);
	struct cc *cc = &pair.cc;
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = WINDOW - MTU, .rtt_ps = -1}, 1);
	assert_true(cc->wake_at == PS_NEVER); // a packet is left
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = 1, .rtt_ps = -1}, 7);
	assert_true(cc->wake_at == PS_PER_MS + 7);
	cc->ops->on_credit(cc, 1, 8);
	assert_true(cc->wake_at == PS_NEVER);
	cc->ops->on_ack(cc, &(struct cc_ack){.newly_bytes = MTU, .rtt_ps = -1}, 9);
	assert_int_equal(cc->window_bytes, 0);
	cc->ops->on_time(cc, cc->wake_at);
	assert_int_equal(cc->window_bytes, MTU);
	assert_true(cc->wake_at == PS_NEVER);
	cc->ops->on_credit(cc, 3 * MTU, 10); // and the next credit pays for it
	assert_int_equal(cc->window_bytes, 3 * MTU);
}

// Packets leave while credit lasts, arrive whole or trimmed, are acknowledged or reported some time
// after, and credits come back, before that or behind it: what may be sent and what is owed is the
// first window and what arrived and was not told of, at all times.
static void credit_is_conserved(void **)
{
	struct pair pair = start(0);
	struct cc *cc = &pair.cc;
	struct rng rng = rng_of(7, RNG_TEST, 0);
	uint32_t owed = 0, untold = 0;
	for (int step = 0; step < 50000; step++) {
		uint32_t what = rng_below(&rng, 4);
		bool is_trimmed = rng_below(&rng, 5) == 0;
		if (what == 0 && pair.inflight + MTU <= cc->window_bytes) {
			pair.inflight += MTU;
		} else if (what == 1 && pair.inflight > untold && untold < WINDOW / 2) {
			arrive(&pair, is_trimmed ? 64 : MTU, is_trimmed);
			owed += MTU;
			untold += MTU;
		} else if (what == 2 && untold > 0) {
			pair.inflight -= MTU;
			untold -= MTU;
			if (is_trimmed)
				cc->ops->on_loss(
					cc, &(struct cc_loss){.bytes = MTU, .is_trim = true}, 1);
			else
				cc->ops->on_ack(
					cc, &(struct cc_ack){.newly_bytes = MTU, .rtt_ps = -1}, 1);
		} else if (what == 3) {
			uint32_t bytes = grant(&pair);
			owed -= bytes;
			if (bytes != 0)
				cc->ops->on_credit(cc, bytes, 1);
		}
		assert_int_equal(cc->window_bytes + owed, WINDOW + untold);
		assert_true(pair.inflight <= cc->window_bytes);
	}
}
