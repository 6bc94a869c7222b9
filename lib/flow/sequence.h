// SPDX-License-Identifier: Apache-2.0
// Private to the room: what decides, from packet to packet.
#pragma once

#include <string.h>

#include <weft/core/check.h>

#include "state.h"

#define DOUBLED_NS 30000 // so soon after the packet before no timer has run out

// ---------------------------------------------------------------- streams

// Steps of the hash that finds streams.
#define FNV_START UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static inline uint64_t stream_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * FNV_PRIME;
	return hash ^ hash >> 29;
}

// Where the list of streams between two addresses begins.
uint32_t stream_pair_slot(const struct flow *flow, const uint8_t source[16],
			  const uint8_t target[16], uint32_t place);

// The stream of a packet, made if there is none.
struct flow_stream *stream_of(struct flow *flow, const struct flow_packet *packet);

// stream_answers.c: the stream that an answer is about: the other way between the two addresses,
// and its PSN is within what was seen. NULL: none.
struct flow_stream *stream_answered(struct flow *flow, struct flow_stream *by, uint32_t psn);

// The same of a SACK: the EV of the packet that caused it tells, too.
struct flow_stream *stream_sacked(struct flow *flow, struct flow_stream *by,
				  const struct wire_record *record);

// The one that its answers were about before, if there is one; and whether no other stream goes
// that way between the two addresses.
struct flow_stream *stream_before(struct flow *flow, const struct flow_stream *by);
bool stream_is_sole(struct flow *flow, const struct flow_stream *stream,
		    const struct flow_stream *by);

// A repeat that nothing asked for, of a PSN that another stream between the two addresses was asked
// for and does not repeat: the answers of both were taken for one another's, which ends here. NULL:
// there is none; else the sequence that has the NAK.
struct sequence *stream_take_nak_beside(struct flow *flow, struct flow_stream *stream,
					uint32_t psn);

// MRC: whether the tap sees a part of its planes.
bool stream_is_partial(const struct flow_stream *stream);

// Nothing more comes of it: what waits is decided.
__attribute__((cold)) void stream_end(struct flow *flow, struct flow_stream *stream);

static inline struct stream_state *stream_state(struct flow *flow, const struct flow_stream *stream)
{
	return &flow->states[stream - flow->report.streams];
}

// ---------------------------------------------------------------- PSNs

// By operation, the low 5 bits of an opcode: whether it begins and ends a message or response, and
// what it is.
extern const uint16_t psn_flags[32];

// Makes the ring as large as the window wants it with `psn`, if the pool has one.
void psn_fit(struct flow *flow, struct sequence *sequence, uint32_t psn);

// The slot of `psn`, cleared if it held another; grows the ring where the window wants it. NULL:
// it is too far back.
static inline struct flow_psn *psn_slot(struct flow *flow, struct sequence *sequence, uint32_t psn)
{
	int64_t open = psn_distance(psn, sequence->acked) + INT64_C(1);
	bool fits = sequence->ring_size > 0 && 2 * open <= (int64_t)sequence->ring_size;
	if (!fits && psn_distance(psn, sequence->head) >= 0)
		psn_fit(flow, sequence, psn);
	uint32_t size = sequence->ring_size;
	bool is_far = psn_distance(sequence->head, psn) > (int32_t)size;
	if (size == 0 || is_far || psn_distance(psn, sequence->low) < 0)
		return NULL;
	struct flow_psn *slot = &sequence->ring[psn & (size - 1)];
	if (slot->psn != psn || slot->flags == 0) {
		sequence->unfilled += (slot->flags & PSN_MISSING) != 0;
		memset(slot, 0, sizeof(*slot));
		slot->psn = psn;
	}
	return slot;
}

// The slot if it is remembered, or NULL.
static inline struct flow_psn *psn_find(const struct sequence *sequence, uint32_t psn)
{
	if (sequence->ring_size == 0)
		return NULL;
	struct flow_psn *slot = &sequence->ring[psn & (sequence->ring_size - 1)];
	return slot->psn == psn && slot->flags != 0 ? slot : NULL;
}

// Gives the ring back.
__attribute__((cold)) void psn_release(struct flow *flow, struct sequence *sequence);

// An EV in fewer bits; never 0.
static inline uint16_t ev_mark(uint32_t ev)
{
	return (uint16_t)(ev * UINT32_C(0x9e3779b1) >> 16) | 1;
}

// ---------------------------------------------------------------- deciding

// A cause of `count` losses or events of a stream.
__attribute__((cold)) void blame(struct flow *flow, struct flow_stream *stream,
				 enum flow_cause cause, int64_t count);

// A packet that stands out; of the first of `count` in a row.
__attribute__((cold)) void note(struct flow *flow, const struct flow_stream *stream,
				enum flow_note_kind kind, uint64_t number, uint32_t psn,
				uint32_t count);

// A repair, to be filled in; NULL when no more are kept. *ret_index is its index + 1 or 0.
__attribute__((cold)) struct flow_repair *
repair_add(struct flow *flow, const struct flow_stream *stream, uint32_t *ret_index);
struct flow_repair *repair_at(struct flow *flow, uint32_t index);

// The cause of the timer that waited is known.
void repair_settle_timer(struct flow *flow, struct flow_stream *stream, enum flow_cause cause);

// Nothing more is said about it: one answer alone was to the repeat; none says nothing.
void repair_end_timer(struct flow *flow, struct flow_stream *stream);
// The NAK was answered otherwise, by packet `number` if that may be a copy: its repeat may still
// come.
void repair_keep_nak(struct sequence *sequence, uint64_t number);
// Whether the repeat of a NAK that was answered otherwise is still to come, and may begin at `psn`.
bool repair_waits_for(const struct sequence *sequence, uint32_t psn);

