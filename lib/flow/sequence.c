// SPDX-License-Identifier: Apache-2.0
// What goes on in one direction of a go-back-N QP (RC, UC): which packets are new, which were sent
// again, overtaken or doubled, and what each jump and each step back stands for.
//
// The sender counts on by one. So a jump forward is a loss (a go-back-N sender leaves no gaps, not
// in what it repeats either) or a packet that was overtaken, which comes later alone; a step back
// is a repeat, which goes on from there, or one such packet, after which the stream goes on where
// it was. IPv4 identifications that count up say which at once; else the next packet does.

#include "sequence.h"

#include <weft/wire/wire_dissect.h>

#define WINDOW_MAX 65536 // PSNs: what jumps farther is no window but another connection
#define ID_STEP_MAX 4096 // identifications that go up by no more at a time count packets
#define ID_STEPS_MIN 8	 // so many of them are believed
#define DOUBLED_NS 30000 // without identifications: twice within so long is no timer
#define GOOD_MIN 4	 // so many good ICRCs for each bad one: a bad one is a damage
#define MTU_MIN 256	 // of READ responses

void sequence_begin(struct sequence *sequence, uint32_t psn, uint32_t head)
{
	sequence->has_begun = true;
	sequence->head = head;
	sequence->next = sequence->expected = sequence->acked = sequence->low = psn;
	sequence->read_end = psn;
	sequence->is_pending = false;
	sequence->has_nak = sequence->has_timer = sequence->has_late_nak = false;
	sequence->has_leap = false;
	sequence->nak_repair = sequence->timer_repair = 0;
	sequence->message_ns = -1;
	sequence->message_bytes = 0;
}

// ---------------------------------------------------------------- identifications

// Whether they tell copies: they change. Whether they tell the order: they count up.
static void take_id(struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	struct flow_stream *stream = arrival->stream;
	const struct wire_record *record = arrival->packet->record;
	arrival->is_late = false;
	if (!(record->layers & WIRE_LAYER_IPV4))
		return;
	uint16_t id = record->identification;
	int16_t step = (int16_t)(uint16_t)(id - sequence->id_newest);
	if (!sequence->has_id) {
		sequence->has_id = true;
		sequence->id_newest = id;
		return;
	}
	sequence->id_changes += step != 0;
	sequence->has_same_id |= step == 0 && arrival->psn != sequence->next - 1;
	sequence->id_steps += step > 0 && step <= ID_STEP_MAX;
	sequence->id_jumps += step > ID_STEP_MAX || step < -ID_STEP_MAX;
	stream->has_ids = sequence->id_changes > 2;
	stream->has_ordered_ids = sequence->id_steps >= ID_STEPS_MIN &&
		sequence->id_steps > 4 * sequence->id_jumps;
	arrival->is_late = stream->has_ordered_ids && step < 0 && step >= -ID_STEP_MAX;
	if (!arrival->is_late)
		sequence->id_newest = id;
}

static bool is_copy(const struct arrival *arrival)
{
	const struct flow_psn *slot = arrival->slot;
	uint16_t id = arrival->packet->record->identification;
	bool tells = arrival->stream->has_ids || (id != 0 && !arrival->sequence->has_same_id);
	return tells && slot != NULL && slot->flags & PSN_SEEN &&
		(arrival->packet->record->layers & WIRE_LAYER_IPV4) &&
		(id == slot->id_last || id == slot->id_first);
}

// ---------------------------------------------------------------- jumps

// The first packet of a response: PSNs between it and the response before belong to requests of the
// other kinds, which are answered by ACKs.
static bool begins_response(const struct flow_packet *packet)
{
	uint8_t operation = packet->record->opcode & 31;
	return operation == 0x0d || operation == 0x10 || operation == 0x12;
}

static bool is_read(const struct flow_packet *packet)
{
	return (packet->record->opcode & 31) == 0x0c;
}

// ---------------------------------------------------------------- without identifications

// The stream began before the first packet that passed here: a receiver waited for it.
static void begin_earlier(struct flow *flow, struct sequence *sequence, uint32_t psn)
{
	sequence->low = psn;
	sequence->expected = psn + 1;
	if (sequence->acked == psn + 1)
		sequence->acked = psn;
	struct flow_psn *slot = psn_slot(flow, sequence, psn);
	if (slot != NULL)
		slot->flags |= PSN_SEEN | PSN_LATE;
}

