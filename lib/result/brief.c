// SPDX-License-Identifier: Apache-2.0
// The short form: what a reader asks first, in 25 lines of at most 100 columns. Each figure is one
// of the table of figures, so that result.json has it under its name; what is no number is there as
// text. All else is in the table (-v).

#include <weft/result/brief.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "brief_line.h"
#include "sections/sections.h"
#include <weft/result/expect.h>
#include <weft/result/figure_table.h>
#include <weft/result/figures.h>
#include <weft/result/jobs.h>
#include <weft/result/links_top.h>
#include <weft/result/number.h>
#include <weft/world/world_warning.h>

#define WARNINGS_SHOWN 2
#define JOBS_SHOWN 3
#define EXPECTED_SHOWN 2
#define SENTENCE_BYTES 512

// Columns of values, so that those of two rows stand below each other.
#define FIRST 14
#define SECOND 24

// NAN: the run has none.
static double real(const struct report_input *input, const char *path)
{
	return figure_real(figure_find(path), input);
}

static bool has(const struct report_input *input, const char *path)
{
	return figure_missing(figure_find(path), input) == NULL;
}

static const char *why_not(const struct report_input *input, const char *path)
{
	return figure_missing(figure_find(path), input);
}

// Until its last timer, of which a rate says nothing.
static bool is_stalled(const struct report_input *input)
{
	return strcmp(input->end, "stalled") == 0;
}

static enum brief_colour of_ideal(double share)
{
	return share >= 0.85 ? BRIEF_GOOD : share < 0.6 ? BRIEF_WARN : BRIEF_PLAIN;
}

// ---------------------------------------------------------------- warnings

static void warn(struct brief_line *line, const char *text)
{
	brief_begin(line, "");
	line->pad = 2;
	line->indent = 4;
	brief_words(line, BRIEF_WARN, "!");
	brief_words(line, BRIEF_PLAIN, text);
	brief_end(line);
}

// Rings leave a host over one NIC a channel.
static bool idle_nics(const struct report_input *input, char *ret, size_t bytes)
{
	const struct world *world = input->world;
	const struct traffic_config *traffic = &world->scenario->traffic;
	uint32_t each = world->fabric.nics_per_host, channels = traffic->ring.channels;
	double receiving = real(input, "goodput.nics_receiving");
	uint32_t ranks = traffic->ring.ranks;
	bool is_collective = traffic->kind == TRAFFIC_RING || traffic->kind == TRAFFIC_COLLECTIVE;
	if (!is_collective || channels >= each || isnan(receiving) || receiving >= ranks)
		return false;
	snprintf(ret, bytes,
		 "%.0f of %" PRIu32 " NICs received nothing: %" PRIu32 " channels, %" PRIu32
		 " NICs per host; traffic.channels=%" PRIu32 " would use all",
		 ranks - receiving, ranks, channels, each, each);
	return true;
}

static void warnings(struct brief_line *line, const struct report_input *input)
{
	struct world_warning of[WORLD_WARNINGS_MAX];
	char text[SENTENCE_BYTES];
	uint32_t count = world_warnings(input->world, of);
	if (input->is_partial) {
		brief_why_partial(input, text, sizeof(text));
		warn(line, text);
	}
	if (idle_nics(input, text, sizeof(text)))
		warn(line, text);
	for (uint32_t i = 0; i < count && i < WARNINGS_SHOWN; i++)
		warn(line, of[i].text);
	if (count <= WARNINGS_SHOWN)
		return;
	snprintf(text, sizeof(text), "%" PRIu32 " more with -v", count - WARNINGS_SHOWN);
	warn(line, text);
}

// ---------------------------------------------------------------- rows

