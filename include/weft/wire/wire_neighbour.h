// SPDX-License-Identifier: Apache-2.0
// Which MAC an address has: ARP (RFC 826) for IPv4, neighbour discovery (RFC 4861) for IPv6. What a
// host asks, and what it tells, unasked too.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/wire/wire.h>

#define WIRE_NEIGHBOUR_BYTES 86 // the longest that is built

// Addresses of IPv4 are ::ffff:a.b.c.d.
struct wire_neighbour {
	bool tells; // else it asks
	// who asks; or whose MAC it is. Who asks without telling its MAC has that of the frame
	uint8_t source[16], source_mac[6];
	uint8_t target[16];    // who is asked for; or gets the answer: its own source where all do
	uint8_t target_mac[6]; // of who gets the answer
};

#ifdef __cplusplus
extern "C" {
#endif

// The address of a NIC by the rule of `config`, in the version that is built.
void wire_address(const struct wire_config *config, uint32_t nic, uint8_t plane, uint8_t ret[16]);

// The NIC behind an address of either version. False: the rule has no such address.
bool wire_nic(const struct wire_config *config, const uint8_t address[16], uint32_t *ret_nic,
	      uint8_t *ret_plane);

// The MAC of a NIC by the rule.
void wire_mac(const struct wire_config *config, uint32_t nic, uint8_t plane, uint8_t ret[6]);

// Writes the destination, and the source, of a frame that is built.
void wire_put_macs(void *frame, const uint8_t target[6], const uint8_t source[6]);

// False: it is no such frame, or not whole.
bool wire_neighbour_parse(const void *frame, uint32_t bytes, struct wire_neighbour *ret);

// Whether it is ARP or neighbour discovery at all: routers', and what is not whole, too.
bool wire_is_neighbour(const void *frame, uint32_t bytes);

// Writes the frame, in the version of its addresses. Returns its length.
uint32_t wire_neighbour_build(const struct wire_neighbour *neighbour, void *frame);

#ifdef __cplusplus
}
#endif
