// SPDX-License-Identifier: Apache-2.0
// What a packet stands out by is known when all were read, so that the captures are read twice.

#include "analyze.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/core/check_memory.h>
#include <weft/core/order.h>
#include <weft/files/files.h>
#include <weft/run/outcome.h>

#include "rewrite.h"

enum mark_kind { MARK_ASKED, MARK_REPEAT, MARK_NOTE };

// A reason for a comment: an entry of the report's repairs or notes.
struct mark {
	uint64_t number; // of the packet
	uint32_t index;
	enum mark_kind kind;
};

struct annotate {
	const struct flow_report *report;
	struct mark *marks; // in the order of packets
	size_t count, next;
	uint64_t number; // of the last frame
	struct rewrite rewrite;
	struct capture_reader reader;
};

// ---------------------------------------------------------------- marks

static void add(struct annotate *all, uint64_t number, uint32_t index, enum mark_kind kind)
{
	if (number != 0)
		all->marks[all->count++] = (struct mark){number, index, kind};
}

static int by_number(const void *a, const void *b)
{
	const struct mark *one = a, *other = b;
	int order = ORDER(one->number, other->number) ?: ORDER(one->kind, other->kind);
	return order ?: ORDER(one->index, other->index);
}

static bool make_marks(struct annotate *all)
{
	const struct flow_report *report = all->report;
	size_t most = 2 * (size_t)report->repair_count + report->note_count;
	all->marks = calloc(most + 1, sizeof(*all->marks));
	if (all->marks == NULL)
		return false;
	for (uint32_t i = 0; i < report->repair_count; i++) {
		add(all, report->repairs[i].number, i, MARK_ASKED);
		add(all, report->repairs[i].repeat, i, MARK_REPEAT);
	}
	for (uint32_t i = 0; i < report->note_count; i++)
		add(all, report->notes[i].number, i, MARK_NOTE);
	qsort(all->marks, all->count, sizeof(*all->marks), by_number);
	return true;
}

// ---------------------------------------------------------------- comments

static void asked_words(char *ret, size_t bytes, const struct flow_repair *repair, bool asks)
{
	const char *cause = flow_cause_name((enum flow_cause)repair->cause);
	if (!asks)
		snprintf(ret, bytes, "PSN %" PRIu32 ": %s; retransmitted in packet %" PRIu64,
			 repair->psn, cause, repair->repeat);
	else if (repair->repeat == 0)
		snprintf(ret, bytes, "asks for PSN %" PRIu32 ": %s; no repeat was seen",
			 repair->psn, cause);
	else
		snprintf(ret, bytes,
			 "asks for PSN %" PRIu32 ": %s; retransmitted in packet %" PRIu64,
			 repair->psn, cause, repair->repeat);
}

static void repeat_words(char *ret, size_t bytes, const struct flow_repair *repair, bool asks)
{
	char after[WORDS_BYTES];
	const char *cause = flow_cause_name((enum flow_cause)repair->cause);
	if (!asks && !repair->is_timer)
		snprintf(ret, bytes, "repeat of PSN %" PRIu32 " that a NACK asked for: %s",
			 repair->psn, cause);
	else if (repair->is_timer)
		snprintf(ret, bytes, "repeat from PSN %" PRIu32 " that nothing asked for: %s",
			 repair->psn, cause);
	else
		snprintf(ret, bytes,
			 "repeat from PSN %" PRIu32 " that packet %" PRIu64
			 " asked for, %s after it: %s",
			 repair->psn, repair->number, time_words(after, repair->repeat_ns), cause);
}

static void note_words(char *ret, size_t bytes, const struct flow_note *note)
{
	static const char *const names[FLOW_NOTE_COUNT] = {
		[FLOW_NOTE_JUMP] = "missing before this",
		[FLOW_NOTE_LATE] = "overtaken",
		[FLOW_NOTE_DOUBLED] = "doubled by the network",
		[FLOW_NOTE_COPY_OR_LATE] = "doubled by the network or overtaken",
		[FLOW_NOTE_DAMAGED] = "damaged: its ICRC is bad",
		[FLOW_NOTE_TRIMMED] = "trimmed",
	};
	if (note->kind == FLOW_NOTE_CLASS)
		snprintf(ret, bytes, "DSCP %" PRIu32 ", and not %" PRIu32 " as before",
			 note->count & 255, note->count >> 8);
	else if (note->count == 1)
		snprintf(ret, bytes, "PSN %" PRIu32 " %s", note->psn, names[note->kind]);
	else
		snprintf(ret, bytes, "%" PRIu32 " PSNs from %" PRIu32 " %s", note->count, note->psn,
			 names[note->kind]);
}

static void put_mark(const struct annotate *all, const struct mark *mark, char *ret, size_t bytes)
{
	const struct flow_repair *repair = &all->report->repairs[mark->index];
	if (mark->kind == MARK_NOTE) {
		note_words(ret, bytes, &all->report->notes[mark->index]);
		return;
	}
	bool asks = all->report->streams[repair->stream].found != WIRE_FOUND_MRC; // a NAK
	if (mark->kind == MARK_ASKED)
		asked_words(ret, bytes, repair, asks && !repair->is_timer);
	else
		repeat_words(ret, bytes, repair, asks);
}

