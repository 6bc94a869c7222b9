// SPDX-License-Identifier: Apache-2.0
// The dissector: says of every frame of ours what wire_parse() says, of a cut frame no more than is
// there, and knows the links and tunnels that others' captures have.

#include <weft/wire/wire_dissect.h>

#include "wire_rig.h"

static uint8_t frame[FRAME_MAX];

// In memory of exactly what was captured.
static struct wire_record dissect(const struct wire_config *config, uint16_t link, const void *at,
				  uint32_t captured, uint32_t original)
{
	struct wire_record record;
	uint8_t *exact = malloc(captured > 0 ? captured : 1);
	memcpy(exact, at, captured);
	wire_dissect(config, link, exact, captured, original, &record);
	free(exact);
	return record;
}

static void frames_of_ours_are_what_the_parser_says(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct wire_view view;
		uint32_t bytes = (uint32_t)random_frame(&rng, &config, &packet, frame, &view);
		struct wire_record record = dissect(&config, WIRE_LINK_ETHERNET, frame, bytes,
						    bytes);
		bool is_trimmed = packet.flags & PACKET_TRIMMED;
		assert_int_equal(record.found,
				 is_rc(packet.opcode) || packet.opcode == RC_CNP
					 ? config.port == WIRE_PORT ? WIRE_FOUND_ROCE
								    : WIRE_FOUND_MRC
					 : WIRE_FOUND_MRC);
		assert_int_equal(record.opcode, packet.opcode);
		assert_int_equal(record.psn, packet.psn);
		assert_int_equal(record.is_trimmed, is_trimmed);
		if (record.found == WIRE_FOUND_MRC && is_rc(packet.opcode))
			continue; // RoCE on MRC's port: what is behind the BTH is not known
		assert_int_equal(record.stopped, is_trimmed ? record.stopped : WIRE_FINE);
		assert_int_equal(record.payload_bytes, is_trimmed ? 0 : packet.payload_bytes);
		assert_int_equal(record.icrc, is_trimmed ? WIRE_ICRC_ABSENT : WIRE_ICRC_GOOD);
		if (record.layers & WIRE_LAYER_RETH && !is_trimmed) {
			assert_int_equal(record.virtual_address, packet.u.data.va);
			assert_int_equal(record.message_bytes, packet.u.data.message_bytes);
			assert_int_equal(record.key, packet.u.data.rkey);
		}
		if (record.opcode == PACKET_SACK) {
			assert_int_equal(record.sack_bitmap, packet.u.sack.bitmap);
			assert_int_equal(record.sack_offset, packet.u.sack.offset);
			assert_int_equal(record.is_probe, packet.u.sack.is_probe);
			if (!record.is_probe)
				assert_int_equal(record.sack_trigger, packet.u.sack.trigger_offset);
			assert_int_equal(record.ev, packet.u.sack.ev_echo);
		}
		frame[bytes - 1] ^= 1;
		record = dissect(&config, WIRE_LINK_ETHERNET, frame, bytes, bytes);
		assert_int_equal(record.icrc, is_trimmed ? WIRE_ICRC_ABSENT : WIRE_ICRC_BAD);
	}
}

// What was cut off is not told; what was told of the whole stays so.
static void a_cut_frame_says_no_more_than_is_there(void **)
{
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 400; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct wire_view view;
		uint32_t bytes = (uint32_t)random_frame(&rng, &config, &packet, frame, &view);
		struct wire_record whole = dissect(&config, WIRE_LINK_ETHERNET, frame, bytes,
						   bytes);
		for (uint32_t cut = 0; cut < bytes && cut < 300; cut++) {
			struct wire_record record = dissect(&config, WIRE_LINK_ETHERNET, frame, cut,
							    bytes);
			assert_true(record.is_cut);
			assert_int_equal(record.original, bytes);
			assert_int_equal(record.layers & ~whole.layers, 0);
			assert_int_not_equal(record.icrc, WIRE_ICRC_GOOD);
			assert_int_not_equal(record.icrc, WIRE_ICRC_BAD);
			bool has_bth = cut >= view.bth_at + 12;
			assert_int_equal((record.layers & WIRE_LAYER_BTH) != 0, has_bth);
			assert_true(has_bth || record.stopped != WIRE_FINE);
			if (!has_bth || whole.stopped != WIRE_FINE)
				continue;
			assert_int_equal(record.psn, whole.psn);
			assert_int_equal(record.payload_bytes, whole.payload_bytes);
			bool is_all = record.layers & WIRE_LAYER_EXTENSIONS;
			assert_int_equal(record.stopped, is_all ? WIRE_FINE : WIRE_SHORT_EXTENSION);
		}
	}
}

// ---------------------------------------------------------------- links and tunnels

