// SPDX-License-Identifier: Apache-2.0
// The short form: what a reader asks first, in 25 lines of at most 100 columns. It is made of the
// document that result.json holds, so that a run and a reader of its folder are told the same.

#include <weft/result/brief.h>

#include <math.h>
#include <string.h>

#include "sections/sections.h"
#include <weft/result/brief_line.h>
#include <weft/result/expect.h>
#include <weft/result/figure_table.h>
#include <weft/result/links.h>
#include <weft/result/number.h>
#include <weft/result/put.h>
#include <weft/result/report_escape.h>

#define WARNINGS_SHOWN 2
#define JOBS_SHOWN 3
#define EXPECTED_SHOWN 2
#define CULPRITS_NAMED 4
#define PATH_BYTES 128

// Columns of values, so that those of two rows stand below each other.
#define FIRST 14
#define SECOND 24

// ---------------------------------------------------------------- the document

static bool has(const json_t *from, const char *path)
{
	return json_is_number(document_at(from, path));
}

static bool is_true(const json_t *from, const char *path)
{
	return json_is_true(document_at(from, path));
}

static const char *time_of(struct text *text, const json_t *from, const char *path)
{
	return number_time(text, (ps_t)llround(document_number(from, path)));
}

// Until its last timer, or the limit, of which a rate says nothing.
static bool is_stalled(const json_t *result)
{
	bool is_silent = document_number_or(result, "transport.qps_trying", 0) > 0 &&
		document_number(result, "run.last_completion_ps") <
			document_number(result, "run.virtual_time_ps") / 2;
	return strcmp(document_text(result, "run.end"), "stalled") == 0 ||
		(is_true(result, "run.partial") && is_silent);
}

static enum brief_colour of_ideal(double share)
{
	return share >= 0.85 ? BRIEF_GOOD : share < 0.6 ? BRIEF_WARN : BRIEF_PLAIN;
}

// ---------------------------------------------------------------- what ran

static void upper(char *text)
{
	for (; *text != '\0'; text++)
		if (*text >= 'a' && *text <= 'z')
			*text = (char)(*text - 'a' + 'A');
}

static void transport_words(struct brief_line *line, const json_t *result)
{
	bool is_rc = strcmp(document_text(result, "scenario.transport"), "rc") == 0;
	bool has_none = is_rc && strcmp(document_text(result, "scenario.cc"), "fixed") == 0;
	char cc[32];
	snprintf(cc, sizeof(cc), "%s",
		 has_none ? "no control" : document_text(result, "scenario.cc"));
	if (!has_none)
		upper(cc);
	brief_add(line, BRIEF_PLAIN, 0, "%s, %s", is_rc ? "RoCEv2" : "MRC", cc);
}

static void fabric_words(struct brief_line *line, const json_t *result)
{
	double nics = document_number(result, "network.nics"),
	       hosts = document_number(result, "network.hosts");
	struct text text[2];
	char on[48] = "";
	if (hosts < nics)
		snprintf(on, sizeof(on), " on %s host%s", number_grouped(&text[1], (uint64_t)hosts),
			 hosts == 1 ? "" : "s");
	brief_add(line, BRIEF_PLAIN, 0, "%s NICs%s, %.0f x %.4g Gb/s",
		  number_grouped(&text[0], (uint64_t)nics), on,
		  document_number(result, "network.planes"),
		  document_number(result, "network.link_rate_bps") / 1e9);
}

