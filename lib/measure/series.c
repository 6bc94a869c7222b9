// SPDX-License-Identifier: Apache-2.0
// Counts in bins of equal length, for goodput over a window of a run. A window is whole bins, so
// what it holds is exact: nothing is interpolated.

#include <weft/measure/measure.h>

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

int series_init(struct series *series, struct arena *arena, uint32_t count, ps_t bin_ps)
{
	check(bin_ps > 0);
	*series = (struct series){.count = count, .bin_ps = bin_ps};
	series->bins = arena_draw(arena, ARENA_MEASURE, count, sizeof(*series->bins));
	return series->bins == NULL ? -ENOMEM : 0;
}

void series_empty(struct series *series)
{
	if (series->count > 0)
		memset(series->bins, 0, series->count * sizeof(*series->bins));
	memset(series->after, 0, sizeof(series->after));
}

// Two neighbours become one.
static void fold(struct series *series)
{
	for (uint32_t i = 0; i < series->count; i++)
		for (int figure = 0; figure < SERIES_FIGURE_COUNT; figure++) {
			uint64_t amount = series->bins[i][figure];
			series->bins[i][figure] = 0;
			series->bins[i / 2][figure] += amount;
		}
	series->bin_ps *= 2;
	series->recent_span_ps = 0;
}

void series_reach(struct series *series, ps_t at)
{
	check(series->halves && series->count > 0);
	while (at / series->bin_ps >= series->count)
		fold(series);
}

uint64_t *series_find(struct series *series, ps_t at)
{
	uint64_t bin = (uint64_t)at / (uint64_t)series->bin_ps;
	if (bin >= series->count && series->halves) {
		series_reach(series, at);
		bin = (uint64_t)at / (uint64_t)series->bin_ps;
	}
	series->recent = bin;
	series->recent_ps = (ps_t)bin * series->bin_ps;
	series->recent_span_ps = series->bin_ps;
	return bin < series->count ? series->bins[bin] : series->after;
}

void series_merge(struct series *into, const struct series *from)
{
	check(into->count == from->count && into->halves == from->halves);
	while (into->halves && into->bin_ps < from->bin_ps)
		fold(into);
	check(into->bin_ps % from->bin_ps == 0 && (into->halves || into->bin_ps == from->bin_ps));
	uint32_t times = (uint32_t)(into->bin_ps / from->bin_ps);
	for (int figure = 0; figure < SERIES_FIGURE_COUNT; figure++) {
		for (uint32_t i = 0; i < from->count; i++)
			into->bins[i / times][figure] += from->bins[i][figure];
		into->after[figure] += from->after[figure];
	}
}

uint64_t series_sum(const struct series *series, enum series_figure figure, ps_t from, ps_t until)
{
	check(from >= 0 && from % series->bin_ps == 0 && until % series->bin_ps == 0);
	check(until / series->bin_ps <= series->count);
	uint64_t sum = 0;
	for (ps_t i = from / series->bin_ps; i < until / series->bin_ps; i++)
		sum += series->bins[i][figure];
	return sum;
}
