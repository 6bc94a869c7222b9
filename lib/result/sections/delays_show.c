// SPDX-License-Identifier: Apache-2.0
// Delays of packets as people read them, from the document of a run. See delays.h.

#include <weft/result/delays.h>

#include <inttypes.h>
#include <string.h>

#include "sections.h"
#include <weft/result/figure_table.h>
#include <weft/result/latency_table.h>

#define WIDTH 11

static void show_row(FILE *to, const char *what, const char *which, const json_t *of)
{
	char name[64];
	struct text text;
	if (document_number(of, "count") == 0)
		return;
	snprintf(name, sizeof(name), "%s, %s", what, which);
	for (char *at = name; *at != '\0'; at++)
		*at = *at == '_' ? ' ' : *at;
	fprintf(to, "  %-32s %*s", name, WIDTH + 2,
		table_figure(&text, of, "count", TABLE_GROUPED));
	latency_times(to, WIDTH, of);
}

static bool is_of(const json_t *row, const char *what, const char *by)
{
	return strcmp(document_text(row, "what"), what) == 0 &&
		(by == NULL || strcmp(document_text(row, "by"), by) == 0);
}

static void show_rows(FILE *to, const json_t *delays, const char *what, const char *by)
{
	const json_t *row;
	size_t i;
	json_array_foreach(json_object_get(delays, "rows"), i, row)
	{
		char which[32];
		bool is_plane = strcmp(by, "plane") == 0;
		snprintf(which, sizeof(which), "%s%s", is_plane ? "plane " : "",
			 document_text(row, "which"));
		if (is_of(row, what, by))
			show_row(to, what, which, row);
	}
}

static void show_gaps(FILE *to, const json_t *delays)
{
	const json_t *row;
	size_t i;
	json_array_foreach(document_at(delays, "gaps.pairs"), i, row)
		show_row(to, "gap", document_text(row, "pair"), row);
}

// ---------------------------------------------------------------- paths

static void show_slowest_ev(FILE *to, const json_t *delays, const char *what, const char *reason)
{
	const json_t *row, *slowest = NULL;
	double used = 0;
	size_t i;
	json_array_foreach(json_object_get(delays, "rows"), i, row)
	{
		if (!is_of(row, what, "ev") || document_number(row, "count") == 0)
			continue;
		used++;
		if (slowest == NULL ||
		    document_number(row, "max_ns") > document_number(slowest, "max_ns"))
			slowest = row;
	}
	json_array_foreach(json_object_get(delays, "evs_rest"), i, row)
		used += is_of(row, what, NULL) ? document_number(row, "evs") : 0;
	fprintf(to, "  by EV, %s: ", strcmp(what, "one_way") == 0 ? "one way" : "round trip");
	if (*reason != '\0' || slowest == NULL)
		fprintf(to, "unavailable, %s\n", *reason != '\0' ? reason : NO_PACKETS);
	else {
		fprintf(to, "slowest of %.0f is ", used);
		table_say(to, slowest, "number {which}, {max_ns}; its mean is {mean_ns}\n");
	}
}

static void show_paths(FILE *to, const json_t *delays, bool is_sample)
{
	const json_t *of = json_object_get(delays, "paths");
	const char *reason = document_reason(of, "used");
	bool is_single = document_number(of, "evs") == 1;
	if (!is_sample) {
		show_slowest_ev(to, delays, "one_way", reason);
		show_slowest_ev(to, delays, "round_trip", is_single ? reason : "");
	}
	if (*reason != '\0')
		fprintf(to, "  balance of EVs: unavailable, %s\n", reason);
	else
		fprintf(to,
			"  balance of EVs: %.0f of %.0f carried packets, Jain's index %.4f, "
			"busiest %.2f x mean\n",
			document_number(of, "used"), document_number(of, "evs"),
			document_number(of, "jain"), document_number(of, "max_to_mean"));
}

// ---------------------------------------------------------------- incast

static void show_busiest(FILE *to, const json_t *series)
{
	const json_t *busiest = json_array_get(json_object_get(series, "nics"), 0), *each;
	json_int_t most = 0;
	size_t i, at = 0;
	struct text text[2];
	json_array_foreach(json_object_get(busiest, "most_connections"), i, each)
	{
		at = json_integer_value(each) > most ? i : at;
		most = json_integer_value(each) > most ? json_integer_value(each) : most;
	}
	ps_t bin_ps = (ps_t)document_number(series, "bin_ps");
	if (most > 0)
		fprintf(to,
			"  incast over time: most at nic %.0f, %" PRId64
			" connections, first between %s and %s\n",
			document_number(busiest, "nic"), (int64_t)most,
			number_time(&text[0], (ps_t)at * bin_ps),
			number_time(&text[1], (ps_t)(at + 1) * bin_ps));
}

static void show_incast(FILE *to, const json_t *delays)
{
	const char *reason = document_reason(delays, "incast_series");
	if (*reason != '\0')
		fprintf(to, "  incast over time: unavailable, %s\n", reason);
	else
		show_busiest(to, json_object_get(delays, "incast_series"));
	reason = document_reason(delays, "gaps");
	if (*reason != '\0')
		fprintf(to, "  gaps between packets: unavailable, %s\n", reason);
}

// ---------------------------------------------------------------- messages

static void show_messages(FILE *to, const json_t *delays)
{
	const json_t *worst = json_array_get(json_object_get(delays, "pairs"), 0);
	if (document_number(delays, "order.count") > 0)
		table_say(to, json_object_get(delays, "order"),
			  "  order: {overtaken} of {count} packets came behind later ones, 99 % "
			  "behind at most {p99_packets:plain}, one behind {max_packets:plain}\n");
	if (document_number(delays, "incast.count") > 0)
		table_say(to, json_object_get(delays, "incast"),
			  "  incast: a message that begins at a NIC is one of "
			  "{p50_connections:plain} there in the median, of {max_connections:plain} "
			  "at most\n");
	if (worst != NULL)
		table_say(
			to, worst,
			"  slowest message: nic {from_nic:plain} to nic {to_nic:plain}, {max_ns}; "
			"the median of the two is {p50_ns}\n");
}

void delays_table(FILE *to, const json_t *result)
{
	const json_t *delays = json_object_get(result, "delays");
	bool is_sample = document_is_sample(result);
	if (!json_is_object(delays))
		return;
	fprintf(to, "\nDelays of packets%*s", 31 - 14 + WIDTH + 3, "count");
	latency_heads(to, WIDTH);
	show_rows(to, delays, "one_way", "pair");
	if (json_object_get(result, "ports") != NULL)
		fprintf(to, "  one way: unavailable, %s\n", FRAMES_SAY_NOTHING);
	show_rows(to, delays, "one_way", "plane");
	show_rows(to, delays, "round_trip", "plane");
	show_gaps(to, delays);
	show_paths(to, delays, is_sample);
	show_incast(to, delays);
	if (!is_sample)
		show_messages(to, delays);
}
