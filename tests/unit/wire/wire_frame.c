// SPDX-License-Identifier: Apache-2.0
// Frames there and back: what is built is parsed as it was, and what is parsed is built as it was.
// What a switch may change changes, and nothing else.

#include "wire_rig.h"

static uint8_t frame[FRAME_MAX], again[FRAME_MAX];

static void a_packet_comes_back_as_it_was_and_so_do_its_bytes(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (size_t kind = 0; kind < OPCODES; kind++)
		for (int i = 0; i < 10000; i++) {
			struct wire_config config = random_config(&rng);
			struct packet packet = random_packet(&rng, &config, opcodes[kind]), back;
			struct wire_view built, view, third;
			size_t bytes = random_frame(&rng, &config, &packet, frame, &built);
			assert_int_equal(wire_parse(&config, frame, bytes, &back, &view),
					 WIRE_FINE);
			assert_memory_equal(&back, &packet, sizeof(packet));
			assert_int_equal(view.payload_bytes, packet.payload_bytes);
			assert_int_equal(view.headers, built.headers);
			memset(again, 0x5a, bytes);
			assert_int_equal(wire_build(&config, &back, again, bytes, &third), bytes);
			memcpy(again + third.payload_at, frame + view.payload_at,
			       view.payload_bytes);
			wire_seal(again, &third);
			assert_memory_equal(again, frame, bytes);
		}
}

static void the_icrc_is_the_one_of_its_definition(void **)
{
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 2000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct wire_view view;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		if (packet.flags & PACKET_TRIMMED)
			continue;
		uint32_t crc = icrc_of(frame, bytes - 4);
		uint8_t low_first[4] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16),
					(uint8_t)(crc >> 24)};
		assert_memory_equal(frame + bytes - 4, low_first, 4);
	}
}

// Offsets from the frame's start that a switch may write, lengths apart.
static bool is_a_switchs(const struct wire_view *view, size_t at)
{
	if (view->has_srv6) // as of IPv6; the destination; segments left
		return at == 14 || at == 15 || at == 21 || (at >= 38 && at < 54) ||
			(view->has_srh && at == 57);
	if (view->ip_version == 4)
		return at == 15 || at == 22 || at == 24 || at == 25; // class, TTL, checksum
	return at == 14 || at == 15 || at == 21; // two halves of the class; hop limit
}

static void a_switch_marks_and_counts_hops_and_the_icrc_stays_good(void **)
{
	struct rng rng = rng_of(3, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(wire_parse(&config, frame, bytes, &back, &view), WIRE_FINE);
		memcpy(again, frame, bytes);
		back.hop = (uint8_t)rng_below(&rng, 65);
		if (rng_below(&rng, 2))
			back.flags |= PACKET_ECT | PACKET_CE;
		assert_int_equal(wire_patch(&config, &back, frame, &view), bytes);
		for (size_t at = 0; at < bytes; at++)
			assert_true(frame[at] == again[at] || is_a_switchs(&view, at));
		assert_int_equal(wire_parse(&config, frame, bytes, &packet, &view), WIRE_FINE);
		assert_memory_equal(&packet, &back, sizeof(packet));
	}
}

// Where the packet ends as its IP header has it.
static size_t said_by_ip(const uint8_t *at)
{
	if (at[14] >> 4 == 4)
		return 14u + (size_t)(at[16] << 8 | at[17]);
	return 54u + (size_t)(at[18] << 8 | at[19]);
}