// A RoCEv2 ACK on IPv4, from IP on.
static const uint8_t ack[] = {
	0x45, 0x6b, 0,	  48,	0x12, 0x34, 0x40, 0,	64, 17, 0, 0,
	10,   0,    0,	  1,	10,   0,    0,	  2,		      // IP
	0xc0, 0x01, 0x12, 0xb7, 0,    28,   0,	  0,		      // UDP
	0x11, 0x40, 0xff, 0xff, 0,    0,    0,	  0x17, 0,  0,	0, 9, // BTH
	0x60, 0,    0,	  5,	0xde, 0xad, 0xbe, 0xef,		      // AETH, ICRC
};

static void assert_ack(uint16_t link, const void *in_front, uint32_t bytes)
{
	struct wire_config config;
	wire_config_default(6, &config);
	memcpy(frame, in_front, bytes);
	memcpy(frame + bytes, ack, sizeof(ack));
	struct wire_record record = dissect(&config, link, frame, bytes + (uint32_t)sizeof(ack),
					    bytes + (uint32_t)sizeof(ack));
	assert_int_equal(record.found, WIRE_FOUND_ROCE);
	assert_int_equal(record.opcode, 0x11);
	assert_int_equal(record.qpn, 0x17);
	assert_int_equal(record.psn, 9);
	assert_int_equal(record.syndrome, 0x60);
	assert_int_equal(record.msn, 5);
	assert_int_equal(record.identification, 0x1234);
	assert_int_equal(record.source_port, 0xc001);
	assert_int_equal(record.inner_dscp, 26);
	assert_int_equal(record.icrc, WIRE_ICRC_BAD);
	assert_memory_equal(record.source + 10, "\xff\xff\x0a\0\0\1", 6);
	assert_int_equal(record.payload_bytes, 0);
}

#define MACS "\2\0\0\0\0\2\2\0\0\0\0\1"

static void links_are_stepped_over(void **)
{
	static const uint8_t cooked[16] = {[14] = 8}, cooked2[20] = {8};
	static const uint8_t erf[16 + 8 + 2] = {[8] = 0x82, [16] = 5};
	assert_ack(WIRE_LINK_RAW, "", 0);
	assert_ack(WIRE_LINK_NULL, "\2\0\0\0", 4);
	assert_ack(WIRE_LINK_ETHERNET, MACS "\x08\0", 14);
	assert_ack(WIRE_LINK_ETHERNET, MACS "\x81\0\x60\5\x08\0", 18);
	assert_ack(WIRE_LINK_ETHERNET, MACS "\x88\xa8\0\7\x81\0\x60\5\x08\0", 22);
	assert_ack(WIRE_LINK_ETHERNET, MACS "\x91\0\0\7\x81\0\x60\5\x08\0", 22);
	assert_ack(WIRE_LINK_COOKED, cooked, sizeof(cooked));
	assert_ack(WIRE_LINK_COOKED2, cooked2, sizeof(cooked2));
	memcpy(frame + 200, erf, sizeof(erf));
	memcpy(frame + 200 + sizeof(erf), MACS "\x08\0", 14);
	assert_ack(WIRE_LINK_ERF, frame + 200, sizeof(erf) + 14);
	struct wire_config config;
	wire_config_default(6, &config);
	struct wire_record record = dissect(&config, 147, frame, 60, 60);
	assert_int_equal(record.found, WIRE_FOUND_LINK);
}

static void tunnels_are_looked_into(void **)
{
	// VXLAN over IPv4: the outer DSCP and hop limit are what switches see.
	static const uint8_t vxlan[] = {
		2,  0,	0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 8,    0,	  0x45, 0x28, 0, 98, 0, 0, 0, 0,
		60, 17, 0, 0, 9, 0, 0, 1, 9, 0, 0, 2, 0x30, 0x39, 0x12, 0xb5, 0, 78, 0, 0, 8, 0,
		0,  0,	0, 0, 7, 0, 2, 0, 0, 0, 0, 2, 2,    0,	  0,	0,    0, 1,  8, 0,
	};
	// IPv6 with a segment routing header, and IPv4 in it.
	static const uint8_t srv6[14 + 40 + 24] = {
		[12] = 0x86, [13] = 0xdd, [14] = 0x6a, [18] = 0, [19] = 72,
		[20] = 43,   [21] = 63,	  [54] = 4,    [55] = 2, [56] = 4,
	};
	struct wire_config config;
	wire_config_default(6, &config);
	assert_ack(WIRE_LINK_ETHERNET, vxlan, sizeof(vxlan));
	struct wire_record record = dissect(&config, 1, frame, sizeof(vxlan) + sizeof(ack), 112);
	assert_true(record.layers & WIRE_LAYER_VXLAN);
	assert_int_equal(record.dscp, 10);
	assert_int_equal(record.hop_limit, 60);
	assert_int_equal(record.source_mac, 0x020000000001);
	assert_ack(WIRE_LINK_ETHERNET, srv6, sizeof(srv6));
	record = dissect(&config, 1, frame, sizeof(srv6) + sizeof(ack), 126);
	assert_int_equal(record.layers & (WIRE_LAYER_SRV6 | WIRE_LAYER_SRH),
			 WIRE_LAYER_SRV6 | WIRE_LAYER_SRH);
	assert_int_equal(record.dscp, 0xa0 >> 2);
	// A fragment is said to be one, and not looked into.
	assert_ack(WIRE_LINK_RAW, "", 0);
	frame[6] = 0x20;
	record = dissect(&config, WIRE_LINK_RAW, frame, sizeof(ack), sizeof(ack));
	assert_int_equal(record.found, WIRE_FOUND_IP);
	assert_int_equal(record.stopped, WIRE_FRAGMENT);
}

