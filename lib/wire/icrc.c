// SPDX-License-Identifier: Apache-2.0
// The invariant CRC of RoCEv2 (InfiniBand specification, annex A17): CRC-32 of IEEE 802.3 over the
// packet from its IP header on, with ones in the place of what routers change, and eight bytes of
// ones ahead, where InfiniBand has its link header. It goes out with its low byte first.

#include <weft/wire/wire.h>

#include <isa-l/crc.h>
#include <string.h>

#include "ip.h"
#include "mrc.h"
#include "udp.h"

#define LINK_BYTES 8
#define HEAD_BYTES_MAX (LINK_BYTES + IPV4_BYTES_MAX + UDP_BYTES + MRC_BTH_BYTES)

// Bytes that do not count, as (offset, length).
struct mask {
	uint8_t at, bytes;
};
static const struct mask v4_masks[] = {{1, 1}, {8, 1}, {10, 2}}; // class, TTL, checksum
static const struct mask v6_masks[] = {{1, 3}, {7, 1}};		 // class and flow label, hop limit
#define UDP_MASK_AT 6						 // checksum
#define BTH_MASK_AT 4						 // reserved (congestion marks)

static void put_ones(uint8_t *at, const struct mask *masks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		memset(at + masks[i].at, 0xff, masks[i].bytes);
}

uint32_t wire_icrc(const void *frame, const struct wire_view *view)
{
	const uint8_t *ip = (const uint8_t *)frame + view->ip_at;
	uint32_t ip_and_udp = view->bth_at - view->ip_at;
	uint32_t masked = ip_and_udp + MRC_BTH_BYTES;
	uint8_t head[HEAD_BYTES_MAX];
	check(LINK_BYTES + masked <= sizeof(head) && view->icrc_at >= view->ip_at + masked);
	memset(head, 0xff, LINK_BYTES);
	memcpy(head + LINK_BYTES, ip, masked);
	uint8_t *copy = head + LINK_BYTES;
	if (view->ip_version == 4) {
		put_ones(copy, v4_masks, sizeof(v4_masks) / sizeof(v4_masks[0]));
	} else {
		copy[0] |= 0x0f; // the upper half of the traffic class
		put_ones(copy, v6_masks, sizeof(v6_masks) / sizeof(v6_masks[0]));
	}
	memset(copy + ip_and_udp - UDP_BYTES + UDP_MASK_AT, 0xff, 2);
	copy[ip_and_udp + BTH_MASK_AT] = 0xff;
	uint32_t crc = crc32_gzip_refl(0, head, LINK_BYTES + masked);
	return crc32_gzip_refl(crc, ip + masked, view->icrc_at - view->ip_at - masked);
}
