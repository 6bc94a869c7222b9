// SPDX-License-Identifier: Apache-2.0
// What is missing, what was sent again, and why. PSNs that were stepped over are holes: a repeat
// fills what was lost, and what was overtaken comes by itself. A NAK or an RNR asked for a repeat,
// or nothing did and a timer ran out. The list of repairs may be full; what decides stands in the
// sequence.

#include <string.h>

#include "sequence.h"

void blame(struct flow *flow, struct flow_stream *stream, enum flow_cause cause, int64_t count)
{
	stream->causes[cause] += (uint64_t)count;
	flow->report.causes[cause] += (uint64_t)count;
}

void note(struct flow *flow, const struct flow_stream *stream, enum flow_note_kind kind,
	  uint64_t number, uint32_t psn, uint32_t count)
{
	if (flow->report.note_count == flow->config.notes_max) {
		flow->report.notes_left_out++;
		return;
	}
	flow->report.notes[flow->report.note_count++] = (struct flow_note){
		.number = number,
		.stream = (uint32_t)(stream - flow->report.streams),
		.psn = psn & PSN_MASK,
		.count = count,
		.kind = (uint8_t)kind};
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

// ---------------------------------------------------------------- holes

// A damaged packet was this one.
static bool is_taken(const struct sequence *sequence, uint32_t psn)
{
	struct flow_psn *slot = psn_find(sequence, psn);
	bool is_stray = slot != NULL && slot->flags & PSN_STRAY;
	if (is_stray)
		slot->flags &= (uint16_t)~PSN_STRAY;
	return is_stray;
}

uint32_t hole_make(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   uint32_t from, uint32_t to, int64_t at_ns)
{
	uint32_t missing = 0;
	for (uint32_t psn = from; psn != to; psn++) {
		bool is_new = psn_distance(psn, sequence->head) >= 0;
		bool may_be_read = psn_distance(psn, sequence->read_end) < 0;
		if (may_be_read || is_taken(sequence, psn))
			continue;
		missing++;
		stream->holes += is_new;
		// What lies a ring behind the packet would take the slot of a later one, or its
		// own.
		bool is_far = psn_distance(to, psn) >= (int32_t)sequence->ring_size;
		sequence->unfilled += is_far && is_new;
		struct flow_psn *slot = is_far ? NULL : psn_slot(flow, sequence, psn);
		if (slot == NULL)
			continue;
		if (slot->flags & PSN_MISSING) // the repeat was lost, too
			blame(flow, stream, FLOW_LOSS_BEFORE, 1);
		slot->flags |= (uint16_t)(PSN_MISSING |
					  (psn == sequence->expected ? PSN_SHOWN : 0));
		if (is_new)
			slot->first_ns = slot->last_ns = at_ns;
	}
	return missing;
}

// The frame that was not read was this one.
static void take_unread(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			uint32_t psn, int64_t at_ns)
{
	struct flow_psn *slot = psn_slot(flow, sequence, psn);
	if (slot == NULL)
		return;
	hole_fill(flow, stream, slot);
	if (!(slot->flags & PSN_SEEN)) {
		slot->first_ns = at_ns;
		slot->bytes = sequence->full_bytes;
		slot->flags |= PSN_SEEN | PSN_UNREAD;
	}
	slot->last_ns = at_ns;
	slot->copies++;
	sequence->expected += psn == sequence->expected;
	flow->report.unread_taken++;
}

// A damaged packet that was out of its order was this one, if no other was.
static bool take_damaged(struct flow *flow, struct sequence *sequence, uint32_t psn)
{
	struct flow_psn *slot = psn_slot(flow, sequence, psn);
	bool is_free = slot != NULL && !(slot->flags & PSN_STRAY);
	if (is_free)
		slot->flags |= PSN_BAD | PSN_STRAY;
	return is_free;
}

// What is missing from `from` on was damaged, or was not read, as far as such packets came. Returns
// where the rest begins.
static uint32_t skip_known(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			   uint32_t from, uint32_t to, int64_t at_ns)
{
	uint32_t strays = sequence->strays;
	for (uint32_t i = 0; i < sequence->strays && i < STRAYS; i++) {
		uint32_t psn = psn_extend(sequence->head, sequence->stray_psns[i]);
		bool is_here = psn_distance(psn, from) >= 0 && psn_distance(psn, to) < 0;
		strays -= is_here && take_damaged(flow, sequence, psn);
	}
	for (uint32_t psn = from; strays > 0 && psn != to; psn++)
		strays -= take_damaged(flow, sequence, psn);
	sequence->strays = 0;
	for (; sequence->unread != flow->report.unread && from != to; from++) {
		if (is_taken(sequence, from))
			continue;
		take_unread(flow, stream, sequence, from, at_ns);
		sequence->unread++;
	}
	return from;
}

// Packet `number` has `psn`, above the next one.
void hole_jump(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
	       uint64_t number, uint32_t psn, int64_t at_ns)
{
	uint32_t from = skip_known(flow, stream, sequence, sequence->next, psn, at_ns);
	if (psn_distance(sequence->acked, from) > 0) // who repeats leaves out what has arrived
		from = psn_distance(sequence->acked, psn) < 0 ? sequence->acked : psn;
	uint32_t missing = hole_make(flow, stream, sequence, from, psn, at_ns);
	if (missing > 0)
		note(flow, stream, FLOW_NOTE_JUMP, number, from, missing);
}

void hole_fill(struct flow *flow, struct flow_stream *stream, struct flow_psn *slot)
{
	if (slot == NULL || !(slot->flags & PSN_MISSING))
		return;
	slot->flags = (uint16_t)((slot->flags & ~PSN_MISSING) | PSN_FILLED);
	blame(flow, stream, FLOW_LOSS_BEFORE, 1);
}

void hole_tell_repair(struct flow *flow, const struct sequence *sequence, uint32_t psn,
		      enum flow_cause cause)
{
	bool is_asked = sequence->has_nak && sequence->nak_psn == psn;
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	if (is_asked && repair != NULL && repair->cause == FLOW_LOSS_BEFORE)
		repair->cause = (uint8_t)cause;
}

bool hole_fill_late(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		    struct flow_psn *slot)
{
	bool was_filled = slot != NULL && slot->flags & PSN_FILLED;
	bool is_hole = slot != NULL && slot->flags & PSN_MISSING;
	if (!is_hole && !was_filled)
		return false;
	uint64_t distance = (uint64_t)psn_distance(sequence->next, slot->psn);
	if (is_hole && psn_distance(sequence->next, slot->psn) > 0 &&
	    distance > stream->late_distance_max)
		stream->late_distance_max = distance;
	if (!is_hole) // it had been taken for lost when its repeat came
		blame(flow, stream, FLOW_LOSS_BEFORE, -1);
	slot->flags = (uint16_t)((slot->flags & ~(PSN_MISSING | (is_hole ? 0 : PSN_FILLED))) |
				 (is_hole ? PSN_LATE : 0));
	hole_count_late(flow, stream);
	hole_tell_repair(flow, sequence, slot->psn, FLOW_REORDER_BEFORE);
	return true;
}

void hole_count_late(struct flow *flow, struct flow_stream *stream)
{
	stream->late++;
	blame(flow, stream, FLOW_REORDER_BEFORE, 1);
}

void count_doubled(struct flow *flow, struct flow_stream *stream, uint64_t number, uint32_t psn)
{
	note(flow, stream, FLOW_NOTE_DOUBLED, number, psn, 1);
	stream->doubled++;
	blame(flow, stream, FLOW_DUPLICATE, 1);
}

// ---------------------------------------------------------------- repeats

uint16_t sequence_wanted(const struct sequence *sequence, uint32_t psn)
{
	const struct flow_psn *wanted = psn_find(sequence, sequence->expected);
	const struct flow_psn *before = psn_find(sequence, sequence->expected - 1);
	bool has_hole = psn_distance(sequence->expected, sequence->head) < 0 &&
		psn_distance(psn, sequence->expected) <= 0;
	if (!has_hole || wanted == NULL)
		return 0;
	return wanted->flags | (before != NULL ? before->flags & PSN_LATE : 0);
}

static void settle(struct flow_repair *repair, enum flow_cause cause)
{
	if (repair == NULL)
		return;
	repair->cause = (uint8_t)cause;
	repair->is_settled = true;
}

void repair_settle_timer(struct flow *flow, struct flow_stream *stream, enum flow_cause cause)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	settle(repair_at(flow, sequence->timer_repair), cause);
	blame(flow, stream, cause, 1);
	sequence->has_timer = false;
}

