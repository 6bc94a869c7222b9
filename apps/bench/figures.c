// SPDX-License-Identifier: Apache-2.0
// What the runs of one world say together, as a table and as JSON.

#include "figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_version.h"
#include <weft/core/order.h>

double median(double *values, long count)
{
	qsort(values, (size_t)count, sizeof(*values), order_double);
	return values[count / 2];
}

int figures_take(struct figures *figures, const struct attempt *attempt, struct refusal *refusal)
{
	uint64_t peak = figures->attempt.memory_peak_bytes;
	if (figures->repeat > 0 && figures->attempt.digest != attempt->digest)
		return refuse(refusal, -EIO, "run % has another digest than the first",
			      figures->repeat + 1);
	figures->attempt = *attempt;
	if (peak > attempt->memory_peak_bytes)
		figures->attempt.memory_peak_bytes = peak;
	figures->cpu_s[figures->repeat++] = attempt->cpu_s;
	return 0;
}

void figures_conclude(struct figures *figures)
{
	figures->median_s = median(figures->cpu_s, figures->repeat);
	figures->best_s = figures->cpu_s[0];
}

// A packet that a machine takes is one event, and so is each call of a machine, for timers and
// departures that wait for nobody.
static double figures_events_per_hop(const struct figures *figures)
{
	const struct attempt *attempt = &figures->attempt;
	return (double)(attempt->hops + attempt->visits) / (double)attempt->hops;
}

double figures_instructions_per_hop(const struct figures *figures)
{
	return (double)figures->instructions / (double)figures->attempt.hops;
}

// Control packets that NICs sent for one data packet.
static double figures_answers_per_packet(const struct figures *figures)
{
	const struct attempt *attempt = &figures->attempt;
	return (double)(attempt->sent - attempt->data_packets) / (double)attempt->data_packets;
}

// ---------------------------------------------------------------- the table

static void show_row(const struct figures *row)
{
	const struct attempt *attempt = &row->attempt;
	printf("%-20s %10llu %7.2f %8.3f %8.3f %8.2f %7.1f %7.1f %7.2f %9.1f", row->name,
	       (unsigned long long)attempt->data_packets, figures_answers_per_packet(row),
	       (double)attempt->data_packets / row->best_s / 1e6,
	       (double)attempt->data_packets / row->median_s / 1e6,
	       (double)attempt->hops / row->best_s / 1e6, row->best_s * 1e9 / (double)attempt->hops,
	       row->median_s * 1e9 / (double)attempt->hops, figures_events_per_hop(row),
	       (double)attempt->memory_peak_bytes / 1048576);
	if (row->instructions > 0)
		printf(" %7.0f", figures_instructions_per_hop(row));
	else if (row->reason[0] != '\0')
		printf(" %7s", "unavailable");
	if (row->instructions > 0 && row->htsim_instructions > 0)
		printf(" %7u %5.1f", row->htsim_instructions,
		       row->htsim_instructions / figures_instructions_per_hop(row));
	putchar('\n');
}

static void show_reasons(const struct figures *figures, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (figures[i].reason[0] != '\0')
			printf("%s: no instructions: %s\n", figures[i].name, figures[i].reason);
}

static bool is_counted(const struct figures *figures)
{
	return figures->instructions > 0 || figures->reason[0] != '\0';
}

void figures_show(const struct figures *figures, uint32_t count)
{
	bool has_instructions = is_counted(figures);
	printf("%s, %ld runs each; control: SACKs and the like; M: million\n\n", WEFT_VERSION_TEXT,
	       figures->repeat);
	printf("%-20s %10s %7s %17s %8s %15s %7s %9s%s\n", "", "data", "control", "M packets/s",
	       "M hops/s", "ns per hop", "events", "peak",
	       has_instructions ? "  instructions per hop" : "");
	printf("%-20s %10s %7s %8s %8s %8s %7s %7s %7s %9s%s\n", "case", "packets", "/packet",
	       "best", "median", "best", "best", "median", "per hop", "MiB",
	       has_instructions ? "    weft   htsim ratio" : "");
	for (uint32_t i = 0; i < count; i++)
		show_row(&figures[i]);
	show_reasons(figures, count);
}

// ---------------------------------------------------------------- JSON

static json_t *times_json(const struct figures *row)
{
	json_t *list = json_array();
	for (long i = 0; i < row->repeat; i++)
		json_array_append_new(list, json_real(row->cpu_s[i]));
	return list;
}

// What was asked for and could not be counted is null, with the reason beside it.
static void add_instructions(json_t *out, const struct figures *row)
{
	if (row->instructions > 0) {
		json_object_set_new(out, "instructions",
				    json_integer((json_int_t)row->instructions));
		json_object_set_new(out, "instructions_per_hop",
				    json_real(figures_instructions_per_hop(row)));
	} else if (row->reason[0] != '\0') {
		json_object_set_new(out, "instructions_per_hop", json_null());
		json_object_set_new(out, "instructions_reason", json_string(row->reason));
	}
	if (row->htsim_instructions > 0)
		json_object_set_new(out, "htsim_instructions_per_hop",
				    json_integer(row->htsim_instructions));
}

static json_t *row_json(const struct figures *row)
{
	const struct attempt *attempt = &row->attempt;
	double packets = (double)attempt->data_packets, hops = (double)attempt->hops;
	char digest[17];
	snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)attempt->digest);
	json_t *out = json_pack(
		"{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:f, "
		"s:f, s:f, s:I}",
		"name", row->name, "digest", digest, "virtual_time_ps", (json_int_t)attempt->now_ps,
		"data_packets", (json_int_t)attempt->data_packets, "packets",
		(json_int_t)attempt->sent, "hops", (json_int_t)attempt->hops, "data_hops",
		(json_int_t)attempt->data_hops, "visits", (json_int_t)attempt->visits, "cpu_s",
		times_json(row), "cpu_s_best", row->best_s, "cpu_s_median", row->median_s,
		"data_packets_per_s_best", packets / row->best_s, "data_packets_per_s_median",
		packets / row->median_s, "hops_per_s_best", hops / row->best_s, "ns_per_hop_best",
		row->best_s * 1e9 / hops, "ns_per_hop_median", row->median_s * 1e9 / hops,
		"events_per_hop", figures_events_per_hop(row), "control_per_data_packet",
		figures_answers_per_packet(row), "memory_peak_bytes",
		(json_int_t)attempt->memory_peak_bytes);
	if (out != NULL)
		add_instructions(out, row);
	return out;
}

void figures_processor(char *ret, size_t bytes)
{
	char line[256];
	snprintf(ret, bytes, "unknown");
	FILE *file = fopen("/proc/cpuinfo", "r");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		const char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || colon == NULL)
			continue;
		snprintf(ret, bytes, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	fclose(file);
}

json_t *figures_json(const struct figures *figures, uint32_t count)
{
	char processor[FIGURES_PROCESSOR_BYTES];
	figures_processor(processor, sizeof(processor));
	json_t *list = json_array();
	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, row_json(&figures[i]));
	return json_pack("{s:s, s:s, s:s, s:i, s:o}", "version", WEFT_VERSION_TEXT, "processor",
			 processor, "compiler", __VERSION__, "repeat", (int)figures->repeat,
			 "cases", list);
}
