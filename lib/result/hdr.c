// SPDX-License-Identifier: Apache-2.0
// HdrHistogram's "percentile distribution" text: Value, Percentile, TotalCount, 1/(1-Percentile),
// with five levels in each half of the distance to 100 %. Lines that start with '#' are comments
// to every reader. Format: HdrHistogram, outputPercentileDistribution() (public documentation).

#include "hdr.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/world/world_delays.h>

#include "sections/paths.h"
#include <weft/result/figures.h>

#define LEVELS_PER_HALF 5
#define NS_PER_US 1000.0

// Of what is measured only when a scenario asks for it.
static const struct hist *watched_hist(const struct world *world, uint32_t index)
{
	const struct delays *delays = world->delays != NULL ? world->delays->whole : NULL;
	if (index >= HDR_DEPTH && index < HDR_ORDER)
		return world->links.depth == NULL
			? NULL
			: &world->links.depth[LINK_TRUNK_UP + index - HDR_DEPTH];
	if (delays == NULL)
		return NULL;
	if (index >= HDR_PACKET_GAP)
		return &delays->gap_ns[index - HDR_PACKET_GAP];
	if (index < HDR_ROUND_TRIP)
		return &delays->one_way_ns[index - HDR_ONE_WAY];
	if (index < HDR_DEPTH)
		return &delays->rtt_plane_ns[index - HDR_ROUND_TRIP];
	return index == HDR_ORDER ? &delays->order_packets : &delays->incast;
}

static bool is_ev(uint32_t index)
{
	return index >= HDR_ONE_WAY_EV && index < HDR_PACKET_GAP;
}

const struct hist *hdr_hist(const struct report_input *input, uint32_t index)
{
	const struct outcome *outcome = input->world->outcome;
	check(index < HDR_COUNT);
	if (is_ev(index))
		return NULL;
	if (index == HDR_LATENESS)
		return input->pace.lateness_ns;
	if (index == HDR_GAP)
		return input->pace.gap_ns;
	if (index >= HDR_ONE_WAY)
		return watched_hist(input->world, index);
	return index < PAIR_CLASS_COUNT ? &outcome->message_ns[index] : &outcome->flow_ns;
}

static enum paths_what what_of(uint32_t index)
{
	return index < HDR_ROUND_TRIP_EV ? PATHS_ONE_WAY : PATHS_ROUND_TRIP;
}

// Finds the EV of file `index`; false when there are not so many.
static bool slow_ev_of(const struct report_input *input, uint32_t index, uint32_t *ret_path)
{
	struct worst_paths worst;
	enum paths_what what = what_of(index);
	uint32_t rank = (index - HDR_ONE_WAY_EV) % HDR_EVS;
	if (input->world->delays == NULL || paths_unknown(input, what) != NULL)
		return false;
	worst_paths_find(&worst, paths_of(input, what));
	*ret_path = rank < worst.count ? worst.list[rank] : 0;
	return rank < worst.count;
}

bool hdr_has_values(const struct report_input *input, uint32_t index)
{
	uint32_t path;
	if (input->wall != NULL && index > HDR_FLOW) // withheld
		return false;
	if (is_ev(index))
		return slow_ev_of(input, index, &path);
	const struct hist *hist = hdr_hist(input, index);
	return hist != NULL && hist->total > 0;
}

// What was measured of the clock is of wall time: whole in a sample too, and in nanoseconds, the
// unit of a clock.
static bool is_wall(uint32_t index)
{
	return index == HDR_LATENESS || index == HDR_GAP;
}

static const char *unit_of(uint32_t index)
{
	if (is_wall(index))
		return "ns";
	if (index < HDR_DEPTH || index >= HDR_ONE_WAY_EV)
		return "us";
	return index < HDR_ORDER ? "bytes" : index == HDR_ORDER ? "packets" : "connections";
}

static const char *watched_name(uint32_t index, char ret[HDR_NAME_BYTES])
{
	static const char *const depths[] = {"trunk_up", "trunk_down", "nic_down"};
	static_assert(sizeof(depths) / sizeof(*depths) == HDR_ORDER - HDR_DEPTH, "one for each");
	if (index >= HDR_PACKET_GAP)
		snprintf(ret, HDR_NAME_BYTES, "packet_gap_%s.hdr",
			 pair_class_name((enum pair_class)(index - HDR_PACKET_GAP)));
	else if (index >= HDR_ONE_WAY_EV)
		snprintf(ret, HDR_NAME_BYTES, "%s_ev_slowest_%u.hdr",
			 paths_what_name(what_of(index)), (index - HDR_ONE_WAY_EV) % HDR_EVS + 1);
	else if (index < HDR_ROUND_TRIP)
		snprintf(ret, HDR_NAME_BYTES, "one_way_%s.hdr",
			 pair_class_name((enum pair_class)(index - HDR_ONE_WAY)));
	else if (index < HDR_DEPTH)
		snprintf(ret, HDR_NAME_BYTES, "round_trip_plane_%u.hdr", index - HDR_ROUND_TRIP);
	else if (index < HDR_ORDER)
		snprintf(ret, HDR_NAME_BYTES, "depth_%s.hdr", depths[index - HDR_DEPTH]);
	else
		snprintf(ret, HDR_NAME_BYTES, "%s.hdr", index == HDR_ORDER ? "order" : "incast");
	return ret;
}

