// SPDX-License-Identifier: Apache-2.0
// A value for a histogram where packets pass: what hist_add() does, in the caller's own code.
#pragma once

#include <stdint.h>

#include <weft/measure.h>

// The cell of a value that is in range.
static inline uint32_t hist_cell(const struct hist *hist, uint64_t value)
{
	uint32_t shift = 0;
	if (value >> hist->cell_bits != 0)
		shift = 64 - (uint32_t)__builtin_clzll(value) - hist->cell_bits;
	return (shift << (hist->cell_bits - 1)) + (uint32_t)(value >> shift);
}

// The same as hist_add(). The first value, a new extreme and those out of range take the long way;
// the others come with every packet. (While it is empty both extremes are 0, and another 0 counts
// as well here.)
static inline void hist_note(struct hist *hist, int64_t value)
{
	if (__builtin_expect(value > hist->max || value < hist->min ||
				     (uint64_t)value > hist->value_max,
			     0)) {
		hist_add_many(hist, value, 1);
		return;
	}
	hist->counts[hist_cell(hist, (uint64_t)value)]++;
	hist->total++;
	if (__builtin_expect(__builtin_add_overflow(hist->sum, (uint64_t)value, &hist->sum), 0))
		hist->sum = UINT64_MAX; // stays there instead of starting again at zero
}
