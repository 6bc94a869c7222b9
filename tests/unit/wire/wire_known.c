// SPDX-License-Identifier: Apache-2.0
// Three frames written down by hand, byte for byte, with an ICRC computed elsewhere; the CRC's
// check value; and what a configuration may not say.

#include "wire_rig.h"

#include <isa-l/crc.h>

#include "bytes.h"

static const uint8_t write_only_imm[] = {
	// Ethernet: NIC 0x102 to 0x8203 in plane 3
	0x02, 0x03, 0x00, 0x00, 0x82, 0x04, 0x02, 0x03, 0x00, 0x00, 0x01, 0x03, 0x86, 0xdd,
	// IPv6: DSCP 8, ECT(0), flow label 0x1234, 60 bytes, UDP, 62 hops left
	0x62, 0x20, 0x12, 0x34, 0x00, 0x3c, 0x11, 0x3e, 0xfd, 0x77, 0x65, 0x66, 0x74, 0x00, 0x00,
	0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x03, 0xfd, 0x77, 0x65, 0x66, 0x74, 0x00,
	0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0x04,
	// UDP: from 0xabcd to 4791
	0xab, 0xcd, 0x12, 0xb7, 0x00, 0x3c, 0x00, 0x00,
	// BTH: padding 3, QP 0xabcd, AR RTX ts, PSN 0xfffffe
	0xcb, 0x30, 0xff, 0xff, 0x00, 0x00, 0xab, 0xcd, 0xb0, 0xff, 0xff, 0xfe,
	// METH, TSETH
	0x00, 0x07, 0x01, 0x02, 0xbe, 0xef, 0x00, 0x01,
	// RETH, ImmDt
	0x00, 0x00, 0x7f, 0x00, 0x11, 0x22, 0x33, 0x44, 0xca, 0xfe, 0x00, 0x01, 0x00, 0x01, 0x00,
	0x05, 0xfe, 0xed, 0x00, 0x03,
	// payload, padding, ICRC
	0x01, 0x02, 0x03, 0x04, 0x05, 0x00, 0x00, 0x00, 0x73, 0x6c, 0xdf, 0x88};

static const uint8_t sack_v4[] = {
	// Ethernet: NIC 5 to 9 in plane 1
	0x02, 0x01, 0x00, 0x00, 0x00, 0x0a, 0x02, 0x01, 0x00, 0x00, 0x00, 0x06, 0x08, 0x00,
	// IPv4: DSCP 46, 80 bytes, whole, 64 hops left, UDP, 198.18.64.6 to 198.18.64.10
	0x45, 0xb8, 0x00, 0x50, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x2d, 0xb0, 0xc6, 0x12, 0x40,
	0x06, 0xc6, 0x12, 0x40, 0x0a,
	// UDP, BTH: QP 0x101, PSN 0x100
	0x00, 0xc1, 0x12, 0xb7, 0x00, 0x3c, 0x00, 0x00, 0xdc, 0x00, 0xff, 0xff, 0x00, 0x00, 0x01,
	0x01, 0x00, 0x00, 0x01, 0x00,
	// SETH: mark 1, trigger -2, EV, cumulative PSN 0x100, offset 1, bitmap
	0x00, 0x20, 0xff, 0xfe, 0xde, 0xad, 0xbe, 0xef, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
	// CC_STATE, ICRC
	0x12, 0x34, 0x7f, 0xff, 0xc0, 0x12, 0x34, 0x56, 0x0c, 0x61, 0x10, 0x6c};

static const uint8_t nack_v6[] = {
	// Ethernet: NIC 1 to 0 in plane 0
	0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x86, 0xdd,
	// IPv6: DSCP 46, flow label 0xffff, 44 bytes
	0x6b, 0x80, 0xff, 0xff, 0x00, 0x2c, 0x11, 0x40, 0xfd, 0x77, 0x65, 0x66, 0x74, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xfd, 0x77, 0x65, 0x66, 0x74, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	// UDP, BTH: QP 0x42, PSN 0x69
	0x00, 0x01, 0x12, 0xb7, 0x00, 0x2c, 0x00, 0x00, 0xdd, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00,
	0x42, 0x00, 0x00, 0x00, 0x69,
	// NETH: trimmed at the last hop, EV 0x6666, PSN 0x69, time stamp; ICRC
	0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x66, 0x66, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x69, 0x20, 0x00, 0xa5, 0xa5, 0x8a, 0xe3, 0x5d, 0x7b};

