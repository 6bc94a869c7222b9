// SPDX-License-Identifier: Apache-2.0
// The verdict of a story, its headline and the line below it. See story.h.

#include "story.h"

#include <math.h>
#include <string.h>

#include <weft/result/put.h>

#define PLANES_EVEN 1.05    // the fullest over the mean
#define PLANES_ALIKE 1.0005 // what is less has no digit to be said

// ---------------------------------------------------------------- verdict

struct ending {
	const char *state, *badge;
};

static struct ending of_run(const json_t *result)
{
	double share = story_share(result);
	if (json_is_false(document_at(result, "conservation.holds")))
		return (struct ending){"bad", "BROKEN RESULT"};
	if (strcmp(document_text(result, "run.end"), "stalled") == 0)
		return (struct ending){"bad", "STALLED"};
	if (json_is_true(document_at(result, "run.partial")))
		return (struct ending){"warn", "PARTIAL RESULT"};
	if (json_array_size(document_at(result, "culprits.list")) > 0 ||
	    (share >= 0 && share < STORY_SHARE_MIN && story_has_ideal(result)))
		return (struct ending){"bad", "DEGRADED"};
	return (struct ending){"good", "AS EXPECTED"};
}

// A capture or a log of the run is not whole.
static bool is_cut(const json_t *result)
{
	return json_is_string(document_at(result, "capture.pcap_cut")) ||
		json_is_string(document_at(result, "capture.log_cut"));
}

static struct ending ending_of(const json_t *result, const struct verdict *verdict)
{
	static const struct ending ends[] = {
		{"good", "PASS"}, {"bad", "FAIL"}, {"warn", "NOT VALID"}};
	struct ending own = of_run(result);
	bool is_whole = strcmp(own.badge, "DEGRADED") == 0 || strcmp(own.state, "good") == 0;
	if (verdict != NULL && is_whole)
		return ends[verdict->end];
	return is_cut(result) && strcmp(own.state, "good") == 0
		? (struct ending){"warn", "CAPTURE CUT"}
		: own;
}

// ---------------------------------------------------------------- headline

static void words_of(char *ret, size_t bytes, const char *name)
{
	snprintf(ret, bytes, "%s", name);
	for (char *at = ret; *at != '\0'; at++)
		*at = *at == '_' ? ' ' : *at;
}

// "One lossy link", "3 places stand out, first a lossy link".
static void culprits_words(char *ret, size_t bytes, const json_t *list)
{
	const json_t *first = json_array_get(list, 0);
	char finding[48];
	words_of(finding, sizeof(finding), document_text(first, "finding"));
	const char *place = document_text(first, "place");
	if (strcmp(finding, "ecn") == 0)
		snprintf(finding, sizeof(finding), "wrongly marking");
	if (strcmp(finding, "few paths") == 0)
		snprintf(finding, sizeof(finding), "unevenly used");
	if (json_array_size(list) == 1)
		snprintf(ret, bytes, "One %s %s", finding, place);
	else
		snprintf(ret, bytes, "%zu places stand out, first a %s %s", json_array_size(list),
			 finding, place);
}

static void headline(json_t *story, const json_t *result)
{
	const json_t *list = document_at(result, "culprits.list"), *slowest = story_slowest(result);
	char text[320], cause[128] = "Nothing stands out", what[96] = "the traffic";
	double share = story_share(result);
	const char *rate;
	story_rate(result, &rate);
	if (json_array_size(list) > 0)
		culprits_words(cause, sizeof(cause), list);
	if (!json_is_array(list))
		snprintf(cause, sizeof(cause), "Links were not watched");
	if (is_cut(result))
		strncat(cause, ", a capture or log is not whole",
			sizeof(cause) - strlen(cause) - 1);
	if (slowest != NULL) {
		char kind[64];
		words_of(kind, sizeof(kind), document_text(slowest, "kind"));
		snprintf(what, sizeof(what), "%s",
			 strcmp(kind, "all reduce") == 0	       ? "the all-reduce"
				 : strcmp(kind, "all gather") == 0     ? "the all-gather"
				 : strcmp(kind, "reduce scatter") == 0 ? "the reduce-scatter"
								       : kind);
	}
	if (json_is_true(document_at(result, "run.partial")))
		snprintf(text, sizeof(text),
			 "%s; the run ended with \xe2\x80\x9c%s\xe2\x80\x9d, "
			 "its traffic not complete.",
			 cause, document_text(result, "run.end"));
	else if (share < 0)
		snprintf(text, sizeof(text), "%s.", cause);
	else if (story_has_ideal(result))
		snprintf(text, sizeof(text), "%s: %s reached %.0f %% of its ideal.", cause, what,
			 share * 100);
	else
		snprintf(text, sizeof(text), "%s: %s reached %.0f %% of the %s of its NICs.", cause,
			 what, share * 100, rate);
	put_text(story, "headline", text);
}

