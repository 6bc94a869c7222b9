// SPDX-License-Identifier: Apache-2.0
// Private to the room: what is remembered of a stream's PSNs, and the state that decides.
#pragma once

#include <weft/core/check.h>
#include <weft/core/psn.h>
#include <weft/flow/flow.h>

enum { // flow_psn.flags
	PSN_SEEN = 1,
	PSN_MISSING = 2, // stepped over, not filled since
	PSN_BAD = 4,	 // the last copy had a bad ICRC
	PSN_BEGINS = 8,	 // first packet of a message
	PSN_ENDS = 16,	 // last one
	PSN_TRIMMED = 32,
	PSN_NACKED = 64,
	PSN_ACKED = 128,
	PSN_ASKS = 256,	   // asks for an ACK
	PSN_FAIR = 512,	   // MRC: its loss was counted, no repeat since
	PSN_LATE = 2048,   // filled a hole by itself: it was overtaken
	PSN_FILLED = 1024, // a hole that a repeat filled: counted as lost
};

// One PSN. A slot is good while `psn` is the running number that is looked for.
struct flow_psn {
	int64_t first_ns, last_ns;
	uint64_t first_number;
	uint32_t psn;
	uint32_t bytes;
	uint16_t id_first, id_last;
	uint16_t flags;
	uint16_t copies;
};

// PSNs of one kind in one direction: a stream has its requests, and its responses to READs.
struct sequence {
	struct flow_psn *ring;
	uint32_t ring_size; // power of 2; 0: none
	bool has_begun;
	uint32_t head;		       // running number: the highest that was seen + 1
	uint32_t next;		       // that the sender sends next if it goes on
	uint32_t expected;	       // that a go-back-N receiver right at the tap would take next
	uint32_t acked;		       // acknowledged below this
	uint32_t low;		       // nothing before this is remembered
	uint32_t unfilled;	       // holes that are remembered no more
	uint32_t read_end;	       // PSNs up to here are, or may be, those of READ responses
	uint32_t read_psn, read_bytes; // of the READ that ends there
	uint32_t mtu_bytes;	       // of payload, as a full packet told; 0: none passed
	int64_t last_ns;	       // of the last packet
	// Identifications.
	uint16_t id_newest;
	bool has_id;
	uint32_t id_changes, id_steps, id_jumps;
	// A packet that went back and may be late, doubled, or the first of a repeat.
	bool is_pending;
	uint32_t pending_from, pending_to; // [from, to) came one after the other
	uint64_t pending_number;
	int64_t pending_ns, pending_silence_ns;
	bool pending_is_read;
	// The NAK that is not answered yet.
	bool has_nak, is_rnr;
	uint32_t nak_repair; // index + 1; 0: not kept
	uint32_t nak_psn;
	enum flow_cause nak_cause;
	// A NAK whose PSN came by itself. The sender may repeat from there all the same.
	bool has_late_nak;
	uint32_t late_nak_psn, late_nak_repair;
	// The timer whose cause is not known yet.
	bool has_timer;
	uint32_t timer_repair; // index + 1; 0: not kept
	uint32_t timer_head, timer_acked;
	uint32_t timer_acks; // that cover all that was repeated
	// The message being acknowledged.
	int64_t message_ns; // when its first packet passed; -1: not seen
	uint64_t message_bytes;
	int64_t last_ce_ns;
};

struct stream_state {
	struct sequence requests, responses;
	uint32_t hash_next, pair_next; // index + 1
	uint32_t older, newer;	       // index + 1: by last packet
	uint32_t answers_for;	       // index + 1: the stream that its ACKs are about
};

struct flow {
	struct flow_report report;
	struct flow_config config;
	struct stream_state *states; // beside report.streams
	uint32_t *hash, hash_mask;   // by stream: index + 1
	uint32_t *pairs;	     // by both addresses: index + 1
	uint32_t oldest, newest;     // index + 1
	uint32_t free_stream;
	struct flow_psn *psns;
	uint32_t psns_used;
	struct flow_psn *free_rings[32]; // by log2 of their size
	int64_t last_ns;
	bool has_last;
};

