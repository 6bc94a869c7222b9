// SPDX-License-Identifier: Apache-2.0
// The headers of RoCEv2's reliable connection. Reserved bits are written as 0 and not read. The BTH
// is MRC's, but for the bits that MRC has added to it.

#include "rc.h"

#include <string.h>

#include "bytes.h"
#include "mrc.h"

#define BTH_NOTIFY_AT 4 // FECN 1, BECN 1, reserved 6
#define BTH_BECN (1 << 6)

static bool has_reth(uint8_t opcode)
{
	return opcode == RC_WRITE_FIRST || opcode == RC_WRITE_ONLY || opcode == RC_WRITE_ONLY_IMM;
}

static bool has_imm(uint8_t opcode)
{
	return opcode == RC_WRITE_LAST_IMM || opcode == RC_WRITE_ONLY_IMM;
}

uint32_t rc_bytes(uint8_t opcode)
{
	if (rc_is_write(opcode))
		return MRC_BTH_BYTES + (has_reth(opcode) ? MRC_RETH_BYTES : 0) +
			(has_imm(opcode) ? MRC_IMM_BYTES : 0);
	if (opcode == RC_ACK)
		return MRC_BTH_BYTES + MRC_AETH_BYTES;
	return opcode == RC_CNP ? MRC_BTH_BYTES + RC_CNP_BYTES : 0;
}

uint32_t rc_request_bytes(uint8_t opcode)
{
	enum { RETH = 16, ATOMIC_ETH = 28, IMM_OR_IETH = 4 };
	bool has_more = opcode == 0x03 || opcode == 0x05 || opcode == 0x16 || opcode == 0x17;
	switch (rc_request_of(opcode)) {
	case RC_REQUEST_SEND:
		return MRC_BTH_BYTES + (has_more ? IMM_OR_IETH : 0);
	case RC_REQUEST_READ:
		return MRC_BTH_BYTES + RETH;
	case RC_REQUEST_ATOMIC:
		return MRC_BTH_BYTES + ATOMIC_ETH;
	case RC_REQUEST_RESERVED:
		return MRC_BTH_BYTES; // what follows is nobody's
	default:
		return 0;
	}
}

uint8_t rc_headers(uint8_t opcode)
{
	return (uint8_t)((has_reth(opcode) ? WIRE_HAS_RETH : 0) |
			 (has_imm(opcode) ? WIRE_HAS_IMM : 0));
}

void rc_parse(const struct wire_config *config, const uint8_t *at, struct packet *packet)
{
	mrc_parse_head(config, at, PACKET_AR, packet);
	at += MRC_BTH_BYTES;
	if (packet->opcode == RC_ACK)
		mrc_parse_ack(at, packet);
	if (has_reth(packet->opcode)) {
		mrc_parse_reth(at, packet);
		at += MRC_RETH_BYTES;
	}
	if (has_imm(packet->opcode))
		packet->u.data.imm = get_be32(at);
}

void rc_build(const struct wire_config *config, const struct packet *packet, uint8_t pad_bytes,
	      uint8_t *at)
{
	memset(at, 0, rc_bytes(packet->opcode));
	mrc_build_head(config, packet, pad_bytes, packet->bth & PACKET_AR, at);
	if (packet->opcode == RC_CNP)
		at[BTH_NOTIFY_AT] = BTH_BECN;
	at += MRC_BTH_BYTES;
	if (packet->opcode == RC_ACK)
		mrc_build_ack(packet, at);
	if (has_reth(packet->opcode)) {
		mrc_build_reth(packet, at);
		at += MRC_RETH_BYTES;
	}
	if (has_imm(packet->opcode))
		put_be32(at, packet->u.data.imm);
}
