// SPDX-License-Identifier: Apache-2.0
// Bits in 64-bit words, and a ring of bits indexed by a running number (a PSN): capacity a power of
// two, at least 64.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BITMAP_WORDS(bits) (((bits) + 63u) / 64u)

static inline bool bitmap_get(const uint64_t *words, uint32_t bit)
{
	return (words[bit >> 6] >> (bit & 63)) & 1;
}

static inline void bitmap_set(uint64_t *words, uint32_t bit)
{
	words[bit >> 6] |= UINT64_C(1) << (bit & 63);
}

static inline void bitmap_clear(uint64_t *words, uint32_t bit)
{
	words[bit >> 6] &= ~(UINT64_C(1) << (bit & 63));
}

#ifdef __cplusplus
extern "C" {
#endif

// The first set bit at or after `from` and below `bits`; `bits` when there is none.
uint32_t bitmap_next(const uint64_t *words, uint32_t bits, uint32_t from);

// How many of the first `bits` bits are set.
uint32_t bitmap_count(const uint64_t *words, uint32_t bits);

// 64 bits of a ring of `bits` bits (a power of two) starting at running number `from`.
uint64_t bitmap_ring_window(const uint64_t *words, uint32_t bits, uint32_t from);

// How many bits in a row are set in a ring of `bits` bits (a power of two) from running number
// `from` on, at most `max`.
uint32_t bitmap_ring_run(const uint64_t *words, uint32_t bits, uint32_t from, uint32_t max);

// Clears `count` bits, at most `bits`, of a ring of `bits` bits (a power of two) from running
// number `from` on.
void bitmap_ring_clear(uint64_t *words, uint32_t bits, uint32_t from, uint32_t count);

#ifdef __cplusplus
}
#endif
