// SPDX-License-Identifier: Apache-2.0
// The three figures at the head of a page, each beside the best that it could be.

#include "story.h"

#include <math.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/result/put.h>

// A figure "12.3 us" as number and unit.
json_t *story_figure(json_t *story, const char *label, double value, enum unit unit)
{
	char text[64];
	json_t *list = json_object_get(story, "figures");
	json_t *one = row_in(list != NULL ? list : array_in(story, "figures"));
	put_text(one, "label", label);
	report_model_rounded_text(text, sizeof(text), value, unit);
	char *space = strchr(text, ' ');
	put_text(one, "unit", space != NULL ? space + 1 : "");
	if (space != NULL)
		*space = '\0';
	put_text(one, "value", text);
	return one;
}

// One that the result does not have.
static void no_figure(json_t *story, const char *label, const char *reason)
{
	json_t *one = story_figure(story, label, 0, UNIT_COUNT);
	put_text(one, "value", "\xe2\x80\x93");
	put_text(one, "note", *reason != '\0' ? reason : "the result does not have it");
}

void story_against(json_t *one, double share, const char *of)
{
	char text[64];
	share = fmax(0, fmin(1, share));
	snprintf(text, sizeof(text), "%.0f %% of %s", share * 100, of);
	put_text(one, "of", text);
	put(one, "share", json_real(share));
	put_text(one, "state",
		 share < STORY_SHARE_MIN	    ? "bad"
			 : share < STORY_SHARE_GOOD ? "plain"
						    : "good");
}

// Time against the least that the same messages can take, where the result has it.
static bool least_time_figure(json_t *story, const json_t *result)
{
	const json_t *from = json_object_get(result, "headline");
	double share = document_number_or(from, "ideal_share", -1);
	char best[64], note[160];
	if (share < 0)
		return false;
	json_t *one = story_figure(story, "Time", document_number_or(from, "time_ps", 0), UNIT_PS);
	story_against(one, share, "ideal");
	snprintf(note, sizeof(note), "ideal %s: the least that the same messages can take",
		 report_model_number_text(best, sizeof(best),
					  document_number_or(from, "ideal_ps", 0), UNIT_PS));
	put_text(one, "note", note);
	return true;
}

static void time_figure(json_t *story, const json_t *result)
{
	const json_t *slowest = story_slowest(result);
	char best[64], note[160];
	if (least_time_figure(story, result))
		return;
	if (slowest == NULL && document_number_or(result, "goodput.traffic_ps", 0) <= 0) {
		no_figure(story, "Time", "no traffic has come to its end");
		return;
	}
	if (slowest == NULL) {
		json_t *one = story_figure(story, "Time of the traffic",
					   document_number_or(result, "goodput.traffic_ps", 0),
					   UNIT_PS);
		put_text(one, "note", "from the first start to the last completion");
		return;
	}
	double time = document_number_or(slowest, "time_ps", 0);
	double share = document_number_or(slowest, "busbw_share", 0);
	json_t *one = story_figure(story, "Time of the collective", time, UNIT_PS);
	story_against(one, share, "ideal");
	report_model_number_text(best, sizeof(best), time * share, UNIT_PS);
	snprintf(note, sizeof(note), "ideal %s: its busiest line carries payload without a pause%s",
		 best,
		 json_array_size(json_object_get(result, "collectives")) > 1
			 ? "; the slowest of all"
			 : "");
	put_text(one, "note", note);
}

static void goodput_figure(json_t *story, const json_t *result)
{
	double value = document_number_or(result, "goodput.per_nic_bps", -1);
	const char *name;
	double rate = story_rate(result, &name);
	char best[64], note[160];
	if (value < 0 || rate <= 0) {
		no_figure(story, "Goodput of a NIC",
			  document_text(result, "goodput.per_nic_bps_reason"));
		return;
	}
	json_t *one = story_figure(story, "Goodput of a NIC", value, UNIT_BPS);
	story_against(one, value / rate, name);
	snprintf(note, sizeof(note), "%s %s; %.0f of %.0f NICs received", name,
		 report_model_number_text(best, sizeof(best), rate, UNIT_BPS),
		 document_number_or(result, "goodput.nics_receiving", 0),
		 document_number_or(result, "network.nics", 0));
	put_text(one, "note", note);
}

// Messages of the class that has most of them.
static const json_t *most_messages(const json_t *result)
{
	const json_t *each, *most = NULL;
	size_t i;
	json_array_foreach(json_object_get(result, "messages"), i,
			   each) if (document_number_or(each, "count", 0) >
				     (most == NULL ? 0 : document_number_or(most, "count", 0)))
		most = each;
	return most;
}

// The tail: how far the slowest are behind the median, which is at best not at all.
static void tail_figure(json_t *story, const json_t *result)
{
	const json_t *flows = json_object_get(result, "flows");
	bool is_flows = json_is_object(flows) && document_number_or(flows, "max_ns", 0) > 0;
	const json_t *of = is_flows ? flows : most_messages(result);
	bool has_p99 = !is_flows && document_number_or(of, "p99_ns", 0) > 0;
	const char *key = has_p99 ? "p99_ns" : "max_ns";
	double median = document_number_or(of, "p50_ns", 0), slow = document_number_or(of, key, 0);
	const char *label = is_flows ? "Slowest flow"
		: has_p99	     ? "Message latency, p99"
				     : "Slowest message";
	char mid[64], note[160];
	if (of == NULL || median <= 0 || slow <= 0) {
		no_figure(story, "Message latency", "no message was completed");
		return;
	}
	json_t *one = story_figure(story, label, slow, UNIT_NS);
	story_against(one, median / slow, "an even spread");
	snprintf(note, sizeof(note),
		 "%.3g \xc3\x97 the median, %s; all alike would be 100 %%; %.0f %s", slow / median,
		 report_model_number_text(mid, sizeof(mid), median, UNIT_NS),
		 document_number_or(of, "count", 0), is_flows ? "flows" : "messages");
	put_text(one, "note", note);
	put_text(one, "state", "plain"); // a tail is no fault by itself
}

void story_figures(json_t *story, const json_t *result)
{
	time_figure(story, result);
	goodput_figure(story, result);
	tail_figure(story, result);
}
