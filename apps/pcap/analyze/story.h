// SPDX-License-Identifier: Apache-2.0
// The report put together for its ten lines: sums over streams, which cause comes first, how
// certain.
#pragma once

#include "pcap.h"

enum certainty { CERTAIN, LIKELY, POSSIBLE };

struct story {
	// Sums over streams.
	uint64_t data, data_bytes, again, again_bytes, doubled, late, holes, late_distance_max;
	uint64_t acks, naks, rnrs, sacks, nacks, trims, rtx, ce, ect, cnps;
	uint64_t begun, done, acked_psns, acked_unseen;
	uint64_t size_min, size_max, sizes;
	uint64_t connections, one_way; // data streams that are answered, and those that are not
	uint64_t datagrams;	       // UD packets
	uint64_t writes, sends, reads, atomics; // first packets of messages
	const struct flow_stream *largest;	// by data
	bool has_ids, has_ordered_ids;
	// Repairs.
	struct flow_lags passed, repeat; // before NAKs; from NAKs to repeats
	uint64_t nak_repairs, nak_behind, nak_open, timers;
	uint64_t timer_after_nak; // repeats that came so late after a NAK that a timer made them
	int64_t timer_repeat_min_ns, timer_repeat_max_ns, timer_silence_min_ns,
		timer_silence_max_ns;
	int64_t repeat_min_ns, repeat_max_ns; // of the others
	uint64_t repeats;
	// What to say.
	enum flow_cause order[FLOW_CAUSE_COUNT]; // most first
	uint32_t cause_count;
	enum certainty certainty;
	uint64_t dropped; // by the files' statistics
};

const char *certainty_word(enum certainty certainty);

void story_make(struct story *story, const struct call *call);

// Frames whose ICRC cannot be checked are more than those where it was: what is damaged before the
// tap looks whole here.
bool story_is_unchecked(const struct flow_report *report);

// What a cause is called in a headline, and where to look.
const char *cause_words(enum flow_cause cause);
const char *cause_advice(enum flow_cause cause);

// points.c: several capture points in one.

// Whether losses are between two capture points, one of which lacks what passed the other; and
// their names, from the sender to the receiver.
bool points_around(const struct call *call, const char *ret_names[2]);

// "; at 2 capture points", where there are several that losses are not between.
void points_say_count(FILE *to, const struct call *call);

// A line with what each saw, where there are several.
void points_say(FILE *to, const struct call *call);
