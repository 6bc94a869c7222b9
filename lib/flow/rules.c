// SPDX-License-Identifier: Apache-2.0
// What the protocols forbid, packet by packet, and only what no loss, repeat, copy or overtaking on
// the way can make of packets that were sent well. Damaged packets break nothing.

#include "rules.h"

#include <weft/wire/wire_dissect.h>

#define REACH 65536   // PSNs: farther on it is another connection
#define OPEN_TIMES 4  // so many times what a sender had ever open
#define OPEN_MIN 1024 // PSNs
#define LENGTH_MAX 0x80000000u
#define PACKET_FULL_MAX 4096u
#define ID_STEP_MAX 4096 // as in sequence.c
#define ID_STEPS_MIN 8
#define LINE_LOG 9 // bits of a line of the cache, as a power of two

#define IBTA "InfiniBand specification, "
#define MRC "MRC 1.0, "

// A row for each rule. Where no clause is named the chapter is, as Linux's rxe carries it out.
static const struct {
	const char *name, *words, *source;
} rules[FLOW_RULE_COUNT] = {
	[FLOW_RULE_ACK_UNSENT] = {"ack_of_unsent", "acknowledges a PSN that had not passed here",
				  IBTA "9.7 (acknowledgements); or the capture missed it"},
	[FLOW_RULE_ACK_BACK] = {"ack_going_back", "an ACK later than another, of an earlier PSN",
				IBTA "C9-105: duplicates are acknowledged with the newest PSN"},
	[FLOW_RULE_MSN_BACK] = {"msn_going_back", "an ACK of a later PSN with an earlier MSN",
				IBTA "9.7 (AETH): the MSN counts messages that are done"},
	[FLOW_RULE_NAK_TWICE] = {"nak_twice", "a second NAK for a PSN that has not come since",
				 IBTA "9.7: one NAK until the gap closes"},
	[FLOW_RULE_NAK_IGNORED] = {"goes_on_past_nak",
				   "new data far past a NAK whose PSN is not retransmitted",
				   IBTA "9.7: a requester goes back to the PSN of a NAK"},
	[FLOW_RULE_RESPONSE_UNASKED] = {"response_unasked",
					"a response to what was neither a READ nor an atomic",
					IBTA "9.7: a response has the PSN of its request"},
	[FLOW_RULE_PSN_JUMP] = {"psn_jump", "the PSN jumps out of any window amid a message",
				IBTA "9.7: PSNs count on by one"},
	[FLOW_RULE_LENGTH] = {"length_of_message",
			      "payloads of a WRITE are not the length in its RETH",
			      IBTA "C9-92 and 9.7; " MRC "RETH"},
	[FLOW_RULE_LENGTH_MAX] = {"length_above_2gib", "the length in a RETH is above 2^31",
				  IBTA "C9-94"},
	[FLOW_RULE_NO_LAST] = {"first_without_last",
			       "a message begins before the last packet of the one before",
			       IBTA "9.7 (order of opcodes); " MRC "opcodes"},
	[FLOW_RULE_NO_FIRST] = {"middle_without_first",
				"a middle or last packet behind the end of a message",
				IBTA "9.7 (order of opcodes); " MRC "opcodes"},
	[FLOW_RULE_OPCODE_ORDER] = {"opcode_order", "SEND and WRITE in one message",
				    IBTA "9.7 (order of opcodes)"},
	[FLOW_RULE_PACKET_SIZE] = {"size_of_packet",
				   "a first or middle packet that is not full, a last one that is "
				   "empty or more than full, or payload where none may be",
				   IBTA "C9-92"},
	[FLOW_RULE_PADDING] = {"padding",
			       "payload and padding are not a multiple of 4, or a first or middle "
			       "packet is padded",
			       IBTA "9.2 (BTH, PadCnt)"},
	[FLOW_RULE_TRANSPORT] = {"transport_of_qp",
				 "an opcode of another transport than the QP's, or QP 0 and 1 "
				 "without UD",
				 IBTA "9.2 (BTH, OpCode)"},
	[FLOW_RULE_OPCODE] = {"opcode_reserved", "an opcode that is reserved",
			      IBTA "9.2 (BTH, OpCode); " MRC "opcodes"},
	[FLOW_RULE_VERSION] = {"version_of_bth", "a version of the BTH that is not 0",
			       IBTA "9.2 (BTH, TVer)"},
	[FLOW_RULE_SYNDROME] = {"syndrome_reserved", "an AETH whose syndrome is reserved",
				IBTA "9.7 (AETH)"},
	[FLOW_RULE_SACK_UNSENT] = {"sack_outside",
				   "a SACK's bitmap has PSNs that had not passed here",
				   MRC "SETH (reference: WIRE-A to C); or the capture missed them"},
	[FLOW_RULE_EV_UNSENT] = {"ev_unknown", "a SACK or NACK reflects an EV that no packet had",
				 MRC "SETH, NETH: the EV of the packet that caused it"},
	[FLOW_RULE_NACK_REASON] = {"nack_reason", "a NACK whose reason has no name",
				   MRC "table 7-3"},
	[FLOW_RULE_MSN_STEP] = {"msn_of_packets",
				"packets of one message with two MSNs, or the next message with no "
				"next MSN",
				MRC "METH: the MSN advances per request"},
};

