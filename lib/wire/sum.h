// SPDX-License-Identifier: Apache-2.0
// The ones' complement sum of IPv4 headers and of UDP (RFC 1071). It comes out the same in either
// byte order, so the bytes are added as this CPU reads them and the result is stored as it writes.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// `sum`, not yet folded, plus the 16-bit words of `bytes` bytes; an odd byte is followed by a 0.
// What was added before must have been even. Good for 2^32 bytes in all.
static inline uint64_t sum_add(uint64_t sum, const uint8_t *at, size_t bytes)
{
	uint32_t word;
	for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum += word;
	}
	word = 0;
	memcpy(&word, at, bytes);
	return sum + word;
}

// The sum in 16 bits: 0xffff over bytes whose checksum is right.
static inline uint16_t sum_fold(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	sum = (sum & UINT16_MAX) + (sum >> 16);
	return (uint16_t)sum;
}

// Writes a checksum.
static inline void sum_put(uint8_t *at, uint16_t checksum)
{
	memcpy(at, &checksum, sizeof(checksum));
}
