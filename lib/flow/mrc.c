// SPDX-License-Identifier: Apache-2.0
// MRC in one direction: packets are sprayed over paths, so that holes and disorder between them are
// normal; what is sent again says so itself (RTX), and SACKs and NACKs say what came. So a packet
// that is sent again tells by what was seen of its PSN before why it is.

#include "rules.h"

#define WINDOW_MAX 65536
#define SEVERAL 4u // repeats that no SACK tells of at once

static void note_missing(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			 uint32_t to)
{
	for (uint32_t psn = sequence->head; psn != to; psn++) {
		struct flow_psn *slot = psn_slot(flow, sequence, psn);
		stream->holes++;
		if (slot != NULL)
			slot->flags |= PSN_MISSING;
	}
}

// Why a PSN that comes with RTX was sent again.
static enum flow_cause cause_of(const struct flow_psn *slot)
{
	if (slot->flags & PSN_ACKED)
		return FLOW_TIMEOUT;
	if (slot->flags & PSN_TRIMMED)
		return FLOW_TRIM_BEFORE;
	if (slot->flags & PSN_NACKED)
		return FLOW_TRIM_BEHIND;
	if (!(slot->flags & PSN_SEEN))
		return FLOW_LOSS_BEFORE;
	return slot->flags & PSN_BAD ? FLOW_CORRUPT_BEFORE : FLOW_LOSS_BEHIND;
}

__attribute__((cold, noinline)) static void take_again(struct flow *flow,
						       struct flow_stream *stream,
						       struct flow_psn *slot,
						       const struct flow_packet *packet)
{
	enum flow_cause cause = cause_of(slot);
	stream->rtx++;
	blame(flow, stream, cause, 1);
	if (cause == FLOW_LOSS_BEHIND) {
		slot->copies++;
		stream_state(flow, stream)->requests.repeats_open++;
	}
	bool is_trim = cause == FLOW_TRIM_BEFORE || cause == FLOW_TRIM_BEHIND;
	if (is_trim && slot->last_ns != 0)
		flow_lag(&flow->report.trim_to_rtx, packet->at_ns - slot->last_ns);
	uint32_t index;
	struct flow_repair *repair = repair_add(flow, stream, &index);
	if (repair == NULL)
		return;
	repair->cause = (uint8_t)cause;
	repair->is_settled = true;
	repair->is_timer = !(slot->flags & PSN_NACKED);
	repair->psn = slot->psn & PSN_MASK;
	repair->number = slot->first_number;
	repair->repeat = packet->number;
	repair->at_ns = packet->at_ns;
	repair->repeat_ns = slot->last_ns != 0 ? packet->at_ns - slot->last_ns : -1;
	slot->flags &= (uint16_t) ~(PSN_TRIMMED | PSN_NACKED | PSN_BAD);
}

static void keep(struct flow_psn *slot, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	uint8_t operation = record->opcode & 31;
	bool begins = operation == 0x06 || operation == 0x0a || operation == 0x0b;
	bool ends = operation >= 0x08 && operation <= 0x0b;
	if (!(slot->flags & PSN_SEEN)) {
		slot->first_ns = packet->at_ns;
		slot->first_number = packet->number;
		slot->id_last = ev_mark(record->ev);
	} else if (slot->id_last == ev_mark(record->ev)) {
		slot->id_last = 0;
	}
	slot->last_ns = packet->at_ns;
	if (!record->is_trimmed)
		slot->bytes = record->payload_bytes;
	slot->flags &= (uint16_t)~PSN_MISSING;
	slot->id_first = (uint16_t)record->msn;
	slot->flags |= (uint16_t)(PSN_SEEN | (begins ? PSN_BEGINS : 0) | (ends ? PSN_ENDS : 0) |
				  (record->is_trimmed ? PSN_TRIMMED : 0) |
				  (record->icrc == WIRE_ICRC_BAD ? PSN_BAD : 0));
}