const char *flow_rule_name(enum flow_rule rule)
{
	return rules[rule].name;
}

const char *flow_rule_words(enum flow_rule rule)
{
	return rules[rule].words;
}

const char *flow_rule_source(enum flow_rule rule)
{
	return rules[rule].source;
}

static void add(struct flow *flow, uint32_t stream, enum flow_rule rule, uint64_t count,
		uint64_t number)
{
	struct flow_broken *broken = &flow->report.broken[rule];
	if (count > 0 && (broken->count == 0 || number < broken->first)) {
		broken->first = number;
		broken->stream = stream;
	}
	broken->count += count;
}

void rules_broken(struct flow *flow, const struct flow_stream *stream, enum flow_rule rule,
		  uint64_t number)
{
	add(flow, (uint32_t)(stream - flow->report.streams), rule, 1, number);
}

// ---------------------------------------------------------------- any packet

void rules_take_odd(struct flow *flow, const struct flow_stream *stream,
		    const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	bool is_mrc = record->found == WIRE_FOUND_MRC;
	bool is_udp = is_mrc || record->found == WIRE_FOUND_ROCE; // elsewhere more may lie behind
	uint8_t transport = record->opcode >> 5;
	if (record->stopped == WIRE_UNKNOWN_OPCODE)
		rules_broken(flow, stream, FLOW_RULE_OPCODE, packet->number);
	if (record->stopped == WIRE_BAD_VERSION)
		rules_broken(flow, stream, FLOW_RULE_VERSION, packet->number);
	bool is_other = stream_state(flow, stream)->has_transport && transport != stream->transport;
	bool is_management = record->qpn < 2 && transport != 3;
	if (!is_mrc && record->opcode != RC_CNP && (is_other || is_management))
		rules_broken(flow, stream, FLOW_RULE_TRANSPORT, packet->number);
	uint32_t behind = record->payload_bytes + record->pad_bytes;
	if (is_udp && record->payload_bytes > 0 && behind % 4 != 0)
		rules_broken(flow, stream, FLOW_RULE_PADDING, packet->number);
}

// ---------------------------------------------------------------- requests

// Two packets, one PSN apart: how the first one ends, the second one begins, what they are.
static void compare(struct flow *flow, const struct flow_stream *stream, uint16_t before,
		    uint16_t behind, uint64_t number)
{
	bool ends = before & PSN_ENDS, begins = behind & PSN_BEGINS;
	bool is_other = (before ^ behind) & PSN_SENDS;
	if (!ends && begins)
		rules_broken(flow, stream, FLOW_RULE_NO_LAST, number);
	else if (ends && !begins)
		rules_broken(flow, stream, FLOW_RULE_NO_FIRST, number);
	else if (!ends && is_other)
		rules_broken(flow, stream, FLOW_RULE_OPCODE_ORDER, number);
}

static void compare_msn(struct flow *flow, const struct flow_stream *stream, uint16_t before,
			uint16_t behind, bool begins, uint64_t number)
{
	if ((uint16_t)(behind - before) != begins)
		rules_broken(flow, stream, FLOW_RULE_MSN_STEP, number);
}

static bool is_sound(const struct flow_psn *slot)
{
	return slot != NULL && slot->flags & PSN_SEEN && !(slot->flags & (PSN_BAD | PSN_UNREAD));
}

