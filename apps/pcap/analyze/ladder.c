// SPDX-License-Identifier: Apache-2.0
// Which repair: the first of the cause that comes first. Of its packets: some before it was asked
// for, some behind that, those around the repeat.

#include "analyze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/wire/wire_ends.h>

#include "analyze/story.h"

enum { BEFORE = 8, BEHIND = 8, AT_REPEAT = 4, AFTER = 4 };

struct reading {
	struct call *call;
	struct ladder *ladder;
	struct capture_reader reader;
	struct wire_config config;
	uint64_t asked, number; // packet that asks, or begins the repeat; the last frame
	uint32_t since, after;	// packets since it was asked for; since the repeat
	uint32_t waiting;	// of the rungs: those that later ones may push out
	uint64_t left_out;
	struct rung first; // the last packet of the PSN before it was asked for; number 0: none
};

static void choose(struct ladder *ladder, const struct call *call)
{
	static struct story story; // large: kept off the stack
	const struct flow_report *report = call->report;
	story_make(&story, call);
	for (int pass = 0; pass < 2 && ladder->repair == NULL; pass++)
		for (uint32_t i = 0; i < report->repair_count; i++) {
			const struct flow_repair *repair = &report->repairs[i];
			bool is_first = repair->cause == story.order[0] || pass == 1;
			if (repair->repeat == 0 || !is_first)
				continue;
			ladder->repair = repair;
			ladder->stream = &report->streams[repair->stream];
			break;
		}
}

// ---------------------------------------------------------------- which packets

static bool is_of(const struct reading *reading, const struct flow_stream *stream,
		  const struct wire_record *record, const struct capture_interface *interface)
{
	uint8_t source[16], target[16];
	char place[2 * CAPTURE_TEXT_BYTES];
	memcpy(source, record->source, 16);
	memcpy(target, record->target, 16);
	if (record->found == WIRE_FOUND_MRC) {
		wire_leave_out_plane(&reading->config, source);
		wire_leave_out_plane(&reading->config, target);
	}
	place_words(place, sizeof(place), &reading->reader, interface);
	return record->layers & WIRE_LAYER_BTH && record->qpn == stream->qpn &&
		memcmp(source, stream->source, 16) == 0 &&
		memcmp(target, stream->target, 16) == 0 &&
		strcmp(place, reading->call->places[stream->place]) == 0;
}

static struct rung rung_of(const struct reading *reading, const struct capture_frame *frame,
			   const struct wire_record *record, bool is_back)
{
	const char *name = wire_opcode_name((enum wire_found)record->found, record->opcode);
	bool is_aeth = record->layers & WIRE_LAYER_AETH;
	bool is_nack = record->found == WIRE_FOUND_MRC && record->opcode == PACKET_NACK;
	uint8_t kind = record->syndrome >> 5 & 3;
	struct rung rung = {.number = reading->number,
			    .at_ns = frame->at_ns,
			    .psn = record->psn,
			    .is_back = is_back,
			    .is_nak = (is_aeth && kind != 0) || is_nack};
	snprintf(rung.what, sizeof(rung.what), "%s",
		 is_aeth && kind == 3		? "NAK"
			 : is_aeth && kind == 1 ? "RNR NAK"
			 : name != NULL		? name
						: "?");
	if (record->found == WIRE_FOUND_MRC && is_back)
		rung.psn = record->sack_psn;
	return rung;
}

// Keeps the last `most` of the rungs that wait.
static void push(struct reading *reading, const struct rung *rung, uint32_t most)
{
	struct ladder *ladder = reading->ladder;
	if (reading->waiting == most) {
		uint32_t first = ladder->count - most;
		memmove(&ladder->rungs[first], &ladder->rungs[first + 1],
			(most - 1) * sizeof(*ladder->rungs));
		ladder->count--;
		reading->waiting--;
		reading->left_out++;
		ladder->rungs[first].left_out = reading->left_out;
	}
	ladder->rungs[ladder->count++] = *rung;
	reading->waiting++;
}

static void settle(struct reading *reading)
{
	reading->waiting = 0;
	reading->left_out = 0;
}

static void take(struct reading *reading, struct rung *rung)
{
	const struct flow_repair *repair = reading->ladder->repair;
	bool is_repeat = reading->number >= repair->repeat;
	rung->is_repeat = is_repeat && !rung->is_back && reading->number < repair->repeat + 64;
	if (reading->number < reading->asked) {
		if (!rung->is_back && rung->psn == repair->psn)
			reading->first = *rung;
		push(reading, rung, BEFORE);
		return;
	}
	if (reading->number == reading->asked || reading->number == repair->repeat ||
	    reading->since == BEHIND)
		settle(reading);
	if (is_repeat)
		reading->after++;
	push(reading, rung, !is_repeat && reading->since >= BEHIND ? AT_REPEAT : RUNGS_MAX);
	reading->since++;
}

