// SPDX-License-Identifier: Apache-2.0
// SRv6: the outer header of a packet byte by byte, uSIDs that switches use up, what is refused, and
// what becomes of a trim's mark where the outer header is taken off.

#include "wire_rig.h"

static uint8_t frame[FRAME_MAX], again[FRAME_MAX];

#define TARGET_AT 38 // outer destination
#define INNER_AT 54  // without SRH

static struct wire_config config_of(uint8_t version)
{
	struct wire_config config;
	wire_config_default(version, &config);
	config.entropy = WIRE_ENTROPY_SRV6;
	assert_int_equal(wire_config_check(&config, NULL), 0);
	return config;
}

// From a NIC of T0 0 to one of T0 1.
static const struct packet write_far = {
	.source = 5,
	.target = 300,
	.plane = 2,
	.ev = 0xabcd1234,
	.wire_bytes = 14 + 40 + 40 + 8 + 12 + 4 + 4 + 16 + 100 + 4 + WIRE_LINE_BYTES,
	.payload_bytes = 100,
	.klass = PACKET_CLASS_DATA,
	.flags = PACKET_ECT | PACKET_TRIMMABLE,
	.opcode = PACKET_WRITE_ONLY,
	.u.data = {.message_bytes = 100},
};

static size_t build(const struct wire_config *config, const struct packet *packet,
		    struct wire_view *view)
{
	size_t bytes = wire_build(config, packet, frame, sizeof(frame), view);
	memset(frame + view->payload_at, 0x77, view->payload_bytes);
	wire_seal(frame, view);
	return bytes;
}

static void an_outer_header_names_plane_t1_t0_port_and_nic(void **)
{
	static const uint8_t outer[] = {
		// Ethernet's type; DSCP 4, ECT(0); 188 bytes, IPv6 behind, 64 hops
		0x86, 0xdd, 0x61, 0x20, 0x00, 0x00, 0x00, 0xbc, 0x29, 0x40,
		// from NIC 5 in plane 2
		0xfd, 0x77, 0x65, 0x66, 0x74, 0x00, 0x00, 0x02, 0, 0, 0, 0, 0, 0, 0, 6,
		// to T1 0x55e (the EV's high 11 bits), T0 1, port 44, NIC; plane + 1 in each
		0x5f, 0x00, 0x77, 0x65, 0x35, 0x5e, 0x30, 0x01, 0x38, 0x2c, 0x3f, 0xff, 0, 0, 0, 0};
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet back;
	size_t bytes = build(&config, &write_far, &view);
	assert_memory_equal(frame + 12, outer, sizeof(outer));
	assert_int_equal(bytes, INNER_AT + 188);
	assert_int_equal(frame[INNER_AT], 0x61); // the inner one has its own class and hop limit
	assert_int_equal(frame[INNER_AT + 7], 64);
	assert_true(frame[INNER_AT + 40] == 0xab && frame[INNER_AT + 41] == 0xcd); // and the EV
	assert_true(frame[INNER_AT + 2] == 0x12 && frame[INNER_AT + 3] == 0x34);
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_memory_equal(&back, &write_far, sizeof(back));
	assert_true(view.has_srv6 && !view.has_srh);
	assert_true(view.outer_at == 14 && view.srh_at == 0 && view.ip_at == INNER_AT);
	assert_true(view.ip_version == 6 && view.dscp == 4 && view.inner_dscp == 4);
	assert_int_equal(view.icrc, WIRE_ICRC_GOOD);
}

static void ipv4_inside_has_its_own_number_and_16_bits_of_ev(void **)
{
	struct wire_config config = config_of(4);
	struct wire_view view;
	struct packet packet = write_far, back;
	packet.ev = 0xabcd;
	packet.wire_bytes -= 20;
	size_t bytes = build(&config, &packet, &view);
	assert_int_equal(frame[20], 4);
	assert_int_equal(frame[TARGET_AT + 4] << 8 | frame[TARGET_AT + 5], 0x355e);
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_memory_equal(&back, &packet, sizeof(back));
	assert_int_equal(view.ip_version, 4);
}

