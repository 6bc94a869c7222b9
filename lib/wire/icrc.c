// SPDX-License-Identifier: Apache-2.0
// The invariant CRC of RoCEv2 (InfiniBand specification, annex A17): CRC-32 of IEEE 802.3 over the
// packet from its IP header on, with ones in the place of what routers change, and eight bytes of
// ones ahead, where InfiniBand has its link header. It goes out with its low byte first.

#include <weft/wire/wire.h>
#include <weft/wire/wire_apart.h>
#include <weft/wire/wire_icrcs.h>

#include <isa-l/crc.h>
#include <string.h>

#include "bytes.h"
#include "dissect.h"
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

static inline void mask(uint8_t *head, uint8_t version, uint32_t bth_at)
{
	mask_ip(head, version);
	head[bth_at - 2] = head[bth_at - 1] = 0xff; // the checksum of UDP
	head[bth_at + BTH_RESERVED_AT] = 0xff;
}

static uint32_t masked_crc(uint8_t *head, uint32_t masked, const struct wire_view *view,
			   uint32_t bth_at)
{
	mask(head, view->ip_version, bth_at);
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

// ---------------------------------------------------------------- several with one CRC

#define DUE_BYTES_MIN 512  // below, a CRC takes less than a sum
#define DUE_BYTES_MAX 4480 // a payload of 4 KiB and its headers

bool icrcs_add(struct wire_icrcs *icrcs, const uint8_t *frame, const struct wire_view *view,
	       struct wire_record *record)
{
	uint32_t bytes = view->icrc_at - view->ip_at, bth_at = view->bth_at - view->ip_at;
	if (icrcs->is_apart || bth_at + MASKED_IN_BTH > HEAD_BYTES || bytes < DUE_BYTES_MIN ||
	    bytes > DUE_BYTES_MAX)
		return false;
	check(icrcs->count < WIRE_ICRCS_MAX);
	icrcs->due[icrcs->count].ip = frame + view->ip_at;
	icrcs->due[icrcs->count].bth_at = bth_at;
	icrcs->due[icrcs->count].bytes = bytes;
	icrcs->due[icrcs->count].ip_version = view->ip_version;
	icrcs->due[icrcs->count++].record = record;
	return true;
}

static void add(uint8_t *restrict sum, const uint8_t *restrict from, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		sum[i] ^= from[i];
}

typedef uint64_t wide __attribute__((vector_size(16), aligned(1), may_alias));
#define WIDES 4 // stay in registers
#define BLOCK_BYTES ((uint32_t)(WIDES * sizeof(wide)))

// Sums `count` frames, each a byte behind the one before: block by block where all have bytes.
static void add_all(uint8_t *sum, const uint8_t *const from[], uint32_t count, uint32_t bytes)
{
	uint32_t begin = count - 1, end = begin + (bytes - begin) / BLOCK_BYTES * BLOCK_BYTES;
	memset(sum, 0, begin);
	memset(sum + end, 0, bytes + begin - end);
	for (uint32_t at = begin; at < end; at += BLOCK_BYTES) {
		wide all[WIDES] = {0};
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < WIDES; k++)
				all[k] ^= ((const wide *)(from[i] + at - i))[k];
		for (uint32_t k = 0; k < WIDES; k++)
			((wide *)(sum + at))[k] = all[k];
	}
	for (uint32_t i = 0; i < count; i++) {
		add(sum + i, from[i], begin - i);
		add(sum + end, from[i] + end - i, bytes + i - end);
	}
}

// What makes the CRC of a frame and its ICRC zero if it begins at zero and the ICRC is right: the
// masked bytes, the eight ones of the link and the complement.
static void add_rest(uint8_t *sum, const uint8_t *ip, uint8_t version, uint32_t bth_at,
		     uint32_t bytes)
{
	uint8_t head[HEAD_BYTES];
	memcpy(head, ip, HEAD_BYTES);
	mask(head, version, bth_at);
	put_le32(head, get_le32(head) ^ ~(uint32_t)LINK_CRC);
	for (uint32_t i = 0; i < HEAD_BYTES; i++)
		sum[i] ^= head[i] ^ ip[i];
	for (uint32_t i = 0; i < WIRE_ICRC_BYTES; i++)
		sum[bytes + i] ^= 0xff;
}

// Whether all of them are right, which have one length.
static bool are_good(const struct wire_icrcs *icrcs)
{
	uint8_t sum[DUE_BYTES_MAX + WIRE_ICRC_BYTES + WIRE_ICRCS_MAX];
	const uint8_t *from[WIRE_ICRCS_MAX];
	uint32_t count = icrcs->count, bytes = icrcs->due[0].bytes + WIRE_ICRC_BYTES, i = 0;
	for (i = 0; i < count; i++)
		from[i] = icrcs->due[i].ip;
	add_all(sum, from, count, bytes);
	for (i = 0; i < count; i++)
		add_rest(sum + i, from[i], icrcs->due[i].ip_version, icrcs->due[i].bth_at,
			 bytes - WIRE_ICRC_BYTES);
	return crc32_gzip_refl(UINT32_MAX, sum, bytes + count - 1) == UINT32_MAX;
}

static bool have_one_length(const struct wire_icrcs *icrcs)
{
	for (uint32_t i = 1; i < icrcs->count; i++)
		if (icrcs->due[i].bytes != icrcs->due[0].bytes)
			return false;
	return true;
}

void wire_icrcs_check(struct wire_icrcs *icrcs)
{
	bool all_good = icrcs->count > 1 && have_one_length(icrcs) && are_good(icrcs);
	for (uint32_t i = 0; i < icrcs->count; i++) {
		const uint8_t *ip = icrcs->due[i].ip;
		struct wire_view view = {.bth_at = icrcs->due[i].bth_at,
					 .icrc_at = icrcs->due[i].bytes,
					 .ip_version = icrcs->due[i].ip_version};
		bool is_good = all_good || get_le32(ip + view.icrc_at) == wire_icrc(ip, &view);
		icrcs->due[i].record->icrc = is_good ? WIRE_ICRC_GOOD : WIRE_ICRC_BAD;
		icrcs->is_apart |= !is_good;
	}
	icrcs->count = 0;
}