// Flags of what a receiver at the tap wants, if it misses that and a repeat from `psn` brings it;
// else 0.
uint16_t sequence_wanted(const struct sequence *sequence, uint32_t psn);

// The sender has gone back.
void repeat_begin(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		  const struct repeat *repeat);

// ---------------------------------------------------------------- messages

// The size of one message of a stream is known.
void message_size(struct flow_stream *stream, uint64_t bytes);

// All packets of the message up to `psn` are acknowledged.
void message_end(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		 uint32_t psn, int64_t at_ns);

// MRC: an ACK says that the messages up to `psn` are done.
void message_ack(struct flow *flow, struct flow_stream *stream, uint32_t psn, int64_t at_ns);

// No ACK comes any more. Where some came, what waits for one is not done.
__attribute__((cold)) void message_settle(struct flow *flow, struct flow_stream *stream,
					  struct sequence *sequence);

// ---------------------------------------------------------------- holes

// PSNs [from, to) did not come, by a packet of `at_ns`. Returns how many of them are data.
uint32_t hole_make(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   uint32_t from, uint32_t to, int64_t at_ns);

// Packet `number` has `psn`, above the next one.
void hole_jump(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
	       uint64_t number, uint32_t psn, int64_t at_ns);

// A repeat fills it, if it is one: what had been there was lost.
void hole_fill(struct flow *flow, struct flow_stream *stream, struct flow_psn *slot);

// A packet that was overtaken fills it, or comes after its repeat. False: it is none.
bool hole_fill_late(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		    struct flow_psn *slot);

// `psn` was not lost, or may not have been: `cause` was it if a NAK asks for it.
void hole_tell_repair(struct flow *flow, const struct sequence *sequence, uint32_t psn,
		      enum flow_cause cause);

// A packet was overtaken.
void hole_count_late(struct flow *flow, struct flow_stream *stream);
// Packet `number` is a copy that the network made.
void count_doubled(struct flow *flow, struct flow_stream *stream, uint64_t number, uint32_t psn);

// ---------------------------------------------------------------- a stream

__attribute__((cold)) void sequence_begin(const struct flow *flow, struct sequence *sequence,
					  uint32_t psn, uint32_t head);

// A packet with a PSN of its own, of go-back-N (RC, UC).
void sequence_take(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   const struct flow_packet *packet);
// Notes a copy in the slot of its PSN.
void psn_keep(struct flow_psn *slot, const struct flow_packet *packet);
// Whether the packet waits for the next one. False: what waited is decided.
bool sequence_waits(struct flow *flow, struct arrival *arrival);
// Decides about a packet that jumped ahead of a repeat: the next one has PSN `next`.
void sequence_settle_leap(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			  uint32_t next);
// Decides about a packet that went back, at the next one or at the end.
void sequence_settle(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		     uint32_t next);
// At an answer: what went back after a silence is a repeat; else the next packet decides.
void sequence_settle_by_answer(struct flow *flow, struct flow_stream *stream,
			       struct sequence *sequence);
// A late packet ahead of its turn came too early for the receiver, which may ask for what it wanted
// then: what comes next, or what a repeat has not come to.
static inline void sequence_expect_nak(struct sequence *sequence, int64_t at_ns)
{
	struct flow_psn *before = psn_find(sequence, sequence->next - 1),
			*newest = psn_find(sequence, sequence->expected - 1);
	sequence->late_ns = at_ns;
	if (before != NULL)
		before->flags |= PSN_WAS_LATE;
	if (newest != NULL && psn_distance(sequence->expected, sequence->next) > 0)
		newest->flags |= PSN_WAS_LATE;
}
// Whether no answer comes so soon behind its packet, as far as stamps can tell.
static inline bool sequence_is_soon(const struct sequence *sequence, int64_t lag_ns)
{
	return sequence->answer_ns <= 0 || lag_ns < sequence->answer_ns;
}
// Whether it is not decided yet what the last packet of `psn` was.
bool sequence_is_open(const struct sequence *sequence, uint32_t psn);
// A packet of the QP had so many bytes of payload; a full one has as many as its MTU.
void sequence_take_mtu(struct sequence *sequence, uint32_t bytes);
void sequence_end(struct flow *flow, struct flow_stream *stream, struct sequence *sequence);

// An answer to the requests of `stream`.
void answer_ack(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet);
void answer_nak(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet,
		bool is_rnr);
// What the last NAK wants was lost or overtaken, and nobody can know: a repeat that another NAK
// asked for brings it before a late one could be told, say.
void answer_doubt(struct flow *flow, struct flow_stream *stream, struct sequence *sequence);
// All below `psn` is acknowledged: messages end, what never passed here is counted.
void answer_advance(struct flow *flow, struct flow_stream *stream, uint32_t psn, int64_t at_ns);

// The first packet of a response: PSNs between it and the response before may belong to requests
// of other kinds, which are answered by ACKs.
bool packet_begins_response(const struct flow_packet *packet);
bool packet_is_read(const struct flow_packet *packet);

void mrc_take(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet);
void mrc_end(struct flow *flow, struct flow_stream *stream);

// Where its EV or source port is counted.
const struct flow_ev *totals_ev(const struct flow_totals *totals, uint32_t ev);
void totals_take(struct flow *flow, const struct flow_packet *packet);
// A packet with a PSN of its own, which was seen before or not.
void totals_take_data(struct flow *flow, const struct flow_packet *packet, bool is_again);
// What it is counted in: packets of its DSCP and of its VLAN tag's priority, if it has one.
struct flow_class *totals_class(struct flow *flow, const struct wire_record *record);
// Nothing more comes: those classes become those of a DSCP and of a priority.
void totals_end(struct flow *flow);
