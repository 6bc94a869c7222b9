// SPDX-License-Identifier: Apache-2.0
// MRC in one direction: packets are sprayed over paths, so that holes and disorder between them are
// normal; what is sent again says so itself (RTX), and SACKs and NACKs say what came. So a packet
// that is sent again tells by what was seen of its PSN before why it is.

#include "rules.h"

#define WINDOW_MAX 65536

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

static void take_again(struct flow *flow, struct flow_stream *stream, struct flow_psn *slot,
		       const struct flow_packet *packet)
{
	enum flow_cause cause = cause_of(slot);
	stream->rtx++;
	blame(flow, stream, cause, 1);
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
	}
	slot->last_ns = packet->at_ns;
	slot->copies++;
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
		sequence_begin(sequence, record->psn + PSN_MASK + 1, record->psn + PSN_MASK + 1);
	uint32_t psn = psn_extend(sequence->head, record->psn);
	int32_t ahead = psn_distance(psn, sequence->head);
	if (ahead > WINDOW_MAX || ahead < -WINDOW_MAX) {
		flow->report.restarts++;
		message_settle(flow, stream, sequence);
		psn_release(flow, sequence);
		sequence_begin(sequence, psn, psn);
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

static void take_sack(struct flow *flow, struct flow_stream *by, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	by->sacks++;
	struct flow_stream *stream = stream_answered(flow, by, record->sack_psn);
	rules_take_sack(flow, by, stream, packet);
	if (stream == NULL)
		return;
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t acked = psn_extend(sequence->head, record->sack_psn);
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
