// SPDX-License-Identifier: Apache-2.0
// Sums, the order of causes, and how certain the first one is.

#include <string.h>

#include "analyze/story.h"

#define TIMER_MEDIANS 3 // a repeat that comes so many medians after its NAK, and after silence

static const struct words {
	const char *headline, *advice;
} words[FLOW_CAUSE_COUNT] = {
	[FLOW_LOSS_BEFORE] = {"loss BEFORE the capture point",
			      "the path from the sender to the tap: links, queues, drop counters"},
	[FLOW_LOSS_BEHIND] = {"loss BEHIND the capture point",
			      "the receiver's NIC, and between it and the tap"},
	[FLOW_CORRUPT_BEFORE] = {"damaged packets BEFORE the capture point",
				 "cables and optics between the sender and the tap"},
	[FLOW_REORDER_BEFORE] =
		{"reordering BEFORE the capture point",
		 "several paths for one flow: LAG and ECMP hashing, per-packet spraying"},
	[FLOW_GONE_BEFORE] = {"lost or overtaken BEFORE the capture point, and nothing here "
			      "tells which",
			      "the path from the sender to the tap: queues, several paths"},
	[FLOW_REORDER_BEHIND] = {"reordering BEHIND the capture point",
				 "several paths for one flow between the tap and the receiver"},
	[FLOW_GONE_BEHIND] = {"lost or overtaken BEHIND the capture point, and nothing here "
			      "tells which",
			      "the receiver's NIC, and between it and the tap"},
	[FLOW_TIMEOUT] = {"time-outs without need: all had arrived, ACKs were late or lost",
			  "the sender's ACK timeout against the round trip; the way back of ACKs"},
	[FLOW_TIMER] = {"time-outs whose reason does not pass here",
			"both ways between the two NICs: nothing came back before the timer"},
	[FLOW_DUPLICATE] = {"packets doubled by the network",
			    "switches with a mirror, flooding or a loop on the way to the tap"},
	[FLOW_COPY_OR_LATE] =
		{"doubled by the network or overtaken, and nothing here tells which",
		 "several paths for one flow, mirrors and loops on the way to the tap"},
	[FLOW_NOT_READY] = {"receiver not ready (RNR)",
			    "the receiving program: too few receives posted, or too late"},
	[FLOW_REFUSED] = {"requests refused by the receiver",
			  "the programs: keys, lengths and permissions of the region"},
	[FLOW_TRIM_BEFORE] = {"packets trimmed BEFORE the capture point",
			      "the full queue between the sender and the tap"},
	[FLOW_TRIM_BEHIND] = {"packets trimmed BEHIND the capture point",
			      "the full queue between the tap and the receiver"},
	[FLOW_CONGESTION] = {"congestion: marks, nothing lost", "the queue that marks"},
	[FLOW_PAUSE] = {"pauses", "who sends the pause frames, and what is full behind it"},
	[FLOW_CAPTURE] = {"the CAPTURE missed packets that were acknowledged",
			  "the tap: its drops, a mirror port that is full, a second path past it"},
};

const char *certainty_word(enum certainty certainty)
{
	static const char *const names[] = {"certain", "likely", "possible"};
	return names[certainty];
}

const char *cause_words(enum flow_cause cause)
{
	return words[cause].headline;
}

const char *cause_advice(enum flow_cause cause)
{
	return words[cause].advice;
}

// ---------------------------------------------------------------- sums

static void add_operations(struct story *story, const struct flow_stream *stream)
{
	const uint32_t *of = stream->opcodes;
	if (stream->transport == 3 && stream->found != WIRE_FOUND_MRC) {
		story->datagrams += of[0x04] + of[0x05];
		return;
	}
	story->writes += of[0x06] + of[0x0a] + of[0x0b];
	if (stream->found == WIRE_FOUND_MRC)
		return;
	story->sends += of[0x00] + of[0x04] + of[0x05] + of[0x17];
	story->reads += of[0x0c];
	story->atomics += of[0x13] + of[0x14];
}

static void add_sizes(struct story *story, const struct flow_stream *stream)
{
	if (stream->sizes == 0)
		return;
	if (story->sizes == 0 || stream->size_min < story->size_min)
		story->size_min = stream->size_min;
	if (story->sizes == 0 || stream->size_max > story->size_max)
		story->size_max = stream->size_max;
	story->sizes += stream->sizes;
}

static void add_stream(struct story *story, const struct flow_stream *stream)
{
	story->data += stream->data;
	story->data_bytes += stream->data_bytes;
	story->again += stream->again;
	story->again_bytes += stream->again_bytes;
	story->doubled += stream->doubled;
	story->late += stream->late;
	story->holes += stream->found == WIRE_FOUND_MRC || stream->has_reads ? 0 : stream->holes;
	if (stream->late_distance_max > story->late_distance_max)
		story->late_distance_max = stream->late_distance_max;
	story->acks += stream->acks;
	story->naks += stream->naks;
	story->rnrs += stream->rnrs;
	story->sacks += stream->sacks;
	story->nacks += stream->nacks;
	story->trims += stream->trims;
	story->rtx += stream->rtx;
	story->ce += stream->ce;
	story->ect += stream->ect;
	story->cnps += stream->cnps;
	story->begun += stream->begun;
	story->done += stream->done;
	story->acked_psns += stream->acked_psns;
	story->acked_unseen += stream->acked_unseen;
	story->has_ids |= stream->has_ids;
	story->has_ordered_ids |= stream->has_ordered_ids;
	story->connections += stream->data > 0 && stream->peer != 0;
	story->one_way += stream->data > 0 && stream->peer == 0;
	if (stream->data > 0 && (story->largest == NULL || stream->data > story->largest->data))
		story->largest = stream;
	add_operations(story, stream);
	add_sizes(story, stream);
}

