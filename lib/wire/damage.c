// SPDX-License-Identifier: Apache-2.0
// What a bad cable does to a frame. One byte only: a CRC finds each error of up to 32 bits in a
// row, so there is no frame whose damage goes unseen by bad luck.

#include <weft/wire/wire.h>

#include "ip.h"
#include "udp.h"

#define IPV4_ADDRESSES_AT 12
#define IPV6_ADDRESSES_AT 8
#define UDP_CHECKSUM_AT 6
#define BTH_MASK_AT 4

// Two cables may hit the same byte, and must not mend it: what they add up to stays below 256 for
// 17 of them, more than any way has.
#define STEP_MAX 15

static bool is_covered(const struct wire_view *view, uint32_t at)
{
	return at != view->udp_at + UDP_CHECKSUM_AT && at != view->udp_at + UDP_CHECKSUM_AT + 1 &&
		at != view->bth_at + BTH_MASK_AT;
}

void wire_damage(void *frame, const struct wire_view *view, bool is_last_hop, uint64_t dice)
{
	uint8_t *bytes = frame;
	if (view->icrc == WIRE_ICRC_ABSENT) {
		uint8_t other = 8 | (dice & 7); // neither 4 nor 6
		uint8_t *version = bytes + (view->has_srv6 ? view->outer_at : view->ip_at);
		*version = (uint8_t)(other << 4 | (*version & 0x0f));
		return;
	}
	uint32_t addresses = view->ip_version == 4 ? IPV4_ADDRESSES_AT : IPV6_ADDRESSES_AT;
	uint32_t first = is_last_hop ? view->ip_at + addresses : view->payload_at;
	uint32_t count = view->frame_bytes - first;
	uint32_t at = first + (uint32_t)((dice >> 32) * count >> 32);
	if (!is_covered(view, at))
		at = view->icrc_at;
	bytes[at] = (uint8_t)(bytes[at] + 1 + (dice & 0xff) % STEP_MAX);
}
