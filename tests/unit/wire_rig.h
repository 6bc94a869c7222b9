// SPDX-License-Identifier: Apache-2.0
// Random packets and configurations for the tests of frames, and an ICRC of their own.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/psn.h>
#include <weft/rng.h>
#include <weft/wire.h>

#define FRAME_MAX 10000

static const uint8_t opcodes[] = {
	PACKET_WRITE_FIRST, PACKET_WRITE_MIDDLE,   PACKET_WRITE_LAST, PACKET_WRITE_LAST_IMM,
	PACKET_WRITE_ONLY,  PACKET_WRITE_ONLY_IMM, PACKET_SACK,	      PACKET_NACK,
};
#define OPCODES (sizeof(opcodes) / sizeof(opcodes[0]))

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

// The ICRC of a frame without IPv4 options, written down apart from the library.
static inline uint32_t icrc_of(const uint8_t *frame, size_t icrc_at)
{
	static uint8_t copy[65536 + 8];
	size_t bytes = icrc_at - 14;
	bool is_v4 = frame[14] >> 4 == 4;
	memset(copy, 0xff, 8);
	memcpy(copy + 8, frame + 14, bytes);
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

static inline struct wire_config random_config(struct rng *rng)
{
	struct wire_config config;
	wire_config_default(rng_below(rng, 2) ? 4 : 6, &config);
	config.ev_place = (uint8_t)rng_below(rng, 3);
	config.ipv4_plane_bits = (uint8_t)rng_below(rng, 5);
	config.port = rng_below(rng, 2) ? WIRE_PORT : WIRE_PORT_OTHER;
	config.has_tseth = rng_below(rng, 2);
	config.trim_rewrites_lengths = rng_below(rng, 2);
	if (rng_below(rng, 2)) {
		config.charged_header_bytes = 162;
		config.charged_control_bytes = 178;
		config.charged_trimmed_bytes = 142;
	}
	return config;
}

static inline void fill_union(struct rng *rng, const struct wire_config *config,
			      struct packet *packet)
{
	if (packet->opcode == PACKET_SACK) {
		packet->u.sack = (struct packet_sack){
			.bitmap = rng_next(rng),
			.ev_echo = (uint32_t)rng_next(rng),
			.rcvd_256 = rng_below(rng, 1 << 24),
			.trigger_offset = (int16_t)rng_next(rng),
			.offset = (int16_t)rng_next(rng),
			.ooo_count = (uint16_t)rng_below(rng, 1 << 15),
			.mark = (uint8_t)rng_below(rng, 3),
			.penalty = (uint8_t)rng_next(rng),
		};
	} else if (packet->opcode == PACKET_NACK) {
		packet->u.nack = (struct packet_nack_info){
			.ev_echo = (uint32_t)rng_next(rng),
			.psn = rng_below(rng, 1 << 24),
			.reason = (uint8_t)rng_next(rng),
		};
	} else {
		bool has_imm = packet->opcode == PACKET_WRITE_LAST_IMM ||
			packet->opcode == PACKET_WRITE_ONLY_IMM;
		packet->u.data = (struct packet_data){
			.va = rng_next(rng),
			.rkey = (uint32_t)rng_next(rng),
			.message_bytes = (uint32_t)rng_next(rng),
			.imm = has_imm ? (uint32_t)rng_next(rng) : 0,
			.msn = (uint16_t)rng_next(rng),
			.rqmsn = (uint16_t)rng_next(rng),
		};
		if (!config->has_tseth)
			packet->timestamp = 0;
	}
}

static inline void random_data_flags(struct rng *rng, struct packet *packet)
{
	packet->klass = PACKET_CLASS_DATA;
	packet->payload_bytes = (uint16_t)rng_below(rng, rng_below(rng, 50) == 0 ? 9001 : 65);
	packet->bth |= rng_below(rng, 2) ? PACKET_RTX : 0;
	packet->flags |= rng_below(rng, 4) ? PACKET_TRIMMABLE : 0;
	if (rng_below(rng, 4) == 0) {
		packet->flags |= PACKET_TRIMMABLE | PACKET_TRIMMED;
		packet->flags |= rng_below(rng, 2) ? PACKET_TRIMMED_LAST : 0;
		packet->klass = PACKET_CLASS_CONTROL;
		packet->payload_bytes = 0;
	}
}

// A packet that frames of `config` can carry whole.
static inline struct packet random_packet(struct rng *rng, const struct wire_config *config,
					  uint8_t opcode)
{
	bool is_control = opcode == PACKET_SACK || opcode == PACKET_NACK;
	struct packet packet;
	memset(&packet, 0, sizeof(packet));
	packet.opcode = opcode;
	packet.source = rng_below(rng, wire_nics_max(config));
	packet.target = rng_below(rng, wire_nics_max(config));
	packet.plane = (uint8_t)rng_below(rng, wire_planes_max(config));
	packet.ev = (uint32_t)rng_next(rng);
	if (config->ip_version == 4 || config->ev_place == WIRE_EV_PORT_ONLY)
		packet.ev &= UINT16_MAX;
	packet.hop = (uint8_t)rng_below(rng, 65);
	packet.bth = rng_below(rng, 2) ? PACKET_AR : 0;
	packet.timestamp = (uint16_t)rng_next(rng);
	packet.qpn = rng_below(rng, 1 << 24);
	packet.psn = rng_below(rng, 1 << 24);
	uint32_t ecn = rng_below(rng, 3);
	packet.flags = ecn == 0 ? 0 : ecn == 1 ? PACKET_ECT : PACKET_ECT | PACKET_CE;
	if (is_control)
		packet.klass = PACKET_CLASS_CONTROL;
	else
		random_data_flags(rng, &packet);
	fill_union(rng, config, &packet);
	packet.wire_bytes = (uint16_t)wire_line_bytes(config, &packet);
	return packet;
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
