// SPDX-License-Identifier: Apache-2.0
// A time line: messages of each pair, repairs and life of each stream. Format: "Trace Event Format"
// (public documentation of Chromium's tracing), complete events ("X") and names ("M"). What
// overlaps in a track gets another one of the same name.

#include "analyze.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>

#include "messages.h"

#define SPANS_MAX 200000u // of each kind
#define LANES_MAX 4096u

enum process { PROCESS_MESSAGES = 1, PROCESS_REPAIRS, PROCESS_STREAMS };

// A track for what does not overlap.
struct lane {
	uint32_t file, from, to; // nodes are numbered anew in each file
	int64_t end_ns;
};

struct timeline {
	FILE *to;
	const struct call *call;
	int64_t begin_ns;
	struct lane *lanes;
	uint32_t lane_count, file;
	uint64_t open, left_out; // messages whose end was not seen; spans beyond SPANS_MAX
};

static void put_name(struct timeline *line, const char *what, enum process process, uint32_t track,
		     const char *name)
{
	fprintf(line->to,
		",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32
		",\"args\":{\"name\":\"%s\"}}",
		what, process, track, name);
}

// Its name and arguments follow.
static void put_span(struct timeline *line, enum process process, uint32_t track, int64_t from_ns,
		     int64_t until_ns)
{
	int64_t from = from_ns - line->begin_ns, took = until_ns - from_ns;
	fprintf(line->to,
		",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ".%03" PRId64
		",\"dur\":%" PRId64 ".%03" PRId64,
		process, track, from / 1000, from % 1000, took / 1000, took % 1000);
}

// ---------------------------------------------------------------- messages

static uint32_t lane_of(struct timeline *line, const struct messages *messages,
			const struct message *message)
{
	uint32_t i = 0;
	for (; i < line->lane_count; i++) {
		const struct lane *lane = &line->lanes[i];
		if (lane->file == line->file && lane->from == message->from &&
		    lane->to == message->to && lane->end_ns <= message->start_ns)
			break;
	}
	if (i == LANES_MAX)
		return UINT32_MAX;
	if (i == line->lane_count) {
		char name[2 * WORDS_BYTES + 8], from[WORDS_BYTES], to[WORDS_BYTES];
		line->lanes[line->lane_count++] = (struct lane){.from = message->from,
								.to = message->to};
		snprintf(name, sizeof(name), "%s > %s",
			 address_words(from, messages->nodes[message->from]),
			 address_words(to, messages->nodes[message->to]));
		put_name(line, "thread_name", PROCESS_MESSAGES, i, name);
	}
	line->lanes[i].end_ns = message->end_ns;
	return i;
}

static void put_messages(struct timeline *line, const struct messages *messages)
{
	uint32_t spans = 0;
	for (uint32_t i = 0; i < messages->count; i++) {
		const struct message *message = &messages->list[i];
		bool is_open = message->end_ns < 0;
		uint32_t lane = is_open || spans == SPANS_MAX ? UINT32_MAX
							      : lane_of(line, messages, message);
		line->open += is_open;
		line->left_out += !is_open && lane == UINT32_MAX;
		if (lane == UINT32_MAX)
			continue;
		spans++;
		put_span(line, PROCESS_MESSAGES, lane, message->start_ns, message->end_ns);
		fprintf(line->to,
			",\"name\":\"%" PRIu64 " B\",\"args\":{\"bytes\":%" PRIu64
			",\"first_psn\":%" PRIu32 "}}",
			message->bytes, message->bytes, message->first_psn & 0xffffff);
	}
}

static int put_files(struct timeline *line, struct call *call)
{
	for (uint32_t i = 0; i < call->count; i++) {
		struct messages messages = {0};
		if (call->files[i].frames == 0)
			continue;
		const struct messages_options options = {.renumbers = true};
		int rc = messages_read(&messages, call->paths[i], &options, &call->refusal);
		if (rc < 0)
			return rc;
		line->file = i;
		put_messages(line, &messages);
		messages_free(&messages);
	}
	return 0;
}

// ---------------------------------------------------------------- streams

static void put_streams(struct timeline *line)
{
	const struct flow_report *report = line->call->report;
	for (uint32_t i = 0; i < report->stream_count; i++) {
		const struct flow_stream *stream = &report->streams[i];
		char name[2 * WORDS_BYTES + 32], from[WORDS_BYTES], to[WORDS_BYTES];
		if (!stream->is_used)
			continue;
		snprintf(name, sizeof(name), "%s > %s, QP 0x%" PRIx32,
			 address_words(from, stream->source), address_words(to, stream->target),
			 stream->qpn);
		put_name(line, "thread_name", PROCESS_STREAMS, i, name);
		put_name(line, "thread_name", PROCESS_REPAIRS, i, name);
		put_span(line, PROCESS_STREAMS, i, stream->first_ns, stream->last_ns);
		fprintf(line->to,
			",\"name\":\"%" PRIu64 " packets\",\"args\":{\"again\":%" PRIu64
			",\"late\":%" PRIu64 ",\"ce\":%" PRIu64 "}}",
			stream->packets, stream->again, stream->late, stream->ce);
	}
}

// From what asks for a repeat, or from the silence before it, to its first packet.
static void put_repairs(struct timeline *line)
{
	const struct flow_report *report = line->call->report;
	uint32_t spans = 0;
	for (uint32_t i = 0; i < report->repair_count; i++) {
		const struct flow_repair *repair = &report->repairs[i];
		int64_t before = repair->is_timer
			? repair->repeat_ns > 0 ? repair->repeat_ns : repair->silence_ns
			: 0;
		int64_t from = repair->at_ns - (before > 0 ? before : 0);
		int64_t until = repair->at_ns +
			(!repair->is_timer && repair->repeat_ns > 0 ? repair->repeat_ns : 0);
		bool is_shown = spans < SPANS_MAX && repair->at_ns >= line->begin_ns;
		line->left_out += !is_shown;
		if (!is_shown)
			continue;
		spans++;
		put_span(line, PROCESS_REPAIRS, repair->stream, from, until);
		fprintf(line->to,
			",\"name\":\"%s\",\"args\":{\"psn\":%" PRIu32 ",\"packet\":%" PRIu64
			",\"repeat_packet\":%" PRIu64 "}}",
			flow_cause_name((enum flow_cause)repair->cause), repair->psn,
			repair->number, repair->repeat);
	}
}

// ---------------------------------------------------------------- the whole

int timeline_write(struct call *call)
{
	struct atomic_file atomic_file;
	struct timeline line = {.call = call,
				.begin_ns = call->report->totals.first_ns,
				.lanes = malloc(LANES_MAX * sizeof(struct lane))};
	if (line.lanes == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for a time line");
	int rc = atomic_file_begin(&atomic_file, call->trace, &call->refusal);
	if (rc == 0) {
		line.to = atomic_file.to;
		fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":"
		      "\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"messages\"}}",
		      line.to);
		put_name(&line, "process_name", PROCESS_REPAIRS, 0, "repairs");
		put_name(&line, "process_name", PROCESS_STREAMS, 0, "streams");
		rc = put_files(&line, call);
		if (trust_of(call) == TRUST_ALL)
			put_repairs(&line);
		put_streams(&line);
		fprintf(line.to,
			"\n],\"otherData\":{\"begin_ns\":%" PRId64
			",\"messages not ended\":%" PRIu64 ",\"left out\":%" PRIu64 "}}\n",
			line.begin_ns, line.open, line.left_out);
		rc = atomic_file_end(&atomic_file, rc, &call->refusal);
	}
	free(line.lanes);
	return rc;
}