void repair_end_timer(struct flow *flow, struct flow_stream *stream)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	if (sequence->has_timer)
		repair_settle_timer(flow, stream,
				    sequence->timer_acks == 1 ? FLOW_LOSS_BEHIND : FLOW_TIMER);
}

static void tell_repeat(struct flow_repair *repair, const struct repeat *repeat)
{
	if (repair == NULL)
		return;
	repair->repeat = repeat->number;
	repair->repeat_ns = repeat->at_ns - repair->at_ns;
	repair->silence_ns = repeat->silence_ns;
	repair->is_settled = true;
}

// The repeat that a NAK asked for begins. What lies between the NAK's PSN and its first packet was
// lost on the way here.
static void repeat_by_nak(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			  const struct repeat *repeat)
{
	tell_repeat(repair_at(flow, sequence->nak_repair), repeat);
	int64_t lag_ns = repeat->at_ns - sequence->nak_ns;
	if (!sequence->is_rnr && (sequence->repeat_ns == 0 || lag_ns < sequence->repeat_ns))
		sequence->repeat_ns = lag_ns;
	sequence->has_nak = false;
	if (psn_distance(repeat->psn, sequence->nak_psn) <= 0)
		return;
	uint32_t from = skip_known(flow, stream, sequence, sequence->nak_psn, repeat->psn,
				   repeat->at_ns);
	hole_make(flow, stream, sequence, from, repeat->psn, repeat->at_ns);
}

