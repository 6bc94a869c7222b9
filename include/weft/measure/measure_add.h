// SPDX-License-Identifier: Apache-2.0
// What is measured where packets pass: hist_add() and counts over time, in the caller's own code.
#pragma once

#include <stdint.h>

#include <weft/measure/measure.h>

// The cell of a value that is in range: the shift is 0 for those of the first bucket.
static inline uint64_t hist_cell(const struct hist *hist, uint64_t value)
{
	uint64_t high = 63u ^ (uint64_t)__builtin_clzll(value | hist->half); // its highest bit
	uint64_t shift = high - hist->half_bits;
	return shift * hist->half + (value >> shift);
}

// The same where the cells of a bucket behind the first are known: 2^half_bits.
static inline uint64_t hist_cell_in(uint32_t half_bits, uint64_t value)
{
	uint32_t high = 63u ^ (uint32_t)__builtin_clzll(value | UINT64_C(1) << half_bits);
	uint32_t shift = high - half_bits; // 32 bits: nothing is extended
	return ((uint64_t)shift << half_bits) + (value >> shift);
}

// Whether a value is in range and no new extreme.
static inline bool hist_is_usual(const struct hist *hist, uint64_t value)
{
	return __builtin_expect(value - hist->usual < hist->usual_count, 1);
}

// The same as hist_add(). The first value, a new extreme, those out of range and a sum that gets
// too large take the long way; the others come with every packet.
static inline void hist_note(struct hist *hist, int64_t value)
{
	uint64_t sum;
	if (!hist_is_usual(hist, (uint64_t)value) ||
	    __builtin_expect(__builtin_add_overflow(hist->sum, (uint64_t)value, &sum), 0)) {
		hist_add_many(hist, value, 1);
		return;
	}
	hist->sum = sum;
	hist->counts[hist_cell(hist, (uint64_t)value)]++;
	hist->total++;
}

// Values whose cells have been counted one by one: how many, of these out of range, and their sum
// and extremes.
struct hist_sum {
	uint64_t total, over, sum;
	int64_t min, max;
};

#ifdef __cplusplus
extern "C" {
#endif

// Adds all but the cells. Nothing when there are none.
void hist_add_sum(struct hist *hist, const struct hist_sum *sum);

#ifdef __cplusplus
}
#endif

// series_find(), as most things happen in the bin of those before.
static inline uint64_t *series_at(struct series *series, ps_t at)
{
	if (__builtin_expect((uint64_t)(at - series->recent_ps) >= (uint64_t)series->recent_span_ps,
			     0))
		return series_find(series, at);
	return series->recent < series->count ? series->bins[series->recent] : series->after;
}

// `amount` more at `at`.
static inline void series_add(struct series *series, enum series_figure figure, ps_t at,
			      uint64_t amount)
{
	series_at(series, at)[figure] += amount;
}
