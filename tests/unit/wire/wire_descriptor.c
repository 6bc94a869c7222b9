// SPDX-License-Identifier: Apache-2.0
// A descriptor and its frame say the same thing on the whole way: what a switch changes in the one
// and wire_patch() in the other makes, built anew, the same bytes. So a frame need not travel with
// its descriptor. And what a switch leaves to others: the ICRC, and checksums of UDP.

#include "wire_rig.h"

static uint8_t frame[FRAME_MAX], again[FRAME_MAX];

// The payload that a packet of a message has, drawn together with the message.
static void random_message(struct rng *rng, uint16_t full, struct packet *packet)
{
	if (packet->opcode == PACKET_PROBE)
		return;
	uint32_t more = 1 + rng_below(rng, 1000);
	uint32_t last = 1 + rng_below(rng, full);
	packet->payload_bytes = full;
	packet->u.data.message_bytes = more * full + last;
	if (packet->opcode == PACKET_WRITE_LAST || packet->opcode == PACKET_WRITE_LAST_IMM)
		packet->payload_bytes = (uint16_t)last;
	if (packet->opcode == PACKET_WRITE_ONLY || packet->opcode == PACKET_WRITE_ONLY_IMM) {
		packet->payload_bytes = (uint16_t)(rng_below(rng, 8) == 0 ? 0 : last);
		packet->u.data.message_bytes = packet->payload_bytes;
	}
}

// A whole data packet that may be trimmed and has not left its NIC.
static struct packet random_data(struct rng *rng, const struct wire_config *config, uint16_t full)
{
	struct packet packet = random_packet(rng, config, opcodes[rng_below(rng, TRIMMABLES)]);
	packet.flags &= (uint8_t) ~(PACKET_TRIMMED | PACKET_TRIMMED_LAST | PACKET_CE);
	packet.flags |= PACKET_TRIMMABLE;
	packet.klass = PACKET_CLASS_DATA;
	packet.hop = 0;
	random_message(rng, full, &packet);
	packet.wire_bytes = (uint16_t)wire_line_bytes(config, &packet);
	return packet;
}

// A switch passes a packet on, and may mark it.
static void pass(struct rng *rng, struct packet *packet)
{
	packet->hop++;
	if ((packet->flags & PACKET_ECT) && rng_below(rng, 3) == 0)
		packet->flags |= PACKET_CE;
}

// A switch cuts a packet.
static void cut(struct rng *rng, const struct wire_config *config, struct packet *packet)
{
	packet->flags |= PACKET_TRIMMED;
	packet->flags |= rng_below(rng, 2) ? PACKET_TRIMMED_LAST : 0;
	packet->klass = PACKET_CLASS_CONTROL;
	packet->payload_bytes = 0;
	packet->wire_bytes = (uint16_t)wire_line_bytes(config, packet);
}

static struct wire_config config_of_switch(struct rng *rng)
{
	static const uint16_t fulls[] = {1, 3, 64, 1000, 1024, 4096, 9000};
	struct wire_config config = random_config(rng);
	config.full_payload_bytes = fulls[rng_below(rng, 7)];
	config.icrc_unchecked = rng_below(rng, 2);
	config.has_udp_checksum = rng_below(rng, 2);
	return config;
}

static void a_trimmed_frame_is_the_frame_of_the_trimmed_descriptor(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	uint32_t seen[2][2][2] = {0}; // IP version, lengths, marks
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = config_of_switch(&rng);
		struct packet packet = random_data(&rng, &config, config.full_payload_bytes), back;
		struct wire_view view, built;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		assert_memory_equal(&back, &packet, sizeof(packet));
		uint32_t hops = rng_below(&rng, 6), cut_at = rng_below(&rng, hops + 1);
		for (uint32_t hop = 0; hop <= hops; hop++) {
			if (hop == cut_at)
				cut(&rng, &config, &packet);
			pass(&rng, &packet);
			bytes = wire_patch(&config, &packet, frame, &view);
			assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), 0);
			assert_memory_equal(&back, &packet, sizeof(packet));
			if (hop < cut_at)
				continue;
			assert_int_equal(wire_frame_bytes(&config, &packet), bytes);
			memset(again, 0x5a, bytes);
			assert_int_equal(wire_build(&config, &packet, again, bytes, &built), bytes);
			wire_seal(again, &built);
			assert_memory_equal(again, frame, bytes);
			assert_int_equal(built.pad_bytes, view.pad_bytes);
			assert_int_equal(built.has_udp_checksum, view.has_udp_checksum);
		}
		seen[config.ip_version == 4][config.trim_rewrites_lengths]
		    [(packet.flags & PACKET_CE) != 0]++;
	}
	for (int kind = 0; kind < 8; kind++)
		assert_true(seen[kind >> 2][kind >> 1 & 1][kind & 1] > 500);
}