static void what(struct brief_line *line, const json_t *result)
{
	bool is_partial = is_true(result, "run.partial");
	struct text text[2];
	char end[32];
	brief_begin(line, "");
	line->gap = 2;
	brief_add(line, BRIEF_BOLD, 0, "%s", document_text(result, "scenario.name"));
	if (*document_text(result, "headline.traffic") != '\0')
		brief_add(line, BRIEF_PLAIN, 0, "%s", document_text(result, "headline.traffic"));
	if (is_true(result, "plan.sampled"))
		brief_add(
			line, BRIEF_WARN, 0, "sample: %s of %s",
			number_bytes(&text[0], (uint64_t)document_number(result, "plan.bytes_run")),
			number_bytes(&text[1],
				     (uint64_t)document_number(result, "plan.bytes_all")));
	fabric_words(line, result);
	transport_words(line, result);
	brief_add(line, BRIEF_DIM, 0, "seed %s", document_text(result, "scenario.seed"));
	snprintf(end, sizeof(end), "%s", is_partial ? document_text(result, "run.end") : "done");
	upper(end);
	brief_add(line, is_partial ? BRIEF_BAD : BRIEF_GOOD, 0, "%s", end);
	brief_end(line);
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

static void warnings(struct brief_line *line, const json_t *result)
{
	const json_t *notes = document_at(result, "headline.notes"),
		     *list = document_at(result, "warnings"), *each;
	char text[120];
	size_t i;
	if (json_is_string(document_at(result, "plan.not_run"))) {
		snprintf(text, sizeof(text),
			 "not in this run: messages of %s between hosts; weft plan has them",
			 document_text(result, "plan.not_run"));
		warn(line, text);
	}
	json_array_foreach(notes, i, each) warn(line, json_string_value(each));
	json_array_foreach(list, i, each) if (i < WARNINGS_SHOWN)
		warn(line, document_text(each, "text"));
	if (json_array_size(list) <= WARNINGS_SHOWN)
		return;
	snprintf(text, sizeof(text), "%zu more with -v", json_array_size(list) - WARNINGS_SHOWN);
	warn(line, text);
}

// ---------------------------------------------------------------- rows

// A row of one text; none where that is empty.
static void text_row(struct brief_line *line, const char *name, const char *text)
{
	if (*text == '\0')
		return;
	brief_begin(line, name);
	brief_words(line, BRIEF_PLAIN, text);
	brief_end(line);
}

static void time_row(struct brief_line *line, const json_t *result)
{
	const json_t *from = document_at(result, "headline");
	struct text text;
	if (is_true(result, "run.partial"))
		return;
	if (!has(from, "time_ps"))
		return text_row(line, "time", document_reason(from, "time_ps"));
	brief_begin(line, "time");
	brief_add(line, BRIEF_BOLD, FIRST, "%s", time_of(&text, from, "time_ps"));
	if (has(from, "ideal_ps")) {
		double share = document_number(from, "ideal_share");
		brief_add(line, BRIEF_DIM, SECOND - 8, "ideal %s",
			  time_of(&text, from, "ideal_ps"));
		brief_add(line, of_ideal(share), 8, "%.0f %%", 100 * share);
	}
	if (has(from, "busbw_bytes_per_s")) {
		brief_add(line, BRIEF_PLAIN, 0, "algbw %.4g GB/s",
			  document_number(from, "algbw_bytes_per_s") / 1e9);
		brief_add(line, BRIEF_PLAIN, 0, "busbw %.4g GB/s",
			  document_number(from, "busbw_bytes_per_s") / 1e9);
	}
	brief_end(line);
}

// Of several collectives the one that took longest, extrapolated in a sample; those without a time
// are counted.
static void slowest_row(struct brief_line *line, const json_t *result)
{
	const json_t *list = document_at(result, "collectives"), *each, *slowest = NULL;
	size_t i, timed = 0;
	struct text text;
	json_array_foreach(list, i, each)
	{
		timed += has(each, "time_ps");
		if (has(each, "time_ps") &&
		    (slowest == NULL ||
		     document_number(each, "time_ps") > document_number(slowest, "time_ps")))
			slowest = each;
	}
	if (json_array_size(list) < 2 || timed == 0)
		return;
	brief_begin(line, "slowest");
	brief_add(line, BRIEF_BOLD, FIRST, "%s", time_of(&text, slowest, "time_ps"));
	if (document_number(slowest, "time_error_ps") > 0)
		brief_add(line, BRIEF_DIM, 0, "+- %s", time_of(&text, slowest, "time_error_ps"));
	brief_add(line, BRIEF_PLAIN, 0, "%.24s %s", document_text(slowest, "label"),
		  number_bytes(&text, (uint64_t)document_number(slowest, "bytes")));
	brief_add(line, BRIEF_PLAIN, 0, "busbw %.4g GB/s",
		  document_number(slowest, "busbw_bytes_per_s") / 1e9);
	brief_add(line, BRIEF_DIM, 0, "of %zu collectives", timed);
	brief_end(line);
}

static void goodput_row(struct brief_line *line, const json_t *result)
{
	struct text text[3];
	if (!has(result, "goodput.per_nic_bps") || !has(result, "headline.payload_rate_share") ||
	    is_stalled(result))
		return;
	double share = document_number(result, "headline.payload_rate_share");
	if (document_number(result, "goodput.nics_receiving") == 0) {
		text_row(line, "goodput", "none: all that was sent stayed inside hosts");
		return;
	}
	brief_begin(line, "goodput");
	brief_add(line, BRIEF_BOLD, FIRST, "%s",
		  number_rate(&text[0], document_number(result, "goodput.per_nic_bps")));
	brief_add(line, BRIEF_DIM, SECOND - 8, "of %s",
		  number_rate(&text[0], document_number(result, "headline.payload_rate_bps")));
	brief_add(line, of_ideal(share), 8, "%.0f %%", 100 * share);
	brief_add(line, BRIEF_PLAIN, 0, "%s of %s NICs received",
		  number_grouped(&text[1],
				 (uint64_t)document_number(result, "goodput.nics_receiving")),
		  number_grouped(&text[2], (uint64_t)document_number(result, "network.nics")));
	brief_end(line);
}

static void latency_part(struct brief_line *line, const json_t *from, const char *name,
			 const char *key, uint32_t width)
{
	struct text text;
	if (has(from, key))
		brief_add(line, BRIEF_PLAIN, width, "%s %s", name,
			  number_time(&text, (ps_t)(document_number(from, key) * PS_PER_NS)));
}

static void latency_row(struct brief_line *line, const json_t *result)
{
	const json_t *from = document_at(result, "headline");
	struct text text;
	double count = document_number(from, "messages");
	if (isnan(count) || count < 1)
		return;
	brief_begin(line, "latency");
	latency_part(line, from, "p50", "latency_p50_ns", FIRST);
	latency_part(line, from, "p99", "latency_p99_ns", SECOND - 8);
	latency_part(line, from, "max", "latency_max_ns", 8);
	if (!has(from, "latency_p50_ns"))
		brief_add(line, BRIEF_PLAIN, 0, "%s", document_reason(from, "latency_p50_ns"));
	brief_add(line, BRIEF_DIM, 0, "%s message%s", number_grouped(&text, (uint64_t)count),
		  count > 1 ? "s" : "");
	brief_end(line);
}

static void share_part(struct brief_line *line, const json_t *result, const char *name,
		       const char *path, uint32_t width)
{
	if (has(result, path))
		brief_add(line, BRIEF_PLAIN, width, "%s %.3g %%", name,
			  100 * document_number(result, path));
}

static void count_part(struct brief_line *line, const json_t *result, const char *name,
		       const char *path)
{
	struct text text;
	if (has(result, path))
		brief_add(line, BRIEF_PLAIN, 0, "%s %s", name,
			  number_grouped(&text, (uint64_t)document_number(result, path)));
}

static void network_row(struct brief_line *line, const json_t *result)
{
	bool is_whole = !document_is_sample(result); // else shares are an indication
	brief_begin(line, "network");
	if (is_whole)
		share_part(line, result, "marked", "congestion.marked_share", FIRST);
	if (is_whole && is_true(result, "network.trimming"))
		share_part(line, result, "trimmed", "congestion.trimmed_share", SECOND - 8);
	count_part(line, result, "dropped", "headline.dropped");
	count_part(line, result, "timeouts", "congestion.retransmitted_by.timeout");
	if (is_whole)
		share_part(line, result, "retransmitted", "congestion.retransmitted_share", 0);
	brief_end(line);
}

// ---------------------------------------------------------------- links

static void links_rows(struct brief_line *line, const json_t *result)
{
	const json_t *busiest = document_at(result, "links.most_loaded"),
		     *deepest = document_at(result, "links.deepest");
	struct text text;
	if (!is_stalled(result) && has(busiest, "share")) {
		brief_begin(line, "busiest");
		brief_add(line, BRIEF_PLAIN, 0, "%s", document_text(busiest, "cable"));
		brief_add(line, BRIEF_PLAIN, 0, "%.1f %% of %s",
			  100 * document_number(busiest, "share"),
			  number_rate(&text, document_number(busiest, "rate_bps")));
		brief_end(line);
	}
	if (has(deepest, "bytes")) {
		brief_begin(line, "deepest");
		brief_add(line, BRIEF_PLAIN, 0, "%s", document_text(deepest, "cable"));
		brief_add(line, BRIEF_PLAIN, 0, "%s in the queue",
			  number_bytes(&text, (uint64_t)document_number(deepest, "bytes")));
		if (document_number(deepest, "queues") > 1)
			brief_add(line, BRIEF_DIM, 0, "as deep at %.0f ports",
				  document_number(deepest, "queues"));
		brief_end(line);
	}
}

// Where a flow keeps the path that its hash chose, and a line has several.
static void collide_row(struct brief_line *line, const json_t *result)
{
	double most = document_number(result, "links.collide");
	char text[200];
	if (isnan(most) || most < LINKS_COLLIDE_MIN)
		return;
	snprintf(text, sizeof(text),
		 "the busiest line carries %.2f times the mean of its kind: ECMP puts several "
		 "flows on it",
		 most);
	text_row(line, "collide", text);
}

// "t0 2 up 1 - t1 1 (lossy)"
static void culprit_name(struct brief_line *line, const json_t *one, const char *behind)
{
	char text[PATH_BYTES];
	brief_words(line, BRIEF_WARN, document_text(one, "name"));
	snprintf(text, sizeof(text), "(%.30s)%s", document_text(one, "finding"), behind);
	for (char *from = text; *from != '\0'; from++)
		*from = *from == '_' ? ' ' : *from;
	brief_words(line, BRIEF_PLAIN, text);
}

// That the paths of connections cannot be judged, where they have fewer than they ask for.
static void unjudged_row(struct brief_line *line, const json_t *result)
{
	const char *why = document_reason(document_at(result, "culprits.findings"), "few_paths");
	if (strncmp(why, "cannot be judged", strlen("cannot be judged")) == 0)
		text_row(line, "paths", why);
}

// The first with its evidence, the next ones by name.
static void culprit_rows(struct brief_line *line, const json_t *result)
{
	const json_t *list = document_at(result, "culprits.list"), *each;
	size_t i, count = json_array_size(list);
	struct text text;
	char more[64];
	if (!json_is_array(list)) {
		text_row(line, "culprit", document_reason(result, "culprits"));
		return;
	}
	if (count == 0) {
		uint64_t links = (uint64_t)document_number(result, "culprits.links");
		snprintf(more, sizeof(more),
			 links > 0 ? "none among %s links" : "none: no link carried a packet",
			 number_grouped(&text, links));
		text_row(line, "culprit", more);
		return;
	}
	brief_begin(line, "culprit");
	culprit_name(line, json_array_get(list, 0), ":");
	brief_words(line, BRIEF_PLAIN, document_text(json_array_get(list, 0), "evidence"));
	brief_end(line);
	if (count == 1)
		return;
	brief_begin(line, "and");
	json_array_foreach(list, i, each) if (i > 0 && i <= CULPRITS_NAMED)
		culprit_name(line, each, i + 1 < count ? "," : "");
	snprintf(more, sizeof(more), "%zu more with -v", count - 1 - CULPRITS_NAMED);
	if (count > 1 + CULPRITS_NAMED)
		brief_words(line, BRIEF_DIM, more);
	brief_end(line);
}

// ---------------------------------------------------------------- jobs, expectations

static void jobs_rows(struct brief_line *line, const json_t *result)
{
	const json_t *list = document_at(result, "jobs"), *each;
	size_t i, count = json_array_size(list);
	struct text text;
	json_array_foreach(list, i, each)
	{
		if (i == JOBS_SHOWN)
			break;
		brief_begin(line, "job");
		brief_add(line, BRIEF_PLAIN, FIRST, "%.30s", document_text(each, "name"));
		brief_add(line, BRIEF_PLAIN, SECOND - 8, "%s",
			  has(each, "time_ps") ? time_of(&text, each, "time_ps")
					       : document_reason(each, "time_ps"));
		if (has(each, "ideal_ps") && has(each, "time_ps"))
			brief_add(line, BRIEF_PLAIN, 0, "ideal %s %.0f %%",
				  time_of(&text, each, "ideal_ps"),
				  100 * document_number(each, "ideal_ps") /
					  document_number(each, "time_ps"));
		if (has(each, "interference_factor"))
			brief_add(line, BRIEF_PLAIN, 0, "%.3f x its time alone",
				  document_number(each, "interference_factor"));
		if (i + 1 == JOBS_SHOWN && count > JOBS_SHOWN)
			brief_add(line, BRIEF_DIM, 0, "%zu more with -v", count - JOBS_SHOWN);
		brief_end(line);
	}
}

static void missed_row(struct brief_line *line, const json_t *row)
{
	struct text text;
	brief_begin(line, "missed");
	brief_add(line, BRIEF_WARN, 0, "%s", document_text(row, "name"));
	brief_add(line, BRIEF_PLAIN, 0, "%s", expect_row_text(&text, row, "measured"));
	brief_add(line, BRIEF_PLAIN, 0, "expected %s%s",
		  strcmp(document_text(row, "bound"), "at_most") == 0		 ? "at most "
			  : strcmp(document_text(row, "bound"), "at_least") == 0 ? "at least "
										 : "",
		  expect_row_text(&text, row, "expected"));
	brief_end(line);
}

static void expected_rows(struct brief_line *line, const json_t *result)
{
	const json_t *list = document_at(result, "expect"), *each;
	size_t i, missed = 0, all = json_array_size(list);
	json_array_foreach(list, i, each) if (!is_true(each, "inside") && missed++ < EXPECTED_SHOWN)
		missed_row(line, each);
	if (all == 0)
		return;
	brief_begin(line, "expected");
	brief_add(line, missed == 0 ? BRIEF_GOOD : BRIEF_WARN, 0, "%zu of %zu met", all - missed,
		  all);
	brief_end(line);
}

// ---------------------------------------------------------------- the end

static void assumed_row(struct brief_line *line, const json_t *result)
{
	const json_t *list = document_at(result, "inputs"), *each;
	size_t i, assumed = 0;
	json_array_foreach(list, i, each)
		assumed += strcmp(document_text(each, "origin"), "assumed") == 0;
	if (json_array_size(list) == 0)
		return;
	brief_begin(line, "assumed");
	brief_add(line, BRIEF_PLAIN, 0, "%zu of %zu inputs (-v)", assumed, json_array_size(list));
	brief_end(line);
}

#define RETRY_BYTES 48
#define FOLDER_BYTES 16384 // of a path, each byte in quotes

// The command, or its first words where it is long: "weft sim incast ...".
static void retry_of(const char *command, char ret[RETRY_BYTES])
{
	size_t program = strcspn(command, " ");
	program += 1 + strcspn(command + program + 1, " ");
	if (strlen(command) < RETRY_BYTES)
		snprintf(ret, RETRY_BYTES, "%s", command);
	else
		snprintf(ret, RETRY_BYTES, "%.*s ...", (int)program, command);
}

static void next_row(struct brief_line *line, const struct report_input *input)
{
	char retry[RETRY_BYTES], fresh[RETRY_BYTES], folder[FOLDER_BYTES];
	if (input->command == NULL)
		return;
	retry_of(input->command, retry);
	snprintf(fresh, sizeof(fresh), "o-%.24s", input->world->scenario->name);
	escape_shell(folder, sizeof(folder), input->out_dir != NULL ? input->out_dir : fresh);
	brief_begin(line, "next");
	if (input->out_dir != NULL) {
		brief_add(line, BRIEF_TYPE, 0, "weft report %s", folder);
		brief_add(line, BRIEF_PLAIN, 0, "(-v: all tables)");
	} else {
		brief_add(line, BRIEF_TYPE, 0, "%s --out %s", retry, folder);
		brief_add(line, BRIEF_TYPE, 0, "%s -v", retry);
	}
	brief_end(line);
}

static void cost_row(struct brief_line *line, const json_t *result)
{
	struct text text;
	brief_begin(line, "");
	line->pad = 2;
	brief_add(line, BRIEF_DIM, 0, "digest %s", document_text(result, "run.digest"));
	brief_add(
		line, BRIEF_DIM, 0, "%.2f s CPU, %s%s", document_number(result, "speed.cpu_s"),
		number_memory(&text, (uint64_t)document_number(result, "speed.memory_peak_bytes")),
		document_number(result, "speed.ranks") > 1 ? " of each process at most" : "");
	brief_end(line);
}

// `input`: the run, or NULL where its folder is read.
static void show(struct brief_line *line, const json_t *result, const struct report_input *input)
{
	what(line, result);
	fputc('\n', line->to);
	warnings(line, result);
	time_row(line, result);
	text_row(line, "step", document_text(result, "headline.step"));
	slowest_row(line, result);
	goodput_row(line, result);
	latency_row(line, result);
	network_row(line, result);
	jobs_rows(line, result);
	fputc('\n', line->to);
	links_rows(line, result);
	collide_row(line, result);
	culprit_rows(line, result);
	unjudged_row(line, result);
	expected_rows(line, result);
	if (input != NULL)
		emulation_short(line->to, result);
	assumed_row(line, result);
	if (input != NULL)
		next_row(line, input);
	cost_row(line, result);
}

void brief_table(FILE *to, const struct report_input *input)
{
	struct brief_line line = {.to = to, .style = input->style};
	json_t *result = report_document(input);
	show(&line, result, input);
	emulation_files(to, result);
	json_decref(result);
}

void brief_result(FILE *to, struct report_style style, const json_t *result)
{
	struct brief_line line = {.to = to, .style = style};
	show(&line, result, NULL);
}
