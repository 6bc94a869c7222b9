// SPDX-License-Identifier: Apache-2.0
// UDP headers (RFC 768). Above them everything is covered by the ICRC, so that the checksum is 0,
// in IPv6 too (RFC 6936).
#pragma once

#include <stddef.h>
#include <stdint.h>

#define UDP_BYTES 8
#define UDP_PROTOCOL 17

struct udp_head {
	uint16_t source_port;
	uint16_t target_port;
	uint16_t bytes; // header and payload, as the header says
};

// Reads a header of which all UDP_BYTES are there.
struct udp_head udp_parse(const uint8_t *at);

void udp_build(const struct udp_head *head, uint8_t *at);

// Changes the length in place.
void udp_put_bytes(uint8_t *at, uint32_t bytes);
