// SPDX-License-Identifier: Apache-2.0
// SRv6 in front of a packet: an outer IPv6 header whose destination is a list of uSIDs (F3216: 32
// bits of block, up to six times 16 bits; RFC 9800), and a segment routing header (RFC 8754) with
// the rest of a longer list. IPv6 or IPv4 inside, nothing else.
#pragma once

#include <stdint.h>

#include <weft/wire/wire.h>

#include "ip.h"

#define SRV6_SRH_BYTES 24 // with one segment, as it is built
#define USID_BYTES 2
#define USID_BITS 16

// Reads the outer header of an IPv6 frame that is not UDP, and the inner one. Fills outer_at,
// srh_at, ip_at, ip_version, frame_bytes and all of DSCP, ECN and hop limit in `view`; `ret_inner`
// is the inner header.
enum wire_reason srv6_parse(const uint8_t *frame, size_t bytes, struct wire_view *view,
			    struct ip_head *ret_inner);

// Whether the outer destination of a frame with SRv6 is of the block of `config`.
bool srv6_is_ours(const struct wire_config *config, const uint8_t *frame,
		  const struct wire_view *view);

// Bytes in front of the inner header of a packet.
uint32_t srv6_bytes(const struct wire_config *config, const struct packet *packet);

// Writes them. `bytes` follow the outer IPv6 header.
void srv6_build(const struct wire_config *config, const struct packet *packet,
		const struct wire_view *view, uint32_t bytes, uint8_t *frame);

// Whether a frame has the uSIDs that its packet, which was read of it, has left after its hops.
bool srv6_is_on_route(const struct wire_config *config, const struct packet *packet,
		      const uint8_t *frame, const struct wire_view *view);

// Goes on by up to `hops` uSIDs.
void srv6_advance(uint8_t *frame, const struct wire_view *view, uint32_t hops);

// config.c: the start values of uSIDs: 0, or -EINVAL with the reason.
int srv6_check(const struct wire_config *config, struct refusal *refusal);

// How many NICs and planes the uSIDs can tell apart.
uint32_t srv6_nics_max(const struct wire_config *config);
uint32_t srv6_planes_max(const struct wire_config *config);