void repair_keep_nak(struct sequence *sequence, uint64_t number)
{
	struct late_nak *naks = sequence->late_naks;
	if (sequence->late_nak_count == LATE_NAKS)
		memmove(naks, naks + 1, --sequence->late_nak_count * sizeof(*naks));
	naks[sequence->late_nak_count++] = (struct late_nak){number, sequence->nak_psn,
							     sequence->nak_repair};
}

// The oldest NAK whose PSN the repeat leaves out, since that was acknowledged meanwhile; else their
// count.
static uint32_t left_out(const struct sequence *sequence, uint32_t psn)
{
	const struct late_nak *naks = sequence->late_naks;
	uint32_t at = 0, count = sequence->late_nak_count;
	bool is_known = psn_distance(psn, sequence->acked) <= 0;
	while (at < count && (naks[at].number != 0 || psn_distance(psn, naks[at].psn) <= 0))
		at++;
	return is_known ? at : count;
}

bool repair_waits_for(const struct sequence *sequence, uint32_t psn)
{
	bool waits = left_out(sequence, psn) < sequence->late_nak_count;
	for (uint32_t i = 0; i < sequence->late_nak_count; i++)
		waits |= sequence->late_naks[i].psn == psn && sequence->late_naks[i].number == 0;
	return waits;
}

// Whether a NAK asked for the repeat that was answered otherwise. Those before that one were not
// heeded. What was acknowledged since then is not sent again.
static bool repeat_by_late_nak(struct flow *flow, struct flow_stream *stream,
			       struct sequence *sequence, const struct repeat *repeat)
{
	struct late_nak *naks = sequence->late_naks, nak;
	uint32_t at = 0, count = sequence->late_nak_count;
	bool is_soon = repeat->silence_ns < DOUBLED_NS;
	while (at < count && (naks[at].psn != repeat->psn || (naks[at].number != 0 && !is_soon)))
		at++;
	at = at == count && is_soon ? left_out(sequence, repeat->psn) : at;
	sequence->late_nak_count = at < count ? count - at - 1 : 0;
	if (at == count)
		return false;
	nak = naks[at];
	memmove(naks, naks + at + 1, sequence->late_nak_count * sizeof(*naks));
	if (nak.number != 0) // that was a copy
		count_doubled(flow, stream, nak.number, nak.psn);
	tell_repeat(repair_at(flow, nak.repair), repeat);
	return true;
}

// Where the responses to a stream's READs are. Where none pass here its requests stand for them.
static const struct sequence *responses_to(const struct flow *flow,
					   const struct flow_stream *stream,
					   const struct sequence *sequence)
{
	return stream->peer != 0 ? &flow->states[stream->peer - 1].responses : sequence;
}

