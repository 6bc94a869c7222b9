// SPDX-License-Identifier: Apache-2.0
// weft pcap diff: what two captures differ in; and where packets are in both, what happened between
// the two points.

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/outcome.h>

#include "analyze/story.h"
#include "between.h"
#include "help.h"
#include "pcap.h"
#include "verbs.h"

static const struct option_row option_rows[] = {{NULL}};
static const struct command_line arguments = {
	.help = help_text, .rows = option_rows, .noun = "two captures", .least = 2, .most = 2};

// ---------------------------------------------------------------- figures

struct side {
	struct call call;
	struct story story;
};

enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_TIME };

struct figure {
	const char *name;
	enum unit unit;
	int64_t (*get)(const struct side *side);
};

static int64_t quantile(const struct flow_lags *lags, double q)
{
	static struct flow_lags copy; // sorted in place
	copy = *lags;
	return flow_quantile(&copy, q);
}

#define OF(name, expression) \
	static int64_t name(const struct side *side) \
	{ \
		const struct flow_report *report = side->call.report; \
		const struct story *story = &side->story; \
		(void)report, (void)story; \
		return (int64_t)(expression); \
	}
OF(get_frames, report->totals.frames)
OF(get_bytes, report->totals.bytes)
OF(get_cut, report->totals.cut)
OF(get_span, report->totals.last_ns - report->totals.first_ns)
OF(get_bad, report->totals.icrc[WIRE_ICRC_BAD])
OF(get_connections, story->connections + story->one_way)
OF(get_data, story->data)
OF(get_data_bytes, story->data_bytes)
OF(get_again, story->again)
OF(get_doubled, story->doubled)
OF(get_late, story->late)
OF(get_holes, story->holes)
OF(get_acks, story->acks)
OF(get_naks, story->naks)
OF(get_rnrs, story->rnrs)
OF(get_sacks, story->sacks)
OF(get_nacks, story->nacks)
OF(get_trims, story->trims)
OF(get_rtx, story->rtx)
OF(get_ce, story->ce)
OF(get_cnps, story->cnps)
OF(get_pauses, report->totals.pauses)
OF(get_dropped, story->dropped)
OF(get_begun, story->begun)
OF(get_done, story->done)
OF(get_message_p50, quantile(&report->messages, 0.5))
OF(get_message_p99, quantile(&report->messages, 0.99))
OF(get_message_max, report->messages.max_ns)
OF(get_ack_p50, quantile(&report->ack, 0.5))
OF(get_ack_p99, quantile(&report->ack, 0.99))

static const struct figure figures[] = {
	{"frames", UNIT_COUNT, get_frames},
	{"bytes on the line", UNIT_BYTES, get_bytes},
	{"first to last frame", UNIT_TIME, get_span},
	{"cut frames", UNIT_COUNT, get_cut},
	{"drops of the capture", UNIT_COUNT, get_dropped},
	{"bad ICRCs", UNIT_COUNT, get_bad},
	{"directions with data", UNIT_COUNT, get_connections},
	{"data packets", UNIT_COUNT, get_data},
	{"payload", UNIT_BYTES, get_data_bytes},
	{"seen again", UNIT_COUNT, get_again},
	{"doubled", UNIT_COUNT, get_doubled},
	{"overtaken", UNIT_COUNT, get_late},
	{"PSNs stepped over", UNIT_COUNT, get_holes},
	{"ACKs", UNIT_COUNT, get_acks},
	{"NAKs", UNIT_COUNT, get_naks},
	{"RNR NAKs", UNIT_COUNT, get_rnrs},
	{"SACKs", UNIT_COUNT, get_sacks},
	{"NACKs", UNIT_COUNT, get_nacks},
	{"trimmed", UNIT_COUNT, get_trims},
	{"with RTX", UNIT_COUNT, get_rtx},
	{"CE", UNIT_COUNT, get_ce},
	{"CNPs", UNIT_COUNT, get_cnps},
	{"pauses", UNIT_COUNT, get_pauses},
	{"messages begun", UNIT_COUNT, get_begun},
	{"messages ended", UNIT_COUNT, get_done},
	{"message time p50", UNIT_TIME, get_message_p50},
	{"message time p99", UNIT_TIME, get_message_p99},
	{"message time max", UNIT_TIME, get_message_max},
	{"ACK after p50", UNIT_TIME, get_ack_p50},
	{"ACK after p99", UNIT_TIME, get_ack_p99},
};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static const char *value_words(char ret[WORDS_BYTES], enum unit unit, int64_t value)
{
	if (unit == UNIT_TIME)
		return time_words(ret, value);
	return unit == UNIT_BYTES ? bytes_words(ret, (uint64_t)value)
				  : count_words(ret, (uint64_t)value);
}

