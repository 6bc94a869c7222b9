// SPDX-License-Identifier: Apache-2.0
// Random packets, and configurations whose frames can carry them.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/psn.h>
#include <weft/core/rng.h>
#include <weft/wire/wire.h>

static const uint8_t opcodes[] = {
	PACKET_WRITE_FIRST,
	PACKET_WRITE_MIDDLE,
	PACKET_WRITE_LAST,
	PACKET_WRITE_LAST_IMM,
	PACKET_WRITE_ONLY,
	PACKET_WRITE_ONLY_IMM,
	PACKET_PROBE,
	PACKET_ACK,
	PACKET_ENDPOINT_REQUEST,
	PACKET_ENDPOINT_RESPONSE,
	PACKET_SACK,
	PACKET_NACK,
	PACKET_CREDIT,
	PACKET_DEMAND,
	RC_WRITE_FIRST,
	RC_WRITE_MIDDLE,
	RC_WRITE_LAST,
	RC_WRITE_LAST_IMM,
	RC_WRITE_ONLY,
	RC_WRITE_ONLY_IMM,
	RC_ACK,
	RC_CNP,
};
#define WRITES 6     // of opcodes[], the first ones
#define TRIMMABLES 7 // the same: and the probe
#define OPCODES (sizeof(opcodes) / sizeof(opcodes[0]))

// Up to 12 uSIDs of all kinds, and an SRH where there need not be one.
static inline struct wire_srv6 random_srv6(struct rng *rng)
{
	struct wire_srv6 srv6 = {.plane_shift = 10};
	srv6.block = (uint32_t)rng_next(rng);
	srv6.t0_nics = 1 + rng_below(rng, 256);
	srv6.usid_count = (uint8_t)(1 + rng_below(rng, WIRE_USIDS_MAX));
	for (uint32_t i = 0; i < srv6.usid_count; i++) {
		struct wire_usid *usid = &srv6.usids[i];
		usid->init = (uint16_t)(rng_below(rng, 4) << 8);
		usid->part = (uint8_t)rng_below(rng, 3);
		usid->mask = rng_below(rng, 4) == 0 ? 0x2d0 : 0; // 4 bits
		if (usid->part != WIRE_USID_FIXED)
			usid->mask = 0;
		usid->is_trunk = i + 1 < srv6.usid_count && rng_below(rng, 2);
	}
	for (uint32_t i = 0, bits = 0; i < srv6.usid_count; i++)
		if (srv6.usids[i].mask != 0 && (bits += 4) > 16)
			srv6.usids[i].mask = 0;
	srv6.has_srh = srv6.usid_count > 1 && rng_below(rng, 2);
	if (srv6.has_srh)
		srv6.usids[0].is_trunk = false;
	return srv6;
}

static inline struct wire_config random_config(struct rng *rng)
{
	struct wire_config config;
	wire_config_default(rng_below(rng, 2) ? 4 : 6, &config);
	config.entropy = (uint8_t)rng_below(rng, 3);
	config.ev_place = (uint8_t)rng_below(rng, 2);
	if (rng_below(rng, 2))
		config.srv6 = random_srv6(rng);
	config.ipv4_plane_bits = (uint8_t)rng_below(rng, 5);
	config.port = rng_below(rng, 2) ? WIRE_PORT : WIRE_PORT_OTHER;
	config.has_tseth = rng_below(rng, 2);
	config.has_solicited = rng_below(rng, 2);
	config.se_low = rng_below(rng, 2);
	config.qpn_key = rng_next(rng);
	config.qpn_key *= rng_below(rng, 2);
	config.eeth_op_low = rng_below(rng, 2);
	config.trim_rewrites_lengths = rng_below(rng, 2);
	if (rng_below(rng, 2)) {
		config.charged_header_bytes = 162;
		config.charged_control_bytes = 178;
		config.charged_trimmed_bytes = 142;
	}
	assert_int_equal(wire_config_check(&config, NULL), 0);
	return config;
}

static inline struct packet_sack random_sack(struct rng *rng)
{
	struct packet_sack sack = {.bitmap = rng_next(rng)};
	sack.ev_echo = (uint32_t)rng_next(rng);
	sack.rcvd_256 = rng_below(rng, 1 << 24);
	sack.offset = (int16_t)rng_next(rng);
	sack.ooo_count = (uint16_t)rng_below(rng, 1 << 15);
	sack.mark = (uint8_t)rng_below(rng, 4);
	sack.penalty = (uint8_t)rng_next(rng);
	sack.mpr = (uint8_t)rng_next(rng);
	sack.is_probe = (uint8_t)rng_below(rng, 2);
	if (sack.is_probe)
		sack.probe_id = (uint16_t)rng_next(rng);
	else
		sack.trigger_offset = (int16_t)rng_next(rng);
	return sack;
}

static inline void fill_write(struct rng *rng, const struct wire_config *config,
			      struct packet *packet)
{
	bool has_imm = packet->opcode == PACKET_WRITE_LAST_IMM ||
		packet->opcode == PACKET_WRITE_ONLY_IMM;
	packet->u.data = (struct packet_data){.va = rng_next(rng)};
	packet->u.data.rkey = (uint32_t)rng_next(rng);
	packet->u.data.message_bytes = (uint32_t)rng_next(rng);
	packet->u.data.imm = has_imm ? (uint32_t)rng_next(rng) : 0;
	packet->u.data.msn = (uint16_t)rng_next(rng);
	packet->u.data.rqmsn = (uint16_t)rng_next(rng);
	if (!config->has_tseth)
		packet->timestamp = 0;
}

