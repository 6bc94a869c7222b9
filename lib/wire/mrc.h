// SPDX-License-Identifier: Apache-2.0
// The MRC headers above UDP (Multipath Reliable Connection 1.0 as its readers tell it,
// docs/wire.md): BTH, then METH, TSETH, RETH and ImmDt of writes, AETH of a transport ACK, ERTH and
// EETH of endpoint requests and responses, SETH with CC_STATE of a SACK, NETH of a NACK, PETH of a
// probe; and weft's own credit and demand, which are no MRC packets. RoCEv2's own packets are in
// rc.h, which shares what is alike.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/wire/wire.h>

#define MRC_BTH_BYTES 12
#define MRC_METH_BYTES 4
#define MRC_TSETH_BYTES 4
#define MRC_RETH_BYTES 16
#define MRC_IMM_BYTES 4
#define MRC_AETH_BYTES 4
#define MRC_ERTH_BYTES 16
#define MRC_EETH_BYTES 36
#define MRC_SETH_BYTES 28
#define MRC_CC_STATE_BYTES 8
#define MRC_NETH_BYTES 20
#define MRC_PETH_BYTES 16
#define WEFT_CREDIT_BYTES 4
#define WEFT_DEMAND_BYTES 8

// Of a P_Key: which partition, and whether as a full member, who talks to limited ones, too.
#define MRC_PKEY_PARTITION 0x7fff
#define MRC_PKEY_FULL 0x8000

// What the BTH says beside the packet.
struct mrc_bth {
	uint8_t opcode;
	uint8_t version;
	uint8_t pad_bytes;
	uint16_t pkey;
	bool has_tseth;
	uint8_t se_m; // byte 1, of which only these two bits
};

// Reads a BTH of which all bytes are there.
struct mrc_bth mrc_parse_bth(const uint8_t *at);

// Bytes from the BTH to the payload of a packet with this opcode; 0 for an unknown one.
uint32_t mrc_bytes(uint8_t opcode, bool has_tseth);

static inline bool mrc_is_write(uint8_t opcode)
{
	return opcode >= PACKET_WRITE_FIRST && opcode <= PACKET_WRITE_ONLY_IMM;
}

// Whether a switch may trim it: what travels in the data class.
static inline bool mrc_is_trimmable(uint8_t opcode)
{
	return mrc_is_write(opcode) || opcode == PACKET_PROBE;
}

// The bit of SE in the BTH's byte 1, of M: the other one. RoCEv2's is always IBTA's.
uint8_t mrc_se_bit(const struct wire_config *config, uint8_t opcode);

// Whether a packet is built with SE.
bool mrc_is_solicited(const struct wire_config *config, uint8_t opcode);

// The WIRE_HAS_ bits of a whole packet.
uint8_t mrc_headers(uint8_t opcode, bool has_tseth);

// Reads what there is of the headers, in whole headers; the rest of `packet` is left as it is.
// `bytes` is at least MRC_BTH_BYTES, and all of it where a packet is not trimmable. Returns the
// headers that were read as WIRE_HAS_ bits.
uint8_t mrc_parse(const struct wire_config *config, const uint8_t *at, size_t bytes,
		  struct packet *packet);

// Parts that RoCEv2's packets share: the BTH, of whose flags those of `flags` are read or written,
// AETH and RETH.
void mrc_parse_head(const struct wire_config *config, const uint8_t *at, uint8_t flags,
		    struct packet *packet);
void mrc_parse_ack(const uint8_t *at, struct packet *packet);
void mrc_parse_reth(const uint8_t *at, struct packet *packet);
void mrc_build_head(const struct wire_config *config, const struct packet *packet,
		    uint8_t pad_bytes, uint8_t flags, uint8_t *at);
void mrc_build_ack(const struct packet *packet, uint8_t *at);
void mrc_build_reth(const struct packet *packet, uint8_t *at);

// Writes all headers of a packet: mrc_bytes() bytes. `pad_bytes` follow its payload.
void mrc_build(const struct wire_config *config, const struct packet *packet, uint8_t pad_bytes,
	       uint8_t *at);