static void a_frame_on_its_way_is_the_frame_of_its_descriptor(void **)
{
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = config_of_switch(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view, built;
		packet.hop = 0;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		for (uint32_t hops = 1 + rng_below(&rng, 6); hops > 0; hops--) {
			pass(&rng, &packet);
			assert_int_equal(wire_patch(&config, &packet, frame, &view), bytes);
		}
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		assert_memory_equal(&back, &packet, sizeof(packet));
		assert_int_equal(wire_build(&config, &packet, again, bytes, &built), bytes);
		memcpy(again + built.payload_at, frame + view.payload_at, view.payload_bytes);
		wire_seal(again, &built);
		assert_memory_equal(again, frame, bytes);
	}
}

static void lengths_of_a_descriptor_are_those_before_the_cut_only_where_known(void **)
{
	struct wire_config config;
	struct wire_view view;
	struct packet packet = {.opcode = PACKET_WRITE_LAST,
				.flags = PACKET_TRIMMABLE | PACKET_TRIMMED};
	packet.u.data.message_bytes = 4096 * 3 + 101;
	wire_config_default(6, &config);
	config.trim_rewrites_lengths = false;
	size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
	assert_int_equal(frame[18] << 8 | frame[19], bytes - 54);
	config.full_payload_bytes = 4096;
	assert_int_equal(wire_build(&config, &packet, frame, sizeof(frame), &view), bytes);
	assert_int_equal(frame[18] << 8 | frame[19], bytes - 54 + 101 + 3 + 4);
	assert_int_equal(frame[58] << 8 | frame[59], bytes - 54 + 101 + 3 + 4);
	packet.u.data.message_bytes = 0; // the header that says it was cut off
	wire_build(&config, &packet, frame, sizeof(frame), &view);
	assert_int_equal(frame[18] << 8 | frame[19], bytes - 54 + 4);
	packet.opcode = PACKET_WRITE_ONLY; // it never carries more than a full payload
	packet.u.data.message_bytes = UINT32_MAX;
	wire_build(&config, &packet, frame, sizeof(frame), &view);
	assert_int_equal(frame[18] << 8 | frame[19], bytes - 54 + 4096 + 4);
}

static void a_full_payload_must_fit_in_a_packet(void **)
{
	static uint8_t large[65536];
	struct refusal refusal = {0};
	for (uint8_t version = 4; version <= 6; version += 2) {
		struct wire_config config;
		struct wire_view view;
		wire_config_default(version, &config);
		config.full_payload_bytes = UINT16_MAX;
		assert_int_not_equal(wire_config_check(&config, &refusal), 0);
		while (wire_config_check(&config, &refusal) != 0)
			config.full_payload_bytes--;
		assert_true(config.full_payload_bytes > 65000);
		struct packet packet = {.opcode = PACKET_WRITE_LAST_IMM, .hop = 1};
		packet.payload_bytes = config.full_payload_bytes;
		size_t bytes = wire_build(&config, &packet, large, sizeof(large), &view);
		assert_true(bytes + WIRE_LINE_BYTES <= UINT16_MAX);
		packet.payload_bytes = 4; // so the rest are headers; any size may want 3 more
		size_t headers = wire_build(&config, &packet, large, sizeof(large), &view) - 4;
		if (version == 6)
			assert_int_equal(config.full_payload_bytes,
					 UINT16_MAX - WIRE_LINE_BYTES - headers - 3);
	}
}