static void take_data(struct flow *flow, struct flow_stream *stream,
		      const struct flow_packet *packet)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	const struct wire_record *record = packet->record;
	if (!sequence->has_begun) // packets before the first one may come after it
		sequence_begin(flow, sequence, record->psn + PSN_MASK + 1,
			       record->psn + PSN_MASK + 1);
	uint32_t psn = psn_extend(sequence->head, record->psn);
	int32_t ahead = psn_distance(psn, sequence->head);
	if (ahead > WINDOW_MAX || ahead < -WINDOW_MAX) {
		flow->report.restarts++;
		message_settle(flow, stream, sequence);
		psn_release(flow, sequence);
		sequence_begin(flow, sequence, psn, psn);
		ahead = 0;
	}
	// What was sent first may come later: trimmed packets overtake it.
	if (stream->acked_psns == 0 && psn_distance(psn, sequence->acked) < 0)
		sequence->acked = sequence->low = psn;
	if (ahead > 0)
		note_missing(flow, stream, sequence, psn);
	struct flow_psn *slot = psn_slot(flow, sequence, psn);
	stream->data++;
	stream->data_bytes += record->payload_bytes;
	stream->trims += record->is_trimmed;
	if (record->is_trimmed)
		note(flow, stream, FLOW_NOTE_TRIMMED, packet->number, psn, 1);
	if (ahead >= 0)
		sequence->head = psn + 1;
	bool begins = record->opcode == PACKET_WRITE_FIRST || record->opcode == PACKET_WRITE_ONLY ||
		record->opcode == PACKET_WRITE_ONLY_IMM;
	if (slot == NULL) {
		flow->report.forgotten++;
		return;
	}
	bool was_seen = slot->flags & PSN_SEEN;
	if (begins && !was_seen) {
		stream->begun++;
		if (record->layers & WIRE_LAYER_RETH)
			message_size(stream, record->message_bytes);
	}
	rules_take_ev(flow, record->ev);
	if (!was_seen)
		rules_take_data(flow, stream, sequence, slot, packet);
	totals_take_data(flow, packet, was_seen);
	stream->again += was_seen;
	stream->again_bytes += was_seen ? record->payload_bytes : 0;
	if (record->is_rtx && !record->is_trimmed) {
		take_again(flow, stream, slot, packet);
	} else if (was_seen && !record->is_rtx && !record->is_trimmed &&
		   !(slot->flags & PSN_TRIMMED)) {
		stream->doubled++;
		note(flow, stream, FLOW_NOTE_DOUBLED, packet->number, psn, 1);
		blame(flow, stream, FLOW_DUPLICATE, 1);
	}
	if (ahead < 0 && slot->flags & PSN_MISSING && !record->is_rtx) {
		stream->late++;
		if ((uint64_t)-ahead > stream->late_distance_max)
			stream->late_distance_max = (uint64_t)-ahead;
	}
	keep(slot, packet);
}

// ---------------------------------------------------------------- answers

// The packet that caused a SACK, as it passed here.
struct cause {
	bool is_known, is_first; // the first copy of its PSN, or the last
	int64_t at_ns;
};

// By the EV that is reflected. Where a repeat had the first copy's, too: a SACK of several is none
// for repeats, each of which is answered by one of its own.
static struct cause sack_cause(const struct sequence *sequence, const struct wire_record *record,
			       uint32_t acked, uint32_t repeats)
{
	const struct flow_psn *slot = psn_find(sequence,
					       acked + (uint32_t)(int32_t)record->sack_trigger);
	struct cause cause = {.is_known = !record->is_probe && slot != NULL &&
				      slot->flags & PSN_SEEN};
	if (!cause.is_known)
		return cause;
	cause.is_first = slot->id_last == ev_mark(record->ev) ||
		(slot->id_last == 0 && repeats >= SEVERAL);
	cause.at_ns = cause.is_first ? slot->first_ns : slot->last_ns;
	return cause;
}

static void tell_needless(struct flow *flow, struct flow_stream *stream,
			  const struct flow_psn *slot)
{
	uint32_t index = (uint32_t)(stream - flow->report.streams), left = slot->copies;
	blame(flow, stream, FLOW_LOSS_BEHIND, -(int64_t)left);
	blame(flow, stream, FLOW_TIMEOUT, left);
	for (uint32_t i = flow->report.repair_count; i > 0 && left > 0; i--) {
		struct flow_repair *repair = &flow->report.repairs[i - 1];
		bool is_its = repair->stream == index && repair->psn == (slot->psn & PSN_MASK) &&
			repair->cause == FLOW_LOSS_BEHIND;
		repair->cause = is_its ? FLOW_TIMEOUT : repair->cause;
		left -= is_its;
	}
}

// Whether the receiver had the PSN before its repeat: what caused the first SACK that has it passed
// nearer to the first copy than to the repeat. Where stamps tell neither it was a first copy.
static bool had_come(const struct flow_psn *slot, const struct cause *cause)
{
	int64_t behind_ns = cause->at_ns - slot->first_ns;
	int64_t ahead_ns = slot->last_ns - cause->at_ns;
	return cause->is_known && !(slot->flags & PSN_ACKED) &&
		(behind_ns < ahead_ns || (behind_ns == ahead_ns && cause->is_first));
}

// A PSN that passed twice, and that a SACK has.
static void settle_again(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			 struct flow_psn *slot, const struct cause *cause, int64_t at_ns)
{
	if (had_come(slot, cause)) {
		int64_t silence_ns = sequence->sacked_ns > 0 ? at_ns - sequence->sacked_ns : 0;
		if (silence_ns > flow->report.silence_ns)
			flow->report.silence_ns = silence_ns;
		tell_needless(flow, stream, slot);
	}
	sequence->repeats_open -= slot->copies;
	slot->copies = 0;
}

