// SPDX-License-Identifier: Apache-2.0
// Valid bytes that no build wrote: what a reader of the tables puts behind the UDP header, every
// bit that a header may carry drawn at random. They are read, and built again bit for bit. And a
// bit that is reserved changes nothing of what is read.

#include "wire_rig.h"

#define BTH_AT (14 + 40 + 8)
#define BODY_AT (BTH_AT + 12)
#define BODY_MAX 48

// What stands behind the BTH of a packet: each byte's bits that are carried, and those that are
// always 1; all other are reserved or fixed at 0.
struct body {
	uint8_t opcode;
	bool has_tseth;
	uint8_t bytes;
	uint8_t carried[BODY_MAX];
	uint8_t ones[BODY_MAX];
};
#define A2 0xff, 0xff
#define A4 A2, A2
#define A8 A4, A4
#define A16 A8, A8
static const struct body bodies[] = {
	// METH, TSETH, RETH, ImmDt
	{PACKET_WRITE_FIRST, false, 20, {A4, A16}, {0}},
	{PACKET_WRITE_MIDDLE, true, 24, {A4, A2, 0, 0, A16}, {[7] = 1}},
	{PACKET_WRITE_LAST, true, 24, {A4, A2, 0, 0, A16}, {[7] = 1}},
	{PACKET_WRITE_LAST_IMM, false, 24, {A4, A16, A4}, {0}},
	{PACKET_WRITE_ONLY, false, 20, {A4, A16}, {0}},
	{PACKET_WRITE_ONLY_IMM, true, 28, {A4, A2, 0, 0, A16, A4}, {[7] = 1}},
	// AETH: syndrome, MSN
	{PACKET_ACK, false, 4, {A4}, {0}},
	// ERTH: op, port mask, time stamp; type 1
	{PACKET_ENDPOINT_REQUEST, false, 16, {0, 3, 0, 0, A4, 0, 0, 0, 0, A2, 0, 0}, {[15] = 1}},
	// EETH: op, time stamp
	{PACKET_ENDPOINT_RESPONSE, false, 36, {[1] = 0x30, [28] = 0xff, [29] = 0xff}, {0}},
	// SETH: mark and probe, offset, EV, PSN, MPR, offset, bitmap; CC_STATE
	{PACKET_SACK,
	 false,
	 36,
	 {0, 0x62, A2, A4, 0,  0,    0,	   0,	 0,  A2,  0xff,
	  0, 0xff, A2, A8, A2, 0x7f, 0xff, 0xff, A2, 0xff},
	 {0}},
	// NETH: reason, EV, PSN, time stamp; congestion control type 2
	{PACKET_NACK,
	 false,
	 20,
	 {0, 0, 0xff, 0, A4, 0, 0, 0, 0, 0, A2, 0xff, 0, 0, A2},
	 {[16] = 0x20}},
	// PETH: id, time stamp; type 1
	{PACKET_PROBE, false, 16, {0, 0, 0, 0, A2, 0, 0, 0, 0, 0, 0, A2, 0, 0}, {[15] = 1}},
	// weft's credit: bytes granted
	{PACKET_CREDIT, false, 4, {A4}, {0}},
	// weft's demand: bytes asked for, bytes sent without
	{PACKET_DEMAND, false, 8, {A4, A4}, {0}},
	// RoCEv2 RC: RETH, ImmDt; AETH; CNP
	{RC_WRITE_FIRST, false, 16, {A16}, {0}},
	{RC_WRITE_MIDDLE, false, 0, {0}, {0}},
	{RC_WRITE_LAST, false, 0, {0}, {0}},
	{RC_WRITE_LAST_IMM, false, 4, {A4}, {0}},
	{RC_WRITE_ONLY, false, 16, {A16}, {0}},
	{RC_WRITE_ONLY_IMM, false, 20, {A16, A4}, {0}},
	{RC_ACK, false, 4, {A4}, {0}},
	{RC_CNP, false, 16, {0}, {0}},
};
#define BODIES (sizeof(bodies) / sizeof(bodies[0]))

static void put_icrc(uint8_t *frame, size_t bytes)
{
	uint32_t crc = icrc_of(frame, bytes - 4);
	for (int i = 0; i < 4; i++)
		frame[bytes - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
}

// A frame of `body` in the first 200 bytes. Network headers are those of some packet of its size.
static size_t draw(struct rng *rng, const struct wire_config *config, const struct body *body,
		   uint8_t *frame)
{
	struct packet packet = random_packet(rng, config, body->opcode);
	struct wire_view view;
	packet.flags &= (uint8_t) ~(PACKET_TRIMMED | PACKET_TRIMMED_LAST);
	bool is_write = memchr(opcodes, body->opcode, WRITES) || is_rc_write(body->opcode);
	packet.payload_bytes = is_write ? (uint16_t)rng_below(rng, 64) : 0;
	size_t bytes = random_frame(rng, config, &packet, frame, &view);
	uint8_t *bth = frame + BTH_AT;
	for (int i = 5; i < 12; i++)
		if (i != 8) // AR, RTX, which the class follows, and ts
			bth[i] = (uint8_t)rng_next(rng);
	for (int i = 0; i < body->bytes; i++)
		frame[BODY_AT + i] = (uint8_t)((rng_next(rng) & body->carried[i]) | body->ones[i]);
	if (body->opcode == PACKET_SACK) // both PSNs are the same
		memcpy(bth + 9, frame + BODY_AT + 13, 3);
	put_icrc(frame, bytes);
	return bytes;
}

static struct wire_config config_of(const struct body *body)
{
	struct wire_config config;
	wire_config_default(6, &config);
	config.has_tseth = body->has_tseth;
	return config;
}

static void valid_bytes_are_read_and_built_again(void **)
{
	static uint8_t frame[FRAME_MAX], again[FRAME_MAX];
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 60000; i++) {
		const struct body *body = &bodies[i % BODIES];
		struct wire_config config = config_of(body);
		struct wire_view view, built;
		struct packet packet;
		size_t bytes = draw(&rng, &config, body, frame);
		assert_int_equal(parse_exact(&config, frame, bytes, &packet, &view), WIRE_FINE);
		assert_int_equal(view.payload_at, BODY_AT + body->bytes);
		assert_int_equal(wire_build(&config, &packet, again, bytes, &built), bytes);
		memcpy(again + built.payload_at, frame + view.payload_at, view.payload_bytes);
		wire_seal(again, &built);
		assert_memory_equal(again, frame, bytes);
	}
}

static void every_bit_that_is_carried_is_read_and_no_other(void **)
{
	static uint8_t frame[FRAME_MAX];
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 120; i++) {
		const struct body *body = &bodies[i % BODIES];
		struct wire_config config = config_of(body);
		struct wire_view view;
		struct packet packet, other;
		size_t bytes = draw(&rng, &config, body, frame);
		assert_int_equal(parse_exact(&config, frame, bytes, &packet, &view), WIRE_FINE);
		for (int bit = 0; bit < body->bytes * 8; bit++) {
			uint8_t *at = frame + BODY_AT + bit / 8, flip = (uint8_t)(1 << bit % 8);
			*at ^= flip;
			put_icrc(frame, bytes);
			assert_int_equal(parse_exact(&config, frame, bytes, &other, &view), 0);
			bool is_same = memcmp(&packet, &other, sizeof(packet)) == 0;
			bool is_carried = body->carried[bit / 8] & flip;
			assert_int_equal(is_same, !is_carried);
			*at ^= flip;
		}
	}
}