static void each_switch_takes_its_usid_off_the_list(void **)
{
	static const uint16_t usids[] = {0x355e, 0x3001, 0x382c, 0x3fff};
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet packet = write_far;
	size_t bytes = build(&config, &write_far, &view);
	memcpy(again, frame, bytes);
	for (uint8_t hop = 0; hop < 3; hop++) {
		uint64_t route = (uint64_t)config.srv6.block << 16 | usids[hop];
		assert_int_equal(wire_srv6_shift(route + 1, frame, &view), WIRE_SRV6_OTHERS);
		assert_int_equal(wire_srv6_shift(route, frame, &view), WIRE_SRV6_SHIFTED);
		packet.hop = hop + 1;
		wire_patch(&config, &packet, again, &view);
		assert_memory_equal(again + TARGET_AT, frame + TARGET_AT, 16);
		wire_patch(&config, &packet, again, &view); // once for each hop
		assert_memory_equal(again + TARGET_AT, frame + TARGET_AT, 16);
	}
	static const uint8_t left[16] = {0x5f, 0, 0x77, 0x65, 0x3f, 0xff};
	assert_memory_equal(frame + TARGET_AT, left, 16);
	uint64_t last = (uint64_t)config.srv6.block << 16 | usids[3];
	assert_int_equal(wire_srv6_shift(last, frame, &view), WIRE_SRV6_LAST);
	assert_memory_equal(frame + TARGET_AT, left, 16);
}

static void a_frame_without_an_outer_header_has_nothing_to_shift(void **)
{
	struct wire_config config = config_of(6);
	struct wire_view view;
	config.entropy = WIRE_ENTROPY_STEV;
	size_t bytes = build(&config, &write_far, &view);
	memcpy(again, frame, bytes);
	assert_int_equal(wire_srv6_shift(0, frame, &view), WIRE_SRV6_OTHERS);
	assert_memory_equal(again, frame, bytes);
}

static void the_way_below_one_t0_has_no_trunk(void **)
{
	static const uint8_t near[16] = {0x5f, 0, 0x77, 0x65, 0x38, 0x07, 0x3f, 0xff};
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet packet = write_far;
	packet.target = 7;
	build(&config, &packet, &view);
	assert_memory_equal(frame + TARGET_AT, near, 16);
}

static void a_longer_list_goes_on_in_the_srh(void **)
{
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet packet = write_far, back;
	config.srv6.usid_count = 8;
	for (uint16_t i = 0; i < 8; i++)
		config.srv6.usids[i] = (struct wire_usid){.init = (uint16_t)(0x100 + i)};
	assert_int_equal(wire_config_check(&config, NULL), 0);
	packet.wire_bytes += 24;
	size_t bytes = build(&config, &packet, &view);
	static const uint8_t srh[] = {41,   2,	  4,	1,    0, 0, 0, 0, 0x5f, 0, 0x77, 0x65,
				      0x31, 0x06, 0x31, 0x07, 0, 0, 0, 0, 0,	0, 0,	 0};
	assert_int_equal(frame[20], 43);
	assert_memory_equal(frame + INNER_AT, srh, sizeof(srh));
	assert_int_equal(frame[18] << 8 | frame[19], bytes - INNER_AT);
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_memory_equal(&back, &packet, sizeof(back));
	assert_true(view.has_srh && view.srh_at == INNER_AT && view.ip_at == INNER_AT + 24);
	for (uint32_t hop = 0; hop < 8; hop++) {
		enum wire_srv6_step expected = hop == 5 ? WIRE_SRV6_SEGMENT
			: hop == 7			? WIRE_SRV6_LAST
							: WIRE_SRV6_SHIFTED;
		uint64_t route = (uint64_t)config.srv6.block << 16 | (0x3100 + hop);
		assert_int_equal(wire_srv6_shift(route, frame, &view), expected);
		assert_int_equal(frame[INNER_AT + 3], hop < 5); // segments left
	}
	packet.hop = 7;
	wire_build(&config, &packet, again, sizeof(again), &view);
	assert_memory_equal(again + TARGET_AT, frame + TARGET_AT, 16 + sizeof(srh));
}