// A step back to `psn`, by packet `number`.
struct repeat {
	uint64_t number;
	int64_t at_ns, silence_ns;
	uint32_t psn;
	bool is_read; // a READ request
};

// A data packet as the sequence sees it.
struct arrival {
	const struct flow_packet *packet;
	struct flow_stream *stream;
	struct sequence *sequence;
	uint32_t psn; // running number
	struct flow_psn *slot;
	bool is_late; // its identification says that it was overtaken
};

// ---------------------------------------------------------------- streams

// The stream of a packet, made if there is none.
struct flow_stream *stream_of(struct flow *flow, const struct flow_packet *packet);

// The stream that an answer is about: the other way between the two addresses, and its PSN is
// within what was seen. NULL: none.
struct flow_stream *stream_answered(struct flow *flow, struct flow_stream *by, uint32_t psn);

static inline struct stream_state *stream_state(struct flow *flow, const struct flow_stream *stream)
{
	return &flow->states[stream - flow->report.streams];
}

// ---------------------------------------------------------------- PSNs

// The slot of `psn`, cleared if it held another; grows the ring where the window wants it. NULL:
// it is too far back.
struct flow_psn *psn_slot(struct flow *flow, struct sequence *sequence, uint32_t psn);

// The slot if it is remembered, or NULL.
struct flow_psn *psn_find(const struct sequence *sequence, uint32_t psn);

// Gives the ring back.
void psn_release(struct flow *flow, struct sequence *sequence);

// ---------------------------------------------------------------- deciding

// A cause of `count` losses or events of a stream.
void blame(struct flow *flow, struct flow_stream *stream, enum flow_cause cause, int64_t count);

// A packet that stands out; of the first of `count` in a row.
void note(struct flow *flow, const struct flow_stream *stream, enum flow_note_kind kind,
	  uint64_t number, uint32_t psn, uint32_t count);

// A repair, to be filled in; NULL when no more are kept. *ret_index is its index + 1 or 0.
struct flow_repair *repair_add(struct flow *flow, const struct flow_stream *stream,
			       uint32_t *ret_index);
struct flow_repair *repair_at(struct flow *flow, uint32_t index);

// The cause of the timer that waited is known.
void repair_settle_timer(struct flow *flow, struct flow_stream *stream, enum flow_cause cause);

// Nothing more is said about it: one answer alone was to the repeat; none says nothing.
void repair_end_timer(struct flow *flow, struct flow_stream *stream);

// The sender has gone back.
void repeat_begin(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		  const struct repeat *repeat);

// The size of one message of a stream is known.
void message_size(struct flow_stream *stream, uint64_t bytes);

void sequence_begin(struct sequence *sequence, uint32_t psn, uint32_t head);

// A packet with a PSN of its own, of go-back-N (RC, UC).
void sequence_take(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   const struct flow_packet *packet);
// Decides about a packet that went back, at the next one or at the end.
void sequence_settle(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		     uint32_t next);
// PSNs [from, to) did not come, by a packet of `at_ns`. Returns how many of them are data.
uint32_t sequence_step_over(struct flow *flow, struct flow_stream *stream,
			    struct sequence *sequence, uint32_t from, uint32_t to, int64_t at_ns);
// A full packet of the QP had so many bytes of payload.
void sequence_take_mtu(struct sequence *sequence, uint32_t bytes);
void sequence_end(struct flow *flow, struct flow_stream *stream, struct sequence *sequence);

// An answer to the requests of `stream`.
void answer_ack(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet);
void answer_nak(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet,
		bool is_rnr);
// All below `psn` is acknowledged: messages end, what never passed here is counted.
void answer_advance(struct flow *flow, struct flow_stream *stream, uint32_t psn, int64_t at_ns);

void mrc_take(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet);
void mrc_end(struct flow *flow, struct flow_stream *stream);

void totals_take(struct flow *flow, const struct flow_packet *packet);
// A packet with a PSN of its own, which was seen before or not.
void totals_take_data(struct flow *flow, const struct flow_packet *packet, bool is_again);