static void compare_neighbours(struct flow *flow, const struct flow_stream *stream,
			       const struct sequence *sequence, uint32_t psn, uint16_t flags,
			       const struct flow_packet *packet)
{
	const struct flow_psn *before = psn_find(sequence, psn - 1);
	bool is_late = psn_distance(psn, sequence->head) < 0;
	const struct flow_psn *behind = is_late ? psn_find(sequence, psn + 1) : NULL;
	bool is_mrc = stream->found == WIRE_FOUND_MRC;
	uint16_t msn = (uint16_t)packet->record->msn;
	if (is_sound(before)) {
		compare(flow, stream, before->flags, flags, packet->number);
		if (is_mrc)
			compare_msn(flow, stream, before->id_first, msn, flags & PSN_BEGINS,
				    packet->number);
	}
	if (is_sound(behind)) {
		compare(flow, stream, flags, behind->flags, packet->number);
		if (is_mrc)
			compare_msn(flow, stream, msn, behind->id_first, behind->flags & PSN_BEGINS,
				    packet->number);
	}
}

static bool has_wrong_size(struct sequence *sequence, const struct wire_record *record,
			   uint16_t flags)
{
	uint32_t bytes = record->payload_bytes;
	bool is_read = flags & PSN_READS, is_last = !(flags & PSN_BEGINS);
	if (is_read)
		return bytes > 0;
	if (!(flags & PSN_ENDS)) {
		sequence->full_bytes = sequence->full_bytes == 0 ? bytes : sequence->full_bytes;
		return bytes != sequence->full_bytes || bytes == 0;
	}
	return (is_last && bytes == 0) ||
		(sequence->full_bytes > 0 && bytes > sequence->full_bytes);
}

// All packets of a WRITE are here in good order, and are not as long together as it says.
static bool has_wrong_length(const struct sequence *sequence, const struct wire_record *record,
			     uint32_t psn, uint16_t flags, bool is_mrc)
{
	uint64_t bytes = record->payload_bytes;
	bool is_write = !(flags & (PSN_SENDS | PSN_READS)) && flags & PSN_ENDS;
	bool has_reth = record->layers & WIRE_LAYER_RETH;
	if (!is_write || (is_mrc && !has_reth))
		return false;
	if (flags & PSN_BEGINS)
		return has_reth && bytes != record->message_bytes;
	const struct flow_psn *slot;
	do {
		slot = psn_find(sequence, --psn);
		if (!is_sound(slot) || slot->flags & (PSN_ENDS | PSN_TRIMMED))
			return false;
		bytes += slot->bytes;
	} while (!(slot->flags & PSN_BEGINS));
	if (is_mrc)
		return bytes != record->message_bytes;
	return sequence->has_first && sequence->first_psn == psn && bytes != sequence->first_bytes;
}

static void take_open(struct flow *flow, const struct flow_stream *stream,
		      struct sequence *sequence, uint32_t psn, uint64_t number)
{
	if (!sequence->has_nak) {
		int32_t open = psn_distance(psn, sequence->acked);
		sequence->open_most = open > sequence->open_most ? open : sequence->open_most;
		return;
	}
	int64_t most = OPEN_TIMES * (int64_t)sequence->open_most;
	most = most > OPEN_MIN ? most : OPEN_MIN;
	if (sequence->is_rnr || sequence->is_nak_ignored ||
	    psn_distance(psn, sequence->nak_psn) <= most)
		return;
	sequence->is_nak_ignored = true;
	rules_broken(flow, stream, FLOW_RULE_NAK_IGNORED, number);
}

void rules_take_data(struct flow *flow, const struct flow_stream *stream, struct sequence *sequence,
		     const struct flow_psn *slot, const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	bool is_mrc = stream->found == WIRE_FOUND_MRC;
	if (slot == NULL || record->icrc == WIRE_ICRC_BAD || record->is_trimmed ||
	    record->stopped == WIRE_UNKNOWN_OPCODE)
		return;
	uint16_t flags = psn_flags[record->opcode & 31];
	uint32_t psn = slot->psn;
	bool has_payload = record->layers & WIRE_LAYER_EXTENSIONS || !is_mrc;
	compare_neighbours(flow, stream, sequence, psn, flags, packet);
	if (has_payload && has_wrong_size(sequence, record, flags))
		rules_broken(flow, stream, FLOW_RULE_PACKET_SIZE, packet->number);
	if (!(flags & PSN_ENDS) && record->pad_bytes > 0)
		rules_broken(flow, stream, FLOW_RULE_PADDING, packet->number);
	if (has_payload && has_wrong_length(sequence, record, psn, flags, is_mrc))
		rules_broken(flow, stream, FLOW_RULE_LENGTH, packet->number);
	if (!is_mrc && record->layers & WIRE_LAYER_RETH) {
		if (record->message_bytes > LENGTH_MAX)
			rules_broken(flow, stream, FLOW_RULE_LENGTH_MAX, packet->number);
		sequence->has_first = true;
		sequence->first_psn = psn;
		sequence->first_bytes = record->message_bytes;
	}
	take_open(flow, stream, sequence, psn, packet->number);
}