static inline bool is_rc(uint8_t opcode)
{
	return opcode < PACKET_WRITE_FIRST;
}

static inline bool is_rc_write(uint8_t opcode)
{
	return opcode >= RC_WRITE_FIRST && opcode <= RC_WRITE_ONLY_IMM;
}

// RoCEv2's packets: only the first of a message says where it goes, no one when.
static inline void fill_rc(struct rng *rng, struct packet *packet)
{
	uint8_t opcode = packet->opcode;
	packet->timestamp = 0;
	if (opcode == RC_ACK) {
		packet->u.ack.msn = rng_below(rng, 1 << 24);
		packet->u.ack.syndrome = (uint8_t)rng_next(rng);
	}
	if (opcode == RC_WRITE_FIRST || opcode == RC_WRITE_ONLY || opcode == RC_WRITE_ONLY_IMM) {
		packet->u.data.va = rng_next(rng);
		packet->u.data.rkey = (uint32_t)rng_next(rng);
		packet->u.data.message_bytes = (uint32_t)rng_next(rng);
	}
	if (opcode == RC_WRITE_LAST_IMM || opcode == RC_WRITE_ONLY_IMM)
		packet->u.data.imm = (uint32_t)rng_next(rng);
}

static inline void fill_union(struct rng *rng, const struct wire_config *config,
			      struct packet *packet)
{
	switch (packet->opcode) {
	case PACKET_SACK:
		packet->u.sack = random_sack(rng);
		break;
	case PACKET_NACK:
		packet->u.nack.ev_echo = (uint32_t)rng_next(rng);
		packet->u.nack.psn = rng_below(rng, 1 << 24);
		packet->u.nack.reason = (uint8_t)rng_next(rng);
		break;
	case PACKET_ACK: // it has no time stamp
		packet->u.ack.msn = rng_below(rng, 1 << 24);
		packet->u.ack.syndrome = (uint8_t)rng_next(rng);
		packet->timestamp = 0;
		break;
	case PACKET_CREDIT: // it has no time stamp
		packet->u.credit.granted = (uint32_t)rng_next(rng);
		packet->timestamp = 0;
		break;
	case PACKET_DEMAND: // nor has this
		packet->u.demand.asked = (uint32_t)rng_next(rng);
		packet->u.demand.unpaid = (uint32_t)rng_next(rng);
		packet->timestamp = 0;
		break;
	case PACKET_PROBE:
		packet->u.probe.probe_id = (uint16_t)rng_next(rng);
		break;
	case PACKET_ENDPOINT_REQUEST:
		packet->u.request.port_status_mask = (uint32_t)rng_next(rng);
		packet->u.request.op = (uint8_t)rng_below(rng, 4);
		break;
	case PACKET_ENDPOINT_RESPONSE:
		packet->u.response.op = (uint8_t)rng_below(rng, 4);
		break;
	default:
		if (is_rc(packet->opcode))
			fill_rc(rng, packet);
		else
			fill_write(rng, config, packet);
	}
}

// A whole write of RoCEv2, as wire rules have it: no switch trims it.
static inline void random_rc_flags(struct rng *rng, struct packet *packet)
{
	packet->klass = PACKET_CLASS_DATA;
	packet->payload_bytes = (uint16_t)rng_below(rng, rng_below(rng, 50) == 0 ? 9001 : 65);
}

static inline void random_data_flags(struct rng *rng, struct packet *packet)
{
	packet->klass = PACKET_CLASS_DATA;
	if (packet->opcode != PACKET_PROBE)
		packet->payload_bytes = (uint16_t)rng_below(rng,
							    rng_below(rng, 50) == 0 ? 9001 : 65);
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
	struct packet packet;
	memset(&packet, 0, sizeof(packet));
	packet.opcode = opcode;
	packet.source = rng_below(rng, wire_nics_max(config));
	packet.target = rng_below(rng, wire_nics_max(config));
	packet.plane = (uint8_t)rng_below(rng, wire_planes_max(config));
	packet.ev = (uint32_t)rng_next(rng);
	if (config->ip_version == 4 || config->entropy == WIRE_ENTROPY_PORT)
		packet.ev &= UINT16_MAX;
	packet.hop = (uint8_t)rng_below(rng, 65);
	packet.bth = rng_below(rng, 2) ? PACKET_AR : 0;
	packet.timestamp = (uint16_t)rng_next(rng);
	packet.qpn = rng_below(rng, 1 << 24);
	packet.psn = rng_below(rng, 1 << 24);
	uint32_t ecn = rng_below(rng, 3);
	packet.flags = ecn == 0 ? 0 : ecn == 1 ? PACKET_ECT : PACKET_ECT | PACKET_CE;
	if (memchr(opcodes, opcode, TRIMMABLES) != NULL)
		random_data_flags(rng, &packet);
	else if (is_rc_write(opcode))
		random_rc_flags(rng, &packet);
	else // a request may travel as data, a response in the class of control
		packet.klass = opcode == PACKET_ENDPOINT_REQUEST ? (uint8_t)rng_below(rng, 2)
								 : PACKET_CLASS_CONTROL;
	fill_union(rng, config, &packet);
	packet.wire_bytes = (uint16_t)wire_line_bytes(config, &packet);
	return packet;
}