// What a switch packs to mirror a frame to another host is not the frame's: not DSCP, hop limit or
// VLAN. Where the mirror cut it, its own length tells how long it was.
static void mirrored_frames_are_unpacked(void **)
{
#define AROUND(type, gre) \
	MACS "\x81\0\x60\7\x08\0" \
	     "\x45\x28\0" type "\0\0\0\0\x3c\x2f\0\0\x09\0\0\1\x09\0\0\2" gre
#define INSIDE "\2\0\0\0\0\4\2\0\0\0\0\3\x08\0"
	static const char one[] = AROUND("\x56", "\0\0\x88\xbe") INSIDE;
	static const char two[] = AROUND("\x62", "\x10\0\x88\xbe\0\0\0\1\x10\7\0\1\0\0\0\0") INSIDE;
	static const char three[] = AROUND(
		"\x6e", "\x10\0\x22\xeb\0\0\0\1\x20\7\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0") INSIDE;
	static const char bridged[] = AROUND("\x5a", "\x20\0\x65\x58\0\0\0\1") INSIDE;
	static const struct {
		const char *bytes;
		uint32_t count;
	} kinds[] = {{one, sizeof(one) - 1}, {two, sizeof(two) - 1}, {three, sizeof(three) - 1}};
	struct wire_config config;
	wire_config_default(6, &config);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		uint32_t all = kinds[i].count + (uint32_t)sizeof(ack);
		assert_ack(WIRE_LINK_ETHERNET, kinds[i].bytes, kinds[i].count);
		struct wire_record record = dissect(&config, WIRE_LINK_ETHERNET, frame, all, all);
		assert_int_equal(record.source_mac, 0x020000000003);
		assert_int_equal(record.hop_limit, 64);
		assert_int_equal(record.dscp, 26);
		assert_int_equal(record.layers & (WIRE_LAYER_GRE | WIRE_LAYER_VLAN),
				 WIRE_LAYER_GRE);
		assert_false(record.is_cut);
	}
	assert_ack(WIRE_LINK_ETHERNET, bridged, sizeof(bridged) - 1);
	assert_int_equal(dissect(&config, 1, frame, 200, 200).dscp, 10);
	// The mirror left the ICRC and a byte of the AETH away, and said so in the length around
	// it.
	memcpy(frame, two, sizeof(two) - 1);
	memcpy(frame + sizeof(two) - 1, ack, sizeof(ack));
	frame[18 + 3] -= 5;
	uint32_t left = (uint32_t)(sizeof(two) - 1 + sizeof(ack)) - 5;
	struct wire_record record = dissect(&config, WIRE_LINK_ETHERNET, frame, left, left);
	assert_true(record.is_cut);
	assert_int_equal(record.psn, 9);
	assert_int_equal(record.icrc, WIRE_ICRC_UNKNOWN);
	assert_int_equal(record.stopped, WIRE_SHORT_EXTENSION);
}

static void pauses_tell_priorities_and_quanta(void **)
{
	struct wire_config config;
	wire_config_default(6, &config);
	memset(frame, 0, 60);
	memcpy(frame, "\1\x80\xc2\0\0\1\2\0\0\0\0\1\x88\x08\1\1\0\x28", 18);
	frame[18 + 2 * 3] = 0x12;  // priority 3
	frame[18 + 2 * 5 + 1] = 7; // 5
	struct wire_record record = dissect(&config, 1, frame, 60, 60);
	assert_int_equal(record.found, WIRE_FOUND_PAUSE);
	assert_int_equal(record.pause_priorities, 0x28);
	assert_int_equal(record.pause_quanta[3], 0x1200);
	assert_int_equal(record.pause_quanta[5], 7);
	frame[14] = 0;
	frame[16] = 0xff;
	record = dissect(&config, 1, frame, 60, 60);
	assert_int_equal(record.pause_priorities, 0xff);
	assert_int_equal(record.pause_quanta[0], 0xff28);
	frame[15] = 9;
	assert_int_equal(dissect(&config, 1, frame, 60, 60).found, WIRE_FOUND_OTHER);
}

