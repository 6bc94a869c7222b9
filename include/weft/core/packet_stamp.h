// SPDX-License-Identifier: Apache-2.0
// When a data packet left its sender, for measurement alone: no part of a frame, and nothing that
// an endpoint or a switch acts on.
#pragma once

#include <weft/core/packet.h>
#include <weft/core/time.h>

// A data packet leaves at `now`; kept in units of 1,024 ps.
static inline void packet_stamp(struct packet *packet, ps_t now)
{
	packet->u.data.sent_at = (uint32_t)((uint64_t)now >> 10) + 1;
}

// How long ago that was, to 1 ns and below 4 s; -1 where it is not known.
static inline ps_t packet_age(const struct packet *packet, ps_t now)
{
	uint32_t units = (uint32_t)((uint64_t)now >> 10) + 1 - packet->u.data.sent_at;
	return packet->u.data.sent_at == 0 ? -1 : (ps_t)units << 10;
}
