// SPDX-License-Identifier: Apache-2.0
// The table for people: one section per question, at most 100 columns, in the order of
// docs/result.md. It rounds; result.json has the exact figures.

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <weft/result/report.h>

#include "sections/sections.h"
#include <weft/result/brief.h>
#include <weft/result/expect.h>
#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/jobs.h>
#include <weft/result/latency_table.h>
#include <weft/result/number.h>
#include <weft/result/put.h>
#include <weft/result/warnings.h>
#include <weft/result/write.h>

#define PARTIAL "PARTIAL RESULT: "
#define ROWS_MAX 40 // distinct collectives shown; the others are in result.json

// A job that is whole is done with its last completion, though probes and the rest of a window may
// follow.
static void headline(FILE *to, const json_t *result)
{
	struct text time;
	bool is_partial = json_is_true(document_at(result, "run.partial"));
	bool is_whole = !is_partial && document_number(result, "run.last_completion_ps") > 0;
	fprintf(to, "%s: %s at %s of virtual time, digest %s\n",
		document_text(result, "scenario.name"),
		is_whole ? "finished" : document_text(result, "run.end"),
		table_figure(&time, result,
			     is_whole ? "run.last_completion_ps" : "run.virtual_time_ps",
			     TABLE_TIME),
		document_text(result, "run.digest"));
	if (!is_partial)
		return;
	fprintf(to,
		"PARTIAL RESULT: the workload is not complete; figures are of what was done.\n");
	const char *why = json_string_value(
		json_array_get(document_at(result, "headline.notes"), 0));
	size_t said = why != NULL && strncmp(why, PARTIAL, strlen(PARTIAL)) == 0 ? strlen(PARTIAL)
										 : 0;
	if (why != NULL)
		fprintf(to, "%s.\n", why + said);
}

// ---------------------------------------------------------------- what ran

static void sample_line(FILE *to, const json_t *result)
{
	const json_t *plan = json_object_get(result, "plan");
	if (jobs_line(to, result) || !json_is_object(plan))
		return;
	double steps = document_number(plan, "ring_steps_max"),
	       steps_all = document_number(plan, "ring_steps_all");
	fprintf(to,
		json_is_true(json_object_get(plan, "sampled")) ? "  sample: " : "  whole job: ");
	table_say(to, plan,
		  "{groups_run} of {groups_all} groups, {buckets_run} of {buckets_all} buckets, ");
	fprintf(to, "%.0f of %.0f ring steps per loop;\n",
		steps == 0 || steps > steps_all ? steps_all : steps, steps_all);
	table_say(to, plan,
		  "  {packets_run:short} of {packets_all:short} data packets (planned), for "
		  "{bytes_run:bytes} of {bytes_all:bytes} of buffers\n");
	if (document_number(result, "network.trunks_kept") <
	    document_number(result, "network.trunks_of"))
		table_say(
			to, result,
			"  trunks thinned to {network.trunks_kept:plain} of "
			"{network.trunks_of:plain} for the load of the groups that are left out\n");
	const char *name = document_text(plan, "not_run");
	for (size_t length; (length = strcspn(name, " ")) > 0;
	     name += length + (name[length] == ' '))
		fprintf(to,
			"  not in this run: messages of %.*s between hosts; weft plan has them\n",
			(int)length, name);
}

static void what_ran(FILE *to, const json_t *result)
{
	const json_t *scenario = json_object_get(result, "scenario"),
		     *network = json_object_get(result, "network");
	bool has_model = *document_text(scenario, "model") != '\0';
	fprintf(to, "\nWhat ran\n");
	table_say(to, scenario,
		  has_model ? "  traffic {traffic} {model}, seed {seed}\n"
			    : "  traffic {traffic}, seed {seed}\n");
	table_say(to, network,
		  "  {nics} NICs x {planes} planes of {link_rate_bps}, base round trip "
		  "{base_rtt_ps}, "
		  "{switches} switches\n");
	if (document_number(network, "link_rate_least_bps") <
	    document_number(network, "link_rate_bps"))
		table_say(to, network, "  the slowest NIC has {link_rate_least_bps}\n");
	taken_starts(to, result);
	if (strcmp(document_text(scenario, "transport"), "rc") == 0)
		table_say(to, scenario,
			  "  RoCEv2 RC, QPs per connection: {qps_per_connection:plain}, congestion "
			  "control: {cc}\n");
	sample_line(to, result);
	fast_forward_table(to, result);
	table_say(to, result, "  {speed.data_packets:short} data packets sent\n");
}

