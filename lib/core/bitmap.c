// SPDX-License-Identifier: Apache-2.0
// Searching and counting in bitmaps and in rings of bits.

#include <weft/core/bitmap.h>

uint32_t bitmap_next(const uint64_t *words, uint32_t bits, uint32_t from)
{
	if (from >= bits)
		return bits;
	uint32_t word = from >> 6;
	uint64_t rest = words[word] & (~UINT64_C(0) << (from & 63));
	while (rest == 0) {
		if (++word >= BITMAP_WORDS(bits))
			return bits;
		rest = words[word];
	}
	uint32_t bit = (word << 6) + (uint32_t)__builtin_ctzll(rest);
	return bit < bits ? bit : bits;
}

uint32_t bitmap_count(const uint64_t *words, uint32_t bits)
{
	uint32_t count = 0;
	for (uint32_t word = 0; word < bits >> 6; word++)
		if (words[word] != 0) // many have none, and not all processors count in one step
			count += (uint32_t)__builtin_popcountll(words[word]);
	if (bits & 63)
		count += (uint32_t)__builtin_popcountll(words[bits >> 6] &
							((UINT64_C(1) << (bits & 63)) - 1));
	return count;
}

uint64_t bitmap_ring_window(const uint64_t *words, uint32_t bits, uint32_t from)
{
	uint32_t at = from & (bits - 1);
	uint32_t word = at >> 6, shift = at & 63;
	uint64_t low = words[word] >> shift;
	if (shift == 0)
		return low;
	uint32_t next = (word + 1) & ((bits >> 6) - 1);
	return low | words[next] << (64 - shift);
}

uint32_t bitmap_ring_run(const uint64_t *words, uint32_t bits, uint32_t from, uint32_t max)
{
	uint32_t run = 0;
	while (run < max) {
		uint64_t window = bitmap_ring_window(words, bits, from + run);
		if (window != ~UINT64_C(0)) {
			run += (uint32_t)__builtin_ctzll(~window);
			break;
		}
		run += 64;
	}
	return run < max ? run : max;
}

void bitmap_ring_clear(uint64_t *words, uint32_t bits, uint32_t from, uint32_t count)
{
	while (count > 0) {
		uint32_t at = from & (bits - 1), shift = at & 63;
		uint32_t step = 64 - shift < count ? 64 - shift : count;
		words[at >> 6] &= ~(~UINT64_C(0) >> (64 - step) << shift);
		from += step;
		count -= step;
	}
}
