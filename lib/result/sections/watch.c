// SPDX-License-Identifier: Apache-2.0
// The series of a run, and how long dead paths went on being used. Bins behind the last one in
// which anything happened are left out.

#include "sections.h"

#include <inttypes.h>
#include <stdlib.h>

#include <weft/result/bypass.h>
#include <weft/result/delays.h>
#include <weft/result/figures.h>
#include <weft/result/links.h>
#include <weft/result/put.h>
#include <weft/result/recovery.h>

#define NOT_COUNTED "not measured: watch.bin is none"
#define NOT_WATCHED "not measured: watch.bypasses is none"

static const char *const figure_names[SERIES_FIGURE_COUNT] = {
	[SERIES_PLACED] = "payload_bytes",
	[SERIES_ARRIVED] = "data_packets",
	[SERIES_LOST] = "lost_packets",
};

static bool is_empty(const uint64_t bin[SERIES_FIGURE_COUNT])
{
	for (int figure = 0; figure < SERIES_FIGURE_COUNT; figure++)
		if (bin[figure] > 0)
			return false;
	return true;
}

// Bins up to the last one that is not empty.
static uint32_t used_bins(const struct series *series)
{
	uint32_t used = series->count;
	while (used > 0 && is_empty(series->bins[used - 1]))
		used--;
	return used;
}

static void put_times(json_t *to, const char *key, const struct bypass_times *times)
{
	static const struct {
		const char *key;
		double share;
	} quantiles[] = {{"p50_ps", 0.5}, {"p90_ps", 0.9}, {"p99_ps", 0.99}, {"max_ps", 1}};
	json_t *object = object_in(to, key);
	put_count(object, "count", times->count);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		struct figure figure = bypass_quantile(times, quantiles[i].share);
		put_figure(object, quantiles[i].key, &figure);
	}
}

static void put_bypass(json_t *root, const struct world *world)
{
	struct bypass_list list;
	if (!bypass_is_watched(world)) {
		put_reason(root, "bypass", NOT_WATCHED);
		return;
	}
	bypass_gather(&list, world);
	json_t *to = object_in(root, "bypass");
	put_times(to, "paths", &list.paths);
	put_times(to, "links", &list.links);
	if (recovery_is_watched(world)) {
		struct bypass_times back;
		recovery_gather(&back, &list, world);
		put_times(to, "recovery", &back);
		free(back.at);
	}
	put_count(to, "lost_packets", list.lost);
	put_count(to, "later_tries", list.tries);
	put_count(to, "missed_packets", list.missed);
	bypass_free(&list);
}

static void put_series(json_t *root, const struct report_input *input)
{
	const struct series *series = &input->world->outcome->series;
	if (!watch_has_series(input)) {
		put_reason(root, "series", NOT_COUNTED);
		return;
	}
	json_t *to = object_in(root, "series");
	put_time(to, "bin_ps", series->bin_ps);
	put_count(to, "bins", used_bins(series));
	json_t *after = object_in(to, "after");
	for (int figure = 0; figure < SERIES_FIGURE_COUNT; figure++) {
		json_t *array = array_in(to, figure_names[figure]);
		for (uint32_t i = 0; i < used_bins(series); i++)
			json_array_append_new(array,
					      json_integer((json_int_t)series->bins[i][figure]));
		put_count(after, figure_names[figure], series->after[figure]);
	}
}

void watch_json(json_t *root, const struct report_input *input)
{
	put_series(root, input);
	put_bypass(root, input->world);
	flow_evs_json(root, input->world);
	links_json(root, input);
	delays_json(root, input);
	if (input->diagnosis)
		input->diagnosis->json(root, input);
}

void watch_table(FILE *to, const struct report_input *input, const json_t *result)
{
	if (!input->is_short)
		delays_table(to, result);
	if (input->diagnosis)
		input->diagnosis->table(to, result, input->is_short);
	bypass_table(to, result);
	flow_evs_table(to, result);
}

bool watch_has_series(const struct report_input *input)
{
	return input->world->outcome->series.count > 0;
}

void watch_series_write(FILE *to, const struct report_input *input)
{
	const struct series *series = &input->world->outcome->series;
	struct goodput goodput;
	goodput_of(&goodput, input);
	fprintf(to, "from_ps,until_ps");
	for (int figure = 0; figure < SERIES_FIGURE_COUNT; figure++)
		fprintf(to, ",%s", figure_names[figure]);
	fprintf(to, ",goodput_per_nic_bps\n");
	for (uint32_t i = 0; i < used_bins(series); i++) {
		const uint64_t *bin = series->bins[i];
		double bits = (double)bin[SERIES_PLACED] * 8,
		       bin_s = (double)series->bin_ps / PS_PER_S;
		uint32_t nics = goodput.nics_receiving;
		fprintf(to, "%" PRId64 ",%" PRId64, i * series->bin_ps, (i + 1) * series->bin_ps);
		for (int figure = 0; figure < SERIES_FIGURE_COUNT; figure++)
			fprintf(to, ",%" PRIu64, bin[figure]);
		fprintf(to, ",%.0f\n", nics == 0 ? 0 : bits / bin_s / nics);
	}
}
