// SPDX-License-Identifier: Apache-2.0
// The table for people: one section per question, at most 100 columns, in the order of
// docs/result.md. It rounds; result.json has the exact figures.

#include <inttypes.h>
#include <string.h>

#include <weft/result/report.h>

#include "hdr.h"
#include "sections/sections.h"
#include <weft/result/brief.h>
#include <weft/result/expect.h>
#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/jobs.h>
#include <weft/result/latency_table.h>
#include <weft/result/number.h>
#include <weft/result/warnings.h>

#define ROWS_MAX 40 // distinct collectives shown; the others are in result.json

// A job that is whole is done with its last completion, though probes and the rest of a window may
// follow.
static void headline(FILE *to, const struct report_input *input)
{
	struct text time;
	ps_t end_ps = input->world->outcome->end_ps;
	bool is_whole = !input->is_partial && end_ps > 0;
	fprintf(to, "%s: %s at %s of virtual time, digest %016" PRIx64 "\n",
		input->world->scenario->name, is_whole ? "finished" : input->end,
		number_time(&time, is_whole ? end_ps : input->run.now_ps), input->run.digest);
	if (!input->is_partial)
		return;
	fprintf(to,
		"PARTIAL RESULT: the workload is not complete; figures are of what was done.\n");
	if (input->limit_option != NULL)
		fprintf(to, "A limit was reached: raise %s.\n", input->limit_option);
}

// ---------------------------------------------------------------- what ran

static void sample_line(FILE *to, const struct world *world)
{
	const struct sample_plan *plan = &world->plan;
	struct text text[6];
	if (jobs_line(to, world) || world->job.group_count == 0)
		return;
	const struct group *group = &world->job.groups[0];
	uint32_t steps_all = group->ranks - 1, steps = world->job.ring.steps_max;
	if (steps == 0 || steps > steps_all)
		steps = steps_all;
	fprintf(to,
		"  %s: %s of %s groups, %s of %s buckets, %" PRIu32 " of %" PRIu32
		" ring steps per loop;\n",
		plan->sample.is_on ? "sample" : "whole job",
		number_grouped(&text[0], world->job.group_count),
		number_grouped(&text[1], plan->groups_all),
		number_grouped(&text[2], world->job.bucket_count),
		number_grouped(&text[3], plan->buckets_all), steps, steps_all);
	fprintf(to, "  %s of %s data packets (planned)", number_count(&text[4], plan->packets),
		number_count(&text[5], plan->packets_all));
	fprintf(to, ", for %s of %s of buffers\n", number_bytes(&text[0], plan->bytes_run),
		number_bytes(&text[1], plan->bytes_all));
	if (world->fabric.trunk_sample_kept < world->fabric.trunk_sample_of)
		fprintf(to,
			"  trunks thinned to %" PRIu32 " of %" PRIu32
			" for the load of the groups that are left out\n",
			world->fabric.trunk_sample_kept, world->fabric.trunk_sample_of);
	uint32_t at = 0;
	for (const char *name; (name = job_leaving(&world->job, &at)) != NULL;)
		fprintf(to, "  not in this run: messages of %s between hosts; weft plan has them\n",
			name);
}

static void what_ran(FILE *to, const struct report_input *input)
{
	const struct world *world = input->world;
	const struct scenario *scenario = world->scenario;
	struct text text[4];
	fprintf(to, "\nWhat ran\n");
	fprintf(to, "  traffic %s%s%s, seed %" PRIu64 "\n", traffic_name(scenario->traffic.kind),
		scenario->traffic.kind == TRAFFIC_MODEL ? " " : "",
		scenario->traffic.kind == TRAFFIC_MODEL ? scenario->traffic.model : "",
		scenario->seed);
	fprintf(to, "  %s NICs x %" PRIu32 " planes of %s, base round trip %s, %s switches\n",
		number_grouped(&text[0], world->topology.nics), world->topology.planes,
		number_rate(&text[1], (double)world->fabric.link_rate_bps),
		number_time(&text[2], world->topology.base_rtt_ps),
		number_grouped(&text[3], world->topology.switch_count));
	uint64_t least_bps = fabric_nic_rate_least(&world->fabric);
	if (least_bps < world->fabric.link_rate_bps)
		fprintf(to, "  the slowest NIC has %s\n", number_rate(&text[0], (double)least_bps));
	if (world->has_starts)
		fprintf(to, "  starts of the matrix: in units of %s (traffic.start_unit)\n",
			number_time(&text[0], scenario->traffic.start_unit_ps));
	if (world->transport.kind == TRANSPORT_RC)
		fprintf(to,
			"  RoCEv2 RC, QPs per connection: %" PRIu32 ", congestion control: %s\n",
			scenario->qps_per_connection, world->transport.cc.name);
	sample_line(to, world);
	fast_forward_table(to, input);
	fprintf(to, "  %s data packets sent\n", number_count(&text[0], input->run.data_packets));
}

