// SPDX-License-Identifier: Apache-2.0
// Frames of random packets, for the tests of frames, and an ICRC of their own.
#pragma once

#include "wire_random.h"

#define FRAME_MAX 10000

// The CRC bit by bit, as its definition has it.
static inline uint32_t crc_of(uint32_t crc, const uint8_t *at, size_t bytes)
{
	crc = ~crc;
	for (size_t i = 0; i < bytes; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

// Where the IP header is that UDP follows: behind Ethernet, or behind what SRv6 puts there.
static inline size_t inner_of(const uint8_t *frame)
{
	if (frame[14] >> 4 != 6 || frame[20] == 17)
		return 14;
	return frame[20] == 43 ? 54 + 8 + 8u * frame[55] : 54;
}

// The ICRC of a frame without IPv4 options, written down apart from the library.
static inline uint32_t icrc_of(const uint8_t *frame, size_t icrc_at)
{
	static uint8_t copy[65536 + 8];
	size_t inner_at = inner_of(frame), bytes = icrc_at - inner_at;
	bool is_v4 = frame[inner_at] >> 4 == 4;
	memset(copy, 0xff, 8);
	memcpy(copy + 8, frame + inner_at, bytes);
	uint8_t *ip = copy + 8, *udp = ip + (is_v4 ? 20 : 40);
	if (is_v4) {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	} else {
		ip[0] = 0x6f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	}
	udp[6] = udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return crc_of(0, copy, 8 + bytes);
}

// Builds, fills with random payload, seals. Returns the frame's size.
static inline size_t random_frame(struct rng *rng, const struct wire_config *config,
				  const struct packet *packet, uint8_t *frame,
				  struct wire_view *ret_view)
{
	size_t bytes = wire_frame_bytes(config, packet);
	memset(frame, 0xa5, bytes); // what stood there before must not show
	assert_int_equal(wire_build(config, packet, frame, bytes, ret_view), bytes);
	for (uint32_t i = 0; i < ret_view->payload_bytes; i++)
		frame[ret_view->payload_at + i] = (uint8_t)rng_next(rng);
	wire_seal(frame, ret_view);
	return bytes;
}

// What of a packet is gone with the headers that a trim cut off.
static inline void forget_cut(const struct wire_view *cut, struct packet *packet)
{
	if (packet->opcode == PACKET_PROBE) {
		if (cut->headers & WIRE_HAS_PETH)
			return;
		packet->u.probe.probe_id = 0;
		packet->timestamp = 0;
		return;
	}
	if (!(cut->headers & WIRE_HAS_RETH)) {
		packet->u.data.va = 0;
		packet->u.data.rkey = packet->u.data.message_bytes = 0;
	}
	if (!(cut->headers & WIRE_HAS_IMM))
		packet->u.data.imm = 0;
}

// Parses from memory of exactly that size, so that a sanitizer sees a read behind the end.
static inline enum wire_reason parse_exact(const struct wire_config *config, const uint8_t *frame,
					   size_t bytes, struct packet *packet,
					   struct wire_view *view)
{
	uint8_t *exact = malloc(bytes > 0 ? bytes : 1);
	memcpy(exact, frame, bytes);
	enum wire_reason reason = wire_parse(config, exact, bytes, packet, view);
	free(exact);
	return reason;
}
