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
#define MTU_MIN 256	 // of READ responses

void sequence_begin(struct sequence *sequence, uint32_t psn, uint32_t head)
{
	sequence->has_begun = true;
	sequence->head = head;
	sequence->next = sequence->expected = sequence->acked = sequence->low = psn;
	sequence->read_end = psn;
	sequence->is_pending = false;
	sequence->nak_repair = sequence->timer_repair = 0;
	sequence->message_ns = -1;
	sequence->message_bytes = 0;
}

void blame(struct flow *flow, struct flow_stream *stream, enum flow_cause cause, int64_t count)
{
	stream->causes[cause] += (uint64_t)count;
	flow->report.causes[cause] += (uint64_t)count;
}

void message_size(struct flow_stream *stream, uint64_t bytes)
{
	if (stream->sizes == 0 || bytes < stream->size_min)
		stream->size_min = bytes;
	if (stream->sizes == 0 || bytes > stream->size_max)
		stream->size_max = bytes;
	stream->sizes++;
}

struct flow_repair *repair_add(struct flow *flow, const struct flow_stream *stream,
			       uint32_t *ret_index)
{
	*ret_index = 0;
	if (flow->report.repair_count == flow->config.repairs_max) {
		flow->report.repairs_left_out++;
		return NULL;
	}
	struct flow_repair *repair = &flow->report.repairs[flow->report.repair_count++];
	*repair = (struct flow_repair){.stream = (uint32_t)(stream - flow->report.streams),
				       .cause = FLOW_CAUSE_COUNT,
				       .passed_ns = -1,
				       .repeat_ns = -1,
				       .silence_ns = -1};
	*ret_index = flow->report.repair_count;
	return repair;
}