static void time_row(struct brief_line *line, const struct report_input *input)
{
	struct text text;
	if (input->is_partial)
		return;
	brief_begin(line, "time");
	if (!has(input, "headline.time_ps")) {
		brief_words(line, BRIEF_PLAIN, why_not(input, "headline.time_ps"));
		brief_end(line);
		return;
	}
	brief_add(line, BRIEF_BOLD, FIRST, "%s",
		  number_time(&text, (ps_t)real(input, "headline.time_ps")));
	if (has(input, "headline.ideal_ps")) {
		double share = real(input, "headline.ideal_share");
		brief_add(line, BRIEF_DIM, SECOND - 8, "ideal %s",
			  number_time(&text, (ps_t)real(input, "headline.ideal_ps")));
		brief_add(line, of_ideal(share), 8, "%.0f %%", 100 * share);
	}
	if (has(input, "headline.busbw_bytes_per_s")) {
		brief_add(line, BRIEF_PLAIN, 0, "algbw %.4g GB/s",
			  real(input, "headline.algbw_bytes_per_s") / 1e9);
		brief_add(line, BRIEF_PLAIN, 0, "busbw %.4g GB/s",
			  real(input, "headline.busbw_bytes_per_s") / 1e9);
	}
	brief_end(line);
}

// What computes, and waits for communication.
static void step_row(struct brief_line *line, const struct report_input *input)
{
	char text[PROGRAM_STEP_BYTES];
	if (!program_step_text(input, text))
		return;
	brief_begin(line, "step");
	brief_words(line, BRIEF_PLAIN, text);
	brief_end(line);
}

// Of several collectives the one that took longest, extrapolated in a sample; those without a time
// are counted.
static void slowest_row(struct brief_line *line, const struct report_input *input)
{
	const struct outcome *outcome = input->world->outcome;
	struct collective slowest = {0}, one;
	uint32_t timed = 0;
	struct text text;
	for (uint32_t i = 0; i < outcome->collective_count; i++) {
		collective_of(&one, input->world, i);
		if (one.reason != NULL)
			continue;
		bool is_first = timed++ == 0;
		if (is_first || one.outcome->whole_ps > slowest.outcome->whole_ps)
			slowest = one;
	}
	if (outcome->collective_count < 2 || timed == 0)
		return;
	brief_begin(line, "slowest");
	brief_add(line, BRIEF_BOLD, FIRST, "%s", number_time(&text, slowest.outcome->whole_ps));
	if (slowest.outcome->whole_error_ps > 0)
		brief_add(line, BRIEF_DIM, 0, "+- %s",
			  number_time(&text, slowest.outcome->whole_error_ps));
	brief_add(line, BRIEF_PLAIN, 0, "%.24s %s", slowest.bucket->label,
		  number_bytes(&text, slowest.bucket->bytes));
	brief_add(line, BRIEF_PLAIN, 0, "busbw %.4g GB/s",
		  (double)slowest.outcome->busbw_bytes_per_s / 1e9);
	brief_add(line, BRIEF_DIM, 0, "of %" PRIu32 " collectives", timed);
	brief_end(line);
}

static void goodput_row(struct brief_line *line, const struct report_input *input)
{
	struct text text[3];
	if (!has(input, "goodput.per_nic_bps") || !has(input, "headline.payload_rate_share") ||
	    is_stalled(input))
		return;
	double share = real(input, "headline.payload_rate_share");
	brief_begin(line, "goodput");
	brief_add(line, BRIEF_BOLD, FIRST, "%s",
		  number_rate(&text[0], real(input, "goodput.per_nic_bps")));
	brief_add(line, BRIEF_DIM, SECOND - 8, "of %s",
		  number_rate(&text[0], real(input, "headline.payload_rate_bps")));
	brief_add(line, of_ideal(share), 8, "%.0f %%", 100 * share);
	brief_add(line, BRIEF_PLAIN, 0, "%s of %s NICs received",
		  number_grouped(&text[1], (uint64_t)real(input, "goodput.nics_receiving")),
		  number_grouped(&text[2], input->world->topology.nics));
	brief_end(line);
}

static void latency_part(struct brief_line *line, const struct report_input *input,
			 const char *name, const char *path, uint32_t width)
{
	struct text text;
	if (!has(input, path))
		return;
	ps_t ps = (ps_t)(real(input, path) * PS_PER_NS);
	brief_add(line, BRIEF_PLAIN, width, "%s %s", name, number_time(&text, ps));
}

static void latency_row(struct brief_line *line, const struct report_input *input)
{
	struct text text;
	double count = real(input, "headline.messages");
	if (isnan(count) || count < 1)
		return;
	brief_begin(line, "latency");
	latency_part(line, input, "p50", "headline.latency_p50_ns", FIRST);
	latency_part(line, input, "p99", "headline.latency_p99_ns", SECOND - 8);
	latency_part(line, input, "max", "headline.latency_max_ns", 8);
	if (!has(input, "headline.latency_p50_ns"))
		brief_add(line, BRIEF_PLAIN, 0, "%s", why_not(input, "headline.latency_p50_ns"));
	brief_add(line, BRIEF_DIM, 0, "%s message%s", number_grouped(&text, (uint64_t)count),
		  count > 1 ? "s" : "");
	brief_end(line);
}

