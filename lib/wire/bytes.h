// SPDX-License-Identifier: Apache-2.0
// Numbers in frames, byte by byte: any alignment, any CPU. Network order is big-endian; only the
// ICRC goes out with its low byte first.
#pragma once

#include <stdint.h>

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