// The NIC's own uSID in the segment, those of the switches in the destination.
static void an_srh_may_be_asked_for_and_has_the_nics_own_usid(void **)
{
	static const uint8_t target[] = {0x5f, 0,    0x77, 0x65, 0x35, 0x5e, 0x30, 0x01,
					 0x38, 0x2c, 0,	   0,	 0,    0,    0,	   0};
	static const uint8_t srh[] = {41,   2,	  4, 1, 0, 0, 0, 0, 0x5f, 0, 0x77, 0x65,
				      0x3f, 0xff, 0, 0, 0, 0, 0, 0, 0,	  0, 0,	   0};
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet packet = write_far, back;
	config.srv6.has_srh = true;
	assert_int_equal(wire_config_check(&config, NULL), 0);
	packet.wire_bytes += 24;
	size_t bytes = build(&config, &packet, &view);
	assert_int_equal(bytes, INNER_AT + 24 + 188);
	assert_int_equal(frame[20], 43);
	assert_int_equal(frame[18] << 8 | frame[19], bytes - INNER_AT);
	assert_memory_equal(frame + TARGET_AT, target, sizeof(target));
	assert_memory_equal(frame + INNER_AT, srh, sizeof(srh));
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_memory_equal(&back, &packet, sizeof(back));
	assert_true(view.has_srh && view.icrc == WIRE_ICRC_GOOD);
	uint64_t last = (uint64_t)config.srv6.block << 16 | 0x382c;
	packet.hop = 2;
	wire_patch(&config, &packet, frame, &view);
	assert_int_equal(wire_srv6_shift(last, frame, &view), WIRE_SRV6_SEGMENT);
	assert_memory_equal(frame + TARGET_AT, srh + 8, 16);
	assert_int_equal(frame[INNER_AT + 3], 0);
	packet.hop = 3;
	wire_patch(&config, &packet, frame, &view); // as if it had been wire_patch() all the way
	wire_build(&config, &packet, again, sizeof(again), &view);
	assert_int_equal(again[21], 61);
	assert_memory_equal(again + TARGET_AT, srh + 8, 16);
	packet.target = 7; // below one T0: port, then the segment
	packet.hop = 0;
	build(&config, &packet, &view);
	assert_true(frame[TARGET_AT + 4] == 0x38 && frame[TARGET_AT + 5] == 7);
	assert_int_equal(frame[TARGET_AT + 6] << 8 | frame[TARGET_AT + 7], 0);
	assert_memory_equal(frame + INNER_AT, srh, sizeof(srh));
}

// A switch that follows the uSIDs of a frame looks at the segment that is still to come, too.
static void another_segment_is_off_the_route(void **)
{
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet packet = write_far, back;
	config.srv6.has_srh = config.follows_usids = true;
	packet.wire_bytes += 24;
	for (size_t at = INNER_AT + 8; at < INNER_AT + 24; at++) {
		size_t bytes = build(&config, &packet, &view);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		frame[at] ^= 4;
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_OFF_ROUTE);
	}
	config.srv6.has_srh = false; // the switch expects none
	size_t bytes = build(&config, &packet, &view);
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	config.srv6.has_srh = true;
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_OFF_ROUTE);
}

// One wrong byte of a frame with an SRH, and why it is refused then.
static void every_wound_of_the_outer_headers_has_its_reason(void **)
{
	static const struct {
		uint8_t at, value;
		enum wire_reason reason;
	} wounds[] = {
		{14, 0x40, WIRE_BAD_VERSION},
		{19, 0xd3, WIRE_BAD_LENGTH},	  // outer length
		{20, 17, WIRE_BAD_LENGTH},	  // an SRH is no UDP header
		{20, 60, WIRE_NOT_UDP},		  // destination options
		{21, 65, WIRE_BAD_HOP},		  // outer hop limit
		{38, 0x5e, WIRE_FOREIGN_ADDRESS}, // the block
		{54, 17, WIRE_NOT_UDP},		  // UDP straight behind the SRH
		{54, 4, WIRE_BAD_VERSION},	  // IPv4, it says
		{55, 1, WIRE_BAD_SEGMENTS},
		{55, 3, WIRE_BAD_SEGMENTS},
		{55, 4, WIRE_BAD_SEGMENTS},
		{56, 3, WIRE_NOT_UDP}, // another routing header
		{57, 2, WIRE_BAD_SEGMENTS},
		{58, 1, WIRE_BAD_SEGMENTS},
		{82, 1, WIRE_BAD_LENGTH}, // inner length
		{84, 41, WIRE_NOT_UDP},	  // one more header inside
		{85, 63, WIRE_FINE},	  // the inner hop limit is nobody's
		{61, 9, WIRE_FINE},	  // a tag
	};
	struct wire_config config = config_of(6);
	config.srv6.usid_count = 8;
	for (size_t i = 0; i < sizeof(wounds) / sizeof(wounds[0]); i++) {
		struct wire_view view;
		struct packet back;
		size_t bytes = build(&config, &write_far, &view);
		frame[wounds[i].at] = wounds[i].value;
		assert_string_equal(
			wire_reason_name(parse_exact(&config, frame, bytes, &back, &view)),
			wire_reason_name(wounds[i].reason));
	}
}

