// SPDX-License-Identifier: Apache-2.0
// Numbers in frames, byte by byte: any alignment, any CPU. Network order is big-endian; only the
// ICRC goes out with its low byte first.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t get_be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t get_be24(const uint8_t *at)
{
	return (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
}

static inline uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)get_be16(at) << 16 | get_be16(at + 2);
}

static inline uint64_t get_be64(const uint8_t *at)
{
	return (uint64_t)get_be32(at) << 32 | get_be32(at + 4);
}

static inline uint32_t get_le32(const uint8_t *at)
{
	return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static inline void put_be16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void put_be24(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 16);
	put_be16(at + 1, value);
}

static inline void put_be32(uint8_t *at, uint32_t value)
{
	put_be16(at, value >> 16);
	put_be16(at + 2, value);
}

static inline void put_be64(uint8_t *at, uint64_t value)
{
	put_be32(at, (uint32_t)(value >> 32));
	put_be32(at + 4, (uint32_t)value);
}

static inline void put_le32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
	at[2] = (uint8_t)(value >> 16);
	at[3] = (uint8_t)(value >> 24);
}

// The ones' complement sum of IPv4 headers and of UDP (RFC 1071). It comes out the same in either
// byte order, so the bytes are added as this CPU reads them and the result is stored as it writes.

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
