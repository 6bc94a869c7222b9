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
#define V6_MASKED (IPV6_BYTES + UDP_BYTES + MRC_BTH_BYTES)
#define HEAD_BYTES_MAX (LINK_BYTES + IPV4_BYTES_MAX + UDP_BYTES + MRC_BTH_BYTES)

// Bytes that do not count, by where they are.
enum { V4_CLASS_AT = 1, V4_TTL_AT = 8, V4_CHECKSUM_AT = 10 };
enum { V6_CLASS_AT = 0, V6_LABEL_AT = 1, V6_HOP_LIMIT_AT = 7 };
enum { BTH_RESERVED_AT = 4 }; // there are the congestion marks

static void mask_ip(uint8_t *ip, uint8_t version)
{
	if (version == 4) {
		ip[V4_CLASS_AT] = ip[V4_TTL_AT] = 0xff;
		ip[V4_CHECKSUM_AT] = ip[V4_CHECKSUM_AT + 1] = 0xff;
		return;
	}
	ip[V6_CLASS_AT] |= 0x0f; // the upper half of the traffic class
	ip[V6_LABEL_AT] = ip[V6_LABEL_AT + 1] = ip[V6_LABEL_AT + 2] = 0xff;
	ip[V6_HOP_LIMIT_AT] = 0xff;
}

uint32_t wire_icrc(const void *frame, const struct wire_view *view)
{
	const uint8_t *ip = (const uint8_t *)frame + view->ip_at;
	uint32_t ip_and_udp = view->bth_at - view->ip_at;
	uint32_t masked = ip_and_udp + MRC_BTH_BYTES;
	uint8_t head[HEAD_BYTES_MAX];
	check(LINK_BYTES + masked <= sizeof(head) && view->icrc_at >= view->ip_at + masked);
	memset(head, 0xff, LINK_BYTES);
	uint8_t *copy = head + LINK_BYTES;
	if (masked == V6_MASKED) // of a known size it is no call
		memcpy(copy, ip, V6_MASKED);
	else
		memcpy(copy, ip, masked);
	mask_ip(copy, view->ip_version);
	copy[ip_and_udp - 2] = copy[ip_and_udp - 1] = 0xff; // the checksum of UDP
	copy[ip_and_udp + BTH_RESERVED_AT] = 0xff;
	uint32_t crc = crc32_gzip_refl(0, head, LINK_BYTES + masked);
	return crc32_gzip_refl(crc, ip + masked, view->icrc_at - view->ip_at - masked);
}
