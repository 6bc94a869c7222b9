// SPDX-License-Identifier: Apache-2.0
// What sections tell of their cases beyond the figures of all: which field of a result it is, and
// in which unit. The BMWG draft names them for its categories; those of MRC are ours.

#include "measures.h"

#include <math.h>
#include <string.h>

#define IN(section) (1u << SECTION_##section)
#define WITH_FLOWS \
	(IN(BASELINE) | IN(MRC) | IN(CONGESTION) | IN(BALANCE) | IN(CONVERGENCE) | IN(SOAK))
#define SPRAYED (IN(MRC) | IN(BALANCE))
#define BROKEN (IN(MRC) | IN(CONVERGENCE))

// Ways through a result: fields with points between; "name=word" is the element of a list whose
// field `name` is that word, "+" adds all elements, "^" takes the largest.
const struct measure measures[MEASURE_COUNT] = {
	{IN(COLLECTIVES) | IN(CONVERGENCE), "ranks", "count", "jobs.^.ranks", 1},
	{IN(COLLECTIVES) | IN(CONVERGENCE), "time", "s", "jobs.^.time_ps", 1e-12},
	{IN(STEP), "job completion time", "s", "run.last_completion_ps", 1e-12},
	{WITH_FLOWS, "FCT min", "s", "flows.min_ns", 1e-9},
	{WITH_FLOWS, "mean", "s", "flows.mean_ns", 1e-9},
	{WITH_FLOWS, "P50", "s", "flows.p50_ns", 1e-9},
	{WITH_FLOWS, "P95", "s", "flows.p95_ns", 1e-9},
	{WITH_FLOWS, "P99", "s", "flows.p99_ns", 1e-9},
	{WITH_FLOWS, "P99.9", "s", "flows.p999_ns", 1e-9},
	{WITH_FLOWS, "max", "s", "flows.max_ns", 1e-9},
	{IN(BASELINE), "one-way P99", "s", "delays.rows.by=pair.p99_ns", 1e-9},
	{IN(BASELINE), "one-way P99.9", "s", "delays.rows.by=pair.p999_ns", 1e-9},
	{SPRAYED, "JFI of planes", "", "planes.jain", 1},
	{SPRAYED, "MMR of planes", "", "planes.max_to_mean", 1},
	{SPRAYED, "JFI of links up", "", "links.groups.group=trunk_up.jain", 1},
	{SPRAYED, "MMR of links up", "", "links.groups.group=trunk_up.max_to_mean", 1},
	{SPRAYED, "out of order", "count", "delays.order.overtaken", 1},
	{SPRAYED, "reorder distance P99", "count", "delays.order.p99_packets", 1},
	{IN(MRC), "trims", "count", "transport.trims_received", 1},
	{IN(MRC), "of new packets", "count", "transport.trims_new", 1},
	{IN(MRC) | IN(CONGESTION), "NACKs", "count", "transport.nacks_sent", 1},
	{IN(MRC), "EVs held bad", "count", "transport.paths_retired", 1},
	{IN(MRC), "EVs taken back", "count", "transport.paths_reinstated", 1},
	{IN(MRC), "probes", "count", "transport.probes_sent", 1},
	{IN(MRC), "port status sent", "count", "transport.requests_received", 1},
	{BROKEN, "dead path left P50", "s", "bypass.paths.p50_ps", 1e-12},
	{BROKEN, "last dead path left", "s", "bypass.paths.max_ps", 1e-12},
	{BROKEN | IN(SOAK), "lost on cables", "count", "drops.+.cables", 1},
	{IN(CONGESTION) | BROKEN | IN(SOAK), "dropped by switches", "count", "drops.+.switches", 1},
	{BROKEN, "goodput before", "bit/s", "expect.name=before.measured", 1},
	{BROKEN, "meanwhile", "bit/s", "expect.name=meanwhile.measured", 1},
	{BROKEN, "after", "bit/s", "expect.name=after.measured", 1},
	{IN(CONGESTION), "deepest queue", "byte", "congestion.queue_bytes_max", 1},
	{IN(CONGESTION), "answers without room", "count", "transport.answers_dropped", 1},
	{IN(CONGESTION) | IN(SOAK), "timeouts", "count", "congestion.retransmitted_by.timeout", 1},
	{IN(CONGESTION), "retransmitted for nothing", "count", "congestion.retransmitted_spurious",
	 1},
	{IN(CONGESTION), "pauses", "count", "pfc.pauses_sent", 1},
	{IN(CONGESTION), "paused", "s", "pfc.switch_paused_ps", 1e-12},
};

static double number_of(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static double walk(const json_t *at, const char *way);

// Over the elements of a list: all of them added, the largest, or those that a word chooses.
static double over(const json_t *list, const char *word, size_t length, const char *rest)
{
	const char *equals = memchr(word, '=', length);
	double ret = NAN;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *one = json_array_get(list, i);
		if (equals != NULL) {
			char key[32], is[64];
			snprintf(key, sizeof(key), "%.*s", (int)(equals - word), word);
			snprintf(is, sizeof(is), "%.*s",
				 (int)(length - (size_t)(equals + 1 - word)), equals + 1);
			const char *has = json_string_value(json_object_get(one, key));
			if (has == NULL || strcmp(has, is) != 0)
				continue;
		}
		double value = walk(one, rest);
		if (isnan(value))
			continue;
		if (*word == '+')
			ret = isnan(ret) ? value : ret + value;
		else
			ret = isnan(ret) || value > ret ? value : ret;
	}
	return ret;
}

static double walk(const json_t *at, const char *way)
{
	char name[64];
	size_t length = strcspn(way, ".");
	const char *rest = way + length + (way[length] == '.');
	if (*way == '\0')
		return number_of(at);
	if (json_is_array(at))
		return over(at, way, length, rest);
	snprintf(name, sizeof(name), "%.*s", (int)length, way);
	return walk(json_object_get(at, name), rest);
}

bool measure_is_of(const struct measure *measure, enum section section)
{
	return (measure->sections & 1u << section) != 0;
}

void measures_read(double ret[MEASURE_COUNT], const json_t *result)
{
	for (uint32_t i = 0; i < MEASURE_COUNT; i++)
		ret[i] = walk(result, measures[i].way) * measures[i].scale;
}

// ---------------------------------------------------------------- samples

#define EDGE 5 // a fifth of the time at either end is not steady

bool measures_samples(struct measure_samples *ret, const json_t *result)
{
	const json_t *bins = json_object_get(json_object_get(result, "series"), "payload_bytes");
	size_t count = json_array_size(bins), from = count / EDGE, until = count - count / EDGE;
	double sum = 0, squares = 0;
	for (size_t i = from; i < until; i++) {
		double bytes = number_of(json_array_get(bins, i));
		sum += bytes;
		squares += bytes * bytes;
	}
	if (until < from + 3 || sum <= 0)
		return false;
	double n = (double)(until - from), mean = sum / n;
	double variance = (squares - sum * mean) / (n - 1);
	*ret = (struct measure_samples){(uint32_t)n, sqrt(variance > 0 ? variance : 0) / mean};
	return true;
}