// What waited for the next packet is decided: `next` is where the stream goes on.
void sequence_settle(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		     uint32_t next)
{
	if (!sequence->is_pending)
		return;
	sequence->is_pending = false;
	uint32_t from = sequence->pending_from, to = sequence->pending_to;
	struct flow_psn *slot = psn_find(sequence, from);
	bool goes_on = psn_distance(next, sequence->next) >= 0;
	bool goes_back = psn_distance(next, from) < 0; // a repeat begins there, not here
	bool is_one = to - from == 1;
	bool is_hole = slot != NULL && slot->flags & PSN_MISSING;
	if ((goes_on || goes_back) && is_hole) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->pending_number, from, to - from);
		for (uint32_t psn = from; psn != to; psn++)
			if ((slot = psn_find(sequence, psn)) != NULL && slot->flags & PSN_MISSING)
				hole_fill_late(flow, stream, sequence, slot);
		return;
	}
	bool is_soon = sequence->pending_silence_ns < DOUBLED_NS;
	bool is_early = psn_distance(from, sequence->low) < 0; // before the first one here
	if ((goes_on || goes_back) && is_one && is_soon && is_early) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->pending_number, from, 1);
		hole_count_late(flow, stream);
		hole_tell_repair(flow, sequence, from);
		begin_earlier(flow, sequence, from);
		return;
	}
	if ((goes_on || goes_back) && is_one && is_soon &&
	    hole_fill_late(flow, stream, sequence, slot)) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->pending_number, from, 1);
		return;
	}
	bool is_far = psn_distance(sequence->next, from) > 2; // as a repeat it lacks all between
	bool is_copied = sequence->pending_is_again && (!sequence->has_nak || is_far);
	if (goes_on && is_one && is_soon && is_copied) {
		note(flow, stream, FLOW_NOTE_DOUBLED, sequence->pending_number, from, 1);
		stream->doubled++;
		stream->again += sequence->pending_is_read; // count() leaves reads out
		blame(flow, stream, FLOW_DUPLICATE, 1);
		return;
	}
	for (uint32_t psn = from; psn != to; psn++)
		hole_fill(flow, stream, psn_find(sequence, psn));
	struct repeat repeat = {sequence->pending_number, sequence->pending_ns,
				sequence->pending_silence_ns, from, sequence->pending_is_read};
	repeat_begin(flow, stream, sequence, &repeat);
	sequence->next = to;
}

bool sequence_is_open(const struct sequence *sequence, uint32_t psn)
{
	bool is_pending = sequence->is_pending && psn_distance(psn, sequence->pending_from) >= 0 &&
		psn_distance(psn, sequence->pending_to) < 0;
	return is_pending || (sequence->has_leap && sequence->leap_psn == psn);
}

void sequence_settle_by_answer(struct flow *flow, struct flow_stream *stream,
			       struct sequence *sequence)
{
	const struct flow_psn *slot = psn_find(sequence, sequence->pending_from);
	bool is_hole = slot != NULL && slot->flags & PSN_MISSING;
	if (sequence->is_pending && !is_hole && sequence->pending_silence_ns >= DOUBLED_NS)
		sequence_settle(flow, stream, sequence, sequence->next);
}

// Jumps ahead in the midst of a repeat: the packets between were lost once more, or it is a late
// one of those before the repeat. What was seen and lacks nothing is no such one.
static bool is_leap(const struct arrival *arrival)
{
	const struct sequence *sequence = arrival->sequence;
	bool is_new = psn_distance(arrival->psn, sequence->head) >= 0;
	bool is_repeat = psn_distance(sequence->next, sequence->head) < 0;
	return is_repeat && psn_distance(arrival->psn, sequence->next) > 0 &&
		arrival->slot != NULL && !begins_response(arrival->packet) &&
		(is_new || arrival->slot->flags & (PSN_MISSING | PSN_FILLED));
}

