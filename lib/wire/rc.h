// SPDX-License-Identifier: Apache-2.0
// The headers of RoCEv2's reliable connection above UDP (InfiniBand specification, annex A17): BTH,
// then RETH on the first packet of a write, ImmDt on the last of one that has an immediate, AETH of
// an ACK or NAK, and the reserved bytes of a CNP. Of READ, SEND and atomics the BTH is read, no
// more: they are refused. What MRC has instead is in mrc.h.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/wire/wire.h>

#define RC_CNP_BYTES 16 // reserved

static inline bool rc_is_write(uint8_t opcode)
{
	return opcode >= RC_WRITE_FIRST && opcode <= RC_WRITE_ONLY_IMM;
}

// Bytes from the BTH to the payload of a packet with this opcode; 0 for an unknown one.
uint32_t rc_bytes(uint8_t opcode);

// The same of a request that weft does not have (enum rc_request).
uint32_t rc_request_bytes(uint8_t opcode);

// The WIRE_HAS_ bits of a packet.
uint8_t rc_headers(uint8_t opcode);

// Reads all headers, rc_bytes() bytes, which are there: no switch trims these packets.
void rc_parse(const struct wire_config *config, const uint8_t *at, struct packet *packet);

// Writes all headers of a packet: rc_bytes() bytes. `pad_bytes` follow its payload.
void rc_build(const struct wire_config *config, const struct packet *packet, uint8_t pad_bytes,
	      uint8_t *at);
