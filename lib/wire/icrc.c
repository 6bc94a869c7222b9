// SPDX-License-Identifier: Apache-2.0
// The invariant CRC of RoCEv2 (InfiniBand specification, annex A17): CRC-32 of IEEE 802.3 over the
// packet from its IP header on, with ones in the place of what routers change, and eight bytes of
// ones ahead, where InfiniBand has its link header. It goes out with its low byte first.

#include <weft/wire/wire.h>
#include <weft/wire/wire_apart.h>

#include <isa-l/crc.h>
#include <string.h>

#include "bytes.h"
#include "ip.h"
#include "mrc.h"
#include "udp.h"

#define LINK_CRC 0x2144df1c		    // of the eight bytes of ones
#define MASKED_IN_BTH (BTH_RESERVED_AT + 1) // the last byte that does not count is one of these
#define HEAD_BYTES 64 // all masked bytes of most frames; ISA-L takes 16 at a time
#define HEAD_BYTES_MAX (IPV4_BYTES_MAX + UDP_BYTES + MASKED_IN_BTH)

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

static uint32_t masked_crc(uint8_t *head, uint32_t masked, const struct wire_view *view,
			   uint32_t bth_at)
{
	mask_ip(head, view->ip_version);
	head[bth_at - 2] = head[bth_at - 1] = 0xff; // the checksum of UDP
	head[bth_at + BTH_RESERVED_AT] = 0xff;
	return crc32_gzip_refl(LINK_CRC, head, masked);
}

uint32_t wire_icrc(const void *frame, const struct wire_view *view)
{
	const uint8_t *ip = (const uint8_t *)frame + view->ip_at;
	uint32_t bytes = view->icrc_at - view->ip_at, bth_at = view->bth_at - view->ip_at;
	uint32_t masked = bth_at + MASKED_IN_BTH;
	uint8_t head[HEAD_BYTES_MAX];
	check(masked <= sizeof(head) && view->icrc_at >= view->ip_at + masked);
	if (masked <= HEAD_BYTES && HEAD_BYTES <= bytes) { // of a known size it is no call
		masked = HEAD_BYTES;
		memcpy(head, ip, HEAD_BYTES);
	} else {
		memcpy(head, ip, masked);
	}
	uint32_t crc = masked_crc(head, masked, view, bth_at);
	return crc32_gzip_refl(crc, ip + masked, bytes - masked);
}

uint32_t wire_seal_apart(void *frame, const struct wire_view *view, const void *payload)
{
	uint8_t *ip = (uint8_t *)frame + view->ip_at, *rest = (uint8_t *)frame + view->payload_at;
	uint32_t headers = view->payload_at - view->ip_at, bth_at = view->bth_at - view->ip_at;
	uint32_t masked = bth_at + MASKED_IN_BTH;
	uint8_t head[HEAD_BYTES_MAX];
	check(masked <= sizeof(head) && masked <= headers && !view->has_udp_checksum);
	memcpy(head, ip, masked);
	memset(rest, 0, view->pad_bytes);
	uint32_t crc = masked_crc(head, masked, view, bth_at);
	crc = crc32_gzip_refl(crc, ip + masked, headers - masked);
	crc = crc32_gzip_refl(crc, payload, view->payload_bytes);
	put_le32(rest + view->pad_bytes, crc32_gzip_refl(crc, rest, view->pad_bytes));
	return view->pad_bytes + WIRE_ICRC_BYTES;
}