static void goodput(FILE *to, const struct report_input *input)
{
	struct goodput goodput;
	struct text text[6];
	goodput_of(&goodput, input);
	fprintf(to, "\nGoodput (payload received over the fabric, while traffic ran: %s)\n",
		number_time(&text[0], goodput.traffic_ps));
	if (goodput.traffic_ps == 0) {
		fprintf(to, "  no traffic\n");
		return;
	}
	fprintf(to, "  total %s, per receiving NIC %s (%s of %s NICs received), %s in all\n",
		number_rate(&text[1], goodput.total_bps),
		number_rate(&text[2], goodput.per_nic_bps),
		number_grouped(&text[3], goodput.nics_receiving),
		number_grouped(&text[4], input->world->topology.nics),
		number_bytes(&text[5], goodput.payload_bytes));
}

// ---------------------------------------------------------------- collectives

// Equal buckets of all groups as one row.
struct row {
	struct collective slowest;
	uint32_t finished, groups;
};

static bool is_same(const struct bucket *a, const struct bucket *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && strcmp(a->label, b->label) == 0;
}

static void row_add(struct row *row, const struct collective *one)
{
	row->groups++;
	if (!one->is_finished)
		return;
	bool is_slower = row->finished == 0 ||
		one->outcome->whole_ps > row->slowest.outcome->whole_ps;
	if (row->finished == 0 ||
	    (row->slowest.reason == NULL && (one->reason != NULL || is_slower)))
		row->slowest = *one; // one without a time says so for all
	row->finished++;
}

// Fills up to ROWS_MAX rows in order of first appearance; returns how many collectives found no
// row.
static uint32_t rows_of(const struct world *world, struct row *rows, uint32_t *ret_count)
{
	uint32_t count = 0, left_out = 0;
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, world, i);
		uint32_t at = 0;
		while (at < count && !is_same(rows[at].slowest.bucket, one.bucket))
			at++;
		if (at == ROWS_MAX) {
			left_out++;
			continue;
		}
		if (at == count)
			rows[count++] = (struct row){.slowest = one};
		row_add(&rows[at], &one);
	}
	*ret_count = count;
	return left_out;
}

static void row_print(FILE *to, const struct row *row)
{
	const struct collective *slowest = &row->slowest;
	struct text bytes, time;
	char steps[24], groups[24], error[64] = "exact";
	snprintf(steps, sizeof(steps), "%" PRIu64 "/%" PRIu64, slowest->steps_run,
		 slowest->steps_all);
	snprintf(groups, sizeof(groups), "%" PRIu32 "/%" PRIu32, row->finished, row->groups);
	fprintf(to, "  %-18.18s %-14s %8s %4" PRIu32 " %7s %8s ", slowest->bucket->label,
		collective_kind_name(slowest->bucket->kind),
		number_bytes(&bytes, slowest->bucket->bytes), slowest->bucket->siblings, groups,
		steps);
	if (row->finished == 0) {
		fprintf(to, "%s\n", NOT_FINISHED);
		return;
	}
	if (slowest->reason != NULL) {
		fprintf(to, "%s\n", slowest->reason);
		return;
	}
	if (slowest->is_extrapolated)
		snprintf(error, sizeof(error), "+- %s",
			 number_time(&time, slowest->outcome->whole_error_ps));
	fprintf(to, "%9s %-12s %9.3f\n", number_time(&time, slowest->outcome->whole_ps), error,
		(double)slowest->outcome->busbw_bytes_per_s / 1e9);
}

static void collectives(FILE *to, const struct report_input *input)
{
	struct row rows[ROWS_MAX];
	uint32_t count;
	if (input->world->outcome->collective_count == 0)
		return;
	uint32_t left_out = rows_of(input->world, rows, &count);
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
static void latency_row(FILE *to, const char *name, const struct latency *latency)
{
	const struct latency_row *row;
	int left = 0;
	struct text text;
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++)
		left += row->label != NULL;
	fprintf(to, "  %-12s %13s", name, number_grouped(&text, latency->count));
	for (uint32_t i = 0; (row = latency_row_at(i)) != NULL; i++) {
		if (row->label == NULL)
			continue;
		const struct figure *figure = latency_figure(latency, row);
		if (figure->reason != NULL) {
			fprintf(to, " %*s", left * (CELL_WIDTH + 1) - 1, figure->reason);
			break;
		}
		fprintf(to, " %*.3f", CELL_WIDTH, (double)figure->value / 1000);
		left--;
	}
	fprintf(to, "\n");
	if (latency->above_range > 0)
		fprintf(to, "    %s of these lie above the range of the histogram\n",
			number_grouped(&text, latency->above_range));
}