// ---------------------------------------------------------------- answers

// One that looks like an answer to what passes another way.
static void wait(struct flow *flow, struct flow_stream *stream, enum flow_waiting kind,
		 uint64_t number)
{
	struct stream_state *state = stream_state(flow, stream);
	if (state->waiting[kind].count++ == 0)
		state->waiting[kind].first = number;
}

// An answer that fits no stream: of the one that it was about before, PSNs that had not passed.
static void take_unsent(struct flow *flow, const struct flow_stream *by,
			const struct flow_packet *packet, uint32_t psn_word)
{
	struct flow_stream *stream = stream_before(flow, by);
	if (stream == NULL)
		return;
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	int32_t ahead = psn_distance(psn_extend(sequence->head, psn_word), sequence->head);
	if (ahead > 0 && ahead <= REACH)
		wait(flow, stream, FLOW_WAITING_ACK, packet->number);
}

static bool is_unsent(struct flow *flow, const struct flow_stream *by,
		      const struct flow_stream *stream, uint32_t psn_word)
{
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	bool is_head = psn_extend(sequence->head, psn_word) == sequence->head;
	return is_head && psn_distance(sequence->read_end, sequence->head) <= 0 &&
		stream_is_sole(flow, stream, by);
}

// Identifications of ACKs that count up tell which of two left first.
static bool is_later(struct stream_state *state, const struct wire_record *record)
{
	if (!(record->layers & WIRE_LAYER_IPV4))
		return false;
	int16_t step = (int16_t)(uint16_t)(record->identification - state->ack_id);
	bool is_step = state->has_ack && step > 0 && step <= ID_STEP_MAX;
	state->ack_steps += is_step;
	state->ack_jumps += state->has_ack && (step > ID_STEP_MAX || step < -ID_STEP_MAX);
	if (!state->has_ack || step > 0)
		state->ack_id = record->identification;
	return is_step && state->ack_steps >= ID_STEPS_MIN &&
		state->ack_steps > 4 * state->ack_jumps;
}

// ACKs of one QP: a later PSN never has an earlier MSN, whichever overtook the other.
static void take_order(struct flow *flow, const struct flow_stream *by, struct flow_stream *stream,
		       const struct flow_packet *packet, bool is_nak)
{
	struct stream_state *state = stream_state(flow, by);
	const struct wire_record *record = packet->record;
	bool is_later_one = by->found != WIRE_FOUND_MRC && is_later(state, record);
	uint32_t psn = psn_extend(state->ack_psn, record->psn) - is_nak;
	int32_t ahead = psn_distance(psn, state->ack_psn);
	int32_t msn = psn_distance(psn_extend(state->ack_msn, record->msn), state->ack_msn);
	bool is_begin = !state->has_ack || ahead > REACH || ahead < -REACH;
	if (is_begin) {
		state->has_ack = true;
		state->ack_id = record->identification;
		state->ack_psn = record->psn + PSN_MASK + 1 - is_nak;
		state->ack_msn = record->msn + PSN_MASK + 1;
		return;
	}
	const struct sequence *sequence = stream == NULL ? NULL
							 : &stream_state(flow, stream)->requests;
	const struct flow_psn *slot = sequence == NULL
		? NULL
		: psn_find(sequence, psn_extend(sequence->head, psn));
	bool is_once = slot != NULL && slot->flags & PSN_SEEN && slot->copies == 1;
	if (ahead > 0 && msn < 0)
		rules_broken(flow, by, FLOW_RULE_MSN_BACK, packet->number);
	else if (ahead < 0 && (msn > 0 || (is_later_one && is_once && !is_nak)))
		rules_broken(flow, by, FLOW_RULE_ACK_BACK, packet->number);
	if (ahead > 0) {
		state->ack_psn = psn;
		state->ack_msn = psn_extend(state->ack_msn, record->msn);
	}
}

void rules_take_answer(struct flow *flow, const struct flow_stream *by, struct flow_stream *stream,
		       const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	uint8_t kind = record->syndrome >> 5, code = record->syndrome & 31;
	if (kind == 2 || kind > 3 || (kind == 3 && code > 4))
		rules_broken(flow, by, FLOW_RULE_SYNDROME, packet->number);
	if (record->payload_bytes > 0)
		rules_broken(flow, by, FLOW_RULE_PACKET_SIZE, packet->number);
	if (stream == NULL)
		take_unsent(flow, by, packet, record->psn);
	else if (kind == 0 && is_unsent(flow, by, stream, record->psn))
		wait(flow, stream, FLOW_WAITING_ACK, packet->number);
	if ((record->opcode & 31) == 0x11)
		take_order(flow, by, stream, packet, kind != 0);
}

