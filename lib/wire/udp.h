// SPDX-License-Identifier: Apache-2.0
// UDP headers (RFC 768). Above them everything is covered by the ICRC, so that the checksum is 0
// unless it is asked for, in IPv6 too (RFC 6936).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"

#define UDP_BYTES 8
#define UDP_PROTOCOL 17
enum { UDP_SOURCE_AT = 0, UDP_TARGET_AT = 2, UDP_LENGTH_AT = 4, UDP_CHECKSUM_AT = 6 };

struct udp_head {
	uint16_t source_port;
	uint16_t target_port;
	uint16_t bytes;	   // header and payload, as the header says
	bool has_checksum; // it is not 0; parsed only
};

// Reads a header of which all UDP_BYTES are there.
static inline struct udp_head udp_parse(const uint8_t *at)
{
	return (struct udp_head){
		.source_port = get_be16(at + UDP_SOURCE_AT),
		.target_port = get_be16(at + UDP_TARGET_AT),
		.bytes = get_be16(at + UDP_LENGTH_AT),
		.has_checksum = get_be16(at + UDP_CHECKSUM_AT) != 0,
	};
}

// Writes a header without a checksum.
void udp_build(const struct udp_head *head, uint8_t *at);

// Changes the length in place.
void udp_put_bytes(uint8_t *at, uint32_t bytes);

// Changes the destination port in place.
void udp_put_target_port(uint8_t *at, uint16_t port);

// Writes the checksum over `bytes` bytes from the header on; `pseudo_sum` is ip_pseudo_sum()'s.
void udp_seal(uint8_t *at, uint32_t bytes, uint64_t pseudo_sum);

// Makes the checksum 0: not computed.
void udp_unseal(uint8_t *at);