static void settle_leap(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			uint32_t next)
{
	if (!sequence->has_leap)
		return;
	sequence->has_leap = false;
	uint32_t psn = sequence->leap_psn;
	struct flow_psn *slot = psn_find(sequence, psn);
	if (next != psn + 1) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->leap_number, psn, 1);
		bool is_new = psn_distance(psn, sequence->leap_head) >= 0;
		if (is_new)
			hole_make(flow, stream, sequence, sequence->leap_head, psn,
				  sequence->leap_ns);
		if (!hole_fill_late(flow, stream, sequence, slot))
			hole_count_late(flow, stream);
		return;
	}
	hole_jump(flow, stream, sequence, sequence->leap_number, psn, sequence->leap_ns);
	hole_fill(flow, stream, slot);
	sequence->next = psn + 1;
}

// Whether the packet waits for the next one. False: what waited is decided.
static bool wait_for_next(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	uint32_t psn = arrival->psn;
	bool is_hole = arrival->slot != NULL && arrival->slot->flags & PSN_MISSING;
	if (sequence->is_pending) {
		bool goes_on = psn == sequence->pending_to && psn != sequence->next;
		const struct flow_psn *first = psn_find(sequence, sequence->pending_from);
		bool holes = first != NULL && first->flags & PSN_MISSING;
		if (goes_on && holes && is_hole) {
			sequence->pending_to = psn + 1;
			return true;
		}
		// A repeat that goes on with what was seen: the step back was one.
		sequence_settle(flow, arrival->stream, sequence, psn);
	}
	if (is_leap(arrival)) {
		sequence->has_leap = true;
		sequence->leap_psn = psn;
		sequence->leap_head = sequence->head;
		sequence->leap_number = arrival->packet->number;
		sequence->leap_ns = arrival->packet->at_ns;
		return true;
	}
	if (psn_distance(psn, sequence->next) >= 0)
		return false;
	sequence->is_pending = true;
	sequence->pending_from = psn;
	sequence->pending_to = psn + 1;
	sequence->pending_number = arrival->packet->number;
	sequence->pending_ns = arrival->packet->at_ns;
	sequence->pending_silence_ns = arrival->packet->at_ns - sequence->last_ns;
	sequence->pending_is_read = is_read(arrival->packet);
	sequence->pending_is_again = arrival->is_again;
	return true;
}

// ---------------------------------------------------------------- a packet

static bool begins(uint8_t operation)
{
	return operation == 0x00 || operation == 0x04 || operation == 0x05 || operation == 0x06 ||
		operation == 0x0a || operation == 0x0b || operation == 0x0c || operation == 0x0d ||
		operation == 0x10 || operation == 0x13 || operation == 0x14 || operation == 0x17;
}

static bool ends(uint8_t operation)
{
	return !(operation == 0x00 || operation == 0x01 || operation == 0x06 || operation == 0x07 ||
		 operation == 0x0d || operation == 0x0e);
}

// Notes the copy in its slot.
static void keep(struct arrival *arrival)
{
	const struct wire_record *record = arrival->packet->record;
	struct flow_psn *slot = arrival->slot;
	uint8_t operation = record->opcode & 31;
	if (slot == NULL)
		return;
	if (!(slot->flags & PSN_SEEN)) {
		slot->first_ns = arrival->packet->at_ns;
		slot->first_number = arrival->packet->number;
		slot->id_first = record->identification;
		slot->bytes = record->payload_bytes;
	}
	slot->id_last = record->identification;
	slot->last_ns = arrival->packet->at_ns;
	slot->copies++;
	slot->flags &= (uint16_t)~PSN_BAD;
	slot->flags |= (uint16_t)(PSN_SEEN | (begins(operation) ? PSN_BEGINS : 0) |
				  (ends(operation) ? PSN_ENDS : 0) |
				  (record->asks_ack ? PSN_ASKS : 0) |
				  (record->icrc == WIRE_ICRC_BAD ? PSN_BAD : 0));
}