// All that is said of packet `number`, with semicolons between; what is too long is cut.
static void comment_of(struct annotate *all, uint64_t number, char *ret, size_t bytes)
{
	size_t used = 0;
	ret[0] = '\0';
	for (; all->next < all->count && all->marks[all->next].number == number; all->next++) {
		const struct mark *mark = &all->marks[all->next];
		if (used > 0 && used + 2 < bytes)
			used += (size_t)snprintf(ret + used, bytes - used, "; ");
		put_mark(all, mark, ret + used, bytes - used);
		used = strlen(ret);
	}
}

// ---------------------------------------------------------------- out

// The interfaces of this file up to now; the first of them is `first`.
static void put_interfaces(struct annotate *all, uint32_t first)
{
	while (all->rewrite.interfaces - first < all->reader.interface_count) {
		const struct capture_interface *from =
			&all->reader.interfaces[all->rewrite.interfaces - first];
		rewrite_interface(&all->rewrite,
				  &(struct pcapng_interface){.name = from->name,
							     .description = from->description,
							     .snap_bytes = from->snap_bytes,
							     .line_bps = from->line_bps,
							     .link = from->link});
	}
}

static void put_frames(struct annotate *all)
{
	struct capture_frame frame;
	uint32_t first = all->rewrite.interfaces;
	int64_t last_ns = 0;
	while (capture_next(&all->reader, &frame)) {
		char comment[PCAPNG_TEXT_BYTES_MAX + 1];
		put_interfaces(all, first);
		comment_of(all, ++all->number, comment, sizeof(comment));
		const struct pcapng_frame to = {.interface = first + frame.interface,
						.bytes = frame.bytes,
						.captured = frame.captured,
						.original = frame.original,
						.comment = frame.comment,
						.second = comment};
		rewrite_frame(&all->rewrite, &frame, &to);
		last_ns = frame.at_ns;
	}
	put_interfaces(all, first);
	rewrite_statistics(&all->rewrite, &all->reader, first, last_ns);
}

// A file of which nothing could be read the first time is left out.
static int put_files(struct annotate *all, struct call *call)
{
	for (uint32_t i = 0; i < call->count; i++) {
		struct source source;
		uint64_t before = all->number;
		if (call->files[i].frames == 0)
			continue;
		int rc = source_open(&source, call->paths[i], &all->reader, &call->refusal);
		if (rc < 0)
			return rc;
		put_frames(all);
		source_close(&source);
		bool is_same = all->number - before == call->files[i].frames;
		if (!is_same)
			return outcome_bad_word(
				&call->refusal,
				"the capture changed while it was read:", call->paths[i]);
	}
	return 0;
}

// The first of the ten lines.
static void put_head(struct annotate *all, const struct call *call, FILE *to)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *lines = open_memstream(&text, &bytes);
	check_memory(lines != NULL);
	summary_print(lines, call);
	check(fclose(lines) == 0);
	text[strcspn(text, "\n")] = '\0';
	rewrite_begin(&all->rewrite, to, "weft pcap analyze", text);
	free(text);
}

int annotate_check(struct call *call)
{
	for (uint32_t i = 0; i < call->count; i++) {
		struct stat state;
		bool is_stream = strcmp(call->paths[i], "-") == 0 ||
			(stat(call->paths[i], &state) == 0 && !S_ISREG(state.st_mode) &&
			 !S_ISDIR(state.st_mode));
		if (is_stream)
			return outcome_bad_word(
				&call->refusal,
				"--annotate, --trace and --page read captures twice, so that they "
				"must be files, not",
				call->paths[i]);
	}
	return 0;
}

int annotate_write(struct call *call)
{
	static struct annotate all; // large: kept off the stack
	struct atomic_file atomic_file;
	all.report = call->report;
	all.reader.buffer = malloc(CAPTURE_BUFFER_BYTES);
	all.reader.capacity = CAPTURE_BUFFER_BYTES;
	int rc = 0;
	if (all.reader.buffer == NULL || !rewrite_init(&all.rewrite) || !make_marks(&all))
		rc = refuse(&call->refusal, -ENODEV, "no memory for buffers");
	if (trust_of(call) != TRUST_ALL)
		all.count = 0; // nothing can be said of packets
	if (rc == 0 &&
	    (rc = atomic_file_begin(&atomic_file, call->annotate, &call->refusal)) == 0) {
		put_head(&all, call, atomic_file.to);
		rc = put_files(&all, call);
		rewrite_drain(&all.rewrite);
		rc = atomic_file_end(&atomic_file, rc, &call->refusal);
	}
	free(all.marks);
	free(all.reader.buffer);
	rewrite_free(&all.rewrite);
	return rc;
}
