// SPDX-License-Identifier: Apache-2.0
// The report for programs: all of it as JSON.

#include <stddef.h>

#include "analyze/figures.h"
#include "analyze/lists.h"
#include "analyze/nic.h"
#include "analyze/story.h"
#include "weft_version.h"
#include <weft/result/put.h>

#define SCHEMA 2 // raised when a field changes its meaning or goes away

// Counts of a stream.
static const struct {
	const char *name;
	size_t at;
} counts[] = {
	{"packets", offsetof(struct flow_stream, packets)},
	{"bytes", offsetof(struct flow_stream, bytes)},
	{"data", offsetof(struct flow_stream, data)},
	{"data_bytes", offsetof(struct flow_stream, data_bytes)},
	{"again", offsetof(struct flow_stream, again)},
	{"again_bytes", offsetof(struct flow_stream, again_bytes)},
	{"doubled", offsetof(struct flow_stream, doubled)},
	{"late", offsetof(struct flow_stream, late)},
	{"late_distance_max", offsetof(struct flow_stream, late_distance_max)},
	{"holes", offsetof(struct flow_stream, holes)},
	{"acks", offsetof(struct flow_stream, acks)},
	{"naks", offsetof(struct flow_stream, naks)},
	{"rnrs", offsetof(struct flow_stream, rnrs)},
	{"sacks", offsetof(struct flow_stream, sacks)},
	{"nacks", offsetof(struct flow_stream, nacks)},
	{"trims", offsetof(struct flow_stream, trims)},
	{"rtx", offsetof(struct flow_stream, rtx)},
	{"ce", offsetof(struct flow_stream, ce)},
	{"ect", offsetof(struct flow_stream, ect)},
	{"cnps", offsetof(struct flow_stream, cnps)},
	{"dscp_changes", offsetof(struct flow_stream, class_changes)},
	{"acked_unseen", offsetof(struct flow_stream, acked_unseen)},
	{"messages_begun", offsetof(struct flow_stream, begun)},
	{"messages_done", offsetof(struct flow_stream, done)},
	{"messages_done_bytes", offsetof(struct flow_stream, done_bytes)},
};
#define COUNTS (sizeof(counts) / sizeof(counts[0]))

static uint64_t count_of(const struct flow_stream *stream, size_t index)
{
	return *(const uint64_t *)((const char *)stream + counts[index].at);
}

static void put_number(json_t *to, const char *name, int64_t value)
{
	json_object_set_new(to, name, json_integer(value));
}

// -1 is what was not seen.
static void put_ns(json_t *to, const char *name, int64_t ns)
{
	json_object_set_new(to, name, ns < 0 ? json_null() : json_integer(ns));
}

// ---------------------------------------------------------------- the capture