static void latency_header(FILE *to, const char *first)
{
	fprintf(to, "  %-12s %13s", first, "count");
	latency_heads(to, CELL_WIDTH);
}

static void messages(FILE *to, const struct report_input *input)
{
	struct latency latency;
	fprintf(to, "\nMessage latency in us (posted to completed at the sender)\n");
	latency_header(to, "pair");
	for (enum pair_class pair = 0; pair < PAIR_CLASS_COUNT; pair++) {
		message_latency(&latency, input, pair);
		latency_row(to, pair_class_name(pair), &latency);
		if (is_sampled(input) && latency.p99_ns.reason == NULL)
			fprintf(to, "  %-12s %13s %+13.3f %+13.3f\n", "", "error, +-",
				(double)latency.p50_error_ns.value / 1000,
				(double)latency.p99_error_ns.value / 1000);
	}
}

static void flows(FILE *to, const struct report_input *input)
{
	const struct hist *hist = &input->world->outcome->flow_ns;
	struct latency latency;
	if (hist->total == 0)
		return;
	latency_of(&latency, hist, is_sampled(input));
	fprintf(to, "\nFlow completion time (FCT) in us\n");
	latency_header(to, "");
	latency_row(to, "flows", &latency);
}

// ---------------------------------------------------------------- congestion and loss

static void congestion(FILE *to, const struct report_input *input)
{
	fprintf(to, "\nCongestion%s\n",
		is_sampled(input) ? " (of what ran: shares are an indication only)" : "");
	figures_table(to, "congestion", input);
}

static void drops(FILE *to, const struct report_input *input)
{
	struct text text;
	uint64_t all = 0;
	fprintf(to, "\nDrops\n");
	for (enum drop_reason reason = 0; reason < DROP_REASON_COUNT; reason++) {
		uint64_t count = drops_of(input, reason);
		all += count;
		if (count > 0)
			fprintf(to, "  %-28s %17s\n", drop_reason_name(reason),
				number_grouped(&text, count));
	}
	if (all == 0)
		fprintf(to, "  none\n");
}

// Packets that no honest peer sends: nothing is said of them where there are none.
static void refused(FILE *to, const struct report_input *input)
{
	if (transport_refused(&input->world->outcome->transport) == 0)
		return;
	fprintf(to, "\nRefused by their target: nothing placed, no window moved\n");
	figures_table(to, "transport.refused", input);
}

static void balance(FILE *to, const struct report_input *input)
{
	const struct transport_counters *transport = &input->world->outcome->transport;
	struct planes planes;
	struct text text;
	planes_of(&planes, input);
	fprintf(to, "\nPlanes (wire bytes of data)\n");
	for (uint32_t i = 0; i < planes.count; i++)
		fprintf(to, "%s%3" PRIu32 ": %9s%s", "  ", i,
			number_bytes(&text, transport->plane_bytes[i]),
			i % 6 == 5 || i + 1 == planes.count ? "\n" : "");
	if (planes.max_to_mean == 0)
		return;
	fprintf(to, "  max/mean - 1: %s over planes, ",
		number_share(&text, planes.max_to_mean - 1));
	fprintf(to, "%s over NICs and planes; Jain %.4f\n",
		is_sampled(input) ? NOT_IN_SAMPLE : number_share(&text, planes.nic_max_to_mean - 1),
		planes.jain);
}

// ---------------------------------------------------------------- the run itself