// ---------------------------------------------------------------- repairs

static bool is_nak(const struct flow_repair *repair)
{
	return !repair->is_timer && repair->number != 0 && repair->cause != FLOW_NOT_READY;
}

static void extend(int64_t *min, int64_t *max, bool is_first, int64_t value)
{
	*min = is_first || value < *min ? value : *min;
	*max = is_first || value > *max ? value : *max;
}

// Repeats that a timer made though a NAK had asked for them: long after it, and after a silence.
static void split_repeats(struct story *story, const struct flow_report *report)
{
	int64_t limit_ns = flow_quantile(&story->repeat, 0.5) * TIMER_MEDIANS;
	int64_t quiet_ns = flow_quantile(&story->repeat, 0.5);
	for (uint32_t i = 0; i < report->repair_count; i++) {
		const struct flow_repair *repair = &report->repairs[i];
		if (!is_nak(repair) || repair->repeat_ns < 0)
			continue;
		bool is_timer = repair->repeat_ns > limit_ns && repair->silence_ns > quiet_ns;
		if (is_timer) {
			bool is_first = story->timer_after_nak++ == 0;
			extend(&story->timer_repeat_min_ns, &story->timer_repeat_max_ns, is_first,
			       repair->repeat_ns);
			extend(&story->timer_silence_min_ns, &story->timer_silence_max_ns, is_first,
			       repair->silence_ns);
		} else {
			extend(&story->repeat_min_ns, &story->repeat_max_ns, story->repeats++ == 0,
			       repair->repeat_ns);
		}
	}
}

static void add_repairs(struct story *story, const struct flow_report *report)
{
	for (uint32_t i = 0; i < report->repair_count; i++) {
		const struct flow_repair *repair = &report->repairs[i];
		const struct flow_stream *stream = &report->streams[repair->stream];
		if (stream->found == WIRE_FOUND_MRC)
			continue;
		story->timers += repair->is_timer;
		if (!is_nak(repair))
			continue;
		story->nak_repairs++;
		story->nak_behind += repair->cause == FLOW_LOSS_BEHIND ||
			repair->cause == FLOW_GONE_BEHIND ||
			(repair->cause == FLOW_REORDER_BEHIND && repair->passed_ns >= 0);
		story->nak_open += repair->repeat_ns < 0;
		if (repair->passed_ns >= 0)
			flow_lag(&story->passed, repair->passed_ns);
		if (repair->repeat_ns >= 0)
			flow_lag(&story->repeat, repair->repeat_ns);
	}
	split_repeats(story, report);
}

// ---------------------------------------------------------------- order

static void order_causes(struct story *story, const struct flow_report *report)
{
	for (uint32_t cause = 0; cause < FLOW_CAUSE_COUNT; cause++) {
		if (report->causes[cause] == 0)
			continue;
		uint32_t at = story->cause_count++;
		for (; at > 0 && report->causes[story->order[at - 1]] < report->causes[cause]; at--)
			story->order[at] = story->order[at - 1];
		story->order[at] = (enum flow_cause)cause;
	}
}

bool story_is_unchecked(const struct flow_report *report)
{
	const uint64_t *icrc = report->totals.icrc;
	return report->totals.cut > icrc[WIRE_ICRC_GOOD] + icrc[WIRE_ICRC_BAD];
}

// A loss behind the tap was said by a receiver, of a packet that passed here. One before it is a
// hole, which a capture that lost frames has, too, and is that likely where nothing filled it; and
// a repeat is told from a late packet and a copy by identifications, if there are any.
static enum certainty judge(const struct story *story, const struct flow_report *report)
{
	enum flow_cause first = story->order[0];
	bool is_doubtful = story->dropped > 0 || story->acked_unseen > 0 || report->evicted > 0;
	bool is_paired = report->ambiguous == 0; // else an answer may be another stream's
	switch (first) {
	case FLOW_LOSS_BEHIND:
		is_doubtful |= report->causes[FLOW_REORDER_BEHIND] > 0; // as these may be, too
		is_doubtful |= story_is_unchecked(report);
		return story->passed.count > 0 && !is_doubtful && is_paired ? CERTAIN : LIKELY;
	case FLOW_NOT_READY:
	case FLOW_REFUSED:
	case FLOW_CORRUPT_BEFORE:
	case FLOW_TRIM_BEFORE:
		return CERTAIN;
	case FLOW_LOSS_BEFORE:
		is_doubtful |= 2 * report->unfilled > report->causes[FLOW_LOSS_BEFORE];
		// A late packet and its repeat, both here, are told from two repeats by order
		// alone.
		is_doubtful |= report->causes[FLOW_REORDER_BEFORE] > 0 && !story->has_ids;
		if (is_doubtful)
			return POSSIBLE;
		return is_paired && (story->has_ids || story->rtx > 0) ? CERTAIN : LIKELY;
	case FLOW_DUPLICATE:
	case FLOW_REORDER_BEFORE:
		return story->has_ids ? CERTAIN : LIKELY;
	default:
		return LIKELY;
	}
}

void story_make(struct story *story, const struct call *call)
{
	const struct flow_report *report = call->report;
	memset(story, 0, sizeof(*story));
	for (uint32_t i = 0; i < call->count; i++)
		story->dropped += call->files[i].dropped;
	for (uint32_t i = 0; i < report->stream_count; i++)
		if (report->streams[i].is_used)
			add_stream(story, &report->streams[i]);
	add_repairs(story, report);
	order_causes(story, report);
	story->certainty = judge(story, report);
}