static void a_switch_does_not_look_at_the_icrc(void **)
{
	struct rng rng = rng_of(3, RNG_TEST, 0);
	for (int i = 0; i < 4000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		bool is_trimmed = packet.flags & PACKET_TRIMMED;
		if (!is_trimmed)
			frame[view.icrc_at] ^= 1;
		config.icrc_ignored = rng_below(&rng, 2);
		config.icrc_unchecked = true;
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		assert_memory_equal(&back, &packet, sizeof(packet));
		assert_int_equal(view.icrc, is_trimmed ? WIRE_ICRC_ABSENT : WIRE_ICRC_UNKNOWN);
		config.icrc_ignored = config.icrc_unchecked = false;
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view),
				 is_trimmed ? WIRE_FINE : WIRE_BAD_ICRC);
	}
}

// The sum of RFC 768 word by word over pseudo header, UDP header and what is above; 0xffff is good.
static uint32_t udp_sum(const uint8_t *at, size_t bytes)
{
	size_t ip_at = inner_of(at);
	bool is_v4 = at[ip_at] >> 4 == 4;
	size_t udp_at = ip_at + (is_v4 ? 20 : 40);
	uint32_t sum = 17 + (uint32_t)(bytes - udp_at);
	for (size_t i = ip_at + (is_v4 ? 12 : 8); i < bytes; i += 2) { // from the addresses on
		sum += (uint32_t)at[i] << 8 | (i + 1 < bytes ? at[i + 1] : 0);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return sum;
}

static void a_udp_checksum_is_good_on_the_whole_way_and_gone_after_a_trim(void **)
{
	struct rng rng = rng_of(4, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]), back;
		struct wire_view view;
		bool is_trimmed = packet.flags & PACKET_TRIMMED;
		config.has_udp_checksum = true;
		packet.hop = 0;
		size_t bytes = random_frame(&rng, &config, &packet, frame, &view);
		assert_int_equal(view.has_udp_checksum, !is_trimmed);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		assert_int_equal(view.has_udp_checksum, !is_trimmed);
		const uint8_t *checksum = frame + view.udp_at + 6;
		assert_true(is_trimmed == (checksum[0] == 0 && checksum[1] == 0));
		if (is_trimmed)
			continue;
		assert_int_equal(udp_sum(frame, bytes), 0xffff);
		pass(&rng, &packet);
		wire_patch(&config, &packet, frame, &view);
		assert_int_equal(udp_sum(frame, bytes), 0xffff);
		if (i % OPCODES >= TRIMMABLES)
			continue;
		cut(&rng, &config, &packet);
		config.has_udp_checksum = rng_below(&rng, 2); // the switch's own choice is nothing
		wire_patch(&config, &packet, frame, &view);
		assert_true(checksum[0] == 0 && checksum[1] == 0);
	}
}

static void a_udp_checksum_of_zero_goes_out_as_ones(void **)
{
	struct wire_config config;
	struct wire_view view;
	struct packet packet = {.opcode = PACKET_WRITE_ONLY, .payload_bytes = 8};
	uint32_t found = 0;
	wire_config_default(6, &config);
	config.has_udp_checksum = true;
	wire_build(&config, &packet, frame, sizeof(frame), &view);
	for (uint32_t value = 0; value < 1 << 18; value++) { // its ICRC is as good as random
		memset(frame + view.payload_at, 0, 8);
		memcpy(frame + view.payload_at, &value, sizeof(value));
		wire_seal(frame, &view);
		const uint8_t *checksum = frame + view.udp_at + 6;
		assert_true(checksum[0] != 0 || checksum[1] != 0);
		found += checksum[0] == 0xff && checksum[1] == 0xff;
	}
	assert_true(found > 0);
}

static void a_frame_has_no_udp_checksum_unless_it_is_asked_for(void **)
{
	struct rng rng = rng_of(5, RNG_TEST, 0);
	for (int i = 0; i < 1000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct wire_view view;
		random_frame(&rng, &config, &packet, frame, &view);
		assert_true(frame[view.udp_at + 6] == 0 && frame[view.udp_at + 7] == 0);
	}
}