static void a_trim_cuts_the_payload_and_says_so(void **)
{
	struct rng rng = rng_of(4, RNG_TEST, 0);
	static const uint16_t keeps[] = {0, 82, 128, 256}, keeps_srv6[] = {0, 146, 160, 256};
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % TRIMMABLES]), back;
		struct wire_view view, cut;
		if (packet.flags & PACKET_TRIMMED)
			continue;
		bool is_srv6 = config.entropy == WIRE_ENTROPY_SRV6;
		config.trim_frame_bytes = (is_srv6 ? keeps_srv6 : keeps)[rng_below(&rng, 4)];
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(wire_parse(&config, frame, bytes, &packet, &view), WIRE_FINE);
		packet.flags |= PACKET_TRIMMABLE | PACKET_TRIMMED;
		packet.flags |= rng_below(&rng, 2) ? PACKET_TRIMMED_LAST : 0;
		packet.klass = PACKET_CLASS_CONTROL;
		size_t left = wire_patch(&config, &packet, frame, &view);
		size_t said = config.trim_rewrites_lengths ? left : bytes;
		assert_int_equal(frame[view.udp_at + 4] << 8 | frame[view.udp_at + 5],
				 (is_srv6 ? bytes : said) - view.udp_at);
		assert_int_equal(said_by_ip(frame), said);
		size_t keep = config.trim_frame_bytes ? config.trim_frame_bytes : view.payload_at;
		assert_int_equal(left, keep < bytes ? keep : bytes);
		assert_int_equal(parse_exact(&config, frame, left, &back, &cut), WIRE_FINE);
		assert_int_equal(cut.icrc, WIRE_ICRC_ABSENT);
		assert_int_equal(cut.frame_bytes, left);
		packet.payload_bytes = 0;
		packet.wire_bytes = (uint16_t)(config.charged_trimmed_bytes
						       ? config.charged_trimmed_bytes
						       : left + WIRE_LINE_BYTES);
		forget_cut(&cut, &packet);
		assert_memory_equal(&back, &packet, sizeof(packet));
		if (config.trim_rewrites_lengths) { // padding behind it is not its payload
			memset(frame + left, 0, 60);
			assert_int_equal(wire_parse(&config, frame, left + 60, &back, &cut), 0);
			assert_int_equal(cut.frame_bytes, left);
		}
	}
}

static void what_follows_a_frame_is_not_part_of_it(void **)
{
	struct rng rng = rng_of(5, RNG_TEST, 0);
	for (int i = 0; i < 1000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		memset(frame + bytes, 0xee, 4); // an FCS, as some devices leave it
		assert_int_equal(wire_parse(&config, frame, bytes + 4, &back, &view), WIRE_FINE);
		assert_memory_equal(&packet, &back, sizeof(packet));
	}
}

static void the_line_carries_what_the_headers_sum_up_to(void **)
{
	struct wire_config config;
	wire_config_default(6, &config);
	config.has_tseth = false;
	struct packet packet = {.opcode = PACKET_WRITE_MIDDLE, .payload_bytes = 4096};
	// Ethernet, IPv6, UDP, BTH, METH, RETH, ICRC; FCS, preamble and gap
	assert_int_equal(wire_line_bytes(&config, &packet),
			 14 + 40 + 8 + 12 + 4 + 16 + 4096 + 4 + 4 + 20);
	packet = (struct packet){.opcode = PACKET_SACK};
	assert_int_equal(wire_frame_bytes(&config, &packet), 114);
	packet.opcode = PACKET_NACK;
	assert_int_equal(wire_frame_bytes(&config, &packet), 98);
	packet.opcode = PACKET_ACK;
	assert_int_equal(wire_frame_bytes(&config, &packet), 82);
	packet.opcode = PACKET_PROBE;
	assert_int_equal(wire_frame_bytes(&config, &packet), 94);
	packet.opcode = PACKET_ENDPOINT_REQUEST;
	assert_int_equal(wire_frame_bytes(&config, &packet), 94);
	packet.opcode = PACKET_ENDPOINT_RESPONSE;
	assert_int_equal(wire_frame_bytes(&config, &packet), 114);
	config.entropy = WIRE_ENTROPY_SRV6; // what a scenario charges by default
	packet = (struct packet){.opcode = PACKET_WRITE_MIDDLE, .payload_bytes = 4096};
	assert_int_equal(wire_line_bytes(&config, &packet), 162 + 4096);
	packet = (struct packet){.opcode = PACKET_SACK};
	assert_int_equal(wire_line_bytes(&config, &packet), 178);
}