static void goodput(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "goodput");
	table_say(
		to, of,
		"\nGoodput (payload received over the fabric, while traffic ran: {traffic_ps})\n");
	if (document_number(of, "traffic_ps") == 0) {
		fprintf(to, "  no traffic\n");
		return;
	}
	table_say(to, of,
		  "  total {total_bps}, per receiving NIC {per_nic_bps} ({nics_receiving} of ");
	table_say(to, result, "{network.nics} NICs received), {goodput.payload_bytes} in all\n");
}

// ---------------------------------------------------------------- collectives

// Equal buckets of all groups as one row.
struct row {
	const json_t *slowest;
	uint32_t finished, groups;
};

static bool is_same(const json_t *a, const json_t *b)
{
	return strcmp(document_text(a, "kind"), document_text(b, "kind")) == 0 &&
		document_number(a, "bytes") == document_number(b, "bytes") &&
		strcmp(document_text(a, "label"), document_text(b, "label")) == 0;
}

static void row_add(struct row *row, const json_t *one)
{
	double time_ps = document_number(one, "time_ps"),
	       slowest_ps = document_number(row->slowest, "time_ps");
	row->groups++;
	if (isnan(document_number(one, "end_ps")))
		return;
	if (row->finished == 0 || (!isnan(slowest_ps) && (isnan(time_ps) || time_ps > slowest_ps)))
		row->slowest = one; // one without a time says so for all
	row->finished++;
}

// Fills up to ROWS_MAX rows in order of first appearance; returns how many collectives found no
// row.
static uint32_t rows_of(const json_t *list, struct row *rows, uint32_t *ret_count)
{
	uint32_t count = 0, left_out = 0;
	const json_t *one;
	size_t i;
	json_array_foreach(list, i, one)
	{
		uint32_t at = 0;
		while (at < count && !is_same(rows[at].slowest, one))
			at++;
		if (at == ROWS_MAX) {
			left_out++;
			continue;
		}
		if (at == count)
			rows[count++] = (struct row){.slowest = one};
		row_add(&rows[at], one);
	}
	*ret_count = count;
	return left_out;
}

static void row_print(FILE *to, const struct row *row)
{
	const json_t *of = row->slowest;
	struct text text;
	char steps[48], groups[24], error[64] = "exact";
	snprintf(steps, sizeof(steps), "%.0f/%.0f", document_number(of, "steps_run"),
		 document_number(of, "steps_all"));
	snprintf(groups, sizeof(groups), "%" PRIu32 "/%" PRIu32, row->finished, row->groups);
	fprintf(to, "  %-18.18s %-14s %8s %4.0f %7s %8s ", document_text(of, "label"),
		document_text(of, "kind"), table_figure(&text, of, "bytes", TABLE_BYTES),
		document_number(of, "stands_for"), groups, steps);
	if (isnan(document_number(of, "time_ps"))) {
		fprintf(to, "%s\n", document_reason(of, "time_ps"));
		return;
	}
	if (json_is_true(json_object_get(of, "extrapolated")))
		snprintf(error, sizeof(error), "+- %s",
			 table_figure(&text, of, "time_error_ps", TABLE_TIME));
	fprintf(to, "%9s %-12s %9.3f\n", table_figure(&text, of, "time_ps", TABLE_TIME), error,
		document_number(of, "busbw_bytes_per_s") / 1e9);
}

static void collectives(FILE *to, const json_t *result)
{
	const json_t *list = json_object_get(result, "collectives");
	struct row rows[ROWS_MAX];
	uint32_t count;
	if (json_array_size(list) == 0)
		return;
	uint32_t left_out = rows_of(list, rows, &count);
	fprintf(to, "\nCollectives (slowest group; extrapolated where not all ring steps ran)\n");
	fprintf(to, "  %-18s %-14s %8s %4s %7s %8s %9s %-12s %9s\n", "label", "kind", "buffer", "x",
		"groups", "steps", "time", "error", "busbw GB/s");
	for (uint32_t i = 0; i < count; i++)
		row_print(to, &rows[i]);
	if (left_out > 0)
		fprintf(to, "  and %" PRIu32 " more in result.json\n", left_out);
}

// ---------------------------------------------------------------- latencies

#define CELL_WIDTH 13 // two of them hold the longest reason