// Opcodes of InfiniBand, what they have behind the BTH, and a payload of 100 bytes with 3 of pad.
static void each_operation_has_its_headers(void **)
{
	static const struct {
		const char *name;
		uint8_t opcode, bytes;
		uint16_t layers;
	} cases[] = {
		{"SEND_MIDDLE", 0x01, 0, 0},
		{"SEND_LAST_IMM", 0x03, 4, WIRE_LAYER_IMM},
		{"WRITE_ONLY_IMM", 0x0b, 20, WIRE_LAYER_RETH | WIRE_LAYER_IMM},
		{"READ_REQ", 0x0c, 16, WIRE_LAYER_RETH},
		{"READ_RSP_MIDDLE", 0x0e, 0, 0},
		{"READ_RSP_LAST", 0x0f, 4, WIRE_LAYER_AETH},
		{"ATOMIC_ACK", 0x12, 12, WIRE_LAYER_AETH},
		{"CMP_SWAP", 0x13, 28, WIRE_LAYER_ATOMIC},
		{"SEND_ONLY_INV", 0x17, 4, 0},
		{"UC_WRITE_FIRST", 0x26, 16, WIRE_LAYER_RETH},
		{"UD_SEND_ONLY_IMM", 0x65, 12, WIRE_LAYER_DETH | WIRE_LAYER_IMM},
		{"WRITE_FIRST", 0xa6, 20, WIRE_LAYER_RETH},
		{"READ_RSP_FIRST", 0xad, 4, WIRE_LAYER_AETH},
		{"SEND_ONLY", 0x44, 12, WIRE_LAYER_DETH},
	};
	struct wire_config config;
	wire_config_default(6, &config);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t bytes = 40 + cases[i].bytes + 103 + 4;
		memset(frame, 0, 300);
		memcpy(frame, ack, 40);
		frame[2] = (uint8_t)(bytes >> 8);
		frame[3] = (uint8_t)bytes;
		frame[28] = cases[i].opcode;
		frame[29] = 0x30;
		struct wire_record record = dissect(&config, WIRE_LINK_RAW, frame, bytes, bytes);
		assert_string_equal(wire_opcode_name(WIRE_FOUND_ROCE, cases[i].opcode),
				    cases[i].name);
		assert_int_equal(record.payload_bytes, 100);
		assert_int_equal(record.layers,
				 cases[i].layers | WIRE_LAYER_IPV4 | WIRE_LAYER_BTH |
					 WIRE_LAYER_EXTENSIONS);
		record = dissect(&config, WIRE_LINK_RAW, frame, 40, bytes); // headers are cut off
		assert_int_equal(record.payload_bytes, 100);
		bytes = 40 + cases[i].bytes; // and then nothing: the last four are no ICRC
		frame[2] = 0;
		frame[3] = (uint8_t)bytes;
		record = dissect(&config, WIRE_LINK_RAW, frame, bytes, bytes);
		assert_int_equal(record.icrc, WIRE_ICRC_UNKNOWN);
	}
	assert_null(wire_opcode_name(WIRE_FOUND_ROCE, 0x15));
	assert_null(wire_opcode_name(WIRE_FOUND_ROCE, 0x66));
	assert_string_equal(wire_opcode_name(WIRE_FOUND_ROCE, 0x81), "CNP");
}

// Any bytes on any link: nothing is read beyond them (the sanitizers look on).
static void noise_is_survived(void **)
{
	static const uint16_t links[] = {0, 1, 101, 113, 197, 247, 276};
	struct rng rng = rng_of(3, RNG_TEST, 0);
	for (int i = 0; i < 20000; i++) {
		struct wire_config config = random_config(&rng);
		struct packet packet = random_packet(&rng, &config, opcodes[i % OPCODES]);
		struct wire_view view;
		uint32_t bytes = (uint32_t)random_frame(&rng, &config, &packet, frame, &view);
		for (uint32_t left = rng_below(&rng, 5); left > 0; left--) {
			uint32_t at = rng_below(&rng, bytes < 100 ? bytes : 100);
			frame[at] = (uint8_t)rng_next(&rng);
		}
		uint32_t captured = rng_below(&rng, bytes + 1);
		struct wire_record record = dissect(&config, links[i % 7], frame, captured, bytes);
		assert_true(record.found < WIRE_FOUND_COUNT && record.stopped < WIRE_REASON_COUNT);
		assert_true(record.payload_bytes <= record.original);
		assert_non_null(wire_found_name(record.found));
	}
}