static void conservation_line(FILE *to, const struct report_input *input)
{
	struct conservation sum;
	struct text text[4];
	conservation_of(&sum, input);
	fprintf(to, "  packets: sent %s", number_grouped(&text[0], sum.sent + sum.doubled));
	if (sum.pauses_sent > 0)
		fprintf(to, " + pauses %s", number_grouped(&text[0], sum.pauses_sent));
	fprintf(to, " %s delivered %s", sum.holds ? "=" : "IS NOT",
		number_grouped(&text[0], sum.delivered));
	if (sum.pauses_sent > 0)
		fprintf(to, " + pauses %s", number_grouped(&text[0], sum.pauses_taken));
	fprintf(to, " + dropped %s + held %s\n", number_grouped(&text[0], sum.dropped),
		number_grouped(&text[1], sum.held));
	if (sum.pauses_sent > 0)
		fprintf(to,
			"  pauses: switches sent %s pause frames, and took %s; NICs are delivered "
			"the rest\n",
			number_grouped(&text[0], sum.pauses_sent),
			number_grouped(&text[1], sum.pauses_taken));
	if (sum.doubled > 0)
		fprintf(to, "  sent includes %s copies that cables made\n",
			number_grouped(&text[0], sum.doubled));
	if (sum.unsent > 0)
		fprintf(to, "  packets made, but not sent yet: %s\n",
			number_grouped(&text[0], sum.unsent));
	if (!sum.holds)
		fprintf(to, "  BROKEN RESULT: packets are missing or counted twice\n");
}

static void speed(FILE *to, const struct report_input *input)
{
	struct text text[3];
	double cpu_s = input->run.cpu_s > 0 ? input->run.cpu_s : input->run.wall_s;
	fprintf(to, "\nRun\n");
	conservation_line(to, input);
	if (cpu_s > 0 && input->run.hops > 0)
		fprintf(to, "  speed: %s data packets/s, %s hops/s, %.1f ns per hop (CPU time)\n",
			number_count(&text[0], (uint64_t)((double)input->run.data_packets / cpu_s)),
			number_count(&text[1], (uint64_t)((double)input->run.hops / cpu_s)),
			cpu_s * 1e9 / (double)input->run.hops);
	fprintf(to, "  %.2f s wall, %.2f s CPU, peak memory %s", input->run.wall_s,
		input->run.cpu_s, number_memory(&text[2], input->memory_peak_bytes));
	if (input->run.ranks > 1)
		fprintf(to, " of each of %u processes at most", input->run.ranks);
	fputc('\n', to);
}

// The short table names conservation only where it fails.
static void broken(FILE *to, const struct report_input *input)
{
	struct conservation sum;
	conservation_of(&sum, input);
	if (!sum.holds)
		conservation_line(to, input);
}

static void inputs(FILE *to, const struct report_input *input)
{
	// What a reader must doubt comes first.
	const enum input_origin order[] = {INPUT_CALIBRATED, INPUT_ASSUMED, INPUT_FACT};
	if (input->input_count == 0)
		return;
	fprintf(to, "\nAssumptions\n");
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		bool is_first = true;
		for (uint32_t k = 0; k < input->input_count; k++) {
			if (input->inputs[k].origin != order[i])
				continue;
			if (is_first)
				fprintf(to, "  %s\n", origin_name(order[i]));
			is_first = false;
			warnings_wrapped(to, input->inputs[k].text, 94);
		}
	}
}

static void files(FILE *to, const struct report_input *input)
{
	fprintf(to, "\n");
	if (input->out_dir != NULL) {
		fprintf(to, "Files in %s: result.json, trace.json", input->out_dir);
		for (uint32_t i = 0; i < HDR_COUNT; i++) {
			char name[HDR_NAME_BYTES];
			if (hdr_has_values(input, i))
				fprintf(to, "\n  %s", hdr_name(i, name));
		}
		watch_files(to, input);
		fprintf(to, "\n");
	}
	emulation_files(to, input);
	if (input->command != NULL)
		fprintf(to, "Reproduce with: %s\n", input->command);
	fprintf(to, "%s\n", input->version);
}

void report_table(FILE *to, const struct report_input *input)
{
	if (input->is_brief) {
		brief_table(to, input);
		return;
	}
	headline(to, input);
	warnings_table(to, input);
	if (!input->is_short)
		what_ran(to, input);
	goodput(to, input);
	collectives(to, input);
	jobs_table(to, input);
	program_table(to, input);
	if (!input->is_short)
		messages(to, input);
	flows(to, input);
	if (input->is_short) {
		watch_table(to, input);
		expect_table(to, input);
		broken(to, input);
		emulation_short(to, input);
		return;
	}
	congestion(to, input);
	drops(to, input);
	refused(to, input);
	buffer_table(to, input);
	pauses_table(to, input);
	balance(to, input);
	emulation_table(to, input);
	fidelity_table(to, input);
	gpu_table(to, input);
	watch_table(to, input);
	expect_table(to, input);
	speed(to, input);
	inputs(to, input);
	taken_table(to, input);
	files(to, input);
}
