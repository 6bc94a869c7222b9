// SPDX-License-Identifier: Apache-2.0
// Requests of RoCEv2 that weft does not have, in frames that are built here out of those it has:
// read by who is to answer them, and an unknown opcode to everybody else.
#include "wire_rig.h"

// A frame with `opcode` and `bytes` behind its BTH, and its ICRC.
static size_t make(const struct wire_config *config, uint8_t opcode, uint16_t bytes, uint8_t *frame)
{
	struct packet packet = {.source = 1,
				.target = 2,
				.qpn = 7,
				.psn = 0xabcdef,
				.opcode = RC_WRITE_MIDDLE,
				.klass = PACKET_CLASS_DATA,
				.payload_bytes = bytes};
	struct wire_view view;
	size_t length = wire_build(config, &packet, frame, FRAME_MAX, &view);
	memset(frame + view.payload_at, 0x5a, bytes);
	frame[view.bth_at] = opcode;
	wire_seal(frame, &view);
	return length;
}

static void requests_are_read_by_who_answers_them(void **)
{
	static const struct {
		uint8_t opcode;
		uint16_t headers; // behind the BTH
		enum rc_request request;
	} cases[] = {
		{0x00, 0, RC_REQUEST_SEND},	{0x01, 0, RC_REQUEST_SEND},
		{0x02, 0, RC_REQUEST_SEND},	{0x03, 4, RC_REQUEST_SEND},
		{0x04, 0, RC_REQUEST_SEND},	{0x05, 4, RC_REQUEST_SEND},
		{0x0c, 16, RC_REQUEST_READ},	{0x13, 28, RC_REQUEST_ATOMIC},
		{0x14, 28, RC_REQUEST_ATOMIC},	{0x15, 0, RC_REQUEST_RESERVED},
		{0x16, 4, RC_REQUEST_SEND},	{0x17, 4, RC_REQUEST_SEND},
		{0x18, 0, RC_REQUEST_RESERVED}, {0x1f, 0, RC_REQUEST_RESERVED},
	};
	for (uint32_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		uint32_t at = i / 2;
		uint16_t payload = cases[at].request == RC_REQUEST_SEND ? 101 : 0;
		static uint8_t frame[FRAME_MAX];
		struct wire_config config;
		struct wire_view view;
		struct packet packet;
		wire_config_default(i & 1 ? 6 : 4, &config);
		size_t bytes = make(&config, cases[at].opcode,
				    (uint16_t)(cases[at].headers + payload), frame);
		assert_int_equal(wire_parse(&config, frame, bytes, &packet, &view),
				 WIRE_UNKNOWN_OPCODE);
		config.takes_requests = true;
		assert_int_equal(wire_parse(&config, frame, bytes, &packet, &view), WIRE_FINE);
		assert_int_equal(rc_request_of(packet.opcode), cases[at].request);
		assert_int_equal(packet.opcode, cases[at].opcode);
		assert_int_equal(packet.qpn, 7);
		assert_int_equal(packet.psn, 0xabcdef);
		assert_int_equal(packet.payload_bytes, payload);
		frame[view.bth_at + 8] ^= 1;
		assert_int_equal(wire_parse(&config, frame, bytes, &packet, &view), WIRE_BAD_ICRC);
		if (cases[at].headers == 0)
			continue;
		bytes = make(&config, cases[at].opcode, (uint16_t)(cases[at].headers - 4), frame);
		assert_int_equal(wire_parse(&config, frame, bytes, &packet, &view),
				 WIRE_BAD_LENGTH);
	}
}

// What weft has, what it would never ask for, and what is not of a reliable connection.
static void all_other_opcodes_are_what_they_were(void **)
{
	for (uint32_t opcode = 0; opcode < 256; opcode++) {
		bool is_one = opcode < 6 || opcode == 0x0c || (opcode > 0x12 && opcode < 0x20);
		static uint8_t frame[FRAME_MAX];
		struct wire_config config;
		struct wire_view view;
		struct packet packet;
		wire_config_default(6, &config);
		size_t bytes = make(&config, (uint8_t)opcode, 32, frame);
		enum wire_reason before = wire_parse(&config, frame, bytes, &packet, &view);
		config.takes_requests = true;
		enum wire_reason after = wire_parse(&config, frame, bytes, &packet, &view);
		assert_int_equal(after == before, !is_one);
		assert_int_equal(rc_request_of(opcode) != RC_REQUEST_COUNT, is_one);
	}
}