// Counts the packet as data. Returns whether its PSN was seen before.
static bool count(struct flow *flow, struct arrival *arrival)
{
	struct flow_stream *stream = arrival->stream;
	const struct wire_record *record = arrival->packet->record;
	bool is_below = psn_distance(arrival->psn, arrival->sequence->head) < 0;
	bool is_again = is_below && (arrival->slot == NULL || arrival->slot->flags & PSN_SEEN);
	stream->data++;
	stream->data_bytes += record->payload_bytes;
	flow->report.forgotten += is_below && arrival->slot == NULL;
	if (is_again && !is_read(arrival->packet)) {
		stream->again++;
		stream->again_bytes += record->payload_bytes;
	}
	totals_take_data(flow, arrival->packet, is_again);
	uint8_t operation = record->opcode & 31;
	bool is_response = operation >= 0x0d && operation <= 0x10;
	if (!is_below && begins(operation) && !is_response) {
		stream->begun++;
		if (record->layers & WIRE_LAYER_RETH)
			message_size(stream, record->message_bytes);
	}
	return is_again;
}

// A timer's repeat has come to what was never seen, and nothing was acknowledged meanwhile: the
// end of what had been sent never came here.
static void reach_head(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	bool is_new = psn_distance(arrival->psn, sequence->timer_head) >= 0;
	if (sequence->has_timer && is_new && sequence->acked == sequence->timer_acked)
		repair_settle_timer(flow, arrival->stream, FLOW_LOSS_BEFORE);
}

// A response begins, and the one before has not ended: no other requests are between where all are
// READs.
static bool lacks_end(const struct flow *flow, const struct arrival *arrival)
{
	uint32_t index = flow->states[arrival->stream - flow->report.streams].answers_for;
	const struct flow_psn *before = psn_find(arrival->sequence, arrival->sequence->next - 1);
	if (index == 0 || before == NULL || before->flags & PSN_ENDS)
		return false;
	const struct flow_stream *asks = &flow->report.streams[index - 1];
	return asks->opcodes[0x0c] == asks->data;
}

// A packet whose place in the sequence is known: on, a jump, or a step back.
static void place(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	uint32_t psn = arrival->psn;
	int32_t ahead = psn_distance(psn, sequence->next);
	if (arrival->is_late) {
		note(flow, arrival->stream, FLOW_NOTE_LATE, arrival->packet->number, psn, 1);
		if (!hole_fill_late(flow, arrival->stream, sequence, arrival->slot))
			hole_count_late(flow, arrival->stream); // its repeat came before it
		return;
	}
	// READs leave out the PSNs of their responses: what is below those goes back, too.
	// Those behind the first one go on with it.
	bool is_below = arrival->stream->has_reads && psn_distance(psn, sequence->acked) < 0;
	bool goes_on = is_below && psn == sequence->read_next;
	if (ahead > 0 && !is_below &&
	    (!begins_response(arrival->packet) || lacks_end(flow, arrival)))
		hole_jump(flow, arrival->stream, sequence, arrival->packet->number, psn,
			  arrival->packet->at_ns);
	if ((ahead < 0 || is_below) && !goes_on) {
		struct repeat repeat = {arrival->packet->number, arrival->packet->at_ns,
					arrival->packet->at_ns - sequence->last_ns, psn,
					is_read(arrival->packet)};
		repeat_begin(flow, arrival->stream, sequence, &repeat);
	}
	hole_fill(flow, arrival->stream, arrival->slot);
	reach_head(flow, arrival);
	sequence->next = psn + 1;
}

// The PSNs of the responses to a READ request are taken, too: how many, the payload of a response
// tells, once one has passed.
static void take_read(struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	uint32_t bytes = arrival->packet->record->message_bytes;
	uint32_t mtu = sequence->mtu_bytes != 0 ? sequence->mtu_bytes : MTU_MIN;
	uint32_t end = arrival->psn + (bytes == 0 ? 1 : (bytes - 1) / mtu + 1);
	arrival->stream->has_reads = true;
	sequence->read_next = end;
	if (psn_distance(end, sequence->read_end) <= 0)
		return;
	sequence->read_psn = arrival->psn;
	sequence->read_bytes = bytes;
	sequence->read_end = end;
}

void sequence_take_mtu(struct sequence *sequence, uint32_t bytes)
{
	bool is_open = sequence->mtu_bytes == 0 && sequence->read_bytes != 0;
	if (bytes == 0)
		return;
	sequence->mtu_bytes = bytes;
	if (is_open)
		sequence->read_end = sequence->read_psn + (sequence->read_bytes - 1) / bytes + 1;
}

