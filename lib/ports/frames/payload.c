// SPDX-License-Identifier: Apache-2.0
// The pattern: the 8 bytes at address 8i of a region are a number that the region gives, plus i
// times an odd constant, low byte first. Addition only, so that compilers make vectors of it.

#include <weft/ports/payload.h>

#include <string.h>

#include <weft/core/rng.h>

#define STEP UINT64_C(0x9e3779b97f4a7c15)
#define WORDS 64 // made at once, to count what differs

static uint64_t word_at(const struct payload_origin *spot, uint64_t va)
{
	uint64_t region = rng_mix((uint64_t)spot->nic << 32 ^ spot->qp);
	return rng_mix(region ^ spot->rkey) + (va >> 3) * STEP;
}

// The pattern of a few bytes that lie in one word.
static void fill_part(uint64_t word, uint64_t va, uint8_t *ret, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		ret[i] = (uint8_t)(word >> (((va + i) & 7) * 8));
}

static uint32_t head_bytes(uint64_t va, uint32_t bytes)
{
	uint32_t head = (uint32_t)(-va & 7);
	return head < bytes ? head : bytes;
}

// Compiled for wider vectors, too, where a program can choose between them when it starts.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

WIDE static void fill_words(uint64_t word, void *ret, uint32_t words)
{
	uint8_t *at = ret;
	for (uint32_t i = 0; i < words; i++, word += STEP) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		uint64_t value = __builtin_bswap64(word);
#else
		uint64_t value = word;
#endif
		__builtin_memcpy(at + (size_t)i * 8, &value, 8);
	}
}

void payload_fill(const struct payload_origin *spot, void *ret, uint32_t bytes)
{
	uint8_t *at = ret;
	uint64_t va = spot->va;
	uint32_t head = head_bytes(va, bytes);
	uint64_t word = word_at(spot, va);
	fill_part(word, va, at, head);
	word += head > 0 ? STEP : 0;
	uint32_t words = (bytes - head) / 8;
	fill_words(word, at + head, words);
	fill_part(word + words * STEP, 0, at + head + words * 8, (bytes - head) & 7);
}

// What differs between bytes and the pattern, of whole words.
WIDE static uint64_t words_differ(uint64_t word, const uint8_t *at, uint32_t words)
{
	uint64_t differ = 0, is;
	for (uint32_t i = 0; i < words; i++, word += STEP) {
		__builtin_memcpy(&is, at + (size_t)i * 8, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		is = __builtin_bswap64(is);
#endif
		differ |= is ^ word;
	}
	return differ;
}

static bool part_is_right(uint64_t word, uint64_t va, const uint8_t *at, uint32_t bytes)
{
	uint8_t should[8];
	fill_part(word, va, should, bytes);
	return memcmp(at, should, bytes) == 0;
}

static bool is_right(const struct payload_origin *spot, const uint8_t *at, uint32_t bytes)
{
	uint32_t head = head_bytes(spot->va, bytes), words = (bytes - head) / 8;
	uint64_t word = word_at(spot, spot->va), next = word + (head > 0 ? STEP : 0);
	return words_differ(next, at + head, words) == 0 &&
		part_is_right(word, spot->va, at, head) &&
		part_is_right(next + words * STEP, 0, at + head + words * 8, (bytes - head) & 7);
}

uint32_t payload_wrong(const struct payload_origin *spot, const void *payload, uint32_t bytes)
{
	uint8_t should[WORDS * 8];
	const uint8_t *at = payload;
	struct payload_origin part = *spot;
	uint32_t wrong = 0;
	if (is_right(spot, at, bytes))
		return 0;
	while (bytes > 0) {
		uint32_t count = bytes < sizeof(should) ? bytes : (uint32_t)sizeof(should);
		payload_fill(&part, should, count);
		for (uint32_t i = 0; i < count; i++)
			wrong += at[i] != should[i];
		at += count;
		part.va += count;
		bytes -= count;
	}
	return wrong;
}