// The cumulative PSNs that are news, and then the 64 of the bitmap: number `i` of them, if the SACK
// has it and it waits for one; else NULL.
static struct flow_psn *open_repeat(const struct sequence *sequence,
				    const struct wire_record *record, uint32_t acked, uint32_t news,
				    uint32_t i)
{
	uint32_t bit = i - news, psn = sequence->acked + i;
	if (i >= news && !(record->sack_bitmap >> bit & 1))
		return NULL;
	if (i >= news)
		psn = acked + (uint32_t)(int32_t)record->sack_offset + bit;
	struct flow_psn *slot = psn_find(sequence, psn);
	return slot != NULL && slot->copies > 0 ? slot : NULL;
}

__attribute__((cold, noinline)) static void settle_sacked(struct flow *flow,
							  struct flow_stream *stream,
							  struct sequence *sequence, uint32_t acked,
							  const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	int32_t ahead = psn_distance(acked + 1, sequence->acked);
	uint32_t news = ahead > 0 ? (uint32_t)ahead : 0, repeats = 0;
	struct flow_psn *slot;
	for (uint32_t i = 0; i < news + 64; i++)
		if ((slot = open_repeat(sequence, record, acked, news, i)) != NULL)
			repeats += !(slot->flags & PSN_ACKED);
	struct cause cause = sack_cause(sequence, record, acked, repeats);
	for (uint32_t i = 0; i < news + 64; i++)
		if ((slot = open_repeat(sequence, record, acked, news, i)) != NULL)
			settle_again(flow, stream, sequence, slot, &cause, packet->at_ns);
}

static void take_sack(struct flow *flow, struct flow_stream *by, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	by->sacks++;
	struct flow_stream *stream = stream_sacked(flow, by, record);
	rules_take_sack(flow, by, stream, packet);
	if (stream == NULL)
		return;
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t acked = psn_extend(sequence->head, record->sack_psn);
	if (sequence->repeats_open > 0)
		settle_sacked(flow, stream, sequence, acked, packet);
	sequence->sacked_ns = packet->at_ns;
	answer_advance(flow, stream, acked + 1, packet->at_ns);
	uint32_t first = acked + (uint32_t)(int32_t)record->sack_offset;
	for (uint64_t bits = record->sack_bitmap; bits != 0; bits &= bits - 1) {
		uint32_t psn = first + (uint32_t)__builtin_ctzll(bits);
		struct flow_psn *slot = psn_find(sequence, psn);
		if (slot != NULL && slot->flags & PSN_SEEN)
			slot->flags |= PSN_ACKED;
	}
}

static void take_nack(struct flow *flow, struct flow_stream *by, const struct flow_packet *packet)
{
	by->nacks++;
	struct flow_stream *stream = stream_answered(flow, by, packet->record->sack_psn);
	rules_take_sack(flow, by, stream, packet);
	if (stream == NULL)
		return;
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	struct flow_psn *slot = psn_find(sequence,
					 psn_extend(sequence->head, packet->record->sack_psn));
	bool is_trim = packet->record->reason == PACKET_NACK_TRIMMED ||
		packet->record->reason == PACKET_NACK_TRIMMED_LAST;
	if (slot != NULL && is_trim)
		slot->flags |= PSN_NACKED;
}

// A message is done, and so its packets came.
static void take_ack(struct flow *flow, struct flow_stream *by, const struct flow_packet *packet)
{
	by->acks++;
	struct flow_stream *stream = stream_answered(flow, by, packet->record->psn);
	if (packet->record->layers & WIRE_LAYER_AETH)
		rules_take_answer(flow, by, stream, packet);
	if (stream == NULL || packet->record->syndrome >> 5 != 0 ||
	    !(packet->record->layers & WIRE_LAYER_AETH))
		return;
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t psn = psn_extend(sequence->head, packet->record->psn);
	answer_advance(flow, stream, psn + 1, packet->at_ns);
	message_ack(flow, stream, psn, packet->at_ns);
}

void mrc_take(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet)
{
	uint8_t opcode = packet->record->opcode;
	if (opcode >= PACKET_WRITE_FIRST && opcode <= PACKET_WRITE_ONLY_IMM)
		take_data(flow, stream, packet);
	else if (packet->record->icrc == WIRE_ICRC_BAD)
		return; // an answer that whoever gets it drops
	else if (opcode == PACKET_SACK)
		take_sack(flow, stream, packet);
	else if (opcode == PACKET_NACK)
		take_nack(flow, stream, packet);
	else if (opcode == PACKET_ACK)
		take_ack(flow, stream, packet);
	else if (opcode == PACKET_PROBE)
		rules_take_ev(flow, packet->record->ev);
}