// Holes that nothing filled: lost, whether the receiver had need of them or not.
static void end_holes(struct flow *flow, struct flow_stream *stream, struct sequence *sequence)
{
	uint32_t holes = sequence->unfilled;
	for (uint32_t i = 0; i < sequence->ring_size; i++)
		holes += (sequence->ring[i].flags & PSN_MISSING) != 0;
	blame(flow, stream, FLOW_LOSS_BEFORE, holes);
	sequence->unfilled = 0;
}

static void restart(struct flow *flow, struct arrival *arrival)
{
	flow->report.restarts++;
	repair_end_timer(flow, arrival->stream);
	end_holes(flow, arrival->stream, arrival->sequence);
	psn_release(flow, arrival->sequence);
	sequence_begin(arrival->sequence, arrival->psn, arrival->psn);
}

// A damaged packet that is not the next one: its PSN may be what is damaged. Where most ICRCs are
// bad they say nothing.
static bool is_stray(const struct flow *flow, const struct sequence *sequence,
		     const struct wire_record *record)
{
	const uint64_t *icrc = flow->report.totals.icrc;
	bool is_damaged = record->icrc == WIRE_ICRC_BAD &&
		icrc[WIRE_ICRC_GOOD] > GOOD_MIN * icrc[WIRE_ICRC_BAD];
	return is_damaged &&
		(!sequence->has_begun || psn_extend(sequence->head, record->psn) != sequence->next);
}

void sequence_take(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   const struct flow_packet *packet)
{
	struct arrival arrival = {.packet = packet, .stream = stream, .sequence = sequence};
	uint32_t psn = packet->record->psn;
	if (is_stray(flow, sequence, packet->record)) {
		sequence->strays++;
		stream->data++;
		stream->data_bytes += packet->record->payload_bytes;
		totals_take_data(flow, packet, false);
		return;
	}
	if (!sequence->has_begun)
		sequence_begin(sequence, psn + PSN_MASK + 1, psn + PSN_MASK + 1);
	arrival.psn = psn_extend(sequence->head, psn);
	int32_t ahead = psn_distance(arrival.psn, sequence->head);
	if (ahead > WINDOW_MAX || ahead < -WINDOW_MAX)
		restart(flow, &arrival);
	take_id(&arrival);
	settle_leap(flow, stream, sequence, arrival.psn);
	arrival.slot = psn_slot(flow, sequence, arrival.psn);
	if (arrival.slot != NULL)
		arrival.slot->flags &= (uint16_t)~PSN_LATE;
	arrival.is_again = count(flow, &arrival);
	if (arrival.is_again && is_copy(&arrival)) {
		stream->doubled++;
		stream->again += is_read(packet);
		note(flow, stream, FLOW_NOTE_DOUBLED, packet->number, arrival.psn, 1);
		blame(flow, stream, FLOW_DUPLICATE, 1);
		keep(&arrival);
		return;
	}
	bool is_known = stream->has_ordered_ids && packet->record->layers & WIRE_LAYER_IPV4;
	if (is_known) {
		sequence_settle(flow, stream, sequence, arrival.psn);
		place(flow, &arrival);
	} else if (!wait_for_next(flow, &arrival)) {
		place(flow, &arrival);
	}
	bool is_bad = packet->record->icrc == WIRE_ICRC_BAD;
	if (is_read(packet))
		take_read(&arrival);
	if (psn_distance(sequence->expected, sequence->read_end) < 0 &&
	    psn_distance(arrival.psn, sequence->read_end) <= 0 &&
	    psn_distance(arrival.psn, sequence->expected) > 0)
		sequence->expected = arrival.psn; // what lies between are responses
	if (arrival.psn == sequence->expected && !is_bad)
		sequence->expected++;
	if (psn_distance(arrival.psn, sequence->head) >= 0)
		sequence->head = arrival.psn + 1;
	keep(&arrival);
	sequence->last_ns = packet->at_ns;
}

void sequence_end(struct flow *flow, struct flow_stream *stream, struct sequence *sequence)
{
	if (!sequence->has_begun)
		return;
	settle_leap(flow, stream, sequence, sequence->next);
	sequence_settle(flow, stream, sequence, sequence->next);
	repair_end_timer(flow, stream);
	end_holes(flow, stream, sequence);
}