static void share_part(struct brief_line *line, const struct report_input *input, const char *name,
		       const char *path, uint32_t width)
{
	if (has(input, path))
		brief_add(line, BRIEF_PLAIN, width, "%s %.3g %%", name, 100 * real(input, path));
}

static void count_part(struct brief_line *line, const struct report_input *input, const char *name,
		       const char *path)
{
	struct text text;
	if (has(input, path))
		brief_add(line, BRIEF_PLAIN, 0, "%s %s", name,
			  number_grouped(&text, (uint64_t)real(input, path)));
}

static void network_row(struct brief_line *line, const struct report_input *input)
{
	bool is_whole = !is_sampled(input); // else shares are an indication
	brief_begin(line, "network");
	if (is_whole)
		share_part(line, input, "marked", "congestion.marked_share", FIRST);
	if (is_whole && input->world->fabric.trim_on)
		share_part(line, input, "trimmed", "congestion.trimmed_share", SECOND - 8);
	count_part(line, input, "dropped", "headline.dropped");
	count_part(line, input, "timeouts", "congestion.retransmitted_by.timeout");
	if (is_whole)
		share_part(line, input, "retransmitted", "congestion.retransmitted_share", 0);
	brief_end(line);
}

static void links_rows(struct brief_line *line, const struct report_input *input)
{
	char name[WORLD_CABLE_NAME_BYTES], text[SENTENCE_BYTES];
	const struct world *world = input->world;
	struct link_top top;
	struct text number;
	if (world->links.counts == NULL)
		return;
	if (!is_stalled(input) && links_busiest(&top, input)) {
		world_cable_name(world, top.cable, name, sizeof(name));
		brief_begin(line, "busiest");
		brief_add(line, BRIEF_PLAIN, 0, "%s", name);
		brief_add(line, BRIEF_PLAIN, 0, "%.1f %% of %s", 100 * top.share,
			  number_rate(&number,
				      (double)world->topology.links[top.cable / 2].rate_bps));
		brief_end(line);
	}
	if (links_deepest(&top, input)) {
		world_cable_name(world, top.cable, name, sizeof(name));
		brief_begin(line, "deepest");
		brief_add(line, BRIEF_PLAIN, 0, "%s", name);
		brief_add(line, BRIEF_PLAIN, 0, "%s in the queue",
			  number_bytes(&number, top.bytes));
		if (top.full > 1)
			brief_add(line, BRIEF_DIM, 0, "as deep at %" PRIu32 " ports", top.full);
		brief_end(line);
	}
	if (input->diagnosis == NULL || input->diagnosis->line == NULL)
		return;
	bool stands_out = input->diagnosis->line(input, text, sizeof(text));
	brief_begin(line, "culprit");
	brief_words(line, stands_out ? BRIEF_WARN : BRIEF_PLAIN, text);
	brief_end(line);
}

// ---------------------------------------------------------------- jobs, expectations

static void jobs_rows(struct brief_line *line, const struct report_input *input)
{
	struct job_side sides[SCENARIO_JOBS_MAX];
	uint32_t count = job_sides_of(sides, input);
	for (uint32_t i = 0; i < count && i < JOBS_SHOWN; i++) {
		const struct job_figures *figures = &sides[i].figures;
		struct text text;
		brief_begin(line, "job");
		brief_add(line, BRIEF_PLAIN, FIRST, "%.30s", sides[i].name);
		brief_add(line, BRIEF_PLAIN, SECOND - 8, "%s",
			  figures->time_ps.reason != NULL
				  ? figures->time_ps.reason
				  : number_time(&text, figures->time_ps.value));
		if (figures->factor > 0)
			brief_add(line, BRIEF_PLAIN, 0, "%.3f x its time alone", figures->factor);
		if (i + 1 == JOBS_SHOWN && count > JOBS_SHOWN)
			brief_add(line, BRIEF_DIM, 0, "%" PRIu32 " more with -v",
				  count - JOBS_SHOWN);
		brief_end(line);
	}
}