static void say_figure(const char *name, enum unit unit, int64_t a, int64_t b)
{
	char words[2][WORDS_BYTES], change[32] = "new";
	if (a > 0)
		snprintf(change, sizeof(change), "%+.1f %%", 100 * (double)(b - a) / (double)a);
	printf("  %-36s %14s %14s %10s\n", name, value_words(words[0], unit, a),
	       value_words(words[1], unit, b), change);
}

static void say_figures(const struct side *a, const struct side *b)
{
	uint32_t same = 0;
	printf("  %-36s %14s %14s %10s\n", "", "A", "B", "B to A");
	for (size_t i = 0; i < FIGURES; i++) {
		int64_t before = figures[i].get(a), after = figures[i].get(b);
		same += before == after;
		if (before != after)
			say_figure(figures[i].name, figures[i].unit, before, after);
	}
	for (int cause = 0; cause < FLOW_CAUSE_COUNT; cause++) {
		int64_t before = (int64_t)a->call.report->causes[cause],
			after = (int64_t)b->call.report->causes[cause];
		if (before != after)
			say_figure(cause_words(cause), UNIT_COUNT, before, after);
	}
	printf("  the same in both: %u figures of %zu\n", same, FIGURES);
}

static void say_first_cause(const char *name, const struct side *side)
{
	const struct story *story = &side->story;
	printf("%s (%s): %s\n", name, side->call.paths[0],
	       story->cause_count > 0 ? cause_words(story->order[0]) : "no fault found");
}

// ---------------------------------------------------------------- between the two points

static void say_clock(const struct between *between)
{
	char words[2][WORDS_BYTES];
	if (!between->has_both_ways) {
		puts("  clock offset: not known, packets of one way alone are in both; delays hold "
		     "it");
		return;
	}
	int64_t offset_ns = between->offset_ns;
	printf("  clock of B less that of A: %s%s, +- %s", offset_ns < 0 ? "-" : "",
	       time_words(words[0], offset_ns < 0 ? -offset_ns : offset_ns),
	       time_words(words[1], between->error_ns));
	if (between->has_drift)
		printf(", at the begin; it drifts by %.2f ppm", between->drift_ppm);
	putchar('\n');
}

static void say_changes(const struct between_way *way, int in)
{
	static const struct {
		const char *says;
		size_t at;
	} rows[] = {
		{"came out doubled", offsetof(struct between_way, doubled)},
		{"came out that did not enter here", offsetof(struct between_way, unsent)},
		{"were marked CE", offsetof(struct between_way, marked)},
		{"were trimmed", offsetof(struct between_way, trimmed)},
		{"were damaged", offsetof(struct between_way, damaged)},
		{"got another DSCP", offsetof(struct between_way, remarked)},
	};
	char words[WORDS_BYTES];
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t count;
		memcpy(&count, (const char *)way + rows[i].at, sizeof(count));
		if (count > 0)
			printf("    %s %s\n", count_words(words, count), rows[i].says);
	}
	if (way->remarked > 0)
		printf("    the first of these is packet %" PRIu64 " of %s: DSCP %u to %u\n",
		       way->first_remarked, in == 0 ? "A" : "B", way->dscp_in, way->dscp_out);
}

