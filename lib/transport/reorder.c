// SPDX-License-Identifier: Apache-2.0
// How far packets come behind others of their QP (watch.delays).
#include "reorder.h"

#include <weft/measure_add.h>

// Bits that are set, in fewer instructions than the compiler's own where processors are unknown.
static inline uint32_t ones(uint64_t bits)
{
	bits -= bits >> 1 & UINT64_C(0x5555555555555555);
	bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
	bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

// How many packets with a higher PSN were here before this one, the ring's window behind it.
void reorder_note(struct endpoint *endpoint, const struct qp *qp, uint32_t psn)
{
	const uint32_t bits = endpoint->mpr_mask + 1;
	uint32_t below = 0;
	for (uint32_t at = qp->rcv_next; qp->ooo_count > below && psn_distance(psn, at) > 0;
	     at += 64) {
		uint32_t left = psn - at;
		uint64_t here = bitmap_ring_window(qp->received, bits, at);
		if (left < 64)
			here &= (UINT64_C(1) << left) - 1;
		below += ones(here);
	}
	hist_note(&endpoint->delays->order_packets, qp->ooo_count - below);
}
