// SPDX-License-Identifier: Apache-2.0
// The deepest state of a queue in each of some bins, which double when time outruns them.

#include <weft/measure/measure_link.h>

#include <string.h>

#include <weft/core/check.h>

void depth_series_init(struct depth_series *series)
{
	*series = (struct depth_series){.bin_ps = DEPTH_BIN_PS, .end_ps = DEPTH_BIN_PS};
}

// Two neighbours become one.
static void fold(struct depth_series *series)
{
	uint32_t *most = series->most_bytes;
	for (uint32_t i = 0; i < DEPTH_BINS / 2; i++) {
		uint32_t one = most[2 * i], other = most[2 * i + 1];
		most[i] = one > other ? one : other;
	}
	memset(&most[DEPTH_BINS / 2], 0, DEPTH_BINS / 2 * sizeof(*most));
	series->bin_ps *= 2;
	series->at /= 2;
	series->end_ps = (ps_t)(series->at + 1) * series->bin_ps;
}

void depth_series_move(struct depth_series *series, ps_t now)
{
	if (now >= series->end_ps && now - series->end_ps < series->bin_ps &&
	    series->at + 1 < DEPTH_BINS) { // the next, as a rule
		series->at++;
		series->end_ps += series->bin_ps;
		return;
	}
	while (now / series->bin_ps >= DEPTH_BINS)
		fold(series);
	check(now / series->bin_ps >= series->at);
	series->at = (uint32_t)(now / series->bin_ps);
	series->end_ps = (ps_t)(series->at + 1) * series->bin_ps;
}

static void keep(struct depth_series *series, uint32_t bin, uint32_t level)
{
	if (level > series->most_bytes[bin])
		series->most_bytes[bin] = level;
}

void depth_series_hold(struct depth_series *series, ps_t now, uint32_t level)
{
	ps_t from_ps = series->end_ps - series->bin_ps;
	if (now < series->end_ps)
		return; // it was noted in this bin
	depth_series_move(series, now);
	uint32_t first = (uint32_t)(from_ps / series->bin_ps);
	for (uint32_t bin = first; bin < series->at; bin++)
		keep(series, bin, level);
	if (now > series->end_ps - series->bin_ps)
		keep(series, series->at, level);
}

void depth_series_widen(struct depth_series *series, ps_t bin_ps)
{
	while (series->bin_ps < bin_ps)
		fold(series);
	check(series->bin_ps == bin_ps);
}