// Numbers in their columns; from the first figure that has a reason on, the reason takes the rest
// of the row.
static void latency_row(FILE *to, const char *name, const json_t *of)
{
	const struct latency_row *row;
	int left = 0;
	struct text text;
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++)
		left += row->label != NULL;
	fprintf(to, "  %-12s %13s", name, table_figure(&text, of, "count", TABLE_GROUPED));
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++) {
		if (row->label == NULL)
			continue;
		double value_ns = document_number(of, row->key);
		if (isnan(value_ns)) {
			fprintf(to, " %*s", left * (CELL_WIDTH + 1) - 1,
				document_reason(of, row->key));
			break;
		}
		fprintf(to, " %*.3f", CELL_WIDTH, value_ns / 1000);
		left--;
	}
	fprintf(to, "\n");
	if (document_number(of, "above_range") > 0)
		table_say(to, of, LATENCIES_ABOVE_RANGE);
}

static void latency_header(FILE *to, const char *first)
{
	fprintf(to, "  %-12s %13s", first, "count");
	latency_heads(to, CELL_WIDTH);
}

static void messages(FILE *to, const json_t *result)
{
	const json_t *of;
	size_t i;
	fprintf(to, "\nMessage latency in us (posted to completed at the sender)\n");
	latency_header(to, "pair");
	json_array_foreach(json_object_get(result, "messages"), i, of)
	{
		latency_row(to, document_text(of, "pair"), of);
		if (document_is_sample(result) && !isnan(document_number(of, "p99_ns")))
			fprintf(to, "  %-12s %13s %+13.3f %+13.3f\n", "", "error, +-",
				document_number(of, "p50_error_ns") / 1000,
				document_number(of, "p99_error_ns") / 1000);
	}
}

static void flows(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "flows");
	if (!json_is_object(of))
		return;
	fprintf(to, "\nFlow completion time (FCT) in us\n");
	latency_header(to, "");
	latency_row(to, "flows", of);
}

// ---------------------------------------------------------------- congestion and loss

static void congestion(FILE *to, const json_t *result)
{
	fprintf(to, "\nCongestion%s\n",
		document_is_sample(result) ? " (of what ran: shares are an indication only)" : "");
	figures_table(to, false, result);
}

static void drops(FILE *to, const json_t *result)
{
	struct text text;
	double all = 0;
	const json_t *of;
	size_t i;
	fprintf(to, "\nDrops\n");
	json_array_foreach(json_object_get(result, "drops"), i, of)
	{
		double count = document_number(of, "switches") + document_number(of, "hosts") +
			document_number(of, "cables");
		all += count;
		if (count > 0)
			fprintf(to, "  %-28s %17s\n", document_text(of, "reason"),
				number_grouped(&text, (uint64_t)count));
	}
	if (all == 0)
		fprintf(to, "  none\n");
}

// Packets that no honest peer sends: nothing is said of them where there are none.
static void refused(FILE *to, const json_t *result)
{
	if (document_number(result, "transport.bad_packets") == 0)
		return;
	fprintf(to, "\nRefused by their target: nothing placed, no window moved\n");
	figures_table(to, true, result);
}

static void balance(FILE *to, const json_t *result)
{
	const json_t *of = document_at(result, "planes.each"), *plane;
	double max_to_mean = document_number(result, "planes.max_to_mean");
	double of_nics = document_number(result, "planes.nic_max_to_mean");
	struct text text;
	size_t i;
	fprintf(to, "\nPlanes (wire bytes of data)\n");
	json_array_foreach(of, i, plane)
		fprintf(to, "  %3zu: %9s%s", i, table_figure(&text, plane, "bytes", TABLE_BYTES),
			i % 6 == 5 || i + 1 == json_array_size(of) ? "\n" : "");
	if (max_to_mean == 0)
		return;
	fprintf(to, "  max/mean - 1: %s over planes, ", number_share(&text, max_to_mean - 1));
	fprintf(to, "%s over NICs and planes; Jain %.4f\n",
		isnan(of_nics) ? document_reason(result, "planes.nic_max_to_mean")
			       : number_share(&text, of_nics - 1),
		document_number(result, "planes.jain"));
}

// ---------------------------------------------------------------- the run itself