void rules_take_response(struct flow *flow, const struct flow_stream *by,
			 struct flow_stream *stream, const struct flow_packet *packet)
{
	const struct flow_stream *asks = stream != NULL ? stream : stream_before(flow, by);
	if (asks == NULL || packet->record->icrc == WIRE_ICRC_BAD)
		return;
	const struct sequence *sequence = &stream_state(flow, asks)->requests;
	uint32_t psn = psn_extend(sequence->head, packet->record->psn);
	const struct flow_psn *slot = psn_find(sequence, psn);
	bool is_other = is_sound(slot) && !(slot->flags & PSN_READS);
	int32_t ahead = psn_distance(psn, sequence->head);
	bool is_beyond = ahead >= 0 && ahead <= REACH && psn_distance(psn, sequence->read_end) >= 0;
	if ((is_other || is_beyond) && stream_is_sole(flow, asks, by))
		rules_broken(flow, by, FLOW_RULE_RESPONSE_UNASKED, packet->number);
}

// ---------------------------------------------------------------- MRC

static bool has_name(uint8_t reason)
{
	static const uint8_t reasons[] = {0x01, 0x02, 0x06, 0x07, 0x0a, 0x0b, 0x19};
	bool has = false;
	for (size_t i = 0; i < sizeof(reasons); i++)
		has |= reasons[i] == reason;
	return has;
}

// Of 2^19 bits. EVs that count on are of one line of the cache.
static uint32_t ev_bit(uint32_t ev)
{
	uint32_t line = (ev >> LINE_LOG) * UINT32_C(0x9e3779b1) >> (32 - 19 + LINE_LOG);
	return line << LINE_LOG | ((ev ^ ev >> 16) & ((1u << LINE_LOG) - 1));
}

void rules_take_ev(struct flow *flow, uint32_t ev)
{
	uint32_t bit = ev_bit(ev);
	flow->evs[bit / 64] |= UINT64_C(1) << bit % 64;
}

void rules_take_sack(struct flow *flow, const struct flow_stream *by, struct flow_stream *stream,
		     const struct flow_packet *packet)
{
	const struct wire_record *record = packet->record;
	bool is_sack = record->opcode == PACKET_SACK;
	if (!(record->layers & WIRE_LAYER_EXTENSIONS))
		return;
	if (!is_sack && !has_name(record->reason))
		rules_broken(flow, by, FLOW_RULE_NACK_REASON, packet->number);
	if (stream == NULL) {
		take_unsent(flow, by, packet, record->sack_psn);
		return;
	}
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t psn = psn_extend(sequence->head, record->sack_psn);
	if (psn == sequence->head && stream_is_sole(flow, stream, by))
		wait(flow, stream, FLOW_WAITING_ACK, packet->number);
	uint32_t last = psn + (uint32_t)(int32_t)record->sack_offset + 63u -
		(uint32_t)__builtin_clzll(record->sack_bitmap | 1);
	if (is_sack && record->sack_bitmap != 0 && psn_distance(last, sequence->head) >= 0)
		wait(flow, stream, FLOW_WAITING_SACK, packet->number);
	uint32_t bit = ev_bit(record->ev);
	bool was_sent = flow->evs[bit / 64] >> bit % 64 & 1;
	stream_state(flow, stream)->evs_known += was_sent;
	if (!was_sent)
		wait(flow, stream, FLOW_WAITING_EV, packet->number);
}

void rules_end(struct flow *flow, struct flow_stream *stream)
{
	static const enum flow_rule of[FLOW_WAITING_COUNT] = {
		[FLOW_WAITING_ACK] = FLOW_RULE_ACK_UNSENT,
		[FLOW_WAITING_SACK] = FLOW_RULE_SACK_UNSENT,
		[FLOW_WAITING_EV] = FLOW_RULE_EV_UNSENT,
	};
	const struct stream_state *state = stream_state(flow, stream);
	for (int i = 0; i < FLOW_WAITING_COUNT; i++) {
		bool tells = i != FLOW_WAITING_EV || // else the halves of EVs lie otherwise
			state->evs_known > state->waiting[i].count;
		if (tells)
			add(flow, (uint32_t)(stream - flow->report.streams), of[i],
			    state->waiting[i].count, state->waiting[i].first);
	}
}