static const struct packet packet_write = {
	.source = 0x102,
	.target = 0x8203,
	.ev = 0xabcd1234,
	.wire_bytes = sizeof(write_only_imm) + WIRE_LINE_BYTES,
	.payload_bytes = 5,
	.klass = PACKET_CLASS_DATA,
	.flags = PACKET_ECT | PACKET_TRIMMABLE,
	.hop = 2,
	.plane = 3,
	.opcode = PACKET_WRITE_ONLY_IMM,
	.bth = PACKET_AR | PACKET_RTX,
	.timestamp = 0xbeef,
	.qpn = 0xabcd,
	.psn = 0xfffffe,
	.u.data = {.va = 0x7f0011223344,
		   .rkey = 0xcafe0001,
		   .message_bytes = 0x10005,
		   .imm = 0xfeed0003,
		   .msn = 0x102,
		   .rqmsn = 7},
};
static const struct packet packet_sack = {
	.source = 5,
	.target = 9,
	.ev = 0xc1,
	.wire_bytes = sizeof(sack_v4) + WIRE_LINE_BYTES,
	.klass = PACKET_CLASS_CONTROL,
	.plane = 1,
	.opcode = PACKET_SACK,
	.timestamp = 0x1234,
	.qpn = 0x101,
	.psn = 0x100,
	.u.sack = {.bitmap = 0x8000000000000005,
		   .ev_echo = 0xdeadbeef,
		   .rcvd_256 = 0x123456,
		   .trigger_offset = -2,
		   .offset = 1,
		   .ooo_count = 0x7fff,
		   .mark = 1,
		   .penalty = 0xc0},
};
static const struct packet packet_nack = {
	.source = 1,
	.target = 0,
	.ev = 0x1ffff,
	.wire_bytes = sizeof(nack_v6) + WIRE_LINE_BYTES,
	.klass = PACKET_CLASS_CONTROL,
	.opcode = PACKET_NACK,
	.timestamp = 0xa5a5,
	.qpn = 0x42,
	.psn = 0x69,
	.u.nack = {.ev_echo = 0x6666, .psn = 0x69, .reason = PACKET_NACK_TRIMMED_LAST},
};

static void frames_written_by_hand_are_read_and_written(void **)
{
	static const struct {
		uint8_t version;
		const uint8_t *bytes;
		size_t size;
		const struct packet *packet;
	} known[] = {
		{6, write_only_imm, sizeof(write_only_imm), &packet_write},
		{4, sack_v4, sizeof(sack_v4), &packet_sack},
		{6, nack_v6, sizeof(nack_v6), &packet_nack},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint8_t frame[256];
		struct wire_config config;
		struct wire_view view;
		struct packet packet;
		wire_config_default(known[i].version, &config);
		assert_string_equal(wire_reason_name(parse_exact(&config, known[i].bytes,
								 known[i].size, &packet, &view)),
				    "fine");
		assert_memory_equal(&packet, known[i].packet, sizeof(packet));
		size_t bytes = wire_build(&config, known[i].packet, frame, sizeof(frame), &view);
		assert_int_equal(bytes, known[i].size);
		for (uint32_t at = 0; at < view.payload_bytes; at++)
			frame[view.payload_at + at] = (uint8_t)(at + 1);
		wire_seal(frame, &view);
		assert_memory_equal(frame, known[i].bytes, bytes);
	}
}

