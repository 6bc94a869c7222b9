// SPDX-License-Identifier: Apache-2.0
// What goes on in one direction of a go-back-N QP (RC, UC): which packets are new, which were sent
// again, overtaken or doubled, and what each jump and each step back stands for.
//
// The sender counts on by one. So a jump forward is a loss (a go-back-N sender leaves no gaps, not
// in what it repeats either) or a packet that was overtaken, which comes later alone; a step back
// is a repeat, which goes on from there, or one such packet, after which the stream goes on where
// it was. IPv4 identifications that count up say which at once; else the next packet does.

#include "rules.h"

#include <weft/wire/wire_dissect.h>

#define WINDOW_MAX 65536    // PSNs: what jumps farther is no window but another connection
#define ID_STEP_MAX 4096    // identifications that go up by no more at a time count packets
#define ID_STEPS_MIN 8	    // so many of them are believed
#define GOOD_MIN 4	    // so many good ICRCs for each bad one: a bad one is a damage
#define MTU_MIN 256	    // of READ responses
#define READ_CUT_PSNS 32768 // of a request whose length was cut off: half a window

void sequence_begin(const struct flow *flow, struct sequence *sequence, uint32_t psn, uint32_t head)
{
	sequence->unread = flow->report.unread;
	sequence->has_begun = true;
	sequence->head = head;
	sequence->next = sequence->expected = sequence->acked = sequence->low = psn;
	sequence->read_end = psn;
	sequence->is_pending = sequence->has_second = false;
	sequence->has_nak = sequence->has_timer = false;
	sequence->late_nak_count = sequence->soon_nak_count = 0;
	sequence->has_leap = false;
	sequence->nak_repair = sequence->timer_repair = 0;
	sequence->step_ns = 0;
	sequence->has_late_stray = false;
	sequence->message_ns = -1;
	sequence->message_bytes = 0;
	sequence->has_first = false;
	sequence->full_bytes = 0;
	sequence->open_most = 0;
	sequence->repeats_open = 0;
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

// ---------------------------------------------------------------- a packet

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
	if (is_again && !packet_is_read(arrival->packet)) {
		stream->again++;
		stream->again_bytes += record->payload_bytes;
	}
	totals_take_data(flow, arrival->packet, is_again);
	uint8_t operation = record->opcode & 31;
	bool is_response = operation >= 0x0d && operation <= 0x10;
	if (!is_again && psn_flags[operation] & PSN_BEGINS && !is_response) {
		stream->begun++;
		if (record->layers & WIRE_LAYER_RETH)
			message_size(stream, record->message_bytes);
	}
	return is_again;
}

// A timer's repeat has come to what was never seen, and nothing was acknowledged meanwhile: the
// end of what had been sent never came here. Where no answer passes here, that says nothing.
static void reach_head(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	bool is_new = psn_distance(arrival->psn, sequence->timer_head) >= 0;
	if (sequence->has_timer && is_new && sequence->acked == sequence->timer_acked)
		repair_settle_timer(flow, arrival->stream,
				    arrival->stream->peer != 0 ? FLOW_LOSS_BEFORE : FLOW_TIMER);
}

// Whether all that is asked for are READs: then no PSN lies between two responses.
static bool asks_for_reads_alone(const struct flow *flow, const struct flow_stream *by)
{
	uint32_t index = flow->states[by - flow->report.streams].answers_for;
	const struct flow_stream *asks = index == 0 ? NULL : &flow->report.streams[index - 1];
	return asks != NULL && asks->opcodes[0x0c] == asks->data;
}