static void say_order(const struct between_way *way)
{
	char count[WORDS_BYTES], most[WORDS_BYTES];
	if (way->overtaken == 0)
		printf("    none overtaken within its QP; ");
	else
		printf("    %s overtaken within their QP, by %s at most; ",
		       count_words(count, way->overtaken), count_words(most, way->overtaken_most));
	if (way->hops_min < way->hops_max)
		printf("%u to ", way->hops_min);
	printf("%u hop%s\n", way->hops_max, way->hops_max == 1 ? "" : "s");
}

static void say_way(const struct between *between, int in)
{
	const struct between_way *way = &between->ways[in];
	char w[4][WORDS_BYTES];
	if (way->sent == 0)
		return;
	printf("  %s: %s packets entered, %s lost (%.3f %%)", in == 0 ? "A to B" : "B to A",
	       count_words(w[0], way->sent), count_words(w[1], way->lost),
	       100 * (double)way->lost / (double)way->sent);
	if (way->lost > 0)
		printf(", the first is packet %" PRIu64 " of %s", way->first_lost,
		       in == 0 ? "A" : "B");
	if (way->arrived == 0) {
		putchar('\n');
		return;
	}
	bool is_back = way->shortest_ns < 0;
	printf("\n    delay: shortest %s%s, above it p50 %s, p99 %s, max %s%s\n",
	       is_back ? "-" : "", time_words(w[0], is_back ? -way->shortest_ns : way->shortest_ns),
	       time_words(w[1], way->above_p50_ns), time_words(w[2], way->above_p99_ns),
	       time_words(w[3], way->above_max_ns),
	       between->has_both_ways ? "" : " (the shortest by two clocks)");
	say_order(way);
	say_changes(way, in);
}

static void say_between(const struct between *between)
{
	char w[4][WORDS_BYTES];
	printf("\nBetween the two points: %s packets are in both (of %s in A, %s in B), over %s\n",
	       count_words(w[0], between->common), count_words(w[1], between->frames[0]),
	       count_words(w[2], between->frames[1]), time_words(w[3], between->window_ns));
	if (between->are_two_events) {
		puts("  no two clocks explain their times: they look alike, and are of two events");
		return;
	}
	if (between->is_assumed)
		puts("  which way they go is by the clocks alone: none comes back");
	say_clock(between);
	say_way(between, 0);
	say_way(between, 1);
}

// ---------------------------------------------------------------- the call

static int read_side(struct side *side, const char *path, struct refusal *refusal)
{
	side->call.paths[0] = path;
	side->call.count = 1;
	int rc = input_read(&side->call);
	if (rc < 0)
		*refusal = side->call.refusal;
	else
		story_make(&side->story, &side->call);
	return rc;
}

int diff_run(int argc, char **argv)
{
	static struct side a, b; // large: kept off the stack
	struct between between;
	struct refusal refusal = {0};
	int rc = command_line_read(&arguments, NULL, argc, argv, &refusal);
	if (rc == COMMAND_LINE_DONE)
		return EXIT_SUCCESS;
	const char *const paths[2] = {argv[optind], rc == 0 ? argv[optind + 1] : NULL};
	if (rc == 0 && (strcmp(paths[0], "-") == 0 || strcmp(paths[1], "-") == 0))
		rc = outcome_bad_line(&refusal, "the standard input is read once, a capture twice");
	if (rc == 0)
		rc = read_side(&a, paths[0], &refusal);
	if (rc == 0)
		rc = read_side(&b, paths[1], &refusal);
	if (rc == 0)
		rc = between_read(&between, paths, &refusal);
	if (rc < 0)
		return outcome_refused("pcap", &refusal, rc);
	say_first_cause("A", &a);
	say_first_cause("B", &b);
	say_figures(&a, &b);
	if (between.common > 0)
		say_between(&between);
	else
		puts("\nNo packet is in both: they are of two events");
	return EXIT_SUCCESS;
}