struct flow_repair *repair_at(struct flow *flow, uint32_t index)
{
	return index == 0 ? NULL : &flow->report.repairs[index - 1];
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
	return arrival->stream->has_ids && slot != NULL && slot->flags & PSN_SEEN &&
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

// PSNs [from, to) were stepped over.
static void step_over(struct flow *flow, struct arrival *arrival, uint32_t from, uint32_t to)
{
	struct sequence *sequence = arrival->sequence;
	if (begins_response(arrival->packet))
		return;
	for (uint32_t psn = from; psn != to; psn++) {
		bool is_new = psn_distance(psn, sequence->head) >= 0;
		bool may_be_read = psn_distance(psn, sequence->read_end) < 0;
		if (may_be_read)
			continue;
		arrival->stream->holes += is_new;
		struct flow_psn *slot = psn_slot(flow, sequence, psn);
		if (slot == NULL)
			continue;
		if (slot->flags & PSN_MISSING) // the repeat was lost, too
			blame(flow, arrival->stream, FLOW_LOSS_BEFORE, 1);
		slot->flags |= PSN_MISSING;
		if (is_new)
			slot->first_ns = slot->last_ns = arrival->packet->at_ns;
	}
}

// ---------------------------------------------------------------- repeats

static void settle_repair(struct flow_repair *repair, enum flow_cause cause)
{
	if (repair == NULL)
		return;
	repair->cause = (uint8_t)cause;
	repair->is_settled = true;
}

// The repeat that a NAK asked for begins.
static void repeat_by_nak(struct flow *flow, struct arrival *arrival, uint64_t number,
			  int64_t at_ns, int64_t silence_ns, uint32_t psn)
{
	struct sequence *sequence = arrival->sequence;
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	repair->repeat = number;
	repair->repeat_ns = at_ns - repair->at_ns;
	repair->silence_ns = silence_ns;
	repair->is_settled = true;
	if (psn_distance(psn, sequence->nak_psn) > 0)
		step_over(flow, arrival, sequence->nak_psn, psn);
	sequence->nak_repair = 0;
}

// A repeat that nothing asked for: a timer. What the receiver had tells why, sometimes only later.
static void repeat_by_timer(struct flow *flow, struct arrival *arrival, uint64_t number,
			    int64_t at_ns, int64_t silence_ns, uint32_t psn)
{
	struct sequence *sequence = arrival->sequence;
	struct flow_stream *stream = arrival->stream;
	uint32_t index;
	struct flow_repair *repair = repair_add(flow, stream, &index);
	if (repair != NULL) {
		repair->is_timer = true;
		repair->psn = psn & PSN_MASK;
		repair->repeat = number;
		repair->at_ns = at_ns;
		repair->silence_ns = silence_ns;
		repair->repeat_ns = 0;
	}
	bool is_answered = psn_distance(sequence->acked, psn) > 0;
	const struct flow_psn *wanted = psn_find(sequence, sequence->expected);
	bool has_hole = psn_distance(sequence->expected, sequence->head) < 0 &&
		psn_distance(psn, sequence->expected) <= 0 && wanted != NULL;
	sequence->timer_repair = 0;
	if (is_answered) {
		settle_repair(repair, FLOW_TIMEOUT);
		blame(flow, stream, FLOW_TIMEOUT, 1);
	} else if (has_hole && wanted->flags & PSN_BAD) {
		settle_repair(repair, FLOW_CORRUPT_BEFORE);
		blame(flow, stream, FLOW_CORRUPT_BEFORE, 1);
	} else if (has_hole && wanted->flags & PSN_MISSING) {
		settle_repair(repair, FLOW_LOSS_BEFORE); // counted where the hole is filled
	} else {
		sequence->timer_repair = index;
		sequence->timer_head = sequence->head;
		sequence->timer_acked = sequence->acked;
	}
}

// The sender has gone back to `psn`.
static void go_back(struct flow *flow, struct arrival *arrival, uint64_t number, int64_t at_ns,
		    int64_t silence_ns, uint32_t psn)
{
	struct sequence *sequence = arrival->sequence;
	bool is_asked = sequence->nak_repair != 0 && psn_distance(psn, sequence->nak_psn) >= 0;
	if (is_asked)
		repeat_by_nak(flow, arrival, number, at_ns, silence_ns, psn);
	else if (sequence == &stream_state(flow, arrival->stream)->requests)
		repeat_by_timer(flow, arrival, number, at_ns, silence_ns, psn);
}

// A hole is filled by a repeat: what had been there was lost.
static void fill(struct flow *flow, struct flow_stream *stream, struct flow_psn *slot)
{
	if (slot == NULL || !(slot->flags & PSN_MISSING))
		return;
	slot->flags &= (uint16_t)~PSN_MISSING;
	blame(flow, stream, FLOW_LOSS_BEFORE, 1);
}

// A hole is filled by a packet that had been overtaken.
static void fill_late(struct flow *flow, struct arrival *arrival, struct flow_psn *slot)
{
	struct sequence *sequence = arrival->sequence;
	struct flow_stream *stream = arrival->stream;
	uint64_t distance = (uint64_t)psn_distance(sequence->next, slot->psn);
	slot->flags &= (uint16_t)~PSN_MISSING;
	stream->late++;
	if (distance > stream->late_distance_max)
		stream->late_distance_max = distance;
	blame(flow, stream, FLOW_REORDER_BEFORE, 1);
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	if (repair != NULL && sequence->nak_psn == slot->psn && repair->cause == FLOW_LOSS_BEFORE)
		repair->cause = FLOW_REORDER_BEFORE;
}

// ---------------------------------------------------------------- without identifications

// What waited for the next packet is decided: `next` is where the stream goes on.
void sequence_settle(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		     uint32_t next)
{
	if (!sequence->is_pending)
		return;
	sequence->is_pending = false;
	struct arrival arrival = {.stream = stream, .sequence = sequence};
	uint32_t from = sequence->pending_from, to = sequence->pending_to;
	struct flow_psn *slot = psn_find(sequence, from);
	bool goes_on = psn_distance(next, sequence->next) >= 0;
	bool is_one = to - from == 1;
	bool is_hole = slot != NULL && slot->flags & PSN_MISSING;
	if (goes_on && is_hole) {
		for (uint32_t psn = from; psn != to; psn++)
			if ((slot = psn_find(sequence, psn)) != NULL && slot->flags & PSN_MISSING)
				fill_late(flow, &arrival, slot);
		return;
	}
	bool is_soon = sequence->pending_silence_ns < DOUBLED_NS;
	if (goes_on && is_one && is_soon && sequence->nak_repair == 0) {
		stream->doubled++;
		blame(flow, stream, FLOW_DUPLICATE, 1);
		return;
	}
	for (uint32_t psn = from; psn != to; psn++)
		fill(flow, stream, psn_find(sequence, psn));
	struct flow_packet packet = {.number = sequence->pending_number,
				     .at_ns = sequence->pending_ns};
	arrival.packet = &packet;
	go_back(flow, &arrival, packet.number, packet.at_ns, sequence->pending_silence_ns, from);
	sequence->next = to;
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
	if (psn_distance(psn, sequence->next) >= 0)
		return false;
	sequence->is_pending = true;
	sequence->pending_from = psn;
	sequence->pending_to = psn + 1;
	sequence->pending_number = arrival->packet->number;
	sequence->pending_ns = arrival->packet->at_ns;
	sequence->pending_silence_ns = arrival->packet->at_ns - sequence->last_ns;
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
	if (is_again && (record->opcode & 31) != 0x0c) {
		stream->again++;
		stream->again_bytes += record->payload_bytes;
	}
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
	if (sequence->timer_repair == 0 || !is_new || sequence->acked != sequence->timer_acked)
		return;
	settle_repair(repair_at(flow, sequence->timer_repair), FLOW_LOSS_BEFORE);
	blame(flow, arrival->stream, FLOW_LOSS_BEFORE, 1);
	sequence->timer_repair = 0;
}

// A packet whose place in the sequence is known: on, a jump, or a step back.
static void place(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	uint32_t psn = arrival->psn;
	int32_t ahead = psn_distance(psn, sequence->next);
	if (arrival->is_late) {
		if (arrival->slot != NULL && arrival->slot->flags & PSN_MISSING)
			fill_late(flow, arrival, arrival->slot);
		return;
	}
	if (ahead > 0)
		step_over(flow, arrival, sequence->next, psn);
	if (ahead < 0)
		go_back(flow, arrival, arrival->packet->number, arrival->packet->at_ns,
			arrival->packet->at_ns - sequence->last_ns, psn);
	fill(flow, arrival->stream, arrival->slot);
	reach_head(flow, arrival);
	sequence->next = psn + 1;
}

// The PSNs of the responses to a READ request are taken, too: how many, the payload of a response
// would tell.
static void take_read(struct arrival *arrival)
{
	const struct wire_record *record = arrival->packet->record;
	uint32_t responses = record->message_bytes / MTU_MIN + 1;
	uint32_t end = arrival->psn + responses;
	arrival->stream->has_reads = true;
	if (psn_distance(end, arrival->sequence->read_end) > 0)
		arrival->sequence->read_end = end;
}

static void restart(struct flow *flow, struct arrival *arrival)
{
	flow->report.restarts++;
	psn_release(flow, arrival->sequence);
	sequence_begin(arrival->sequence, arrival->psn, arrival->psn);
}

void sequence_take(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   const struct flow_packet *packet)
{
	struct arrival arrival = {.packet = packet, .stream = stream, .sequence = sequence};
	uint32_t psn = packet->record->psn;
	if (!sequence->has_begun)
		sequence_begin(sequence, psn + PSN_MASK + 1, psn + PSN_MASK + 1);
	arrival.psn = psn_extend(sequence->head, psn);
	int32_t ahead = psn_distance(arrival.psn, sequence->head);
	if (ahead > WINDOW_MAX || ahead < -WINDOW_MAX)
		restart(flow, &arrival);
	take_id(&arrival);
	arrival.slot = psn_slot(flow, sequence, arrival.psn);
	bool is_again = count(flow, &arrival);
	if (is_again && is_copy(&arrival)) {
		stream->doubled++;
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
	if ((packet->record->opcode & 31) == 0x0c)
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
	sequence_settle(flow, stream, sequence, sequence->next);
	for (uint32_t i = 0; i < sequence->ring_size; i++) {
		const struct flow_psn *slot = &sequence->ring[i];
		if (slot->flags & PSN_MISSING)
			blame(flow, stream, FLOW_LOSS_BEFORE, 1);
	}
}