static json_t *files(const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < call->count; i++) {
		const struct capture_file *file = &call->files[i];
		json_t *one = json_object();
		put_text(one, "path", file->path);
		put_text(one, "end", capture_end_name(file->end));
		put_text(one, "why", file->why[0] != '\0' ? file->why : NULL);
		put_number(one, "bytes", (int64_t)file->bytes);
		put_number(one, "frames", (int64_t)file->frames);
		put_number(one, "frames_left_out", (int64_t)file->odd_frames);
		put_number(one, "stamps_of_no_clock", (int64_t)file->odd_stamps);
		put_number(one, "sections_of_wrong_length", (int64_t)file->odd_sections);
		put_number(one, "blocks_of_wrong_length", (int64_t)file->odd_blocks);
		put_number(one, "interfaces", file->interfaces);
		if (file->has_dropped)
			put_number(one, "dropped", (int64_t)file->dropped);
		if (file->left_out > 0)
			put_number(one, "not_in_file", (int64_t)file->left_out);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *trust(const struct call *call)
{
	static const char *const names[] = {"all", "cut", "copies", "order", "files"};
	const struct flow_totals *totals = &call->report->totals;
	json_t *to = json_object();
	put_text(to, "state", names[trust_of(call)]);
	put_number(to, "cut", (int64_t)totals->cut);
	put_number(to, "cut_before_bth", (int64_t)totals->stopped[WIRE_SHORT_BTH]);
	put_number(to, "cut_behind_bth", (int64_t)totals->stopped[WIRE_SHORT_EXTENSION]);
	put_number(to, "copies", (int64_t)call->copies.pairs);
	put_number(to, "granularity_ns", totals->granularity_ns);
	put_number(to, "same_stamp", (int64_t)totals->same_stamp);
	put_number(to, "backward", (int64_t)totals->backward);
	put_number(to, "backward_max_ns", totals->backward_max_ns);
	put_number(to, "untimed", (int64_t)totals->untimed);
	put_number(to, "streams_evicted", (int64_t)call->report->evicted);
	put_number(to, "packets_forgotten", (int64_t)call->report->forgotten);
	return to;
}

static json_t *totals_of(const struct flow_totals *totals)
{
	static const char *const icrc[] = {[WIRE_ICRC_GOOD] = "good",
					   [WIRE_ICRC_BAD] = "bad",
					   [WIRE_ICRC_UNKNOWN] = "unknown",
					   [WIRE_ICRC_ABSENT] = "absent"};
	json_t *to = json_object(), *found = json_object(), *sums = json_object();
	put_number(to, "frames", (int64_t)totals->frames);
	put_number(to, "bytes", (int64_t)totals->bytes);
	put_number(to, "first_ns", totals->first_ns);
	put_number(to, "last_ns", totals->last_ns);
	put_number(to, "pauses", (int64_t)totals->pauses);
	for (int i = 0; i < WIRE_FOUND_COUNT; i++)
		if (totals->found[i] > 0)
			put_number(found, wire_found_name((enum wire_found)i),
				   (int64_t)totals->found[i]);
	for (size_t i = 0; i < sizeof(icrc) / sizeof(*icrc); i++)
		put_number(sums, icrc[i], (int64_t)totals->icrc[i]);
	json_object_set_new(to, "found", found);
	json_object_set_new(to, "icrc", sums);
	return to;
}

// ---------------------------------------------------------------- what happened

static json_t *finding(const struct call *call, const struct story *story)
{
	json_t *to = json_object(), *causes = json_object();
	bool is_known = trust_of(call) == TRUST_ALL;
	bool has_cause = is_known && story->cause_count > 0;
	put_text(to, "cause", has_cause ? flow_cause_name(story->order[0]) : NULL);
	put_text(to, "certainty", has_cause ? certainty_word(story->certainty) : NULL);
	for (uint32_t i = 0; is_known && i < story->cause_count; i++)
		put_number(causes, flow_cause_name(story->order[i]),
			   (int64_t)call->report->causes[story->order[i]]);
	json_object_set_new(to, "causes", causes);
	return to;
}

static json_t *lags(const struct flow_lags *from)
{
	struct flow_lags copy = *from;
	json_t *to = json_object();
	put_number(to, "count", (int64_t)copy.count);
	put_ns(to, "min_ns", copy.count > 0 ? copy.min_ns : -1);
	put_ns(to, "p50_ns", copy.count > 0 ? flow_quantile(&copy, 0.5) : -1);
	put_ns(to, "p99_ns", copy.count > 0 ? flow_quantile(&copy, 0.99) : -1);
	put_ns(to, "max_ns", copy.count > 0 ? copy.max_ns : -1);
	return to;
}

static json_t *stream(const struct call *call, const struct flow_stream *from, uint32_t index)
{
	char words[WORDS_BYTES];
	json_t *to = json_object();
	put_number(to, "index", index);
	put_text(to, "source", address_words(words, from->source));
	put_text(to, "target", address_words(words, from->target));
	put_text(to, "transport", wire_found_name(from->found));
	put_text(to, "place", call->places[from->place]);
	put_number(to, "qpn", from->qpn);
	put_number(to, "first_psn", from->first_psn);
	put_number(to, "last_psn", from->last_psn);
	for (size_t i = 0; i < COUNTS; i++)
		put_number(to, counts[i].name, (int64_t)count_of(from, i));
	put_ns(to, "message_min_ns", from->messages.count > 0 ? from->messages.min_ns : -1);
	put_ns(to, "message_max_ns", from->messages.count > 0 ? from->messages.max_ns : -1);
	return to;
}

static json_t *repair(const struct flow_repair *from)
{
	json_t *to = json_object();
	bool has_cause = from->cause < FLOW_CAUSE_COUNT;
	put_text(to, "cause", has_cause ? flow_cause_name((enum flow_cause)from->cause) : NULL);
	json_object_set_new(to, "timer", json_boolean(from->is_timer));
	put_number(to, "stream", from->stream);
	put_number(to, "psn", from->psn);
	put_number(to, "packet", (int64_t)from->number);
	put_number(to, "repeat_packet", (int64_t)from->repeat);
	put_number(to, "at_ns", from->at_ns);
	put_ns(to, "passed_ns", from->passed_ns);
	put_ns(to, "repeat_ns", from->repeat_ns);
	put_ns(to, "silence_ns", from->silence_ns);
	return to;
}

json_t *json_stream_blank(const struct call *call)
{
	return stream(call, &(struct flow_stream){0}, 0);
}

json_t *json_repair_blank(const struct call *call)
{
	(void)call;
	return repair(&(struct flow_repair){0});
}

json_t *json_make(const struct call *call)
{
	static struct story story; // large: kept off the stack
	const struct flow_report *report = call->report;
	json_t *all = json_object(), *streams = json_array(), *repairs = json_array();
	story_make(&story, call);
	put_number(all, "schema", SCHEMA);
	put_text(all, "weft", WEFT_VERSION_TEXT);
	json_object_set_new(all, "files", files(call));
	json_object_set_new(all, "trust", trust(call));
	json_object_set_new(all, "finding", finding(call, &story));
	json_object_set_new(all, "figures", figures_make(call, &story));
	if (trust_of(call) != TRUST_ALL)
		put_text(all, "figures_reason", trust_reason(trust_of(call)));
	json_object_set_new(all, "dscp", figures_dscp(call));
	json_object_set_new(all, "priorities", figures_priorities(call));
	json_object_set_new(all, "bursts", bursts_json(call));
	put_number(all, "bursts_packets_left_out", (int64_t)report->targets_left_out);
	json_object_set_new(all, "dscp_changes", changes_json(call));
	put_number(all, "dscp_changes_left_out",
		   (int64_t)(report->class_changes - report->change_count));
	json_object_set_new(all, "rules", rules_json(call));
	json_object_set_new(all, "connections", figures_connections(call));
	if (call->nic != NULL)
		json_object_set_new(all, "nic", nic_json(call));
	json_object_set_new(all, "totals", totals_of(&report->totals));
	json_object_set_new(all, "messages", lags(&report->messages));
	json_object_set_new(all, "ack", lags(&report->ack));
	json_object_set_new(all, "ce_to_cnp", lags(&report->ce_to_cnp));
	json_object_set_new(all, "trim_to_rtx", lags(&report->trim_to_rtx));
	for (uint32_t i = 0; i < report->stream_count; i++)
		json_array_append_new(streams, stream(call, &report->streams[i], i));
	for (uint32_t i = 0; i < report->repair_count; i++)
		json_array_append_new(repairs, repair(&report->repairs[i]));
	json_object_set_new(all, "streams", streams);
	json_object_set_new(all, "repairs", repairs);
	put_number(all, "repairs_left_out", (int64_t)report->repairs_left_out);
	return all;
}

void json_print(FILE *to, const struct call *call)
{
	document_print(to, json_make(call), 0);
}