static void read_frames(struct reading *reading)
{
	const struct flow_stream *stream = reading->ladder->stream;
	const struct flow_stream *peer = stream->peer != 0
		? &reading->call->report->streams[stream->peer - 1]
		: NULL;
	struct capture_frame frame;
	struct wire_record record;
	while (reading->after <= AFTER && capture_next(&reading->reader, &frame)) {
		const struct capture_interface *interface =
			&reading->reader.interfaces[frame.interface];
		reading->number++;
		wire_dissect(&reading->config, interface->link, frame.bytes, frame.captured,
			     frame.original, &record);
		bool is_back = peer != NULL && is_of(reading, peer, &record, interface);
		if (!is_back && !is_of(reading, stream, &record, interface))
			continue;
		struct rung rung = rung_of(reading, &frame, &record, is_back);
		take(reading, &rung);
	}
}

// ---------------------------------------------------------------- what was lost

// What is sent again stands first, however long ago it passed.
static void put_first(struct ladder *ladder, const struct rung *first)
{
	bool is_shown = first->number == 0 || ladder->count == 0 || ladder->count == RUNGS_MAX ||
		first->number >= ladder->rungs[0].number;
	if (is_shown)
		return;
	memmove(&ladder->rungs[1], ladder->rungs, ladder->count * sizeof(*ladder->rungs));
	ladder->rungs[0] = *first;
	ladder->rungs[0].left_out = 0;
	ladder->count++;
}

// A rung for what did not come, before the first one that is beyond it.
static void put_missing(struct ladder *ladder)
{
	uint32_t at = 0, psn = ladder->repair->psn;
	while (at < ladder->count &&
	       (ladder->rungs[at].is_back || ladder->rungs[at].psn <= psn ||
		ladder->rungs[at].psn > psn + (1u << 16)))
		at++;
	if (at == ladder->count || ladder->count == RUNGS_MAX || ladder->rungs[at].is_repeat)
		return;
	memmove(&ladder->rungs[at + 1], &ladder->rungs[at],
		(ladder->count - at) * sizeof(*ladder->rungs));
	ladder->rungs[at] = (struct rung){
		.psn = psn, .at_ns = ladder->rungs[at + 1].at_ns, .is_lost_before = true};
	ladder->count++;
}

static void mark_lost(struct ladder *ladder)
{
	enum flow_cause cause = (enum flow_cause)ladder->repair->cause;
	if (cause == FLOW_LOSS_BEFORE || cause == FLOW_REORDER_BEFORE)
		put_missing(ladder);
	if (cause != FLOW_LOSS_BEHIND)
		return;
	for (uint32_t i = ladder->count; i-- > 0;) { // the last one before the repeat
		struct rung *rung = &ladder->rungs[i];
		if (rung->is_back || rung->psn != ladder->repair->psn || rung->is_repeat)
			continue;
		rung->is_lost_behind = true;
		return;
	}
}

int ladder_make(struct ladder *ladder, struct call *call)
{
	static struct reading reading; // large: kept off the stack
	int rc = 0;
	memset(ladder, 0, sizeof(*ladder));
	choose(ladder, call);
	if (ladder->repair == NULL || trust_of(call) != TRUST_ALL)
		return 0;
	const struct flow_repair *repair = ladder->repair;
	reading.call = call;
	reading.ladder = ladder;
	bool has_asked = !repair->is_timer && repair->number != 0;
	reading.asked = has_asked ? repair->number : repair->repeat;
	wire_config_default(6, &reading.config);
	reading.reader.buffer = malloc(CAPTURE_BUFFER_BYTES);
	reading.reader.capacity = CAPTURE_BUFFER_BYTES;
	if (reading.reader.buffer == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for a buffer");
	for (uint32_t i = 0; rc == 0 && i < call->count && reading.after <= AFTER; i++) {
		struct source source;
		if (call->files[i].frames == 0)
			continue;
		rc = source_open(&source, call->paths[i], &reading.reader, &call->refusal);
		if (rc < 0)
			break;
		read_frames(&reading);
		source_close(&source);
	}
	free(reading.reader.buffer);
	put_first(ladder, &reading.first);
	mark_lost(ladder);
	return rc;
}