// ---------------------------------------------------------------- the line below

// What did not fail, so that nobody has to look there.
static void no_faults(char *ret, size_t bytes, const json_t *result)
{
	const char *parts[4];
	char planes[64];
	size_t count = 0;
	double most = document_number_or(result, "planes.max_to_mean", HUGE_VAL), queues = 0;
	const json_t *each;
	size_t i;
	json_array_foreach(json_object_get(result, "drops"), i, each)
		queues += document_number_or(each, "switches", 0);
	if (queues == 0)
		parts[count++] = "no switch dropped a packet";
	if (document_number_or(result, "congestion.retransmitted_by.timeout", 1) == 0)
		parts[count++] = "no timer ran out";
	if (document_number_or(result, "transport.qps_failed", 1) == 0)
		parts[count++] = "no connection gave up";
	if (most < PLANES_EVEN && document_number_or(result, "network.planes", 1) > 1) {
		snprintf(planes, sizeof(planes), "planes were even within %.1f %%",
			 (most - 1) * 100);
		parts[count++] = most < PLANES_ALIKE ? "planes were even" : planes;
	}
	size_t used = 0;
	ret[0] = '\0';
	for (i = 0; i < count && used < bytes; i++)
		used += (size_t)snprintf(ret + used, bytes - used, "%s%s%s",
					 i == 0			  ? "What did not fail: "
						 : i + 1 == count ? " and "
								  : ", ",
					 parts[i], i + 1 == count ? "." : "");
}

static void lead(json_t *story, const json_t *result)
{
	const json_t *first = json_array_get(document_at(result, "culprits.list"), 0);
	char text[800], quiet[320];
	no_faults(quiet, sizeof(quiet), result);
	if (first != NULL) {
		put_text(story, "culprit", document_text(first, "name"));
		snprintf(text, sizeof(text), "%s. %s", document_text(first, "evidence"), quiet);
	} else {
		snprintf(text, sizeof(text), "%s%s",
			 json_is_array(document_at(result, "culprits.list"))
				 ? ""
				 : "watch.links=true shows which link stands out.  ",
			 quiet);
	}
	put_text(story, "lead", text);
}

// What ran, in a line.
static void about(json_t *story, const json_t *result)
{
	char rate[64], text[400];
	report_model_number_text(rate, sizeof(rate),
				 document_number_or(result, "network.link_rate_bps", 0), UNIT_BPS);
	double planes = document_number_or(result, "network.planes", 1);
	snprintf(text, sizeof(text),
		 "%s \xc2\xb7 %.0f NICs on %.0f hosts \xc2\xb7 %.0f plane%s of %s "
		 "\xc2\xb7 %s with %s \xc2\xb7 seed %s",
		 *document_text(result, "scenario.description") != '\0'
			 ? document_text(result, "scenario.description")
			 : document_text(result, "scenario.traffic"),
		 document_number_or(result, "network.nics", 0),
		 document_number_or(result, "network.hosts", 0), planes, planes == 1 ? "" : "s",
		 rate, document_text(result, "scenario.transport"),
		 document_text(result, "scenario.cc"), document_text(result, "scenario.seed"));
	put_text(story, "about", text);
}

void story_of_run(struct report_model *report_model, const struct html_input *input)
{
	const json_t *result = report_model->result;
	json_t *story = json_object();
	struct ending ending = ending_of(result, input->verdict);
	report_model->story = story;
	put_text(story, "state", ending.state);
	put_text(story, "badge", ending.badge);
	about(story, result);
	headline(story, result);
	lead(story, result);
	story_figures(story, result);
	story_first(story, result, input);
	report_model->picture = picture_create(input->cables, result);
}

void story_step(json_t *list, const char *what, const char *why, const char *look)
{
	json_t *row = row_in(list);
	put_text(row, "when", "");
	put_text(row, "what", what);
	put_text(row, "why", why);
	put_text(row, "look", look);
}