static void the_crc_has_its_check_value(void **)
{
	assert_int_equal(crc32_gzip_refl(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
	assert_int_equal(crc_of(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
	uint32_t half = crc32_gzip_refl(0, (const uint8_t *)"1234", 4);
	assert_int_equal(crc32_gzip_refl(half, (const uint8_t *)"56789", 5), 0xcbf43926);
}

static void every_reason_has_a_name(void **)
{
	for (int a = 0; a < WIRE_REASON_COUNT; a++)
		for (int b = 0; b < a; b++)
			assert_string_not_equal(wire_reason_name((enum wire_reason)a),
						wire_reason_name((enum wire_reason)b));
}

static void a_configuration_that_cannot_work_is_refused(void **)
{
	struct wire_config config;
	struct refusal refusal = {0};
	for (uint8_t version = 4; version <= 6; version += 2) {
		wire_config_default(version, &config);
		assert_int_equal(wire_config_check(&config, &refusal), 0);
	}
#define REFUSED(change, part) \
	do { \
		wire_config_default(6, &config); \
		change; \
		assert_true(wire_config_check(&config, &refusal) < 0); \
		assert_non_null(strstr(refusal.text, part)); \
	} while (0)
	REFUSED(config.ip_version = 5, "IP version 5");
	REFUSED(config.port = 4793, "4793");
	REFUSED(config.hop_limit = 0, "hop limit");
	REFUSED(config.ipv6_prefix |= 1, "48 bits");
	REFUSED(config.ipv4_prefix |= 1, "15 bits");
	REFUSED(config.ipv4_plane_bits = 9, "9");
	REFUSED(config.ipv4_prefix_bits = 0, "at least 1");
	REFUSED(config.mac_first = 3, "group");
	REFUSED(config.dscp[WIRE_CLASS_CONTROL] = 64, "64");
	REFUSED(config.dscp[WIRE_CLASS_CONTROL] = 12, "trimmed");
	REFUSED(config.dscp[WIRE_CLASS_TRIMMED_LAST] = 0, "trimmed");
	REFUSED(config.trim_frame_bytes = 81, "82");
	REFUSED(config.ev_place = 2, "EV");
	REFUSED(config.entropy = 3, "EV");
#undef REFUSED
	wire_config_default(6, &config); // the last hop need not be told apart
	config.dscp[WIRE_CLASS_TRIMMED_LAST] = config.dscp[WIRE_CLASS_TRIMMED];
	assert_int_equal(wire_config_check(&config, &refusal), 0);
}

static void the_address_rule_knows_how_many_it_can_tell_apart(void **)
{
	struct wire_config config;
	wire_config_default(4, &config);
	assert_int_equal(wire_planes_max(&config), 8);
	assert_int_equal(wire_nics_max(&config), 16382); // 8,192 GPUs in 8 planes fit
	wire_config_default(6, &config);
	assert_int_equal(wire_planes_max(&config), 256);
	assert_true(wire_nics_max(&config) == UINT32_MAX);
}

// The only bits that it changes: SE, or what stands in its place in the other order.
static void writes_with_immediate_may_be_solicited(void **)
{
	static const struct {
		uint8_t opcode;
		bool is_low;
		uint8_t byte;
	} rows[] = {
		{PACKET_WRITE_ONLY_IMM, false, 0x80},
		{PACKET_WRITE_ONLY_IMM, true, 0x40},
		{PACKET_WRITE_LAST_IMM, true, 0x40},
		{PACKET_WRITE_LAST, false, 0},
		{PACKET_SACK, false, 0},
		{RC_WRITE_ONLY_IMM, false, 0x80},
		{RC_WRITE_LAST_IMM, true, 0x80}, // RoCEv2 is not disputed
		{RC_WRITE_LAST, true, 0},
	};
	static uint8_t frame[FRAME_MAX];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_config config;
		struct wire_view view, told;
		struct packet back, packet = {.opcode = rows[i].opcode, .target = 1};
		wire_config_default(6, &config);
		config.has_solicited = true;
		config.se_low = rows[i].is_low;
		bool is_control = packet.opcode == PACKET_SACK;
		packet.klass = is_control ? PACKET_CLASS_CONTROL : PACKET_CLASS_DATA;
		size_t bytes = wire_build(&config, &packet, frame, sizeof(frame), &view);
		wire_seal(frame, &view);
		assert_int_equal(frame[view.bth_at + 1], rows[i].byte);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &told), WIRE_FINE);
		assert_int_equal(told.is_solicited, rows[i].byte != 0);
		assert_true(told.is_solicited == view.is_solicited && !told.is_migrated);
		config.se_low = !config.se_low; // who reads the other order takes it for M
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &told), WIRE_FINE);
		bool is_mrc = rows[i].byte != 0 && packet.opcode >= PACKET_WRITE_FIRST;
		assert_true(told.is_migrated == is_mrc);
		config.has_solicited = false;
		wire_build(&config, &packet, frame, sizeof(frame), &view);
		assert_true(frame[view.bth_at + 1] == 0 && !view.is_solicited);
	}
}

// RFC 1071: words of 16 bits, an odd last byte followed by a zero.
static void an_odd_byte_is_summed_with_a_zero(void **)
{
	static const uint8_t bytes[] = {0, 1, 0xf2, 3, 0xf4, 0xf5, 0xf6, 0xf7, 9};
	for (size_t count = 0; count <= sizeof(bytes); count++) {
		uint32_t sum = 0;
		for (size_t i = 0; i < count; i++)
			sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
		sum = (sum & 0xffff) + (sum >> 16);
		sum = (sum & 0xffff) + (sum >> 16);
		uint16_t folded = sum_fold(sum_add(0, bytes, count));
		uint8_t written[2];
		sum_put(written, folded); // in the order of the bytes
		assert_int_equal(written[0] << 8 | written[1], sum);
	}
}
