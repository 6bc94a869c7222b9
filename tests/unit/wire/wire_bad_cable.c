// SPDX-License-Identifier: Apache-2.0
// What a bad cable does to a frame is found by whoever gets it, and by nobody before.

#include "wire_rig.h"

static uint8_t frame[FRAME_MAX];

static enum wire_reason in_switch(struct wire_config config, size_t bytes, struct packet *ret,
				  struct wire_view *ret_view)
{
	config.icrc_unchecked = true;
	return wire_parse(&config, frame, bytes, ret, ret_view);
}

static void the_nic_behind_a_bad_cable_takes_nothing(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	uint32_t reasons[WIRE_REASON_COUNT] = {0};
	for (int i = 0; i < 40000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view, seen;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(in_switch(config, bytes, &back, &seen), WIRE_FINE);
		wire_damage(frame, &seen, true, rng_next(&rng));
		enum wire_reason reason = parse_exact(&config, frame, bytes, &back, &seen);
		assert_int_not_equal(reason, WIRE_FINE);
		if (packet.flags & PACKET_TRIMMED)
			assert_int_equal(reason, WIRE_BAD_VERSION);
		reasons[reason]++;
	}
	assert_true(reasons[WIRE_BAD_ICRC] > 1000 && reasons[WIRE_BAD_VERSION] > 1000);
	assert_true(reasons[WIRE_BAD_LENGTH] > 10 && reasons[WIRE_NOT_MRC] > 10);
	assert_true(reasons[WIRE_UNKNOWN_OPCODE] > 10 && reasons[WIRE_FOREIGN_ADDRESS] > 10);
}

static void switches_send_a_damaged_frame_on_as_it_was(void **)
{
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct packet before, after;
		struct wire_view view, seen;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(in_switch(config, bytes, &before, &seen), WIRE_FINE);
		wire_damage(frame, &seen, false, rng_next(&rng));
		enum wire_reason reason = in_switch(config, bytes, &after, &seen);
		if (packet.flags & PACKET_TRIMMED) {
			assert_int_equal(reason, WIRE_BAD_VERSION);
			continue;
		}
		assert_int_equal(reason, WIRE_FINE);
		assert_memory_equal(&after, &before, sizeof(before));
		assert_int_equal(wire_parse(&config, frame, bytes, &after, &seen), WIRE_BAD_ICRC);
	}
}

// The same dice on each cable of a long way: nothing that one flips is flipped back by another.
static void damage_does_not_mend_damage(void **)
{
	struct rng rng = rng_of(4, RNG_TEST, 0);
	for (int i = 0; i < 5000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, PACKET_SACK), back;
		struct wire_view view, seen;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		uint64_t dice = rng_next(&rng);
		assert_int_equal(in_switch(config, bytes, &back, &seen), WIRE_FINE);
		for (int cable = 0; cable < 17; cable++) {
			wire_damage(frame, &seen, false, dice);
			assert_int_not_equal(wire_parse(&config, frame, bytes, &back, &view),
					     WIRE_FINE);
		}
	}
}

static void a_trim_cuts_the_damage_away(void **)
{
	struct rng rng = rng_of(3, RNG_TEST, 0);
	uint32_t trims = 0;
	for (int i = 0; i < 5000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, PACKET_WRITE_MIDDLE), back;
		struct wire_view view, seen;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		if (packet.flags & PACKET_TRIMMED)
			continue;
		in_switch(config, bytes, &back, &seen);
		wire_damage(frame, &seen, false, rng_next(&rng));
		assert_int_equal(in_switch(config, bytes, &back, &seen), WIRE_FINE);
		back.flags |= PACKET_TRIMMED;
		bytes = wire_patch(&config, &back, frame, &seen);
		assert_int_equal(wire_parse(&config, frame, bytes, &back, &seen), WIRE_FINE);
		assert_int_equal(back.psn, packet.psn);
		assert_int_equal(back.u.data.va, packet.u.data.va);
		trims++;
	}
	assert_true(trims > 1000);
}
