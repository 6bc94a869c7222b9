// SPDX-License-Identifier: Apache-2.0
// The ICRC of frames of every length and head against the same sum taken bit by bit over a copy
// that is masked as annex A17 of the InfiniBand specification says.

#include "wire_rig.h"

#define LINK_BYTES 8
#define UDP_BYTES 8
#define BTH_BYTES 12
#define FRAME_BYTES_MAX 400
#define IP_AT 14

static uint32_t crc_bit_by_bit(const uint8_t *at, size_t bytes)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < bytes; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
	}
	return ~crc;
}

// Of the `bytes` bytes from the IP header on, of which `ip_bytes` are that header.
static uint32_t icrc_plainly(const uint8_t *ip, uint8_t version, uint32_t ip_bytes, uint32_t bytes)
{
	uint8_t copy[LINK_BYTES + FRAME_BYTES_MAX];
	uint8_t *at = copy + LINK_BYTES;
	memset(copy, 0xff, LINK_BYTES);
	memcpy(at, ip, bytes);
	if (version == 4) {
		at[1] = at[8] = at[10] = at[11] = 0xff; // class, hops, checksum
	} else {
		at[0] |= 0x0f;
		at[1] = at[2] = at[3] = at[7] = 0xff; // class and label, hops
	}
	at[ip_bytes + 6] = at[ip_bytes + 7] = 0xff; // checksum of UDP
	at[ip_bytes + UDP_BYTES + 4] = 0xff;	    // BTH: congestion marks
	return crc_bit_by_bit(copy, LINK_BYTES + bytes);
}

static void the_icrc_is_that_of_the_masked_bytes(void **)
{
	uint8_t frame[FRAME_BYTES_MAX], before[FRAME_BYTES_MAX];
	for (uint32_t i = 0; i < sizeof(frame); i++)
		frame[i] = (uint8_t)(i * 37 + (i >> 3));
	memcpy(before, frame, sizeof(frame));
	for (uint32_t ip_bytes = 20; ip_bytes <= 60; ip_bytes += 4) {
		uint32_t head = ip_bytes + UDP_BYTES + BTH_BYTES;
		for (uint32_t bytes = head; bytes <= head + 2 * 64 + 1; bytes++) {
			for (uint8_t version = 4; version <= 6; version += 2) {
				if (version == 6 && ip_bytes != 40)
					continue;
				struct wire_view view = {.ip_at = IP_AT,
							 .bth_at = IP_AT + ip_bytes + UDP_BYTES,
							 .icrc_at = IP_AT + bytes,
							 .ip_version = version};
				assert_int_equal(
					wire_icrc(frame, &view),
					icrc_plainly(frame + IP_AT, version, ip_bytes, bytes));
			}
		}
	}
	assert_memory_equal(frame, before, sizeof(frame)); // it is the caller's
}
