// SPDX-License-Identifier: Apache-2.0
// How far packets come behind others of their QP (watch.delays).
#include "reorder.h"

// Bits that are set, in fewer instructions than the compiler's own where processors are unknown.
static inline uint32_t ones(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

// 64 bits of a ring of words from bit `at` on.
static inline uint64_t window(const uint64_t *words, uint32_t at, uint32_t mask)
{
	uint32_t word = at >> 6, shift = at & 63;
	uint64_t next = words[(word + 1) & (mask >> 6)];
	return words[word] >> shift | next << 1 << (63 - shift);
}

// The same where they are more than a word.
static __attribute__((noinline)) uint32_t below_far(const uint64_t *words, uint32_t at,
						    uint32_t left, uint32_t mask)
{
	uint32_t below = 0;
	for (; left >= 64; left -= 64, at += 64)
		below += ones(window(words, at & mask, mask));
	return below + ones(window(words, at & mask, mask) & ((UINT64_C(1) << left) - 1));
}

uint32_t reorder_below(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn)
{
	const uint32_t mask = endpoint->mpr_mask, at = qp->rcv_next, left = psn - at;
	if (__builtin_expect(left >= 64, 0))
		return below_far(qp->received, at, left, mask);
	return ones(window(qp->received, at & mask, mask) & ((UINT64_C(1) << left) - 1));
}
