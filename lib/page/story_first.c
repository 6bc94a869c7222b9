// SPDX-License-Identifier: Apache-2.0
// What failed, the first by time at the head, each with its reason and the place to look.

#include "story.h"

#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/result/put.h>
#include <weft/verdict/verdict_show.h>

#define ITEMS_MAX 16
#define SHOWN 5

struct item {
	double when_ps; // negative: unknown
	size_t order;	// as it was added
	char what[200], why[400], look[300];
};

struct items {
	struct item list[ITEMS_MAX];
	size_t count;
	bool has_faults; // some of it is no mere note
};

static struct item *add(struct items *items, double when_ps)
{
	static struct item spare;
	struct item *one = items->count < ITEMS_MAX ? &items->list[items->count++] : &spare;
	*one = (struct item){.when_ps = when_ps, .order = items->count};
	return one;
}

// ---------------------------------------------------------------- culprits

static const char *advice_of(const char *finding)
{
	static const char *const advice[][2] = {
		{"down", "state and light of the link at both ends, then the cable"},
		{"silent", "counters at both ends: packets go in, and none comes out"},
		{"lossy",
		 "FEC and symbol errors at both ends; clean or swap the optics, then the cable"},
		{"doubled", "what repeats packets there: a mirror port, a loop"},
		{"reordered", "what holds packets back behind it: a bundle of links, a retimer"},
		{"slow", "speed and width that both ends agreed on"},
		{"stalled", "pause frames that come in there, and who sends them"},
		{"few_paths", "its hash, and the entropy values that reach it"},
		{"ecn", "its marking thresholds beside those of its neighbours"},
		{"late", "processes, memory and clocks of that host"},
	};
	for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++)
		if (strcmp(advice[i][0], finding) == 0)
			return advice[i][1];
	return "its counters";
}

static void culprits(struct items *items, const json_t *result)
{
	const json_t *each;
	size_t i;
	json_array_foreach(document_at(result, "culprits.list"), i, each)
	{
		struct item *one = add(items, document_number_or(each, "since_ps", -1));
		char finding[40];
		snprintf(finding, sizeof(finding), "%s", document_text(each, "finding"));
		snprintf(one->look, sizeof(one->look), "%s", advice_of(finding));
		for (char *at = finding; *at != '\0'; at++)
			*at = *at == '_' ? ' ' : *at;
		snprintf(one->what, sizeof(one->what), "%s: %s", document_text(each, "name"),
			 finding);
		snprintf(one->why, sizeof(one->why), "%s", document_text(each, "evidence"));
		items->has_faults = true;
	}
}

// ---------------------------------------------------------------- verdict

// The bound as a figure: a share of a field of the result says nothing to who does not know it.
static const char *bound_text(struct text *ret, const struct profile_check *check,
			      const struct finding *finding)
{
	static const char *const kinds[] = {"at least", "at most", "exactly"};
	struct text limit;
	if (check->bound.of[0] == '\0')
		return check->bound_text;
	snprintf(ret->at, sizeof(ret->at), "%s %s", kinds[check->bound.kind],
		 verdict_figure(&limit, finding->limit, finding->dimension, &check->bound));
	return ret->at;
}

// "label=reduce_scatter": reduce scatter.
static void show_where(struct item *one, const char *where)
{
	const char *is = strchr(where, '=');
	snprintf(one->look, sizeof(one->look), "%s, in Summary",
		 *where == '\0'	      ? "the verdict"
			 : is == NULL ? where
				      : is + 1);
	for (char *at = one->look; *at != '\0'; at++)
		*at = *at == '_' ? ' ' : *at;
}

static void missed(struct items *items, const struct html_input *input)
{
	struct text text, bound;
	for (uint32_t i = 0; input->verdict != NULL && i < input->profile->check_count; i++) {
		const struct profile_check *check = &input->profile->checks[i];
		const struct finding *finding = &input->verdict->findings[i];
		if (finding->state != FINDING_MISSED)
			continue;
		struct item *one = add(items, -1);
		snprintf(one->what, sizeof(one->what), "%s: missed", check->name);
		snprintf(one->why, sizeof(one->why), "%s measured, %s asked",
			 check->bound.is_word ? finding->word
					      : verdict_figure(&text, finding->measured,
							       finding->dimension, &check->bound),
			 bound_text(&bound, check, finding));
		show_where(one, finding->where);
		items->has_faults = true;
	}
}

// ---------------------------------------------------------------- counters

static const char *count_text(char *ret, size_t bytes, double value)
{
	return report_model_number_text(ret, bytes, value, UNIT_COUNT);
}