static void more_segments_of_others_are_read(void **)
{
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet back, packet = write_far;
	config.srv6.usid_count = 8;
	size_t bytes = build(&config, &packet, &view);
	memmove(frame + 94, frame + 78, bytes - 78); // one more segment behind the first
	memset(frame + 78, 0x11, 16);
	bytes += 16;
	frame[55] = 4;
	frame[57] = 2;
	frame[58] = 1;
	frame[18] = (uint8_t)((bytes - 54) >> 8);
	frame[19] = (uint8_t)(bytes - 54);
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	assert_int_equal(view.ip_at, 54 + 40);
	memset(frame + TARGET_AT + 6, 0, 10); // its last uSID: the second segment is next
	uint64_t route = (uint64_t)config.srv6.block << 16 | 0x3000;
	frame[TARGET_AT + 4] = 0x30;
	frame[TARGET_AT + 5] = 0;
	assert_int_equal(wire_srv6_shift(route, frame, &view), WIRE_SRV6_SEGMENT);
	assert_int_equal(frame[TARGET_AT], 0x11);
	assert_int_equal(frame[57], 1);
}

// What is left of a frame when its outer header is taken off.
static size_t take_out(size_t bytes)
{
	memmove(frame + 14, frame + INNER_AT, bytes - INNER_AT);
	return bytes - 40;
}

static void a_whole_packet_taken_out_is_the_packet_of_its_inner_header(void **)
{
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet packet = write_far, back;
	size_t bytes = build(&config, &packet, &view);
	packet.hop = 3;
	packet.flags |= PACKET_CE; // RFC 6040: who takes it out should copy the mark
	wire_patch(&config, &packet, frame, &view);
	bytes = take_out(bytes);
	assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
	packet = write_far;
	packet.wire_bytes -= 40;
	assert_memory_equal(&back, &packet, sizeof(back)); // hops and mark went with the header
	assert_true(!view.has_srv6 && view.icrc == WIRE_ICRC_GOOD);
}

static void the_mark_of_a_trim_goes_with_the_outer_header(void **)
{
	struct wire_config config = config_of(6);
	struct wire_view view;
	struct packet back;
	for (int rewrites = 0; rewrites < 2; rewrites++) {
		struct packet packet = write_far;
		config.trim_rewrites_lengths = rewrites;
		build(&config, &packet, &view);
		packet.flags |= PACKET_TRIMMED;
		packet.klass = PACKET_CLASS_CONTROL;
		size_t bytes = wire_patch(&config, &packet, frame, &view);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view), WIRE_FINE);
		assert_true(view.dscp == 12 && view.inner_dscp == 4);
		assert_true(back.flags & PACKET_TRIMMED);
		// nothing inside says that it was cut: it is a broken packet
		bytes = take_out(bytes);
		assert_int_equal(parse_exact(&config, frame, bytes, &back, &view),
				 WIRE_SHORT_PAYLOAD);
	}
}

static void lists_that_cannot_work_are_refused(void **)
{
	struct refusal refusal = {0};
	struct wire_config config;
#define REFUSED(change, part) \
	do { \
		config = config_of(6); \
		change; \
		assert_true(wire_config_check(&config, &refusal) < 0); \
		assert_non_null(strstr(refusal.text, part)); \
	} while (0)
	REFUSED(config.srv6.usid_count = 0, "1 to 12");
	REFUSED(config.srv6.usid_count = 13, "1 to 12");
	REFUSED(config.srv6.plane_shift = 16, "plane");
	REFUSED(config.srv6.t0_nics = 0, "NICs");
	REFUSED(config.srv6.t0_nics = 2049, "2048");
	REFUSED(config.srv6.usids[1].part = 3, "part");
	REFUSED(config.srv6.usids[1].init = 0x1000, "plane");
	REFUSED(config.srv6.usids[0].mask = 0x1fff, "plane");
	REFUSED(config.srv6.usids[0].max = 0x800, "highest value");
	REFUSED(config.srv6.usids[3].is_trunk = true, "own");
	REFUSED(config.trim_frame_bytes = 145, "146");
	REFUSED(config.srv6.has_srh = config.srv6.usids[2].is_trunk = true, "an SRH");
	config = config_of(4); // 22 bits of an EV of 16
	config.srv6.usids[1] = config.srv6.usids[0];
	assert_true(wire_config_check(&config, &refusal) < 0);
	assert_non_null(strstr(refusal.text, "22 bits of the EV, it has 16"));
#undef REFUSED
	config = config_of(6);
	assert_int_equal(wire_planes_max(&config), 15);
	assert_int_equal(wire_nics_max(&config), 256 * 4096);
	config.entropy = WIRE_ENTROPY_STEV; // then nobody asks
	config.srv6.usid_count = 0;
	assert_int_equal(wire_config_check(&config, &refusal), 0);
	assert_int_equal(wire_planes_max(&config), 256);
}