static void missed_row(struct brief_line *line, const struct expect_row *row)
{
	struct text text[2];
	brief_begin(line, "missed");
	brief_add(line, BRIEF_WARN, 0, "%s", row->name);
	brief_add(line, BRIEF_PLAIN, 0, "%s",
		  expect_value_text(&text[0], row->measure, row->measured));
	brief_add(line, BRIEF_PLAIN, 0, "expected %s%s",
		  row->bound == EXPECT_NEAR		 ? ""
			  : row->bound == EXPECT_AT_MOST ? "at most "
							 : "at least ",
		  expect_value_text(&text[1], row->measure, row->expected));
	brief_end(line);
}

static void expected_rows(struct brief_line *line, const struct report_input *input)
{
	const struct scenario *scenario = input->world->scenario;
	struct expect_row row;
	uint32_t all = 0, missed = 0;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		if (!expect_applies(scenario, i))
			continue;
		expect_of(&row, input, i);
		all++;
		if (!row.is_inside && missed++ < EXPECTED_SHOWN)
			missed_row(line, &row);
	}
	if (all == 0)
		return;
	brief_begin(line, "expected");
	brief_add(line, missed == 0 ? BRIEF_GOOD : BRIEF_WARN, 0, "%" PRIu32 " of %" PRIu32 " met",
		  all - missed, all);
	brief_end(line);
}

// ---------------------------------------------------------------- the end

static void assumed_row(struct brief_line *line, const struct report_input *input)
{
	uint32_t assumed = 0;
	for (uint32_t i = 0; i < input->input_count; i++)
		assumed += input->inputs[i].origin == INPUT_ASSUMED;
	if (input->input_count == 0)
		return;
	brief_begin(line, "assumed");
	brief_add(line, BRIEF_PLAIN, 0, "%" PRIu32 " of %" PRIu32 " inputs (-v)", assumed,
		  input->input_count);
	brief_end(line);
}

#define RETRY_BYTES 48

// The command, or its first words where it is long: "weft sim incast ...".
static void retry_of(const struct report_input *input, char ret[RETRY_BYTES])
{
	const char *command = input->command;
	size_t program = strcspn(command, " ");
	program += 1 + strcspn(command + program + 1, " ");
	if (strlen(command) < RETRY_BYTES)
		snprintf(ret, RETRY_BYTES, "%s", command);
	else
		snprintf(ret, RETRY_BYTES, "%.*s ...", (int)program, command);
}

static void next_row(struct brief_line *line, const struct report_input *input)
{
	char retry[RETRY_BYTES];
	if (input->command == NULL)
		return;
	retry_of(input, retry);
	brief_begin(line, "next");
	if (input->out_dir != NULL)
		brief_add(line, BRIEF_TYPE, 0, "weft report %s", input->out_dir);
	else
		brief_add(line, BRIEF_TYPE, 0, "%s --out o-%.24s", retry,
			  input->world->scenario->name);
	brief_add(line, BRIEF_TYPE, 0, "%s -v", retry);
	brief_end(line);
}

static void cost_row(struct brief_line *line, const struct report_input *input)
{
	struct text text;
	brief_begin(line, "");
	line->pad = 2;
	brief_add(line, BRIEF_DIM, 0, "digest %016" PRIx64, input->digest);
	brief_add(line, BRIEF_DIM, 0, "%.2f s CPU, %s%s", real(input, "speed.cpu_s"),
		  number_memory(&text, input->memory_peak_bytes),
		  input->ranks > 1 ? " of each process at most" : "");
	brief_end(line);
}

void brief_table(FILE *to, const struct report_input *input)
{
	struct brief_line line = {.to = to, .style = input->style};
	brief_what(&line, input);
	fputc('\n', to);
	warnings(&line, input);
	time_row(&line, input);
	step_row(&line, input);
	slowest_row(&line, input);
	goodput_row(&line, input);
	latency_row(&line, input);
	network_row(&line, input);
	jobs_rows(&line, input);
	fputc('\n', to);
	links_rows(&line, input);
	expected_rows(&line, input);
	emulation_short(to, input);
	assumed_row(&line, input);
	next_row(&line, input);
	cost_row(&line, input);
	emulation_files(to, input);
}