static void gave_up(struct items *items, const json_t *result)
{
	double failed = document_number_or(result, "transport.qps_failed", 0);
	double late = document_number_or(result, "congestion.retransmitted_by.timeout", 0);
	char text[64];
	if (failed > 0) {
		struct item *one = add(items, -1);
		snprintf(one->what, sizeof(one->what), "%s connections gave up",
			 count_text(text, sizeof(text), failed));
		snprintf(one->why, sizeof(one->why), "all their retries ran out");
		snprintf(
			one->look, sizeof(one->look),
			"links that were down meanwhile, and the retry budget (transport.retries)");
		items->has_faults = true;
	}
	if (late > 0) {
		struct item *one = add(items, -1);
		snprintf(one->what, sizeof(one->what),
			 "%s packets were retransmitted after a time-out",
			 count_text(text, sizeof(text), late));
		snprintf(one->why, sizeof(one->why),
			 "neither a NACK nor an acknowledgement reported their loss before");
		snprintf(one->look, sizeof(one->look), "losses of answers, and of whole tails");
	}
}

static void drops(struct items *items, const json_t *result)
{
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(result, "drops"), i, each)
	{
		double at_switches = document_number_or(each, "switches", 0);
		double at_hosts = document_number_or(each, "hosts", 0),
		       on_cables = document_number_or(each, "cables", 0);
		double sum = at_switches + at_hosts + on_cables;
		char text[64], reason[64];
		if (sum == 0)
			continue;
		struct item *one = add(items, -1);
		snprintf(reason, sizeof(reason), "%s", document_text(each, "reason"));
		for (char *at = reason; *at != '\0'; at++)
			*at = *at == '_' ? ' ' : *at;
		snprintf(one->what, sizeof(one->what), "%s packets dropped: %s",
			 count_text(text, sizeof(text), sum), reason);
		snprintf(one->why, sizeof(one->why),
			 "by switches %.0f, by hosts %.0f, on cables %.0f", at_switches, at_hosts,
			 on_cables);
		snprintf(one->look, sizeof(one->look), "Load and loss, below");
	}
}

static void queues(struct items *items, const json_t *result)
{
	double marked = document_number_or(result, "congestion.marked_share", 0);
	double trimmed = document_number_or(result, "congestion.trimmed_share", 0);
	const json_t *port = json_array_get(document_at(result, "links.busiest"), 0);
	char first[64], second[64], third[64], fourth[64];
	if (marked <= 0 && trimmed <= 0)
		return;
	struct item *one = add(items, -1);
	report_model_number_text(first, sizeof(first), marked, UNIT_SHARE);
	report_model_number_text(second, sizeof(second), trimmed, UNIT_SHARE);
	if (marked > 0 && trimmed > 0)
		snprintf(one->what, sizeof(one->what),
			 "Queues: %s of data packets marked, %s trimmed", first, second);
	else
		snprintf(one->what, sizeof(one->what), "Queues: %s of data packets %s",
			 marked > 0 ? first : second, marked > 0 ? "marked" : "trimmed");
	if (port != NULL) {
		snprintf(one->why, sizeof(one->why), "above the marking threshold longest: %s, %s",
			 document_text(port, "cable"),
			 report_model_number_text(third, sizeof(third),
						  document_number_or(port, "above_threshold_ps", 0),
						  UNIT_PS));
		snprintf(one->look, sizeof(one->look), "that port; its queue reached %s of %s",
			 report_model_number_text(fourth, sizeof(fourth),
						  document_number_or(port, "queue_bytes_max", 0),
						  UNIT_BYTES),
			 report_model_number_text(
				 first, sizeof(first),
				 document_number_or(result, "network.queue_bytes", 0), UNIT_BYTES));
	} else {
		snprintf(one->why, sizeof(one->why), "the queue is unknown: watch.links is false");
		snprintf(one->look, sizeof(one->look), "a run with --set watch.links=true");
	}
}

// ---------------------------------------------------------------- whole

static int compare(const void *a, const void *b)
{
	const struct item *left = a, *right = b;
	bool has_left = left->when_ps >= 0, has_right = right->when_ps >= 0;
	if (has_left != has_right)
		return has_left ? -1 : 1;
	if (has_left && left->when_ps != right->when_ps)
		return left->when_ps < right->when_ps ? -1 : 1;
	return ORDER(left->order, right->order);
}

void story_first(json_t *story, const json_t *result, const struct html_input *input)
{
	struct items items = {.count = 0};
	json_t *list = array_in(story, "first");
	culprits(&items, result);
	gave_up(&items, result);
	missed(&items, input);
	drops(&items, result);
	queues(&items, result);
	if (items.count > 1)
		qsort(items.list, items.count, sizeof(*items.list), compare);
	for (size_t i = 0; i < items.count && i < SHOWN; i++) {
		char when[64] = "";
		json_t *row = row_in(list);
		if (items.list[i].when_ps >= 0)
			report_model_number_text(when, sizeof(when), items.list[i].when_ps,
						 UNIT_PS);
		put_text(row, "when", when);
		put_text(row, "what", items.list[i].what);
		put_text(row, "why", items.list[i].why);
		put_text(row, "look", items.list[i].look);
	}
	put_text(story, "first_title", items.has_faults ? "What failed first" : "What to know");
}
