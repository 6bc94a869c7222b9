// SPDX-License-Identifier: Apache-2.0
// Entropy values that a program denies and allows at an adapter, seen in the frames that leave; and
// values made from fields, which lib/wire takes apart into the same fields again.
#include "adapter.h"

#include "adapter_rig.h"

#define EVS 32u
#define EV_FIRST 70000u

static uint32_t values[EVS];

static struct rig *open_rig(void)
{
	struct adapter_config config = rig_config();
	for (uint32_t i = 0; i < EVS; i++)
		values[i] = EV_FIRST + 7 * i;
	config.wire.entropy = WIRE_ENTROPY_STEV; // frames carry all 32 bits
	config.transport.ev_mode = EV_EXPLICIT;
	config.transport.ev_values = values;
	struct rig *rig = rig_open(&config, 2, 5);
	rig_prepare(rig, 300, 20000);
	return rig;
}

static enum ev_state state_of(const struct rig *rig, uint32_t qp, uint32_t ev)
{
	const struct rig_side *side = &rig->sides[0];
	enum ev_state state = EV_ASSUMED_BAD;
	assert_int_equal(adapter_ev_state(side->adapter, side->qpns[qp], ev, &state), 0);
	return state;
}

// How many frames with this value are on the way from side 0.
static uint32_t in_flight(const struct rig *rig, uint32_t ev)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < rig->flying; i++) {
		const struct flight *flight = &rig->flights[i];
		struct packet packet = rig_packet_of(rig, flight);
		count += flight->to == 1 && packet.ev == ev;
	}
	return count;
}

// The same over a time, in steps that are shorter than frames are on the way.
static uint32_t seen_until(struct rig *rig, uint32_t ev, ps_t until)
{
	uint32_t count = 0;
	while (rig->now < until) {
		rig_run(rig, rig->now + PS_PER_US / 2);
		count += in_flight(rig, ev);
	}
	return count;
}

static void a_denied_value_is_in_no_frame_until_it_is_allowed(void **state)
{
	(void)state;
	struct rig *rig = open_rig();
	struct adapter *adapter = rig->sides[0].adapter;
	uint32_t ev = values[9];
	assert_true(seen_until(rig, ev, 40 * PS_PER_US) > 0);
	assert_int_equal(state_of(rig, 0, ev), EV_GOOD);
	assert_int_equal(adapter_ev_deny(adapter, ev), 0);
	assert_int_equal(state_of(rig, 0, ev), EV_DENIED); // on each QP
	assert_int_equal(state_of(rig, 1, ev), EV_DENIED);
	assert_int_equal(state_of(rig, 0, values[8]), EV_GOOD);
	rig_run(rig, rig->now + 3 * PS_PER_US); // what was sent before arrives
	assert_int_equal(seen_until(rig, ev, rig->now + 60 * PS_PER_US), 0);
	assert_int_equal(adapter_ev_allow(adapter, ev), 0);
	assert_int_equal(state_of(rig, 1, ev), EV_GOOD);
	assert_true(seen_until(rig, ev, rig->now + 60 * PS_PER_US) > 0);
	rig_run(rig, 10 * PS_PER_S);
	rig_check_done(rig);
	rig_close(rig);
}

static void values_that_are_not_there_and_the_last_one_are_refused(void **state)
{
	(void)state;
	struct rig *rig = open_rig();
	struct adapter *adapter = rig->sides[0].adapter;
	enum ev_state told = EV_GOOD;
	assert_int_equal(adapter_ev_deny(adapter, EV_FIRST + 1), -ENOENT);
	assert_int_equal(adapter_ev_allow(adapter, EV_FIRST + 1), -ENOENT);
	assert_int_equal(adapter_ev_state(adapter, rig->sides[0].qpns[0], EV_FIRST + 1, &told),
			 -ENOENT);
	assert_int_equal(adapter_ev_state(adapter, ADAPTER_QPN_FIRST + RIG_QPS, values[0], &told),
			 -ENOENT);
	for (uint32_t i = 0; i + 1 < EVS; i++)
		assert_int_equal(adapter_ev_deny(adapter, values[i]), 0);
	assert_int_equal(adapter_ev_deny(adapter, values[EVS - 1]), -EBUSY);
	assert_int_equal(state_of(rig, 1, values[EVS - 1]), EV_GOOD);
	rig_close(rig);
}

// Of an adapter that draws its values inside fields of 8, 4 and 4 bits.
static void values_made_from_fields_expand_to_these_fields(void **state)
{
	(void)state;
	static const struct wire_ev_field fields[] = {
		{.mask = 0xff, .max = 17, .width = 8},
		{.init = 0xa00, .mask = 0xf, .max = 6, .width = 12},
		{.mask = 0xf0, .max = 9, .width = 8},
	};
	struct adapter_config config = rig_config();
	config.wire.entropy = WIRE_ENTROPY_STEV;
	config.transport.ev_mode = EV_GENERATED;
	config.transport.ev_field_count = 3;
	for (uint32_t i = 0; i < 3; i++)
		config.transport.ev_fields[i] = (struct ev_field){
			.bits = (uint32_t)__builtin_popcount(fields[i].mask), .max = fields[i].max};
	struct rig *rig = rig_open(&config, 1, 5);
	const struct endpoint *endpoint = rig->sides[0].adapter->endpoint;
	assert_int_equal(wire_ev_check(fields, 3, 4, &rig->refusal), 0);
	for (uint32_t i = 0, ev; i < EVS; i++) {
		assert_int_equal(endpoint_ev(endpoint, 0, i, &ev), 0);
		const uint8_t bytes[4] = {(uint8_t)(ev >> 24), (uint8_t)(ev >> 16),
					  (uint8_t)(ev >> 8), (uint8_t)ev};
		uint8_t out[4];
		assert_true(wire_ev_expand(fields, 3, bytes, 4, out)); // none above its maximum
		assert_int_equal(out[0], ev >> 24);
		assert_int_equal(out[1], 0xa0);
		assert_int_equal(out[2], ev >> 16 & 0xff); // each field's bits, side by side
		assert_int_equal(out[3], 0);
	}
	rig_close(rig);
}