const char *hdr_name(uint32_t index, char ret[HDR_NAME_BYTES])
{
	if (index >= HDR_ONE_WAY)
		return watched_name(index, ret);
	if (index < PAIR_CLASS_COUNT)
		snprintf(ret, HDR_NAME_BYTES, "message_%s.hdr", pair_class_name(index));
	else
		snprintf(ret, HDR_NAME_BYTES, "%s.hdr",
			 index == HDR_FLOW		 ? "flow"
				 : index == HDR_LATENESS ? "lateness_ns"
							 : "gap_ns");
	return ret;
}

// Level `step` (0, 1, ...) leaves (10 - step % 5) / 10 / 2^(step / 5) of all values above it: the
// steps get half as long each time half of what is left is behind. Counted in whole values, because
// a level that is off by one bit would name the next value.
static double level_of(uint32_t step)
{
	return 1 - (10 - step % LEVELS_PER_HALF) / (10 * exp2(step / LEVELS_PER_HALF));
}

static uint64_t count_of(uint64_t total, uint32_t step)
{
	return total - (total * (10 - step % LEVELS_PER_HALF) / 10 >> step / LEVELS_PER_HALF);
}

// Highest value of a cell as hist_quantile() gives it.
static double cell_value(const struct hist *hist, uint32_t cell, double unit)
{
	uint64_t width;
	uint64_t highest = hist_cell_low(hist, cell, &width) + width - 1;
	if (highest > (uint64_t)hist->max || cell + 1 == hist->cells)
		highest = (uint64_t)hist->max;
	return (double)highest / unit;
}

static void rows_write(FILE *to, const struct hist *hist, double level_max, double unit)
{
	uint32_t cell = 0;
	uint64_t seen = hist->counts[0];
	for (uint32_t step = 0; level_of(step) <= level_max; step++) {
		while (seen == 0 || seen < count_of(hist->total, step))
			seen += hist->counts[++cell];
		fprintf(to, "%12.3f %14.12f %10" PRIu64 " %14.2f\n", cell_value(hist, cell, unit),
			level_of(step), seen, 1 / (1 - level_of(step)));
		if (seen == hist->total && level_max >= 1)
			break;
	}
	if (level_max >= 1)
		fprintf(to, "%12.3f %14.12f %10" PRIu64 "\n", (double)hist->max / unit, 1.0,
			hist->total);
}

// Standard deviation from the middles of the cells.
static double deviation_of(const struct hist *hist, double unit)
{
	double mean = (double)hist->sum / (double)hist->total, squares = 0;
	for (uint32_t i = 0; i < hist->cells; i++) {
		if (hist->counts[i] == 0)
			continue;
		uint64_t width;
		double middle = (double)hist_cell_low(hist, i, &width);
		middle += (double)(width - 1) / 2 - mean;
		squares += middle * middle * (double)hist->counts[i];
	}
	return sqrt(squares / (double)hist->total) / unit;
}

static void text_write(FILE *to, const struct report_input *input, uint32_t index,
		       const struct hist *hist)
{
	double unit = strcmp(unit_of(index), "us") == 0 ? NS_PER_US : 1;
	check(hist != NULL);
	uint32_t ppm_max = index < PAIR_CLASS_COUNT
		? message_ppm_max(input, (enum pair_class)index)
		: latency_ppm_max(hist->total, is_sampled(input) && !is_wall(index));
	fprintf(to, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	if (ppm_max > 0 && hist->total > 0)
		rows_write(to, hist, ppm_max / 1e6, unit);
	if (ppm_max == 1000000 && hist->total > 0) {
		fprintf(to, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
			(double)hist->sum / (double)hist->total / unit, deviation_of(hist, unit));
		fprintf(to, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n",
			(double)hist->max / unit, hist->total);
	} else {
		fprintf(to, "#[Total count    = %12" PRIu64 "]\n", hist->total);
		fprintf(to, "#[above percentile %.3f: %s]\n", ppm_max / 1e6, NOT_IN_SAMPLE);
	}
	fprintf(to, "#[Buckets = %12" PRIu32 ", SubBuckets     = %12" PRIu32 "]\n",
		(hist->cells >> (hist->cell_bits - 1)), UINT32_C(1) << hist->cell_bits);
	fprintf(to, "#[unit %s; %s; digest %016" PRIx64 "]\n", unit_of(index),
		input->is_partial ? "PARTIAL RESULT" : "complete", input->run.digest);
}

void hdr_write(FILE *to, const struct report_input *input, uint32_t index)
{
	uint32_t path;
	struct hist scratch;
	if (!is_ev(index)) {
		text_write(to, input, index, hdr_hist(input, index));
		return;
	}
	const struct paths *paths = paths_of(input, what_of(index));
	check(slow_ev_of(input, index, &path));
	paths_scratch(&scratch, paths);
	if (paths_read(paths, path, &scratch))
		text_write(to, input, index, &scratch);
	else
		fprintf(to, "#[%s]\n", PATHS_CELL_FULL);
	fprintf(to, "#[EV number %" PRIu32 "]\n", path);
	free(scratch.counts);
}