static void conservation_line(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "conservation");
	bool holds = json_is_true(json_object_get(of, "holds"));
	double doubled = document_number(of, "doubled");
	bool has_pauses = document_number(of, "pauses_sent") > 0;
	struct text text;
	if (!json_is_boolean(json_object_get(of, "holds"))) {
		table_say(to, of, "  packets: sent {sent}, delivered {delivered}\n");
		return;
	}
	fprintf(to, "  packets: sent %s",
		number_grouped(&text, (uint64_t)(document_number(of, "sent") + doubled)));
	if (has_pauses)
		table_say(to, of, " + pauses {pauses_sent}");
	table_say(to, of, holds ? " = delivered {delivered}" : " IS NOT delivered {delivered}");
	if (has_pauses)
		table_say(to, of, " + pauses {pauses_taken}");
	table_say(to, of, " + dropped {dropped} + held {held}\n");
	if (has_pauses)
		table_say(to, of,
			  "  pauses: switches sent {pauses_sent} pause frames, and took "
			  "{pauses_taken}; NICs are delivered the rest\n");
	if (doubled > 0)
		table_say(to, of, "  sent includes {doubled} copies that cables made\n");
	if (document_number(of, "not_sent") > 0)
		table_say(to, of, "  packets made, but not sent yet: {not_sent}\n");
	if (!holds)
		fprintf(to, "  BROKEN RESULT: packets are missing or counted twice\n");
}

static void speed(FILE *to, const json_t *result)
{
	const json_t *of = json_object_get(result, "speed");
	fprintf(to, "\nRun\n");
	conservation_line(to, result);
	if (document_number(of, "data_packets_per_s") > 0 && document_number(of, "hops") > 0) {
		table_say(to, of,
			  "  speed: {data_packets_per_s:short} data packets/s, {hops_per_s:short} "
			  "hops/s, ");
		fprintf(to, "%.1f ns per hop (CPU time)\n", document_number(of, "ns_per_hop"));
	}
	fprintf(to, "  %.2f s wall, %.2f s CPU, ", document_number(of, "wall_s"),
		document_number(of, "cpu_s"));
	table_say(to, of,
		  document_number(of, "ranks") > 1
			  ? "peak memory {memory_peak_bytes:memory} of each of {ranks:plain} "
			    "processes at most\n"
			  : "peak memory {memory_peak_bytes:memory}\n");
}

// The short table names conservation only where it fails.
static void broken(FILE *to, const json_t *result)
{
	if (json_is_false(document_at(result, "conservation.holds")))
		conservation_line(to, result);
}

static void inputs(FILE *to, const json_t *result)
{
	// What a reader must doubt comes first.
	const enum input_origin order[] = {INPUT_CALIBRATED, INPUT_ASSUMED, INPUT_FACT};
	const json_t *list = json_object_get(result, "inputs"), *one;
	if (json_array_size(list) == 0)
		return;
	fprintf(to, "\nAssumptions\n");
	for (size_t i = 0, k; i < sizeof(order) / sizeof(*order); i++) {
		const char *origin = origin_name(order[i]);
		bool is_first = true;
		json_array_foreach(list, k, one)
		{
			if (strcmp(document_text(one, "origin"), origin) != 0)
				continue;
			if (is_first)
				fprintf(to, "  %s\n", origin);
			is_first = false;
			warnings_wrapped(to, document_text(one, "text"), 94);
		}
	}
}

static void files(FILE *to, const struct report_input *input, const json_t *result)
{
	fprintf(to, "\n");
	if (input->out_dir != NULL)
		write_names(to, input);
	emulation_files(to, result);
	if (json_is_string(json_object_get(result, "command")))
		table_say(to, result, "Reproduce with: {command}\n");
	table_say(to, result, "{weft}\n");
}

// `result` is the document that result.json and the page are made of.
static void all(FILE *to, const struct report_input *input, const json_t *result)
{
	headline(to, result);
	warnings_table(to, result);
	if (!input->is_short)
		what_ran(to, result);
	goodput(to, result);
	collectives(to, result);
	jobs_table(to, result);
	program_table(to, result);
	if (!input->is_short)
		messages(to, result);
	flows(to, result);
	if (input->is_short) {
		watch_table(to, input, result);
		expect_table(to, result);
		broken(to, result);
		emulation_short(to, result);
		return;
	}
	congestion(to, result);
	drops(to, result);
	refused(to, result);
	buffer_table(to, result);
	pauses_table(to, result);
	balance(to, result);
	emulation_table(to, result);
	fidelity_table(to, result);
	gpu_table(to, result);
	watch_table(to, input, result);
	expect_table(to, result);
	speed(to, result);
	inputs(to, result);
	taken_table(to, result);
	files(to, input, result);
}

void report_table(FILE *to, const struct report_input *input)
{
	if (input->is_brief) {
		brief_table(to, input);
		return;
	}
	json_t *result = report_document(input);
	all(to, input, result);
	json_decref(result);
}
