// SPDX-License-Identifier: Apache-2.0
// See sections.h.

#include "sections.h"

#include <inttypes.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world_delays.h>

#include <weft/result/delays.h>
#include <weft/result/figures.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

#define TOO_MANY_NICS "not kept: more than 16,384 NICs"
#define NO_GAPS "not measured: watch.gaps is false"
static_assert(DEPTH_PORTS_MAX == 16384, "the text says so");

// ---------------------------------------------------------------- over time

// A NIC, and the most connections that were in the middle of a message there.
struct busy_nic {
	uint32_t nic, most;
};

struct busy_nics {
	struct busy_nic list[INCASTS_WORST];
	uint32_t count;
	ps_t bin_ps, end_ps; // the widest bins of all, and the last change anywhere
};

static uint32_t most_of(const struct depth_series *series)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i <= series->at; i++)
		most = series->most_bytes[i] > most ? series->most_bytes[i] : most;
	return most;
}

// Keeps it among the busiest; of equal ones the first.
static void keep(struct busy_nics *nics, struct busy_nic more)
{
	uint32_t at = nics->count;
	while (at > 0 && nics->list[at - 1].most < more.most)
		at--;
	if (at == INCASTS_WORST || more.most == 0)
		return;
	uint32_t last = nics->count < INCASTS_WORST ? nics->count++ : INCASTS_WORST - 1;
	memmove(&nics->list[at + 1], &nics->list[at], (last - at) * sizeof(*nics->list));
	nics->list[at] = more;
}

static void gather(struct busy_nics *ret, const struct world *world)
{
	*ret = (struct busy_nics){.bin_ps = DEPTH_BIN_PS};
	for (uint32_t i = 0; i < world->topology.nics; i++) {
		const struct depth_series *series = &world->delays->incasts[i].most;
		keep(ret, (struct busy_nic){i, most_of(series)});
		ret->bin_ps = ps_max(ret->bin_ps, series->bin_ps);
		ret->end_ps = ps_max(ret->end_ps, series->end_ps);
	}
}

// A NIC's series in the bins of all. Who is in the middle of a message at the end stays there.
static struct depth_series series_of(const struct world *world, const struct busy_nics *nics,
				     uint32_t nic)
{
	const struct nic_incast *incast = &world->delays->incasts[nic];
	struct depth_series series = incast->most;
	depth_series_widen(&series, nics->bin_ps);
	depth_series_hold(&series, nics->end_ps - 1, incast->now);
	return series;
}

static void put_bins(json_t *to, const struct depth_series *series)
{
	json_t *most = array_in(to, "most_connections");
	uint32_t used = DEPTH_BINS;
	while (used > 0 && series->most_bytes[used - 1] == 0)
		used--;
	for (uint32_t bin = 0; bin < used; bin++)
		json_array_append_new(most, json_integer(series->most_bytes[bin]));
}

static void put_series(json_t *to, const struct world *world)
{
	struct busy_nics nics;
	struct depth_series all;
	depth_series_init(&all);
	gather(&nics, world);
	put_time(to, "bin_ps", nics.bin_ps);
	for (uint32_t i = 0; i < world->topology.nics; i++) {
		struct depth_series one = series_of(world, &nics, i);
		for (uint32_t bin = 0; bin < DEPTH_BINS; bin++)
			if (one.most_bytes[bin] > all.most_bytes[bin])
				all.most_bytes[bin] = one.most_bytes[bin];
	}
	put_bins(to, &all);
	json_t *array = array_in(to, "nics");
	for (uint32_t i = 0; i < nics.count; i++) {
		json_t *row = row_in(array);
		struct depth_series one = series_of(world, &nics, nics.list[i].nic);
		put_count(row, "nic", nics.list[i].nic);
		put_bins(row, &one);
	}
}

// ---------------------------------------------------------------- gaps

static const char *no_gaps(const struct report_input *input)
{
	const struct world_delays *delays = input->world->delays;
	if (delays->whole->gap_ns[0].counts == NULL)
		return NO_GAPS;
	return delays->has_qp_pool ? MADE_AS_THEY_GO : NULL;
}

static void put_gaps(json_t *to, const struct report_input *input)
{
	const struct hist *gaps = input->world->delays->whole->gap_ns;
	const char *reason = no_gaps(input);
	if (reason != NULL) {
		put_reason(to, "gaps", reason);
		return;
	}
	json_t *array = array_in(object_in(to, "gaps"), "pairs");
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		json_t *row = row_in(array);
		put_text(row, "pair", pair_class_name((enum pair_class)i));
		quantiles_json(row, &gaps[i], "ns", is_sampled(input), NO_PACKETS);
		put_count(row, "above_range", gaps[i].over);
	}
}

// ---------------------------------------------------------------- outputs

void incast_json(json_t *to, const struct report_input *input)
{
	if (input->world->delays->incasts == NULL)
		put_reason(to, "incast_series", TOO_MANY_NICS);
	else if (is_sampled(input))
		put_reason(to, "incast_series", NOT_IN_SAMPLE);
	else
		put_series(object_in(to, "incast_series"), input->world);
	put_gaps(to, input);
}
