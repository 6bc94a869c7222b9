// SPDX-License-Identifier: Apache-2.0
// The two ends of a frame by address: for who talks with NICs whose addresses follow no rule
// (WIRE_ADDRESSES_GIVEN). A GID is an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/wire/wire.h>

// A port of a NIC.
struct wire_end {
	uint8_t gid[16];
	uint8_t mac[6];
};

struct wire_ends {
	struct wire_end source, target;
};

#ifdef __cplusplus
extern "C" {
#endif

// The port in `plane` of NIC number `nic` by the rule of `config`. Both are below wire_nics_max()
// and wire_planes_max().
void wire_end_by_rule(const struct wire_config *config, uint32_t nic, uint8_t plane,
		      struct wire_end *ret);

// Whether a GID is one by that rule, and of which NIC.
bool wire_nic_by_rule(const struct wire_config *config, const uint8_t gid[16], uint32_t *ret_nic);

// The address of a NIC in place of that of a port: where a GID has the prefix of `config`, its
// plane becomes 0. Others stay. Returns the plane that it was, or -1.
int32_t wire_leave_out_plane(const struct wire_config *config, uint8_t gid[16]);

// IP version of a GID.
uint8_t wire_gid_version(const uint8_t gid[16]);

// Whether a GID and a MAC can be those of one port: neither of a group, nor 0. A MAC of 0 is
// allowed: nobody knows it yet.
bool wire_end_is_possible(const struct wire_end *end);

// Reads the ends of a frame that wire_parse() took; of one with SRv6 the inner ones.
void wire_ends_read(const void *frame, const struct wire_view *view, struct wire_ends *ret);

// Writes the ends of a frame that wire_build() made, and its UDP destination port, before
// wire_seal(). Both GIDs are of the frame's IP version.
void wire_ends_write(const struct wire_ends *ends, uint16_t port, void *frame,
		     struct wire_view *view);

#ifdef __cplusplus
}
#endif
