// SPDX-License-Identifier: Apache-2.0
// Times that are kept in fixed memory: all of them, then every second, every fourth.

#include "sequence.h"

void flow_lag(struct flow_lags *lags, int64_t ns)
{
	if (lags->count == 0 || ns < lags->min_ns)
		lags->min_ns = ns;
	if (lags->count == 0 || ns > lags->max_ns)
		lags->max_ns = ns;
	lags->sum_ns += (double)ns;
	if (lags->stride == 0)
		lags->stride = 1;
	bool is_kept = lags->count++ % lags->stride == 0;
	if (!is_kept)
		return;
	if (lags->kept_count == FLOW_LAGS_KEPT) {
		for (uint32_t i = 0; i < FLOW_LAGS_KEPT / 2; i++)
			lags->kept_ns[i] = lags->kept_ns[2 * i];
		lags->kept_count = FLOW_LAGS_KEPT / 2;
		lags->stride *= 2;
	}
	lags->kept_ns[lags->kept_count++] = ns;
}

// Heap sort: no memory, no worst case.
static void sift(int64_t *values, uint32_t at, uint32_t count)
{
	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && values[child + 1] > values[child])
			child++;
		if (values[at] >= values[child])
			return;
		int64_t value = values[at];
		values[at] = values[child];
		values[child] = value;
		at = child;
	}
}

static void sort(int64_t *values, uint32_t count)
{
	for (uint32_t i = count / 2; i-- > 0;)
		sift(values, i, count);
	for (uint32_t end = count; end > 1; end--) {
		int64_t value = values[0];
		values[0] = values[end - 1];
		values[end - 1] = value;
		sift(values, 0, end - 1);
	}
}

int64_t flow_quantile(struct flow_lags *lags, double q)
{
	uint32_t count = lags->kept_count;
	if (count == 0)
		return 0;
	sort(lags->kept_ns, count);
	double at = q * (double)(count - 1);
	uint32_t below = (uint32_t)at, above = below + 1 < count ? below + 1 : below;
	if ((double)below == at)
		return lags->kept_ns[below];
	bool is_middle = at - (double)below == 0.5;
	if (is_middle)
		return lags->kept_ns[below] + (lags->kept_ns[above] - lags->kept_ns[below]) / 2;
	return lags->kept_ns[at - (double)below > 0.5 ? above : below];
}
