// SPDX-License-Identifier: Apache-2.0
// What finds out how far frames come: an echo (ICMP, RFC 792; ICMPv6, RFC 4443), or a datagram to a
// UDP port at which nobody listens, and what a peer or a router says to either.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_PING_BYTES_MIN 64 // without FCS; either kind in either version

// Addresses of IPv4 are ::ffff:a.b.c.d.
struct wire_ping {
	uint8_t source[16], target[16], source_mac[6], target_mac[6];
	uint16_t id, number; // what the answer is known by; of a datagram `id` is the source port
	uint16_t udp_port;   // 0: an echo
	uint16_t frame_bytes;
};

// What a frame says to it.
enum wire_ping_answer {
	WIRE_PING_OTHER,       // it is about something else
	WIRE_PING_ECHOED,      // the peer has it
	WIRE_PING_NO_PORT,     // the peer has it, and nobody listens at this port
	WIRE_PING_TOO_LONG,    // a router's next link carries no such frame
	WIRE_PING_UNREACHABLE, // a router's or the peer's word, of another kind
};

// Writes the frame, of `frame_bytes`, which no router may cut. Returns its length.
uint32_t wire_ping_build(const struct wire_ping *ping, void *frame);

enum wire_ping_answer wire_ping_hear(const struct wire_ping *ping, const void *frame,
				     uint32_t bytes);

#ifdef __cplusplus
}
#endif