// Later responses have passed: the request came to who answers it.
static bool is_behind_responses(const struct sequence *responses, uint32_t psn)
{
	return responses->has_begun &&
		psn_distance(psn_extend(responses->head, psn), responses->head) < 0;
}

// A READ request is made again from the first response that is missed: did that one pass here?
static void again_for_response(struct flow *flow, struct flow_stream *stream,
			       struct sequence *sequence, struct flow_repair *repair, uint32_t psn)
{
	const struct sequence *responses = responses_to(flow, stream, sequence);
	const struct flow_psn *slot = psn_find(responses, psn_extend(responses->head, psn));
	bool passed = is_behind_responses(responses, psn);
	if (slot != NULL && slot->flags & PSN_MISSING) {
		settle(repair, FLOW_LOSS_BEFORE); // counted where the hole is filled
		sequence->has_timer = false;
	} else if (responses->has_begun && !passed) {
		repair_settle_timer(flow, stream, FLOW_LOSS_BEFORE);
	} else {
		repair_settle_timer(flow, stream, FLOW_LOSS_BEHIND);
	}
}

// A repeat that nothing asked for: a timer. What the receiver had tells why, sometimes only later.
static void repeat_by_timer(struct flow *flow, struct flow_stream *stream,
			    struct sequence *sequence, const struct repeat *repeat)
{
	uint32_t index, psn = repeat->psn;
	repair_end_timer(flow, stream);
	struct flow_repair *repair = repair_add(flow, stream, &index);
	if (repair != NULL) {
		repair->is_timer = true;
		repair->psn = psn & PSN_MASK;
		repair->repeat = repeat->number;
		repair->at_ns = repeat->at_ns;
		repair->silence_ns = repeat->silence_ns;
		repair->repeat_ns = 0;
	}
	bool is_answered = psn_distance(sequence->acked, psn) > 0 ||
		(repeat->is_read && stream->peer != 0 &&
		 is_behind_responses(responses_to(flow, stream, sequence), psn));
	sequence->has_timer = true;
	sequence->timer_repair = index;
	sequence->timer_head = sequence->head;
	sequence->timer_acked = sequence->acked;
	sequence->timer_acks = 0;
	if (repeat->is_read && is_answered) {
		again_for_response(flow, stream, sequence, repair, psn);
	} else if (is_answered) {
		repair_settle_timer(flow, stream, FLOW_TIMEOUT);
	} else if (repeat->wanted & PSN_MISSING) {
		settle(repair, FLOW_LOSS_BEFORE); // counted where the hole is filled
		sequence->has_timer = false;
	} else if (repeat->wanted & PSN_BAD) {
		repair_settle_timer(flow, stream, FLOW_CORRUPT_BEFORE);
	} else if (repeat->wanted & PSN_LATE) { // out of order, as what passed before a late one is
		settle(repair, FLOW_REORDER_BEFORE);
		sequence->has_timer = false;
	} else if (repeat->wanted & PSN_SEEN) { // out of order, and its repeat did not come
		repair_settle_timer(flow, stream, FLOW_LOSS_BEFORE);
	}
}

void repeat_begin(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		  const struct repeat *repeat)
{
	if (sequence != &stream_state(flow, stream)->requests)
		return; // responses are repeated for who asks
	// A NAK acknowledges what lies before it; who waited for a receiver begins with the first
	// message that is not acknowledged, and so does who never got the NAK, by a timer.
	bool is_asked = sequence->has_nak &&
		(sequence->is_rnr || repeat->silence_ns >= DOUBLED_NS ||
		 psn_distance(repeat->psn, sequence->nak_psn) >= 0);
	if (is_asked) {
		repeat_by_nak(flow, stream, sequence, repeat);
		return; // who repeats for each of two NAKs does so twice
	}
	if (repeat_by_late_nak(flow, stream, sequence, repeat))
		return;
	bool is_soon = repeat->silence_ns < DOUBLED_NS; // no timer has run out
	if (is_soon && sequence->nak_ns != 0 && repeat->psn == sequence->nak_psn)
		return; // its sender got the NAK twice
	struct sequence *asked = stream_take_nak_beside(flow, stream, repeat->psn);
	if (asked != NULL) {
		tell_repeat(repair_at(flow, asked->nak_repair), repeat);
		asked->has_nak = asked->has_behind = false;
		return;
	}
	repeat_by_timer(flow, stream, sequence, repeat);
}