// A packet that was overtaken, as its identification says. If the receiver waited for it, it threw
// away what passed before it; and what a timer brought again was damaged, if it had been here.
static void place_late(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	struct flow_psn *slot = arrival->slot;
	note(flow, arrival->stream, FLOW_NOTE_LATE, arrival->packet->number, arrival->psn, 1);
	if (!hole_fill_late(flow, arrival->stream, sequence, slot))
		hole_count_late(flow, arrival->stream); // its repeat came before it
	if (psn_distance(arrival->psn, sequence->next) > 0)
		sequence_expect_nak(sequence, arrival->packet->at_ns);
	if (arrival->psn != sequence->expected || slot == NULL)
		return;
	if (sequence->has_timer && slot->flags & PSN_BAD)
		repair_settle_timer(flow, arrival->stream, FLOW_CORRUPT_BEFORE);
	slot->flags |= PSN_LATE;
}

// A packet whose place in the sequence is known: on, a jump, or a step back.
static void place(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	uint32_t psn = arrival->psn;
	int32_t ahead = psn_distance(psn, sequence->next);
	if (arrival->is_late) {
		place_late(flow, arrival);
		return;
	}
	// READs leave out the PSNs of their responses: what is below those goes back, too.
	// Those behind the first one go on with it.
	bool is_below = arrival->stream->has_reads && psn_distance(psn, sequence->acked) < 0;
	bool goes_on = is_below && psn == sequence->read_next;
	if (ahead > 0 && !is_below &&
	    (!packet_begins_response(arrival->packet) ||
	     asks_for_reads_alone(flow, arrival->stream)))
		hole_jump(flow, arrival->stream, sequence, arrival->packet->number, psn,
			  arrival->packet->at_ns);
	if ((ahead < 0 || is_below) && !goes_on) {
		struct repeat repeat = {arrival->packet->number,
					arrival->packet->at_ns,
					arrival->packet->at_ns - sequence->last_ns,
					psn,
					packet_is_read(arrival->packet),
					sequence_wanted(sequence, psn)};
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
	sequence->is_read_open = !(arrival->packet->record->layers & WIRE_LAYER_RETH);
	if (sequence->is_read_open)
		end = arrival->psn + READ_CUT_PSNS;
	arrival->stream->has_reads = true;
	sequence->read_next = end;
	if (psn_distance(end, sequence->read_end) <= 0)
		return;
	sequence->read_psn = arrival->psn;
	sequence->read_bytes = bytes;
	sequence->read_end = end;
}

// The next request tells how many responses one had whose length was cut off.
static void close_read(struct sequence *sequence, uint32_t next)
{
	sequence->is_read_open = false;
	sequence->read_end = sequence->read_next = next;
}

void sequence_take_mtu(struct sequence *sequence, uint32_t bytes)
{
	if (bytes <= sequence->mtu_bytes)
		return;
	sequence->mtu_bytes = bytes;
	if (sequence->read_bytes != 0)
		sequence->read_end = sequence->read_psn + (sequence->read_bytes - 1) / bytes + 1;
}

// Holes that nothing filled: lost, whether the receiver had need of them or not.
static void end_holes(struct flow *flow, struct flow_stream *stream, struct sequence *sequence)
{
	uint32_t holes = sequence->unfilled;
	for (uint32_t i = 0; i < sequence->ring_size; i++)
		holes += (sequence->ring[i].flags & PSN_MISSING) != 0;
	blame(flow, stream, FLOW_LOSS_BEFORE, holes);
	flow->report.unfilled += holes;
	sequence->unfilled = 0;
}

static void restart(struct flow *flow, struct arrival *arrival)
{
	flow->report.restarts++;
	if (!(psn_flags[arrival->packet->record->opcode & 31] & PSN_BEGINS))
		rules_broken(flow, arrival->stream, FLOW_RULE_PSN_JUMP, arrival->packet->number);
	repair_end_timer(flow, arrival->stream);
	end_holes(flow, arrival->stream, arrival->sequence);
	psn_release(flow, arrival->sequence);
	sequence_begin(flow, arrival->sequence, arrival->psn, arrival->psn);
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

// It was overtaken, if it fills a hole; else a hole may turn out to be it.
static void take_stray(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		       uint32_t psn)
{
	uint32_t at = sequence->has_begun ? psn_extend(sequence->head, psn) : psn;
	struct flow_psn *slot = psn_find(sequence, at);
	if (slot == NULL || !(slot->flags & PSN_MISSING)) {
		if (sequence->strays < STRAYS)
			sequence->stray_psns[sequence->strays] = psn;
		sequence->strays++;
		return;
	}
	slot->flags = (uint16_t)((slot->flags & ~PSN_MISSING) | PSN_BAD);
	hole_count_late(flow, stream);
	sequence->has_late_stray = true;
	sequence->late_stray = at;
	sequence->was_stray_asked = sequence->has_nak && sequence->nak_psn == at;
	if (!sequence->was_stray_asked)
		return;
	blame(flow, stream, FLOW_CORRUPT_BEFORE, 1);
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	if (repair != NULL)
		repair->cause = FLOW_CORRUPT_BEFORE;
}

// A repeat goes on behind the damaged packet: that was its first one, and not overtaken.
static void settle_stray(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			 uint32_t psn)
{
	bool goes_on = sequence->has_late_stray && psn == sequence->late_stray + 1 &&
		psn_distance(psn, sequence->next) < 0;
	sequence->has_late_stray = false;
	if (!goes_on)
		return;
	stream->late--;
	blame(flow, stream, FLOW_REORDER_BEFORE, -1);
	blame(flow, stream, FLOW_LOSS_BEFORE, 1);
	struct flow_psn *slot = psn_find(sequence, sequence->late_stray);
	if (slot != NULL) // the repeat does not lack it
		slot->flags |= PSN_STRAY;
	if (!sequence->was_stray_asked)
		return;
	blame(flow, stream, FLOW_CORRUPT_BEFORE, -1); // who asks for it once more tells so
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	if (repair != NULL)
		repair->cause = FLOW_LOSS_BEFORE;
}

// The receiver has nothing yet and wants this one, from before the first one that passed here.
static bool is_asked_before(const struct flow_stream *stream, const struct sequence *sequence,
			    uint32_t psn)
{
	return sequence->has_nak && !sequence->is_rnr && stream->acked_psns == 0 &&
		psn == sequence->nak_psn && psn_distance(psn, sequence->low) < 0;
}

// It is a hole. What may lie between it and the first one that passed may be from before the
// capture.
static void begin_at_nak(struct flow *flow, struct sequence *sequence, uint32_t psn)
{
	sequence->low = sequence->acked = sequence->expected = psn;
	struct flow_psn *slot = psn_slot(flow, sequence, psn);
	if (slot != NULL)
		slot->flags |= PSN_MISSING;
}

// How fast packets follow each other.
static void take_step(struct sequence *sequence, const struct arrival *arrival)
{
	int64_t step_ns = arrival->packet->at_ns - sequence->last_ns;
	bool is_next = arrival->psn == sequence->head && arrival->psn == sequence->next;
	if (is_next && step_ns > 0 && (sequence->step_ns == 0 || step_ns < sequence->step_ns))
		sequence->step_ns = step_ns;
}

// One more copy of a PSN of which one was overtaken: NAKs for what that one did may still come.
static void take_lateness(const struct sequence *sequence, struct flow_psn *slot, int64_t at_ns)
{
	int64_t last_ns = slot->last_ns > sequence->late_ns ? slot->last_ns : sequence->late_ns;
	bool is_soon = sequence_is_soon(sequence, at_ns - last_ns);
	bool was_late = slot->flags & PSN_LATE || (slot->flags & PSN_WAS_LATE && is_soon);
	slot->flags &= (uint16_t) ~(PSN_LATE | PSN_WAS_LATE);
	slot->flags |= was_late ? PSN_WAS_LATE : 0;
}

void sequence_take(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   const struct flow_packet *packet)
{
	struct arrival arrival = {.packet = packet, .stream = stream, .sequence = sequence};
	uint32_t psn = packet->record->psn;
	sequence->now_ns = packet->at_ns;
	if (is_stray(flow, sequence, packet->record)) {
		take_stray(flow, stream, sequence, psn);
		stream->data++;
		stream->data_bytes += packet->record->payload_bytes;
		totals_take_data(flow, packet, false);
		return;
	}
	if (!sequence->has_begun)
		sequence_begin(flow, sequence, psn + PSN_MASK + 1, psn + PSN_MASK + 1);
	arrival.psn = psn_extend(sequence->head, psn);
	int32_t ahead = psn_distance(arrival.psn, sequence->head);
	if (ahead > WINDOW_MAX || ahead < -WINDOW_MAX)
		restart(flow, &arrival);
	if (is_asked_before(stream, sequence, arrival.psn))
		begin_at_nak(flow, sequence, arrival.psn);
	if (sequence->is_read_open && psn_distance(arrival.psn, sequence->read_psn) > 0)
		close_read(sequence, arrival.psn);
	settle_stray(flow, stream, sequence, arrival.psn);
	take_id(&arrival);
	take_step(sequence, &arrival);
	sequence_settle_leap(flow, stream, sequence, arrival.psn);
	flow->report.late_stamps += packet->has_time && packet->at_ns < sequence->last_ns &&
		psn_distance(arrival.psn, sequence->head) < 0;
	arrival.slot = psn_slot(flow, sequence, arrival.psn);
	if (arrival.slot != NULL)
		take_lateness(sequence, arrival.slot, packet->at_ns);
	arrival.is_again = count(flow, &arrival);
	if (!arrival.is_again && sequence == &stream_state(flow, stream)->requests)
		rules_take_data(flow, stream, sequence, arrival.slot, packet);
	if (arrival.is_again && is_copy(&arrival)) {
		stream->doubled++;
		stream->again += packet_is_read(packet);
		note(flow, stream, FLOW_NOTE_DOUBLED, packet->number, arrival.psn, 1);
		blame(flow, stream, FLOW_DUPLICATE, 1);
		if (psn_distance(arrival.psn, sequence->next) > 0) // the repeat overtook it
			sequence_expect_nak(sequence, packet->at_ns);
		psn_keep(arrival.slot, packet);
		return;
	}
	bool is_known = stream->has_ordered_ids && packet->record->layers & WIRE_LAYER_IPV4;
	if (is_known) {
		sequence_settle(flow, stream, sequence, arrival.psn);
		place(flow, &arrival);
	} else if (!sequence_waits(flow, &arrival)) {
		place(flow, &arrival);
	}
	bool goes_on = arrival.is_again && arrival.psn + 1 == sequence->next;
	if (goes_on && sequence->has_nak && !sequence->is_rnr && arrival.psn == sequence->nak_psn &&
	    arrival.psn == sequence->behind_psn)
		answer_doubt(flow, stream, sequence);
	bool is_bad = packet->record->icrc == WIRE_ICRC_BAD;
	if (packet_is_read(packet))
		take_read(&arrival);
	if (psn_distance(sequence->expected, sequence->read_end) < 0 &&
	    psn_distance(arrival.psn, sequence->read_end) <= 0 &&
	    psn_distance(arrival.psn, sequence->expected) > 0)
		sequence->expected = arrival.psn; // what lies between are responses
	if (arrival.psn == sequence->expected && !is_bad)
		sequence->expected++;
	if (psn_distance(arrival.psn, sequence->head) >= 0)
		sequence->head = arrival.psn + 1;
	psn_keep(arrival.slot, packet);
	if (!sequence->is_pending && !sequence->has_leap) // what waits is decided with them
		sequence->unread = flow->report.unread;
	sequence->last_ns = packet->at_ns;
}

void sequence_end(struct flow *flow, struct flow_stream *stream, struct sequence *sequence)
{
	if (!sequence->has_begun)
		return;
	sequence_settle_leap(flow, stream, sequence, sequence->next);
	sequence_settle(flow, stream, sequence, sequence->next);
	repair_end_timer(flow, stream);
	end_holes(flow, stream, sequence);
}
