// SPDX-License-Identifier: Apache-2.0
// PSNs that were stepped over: a repeat fills what was lost, and what was overtaken comes by
// itself.

#include "sequence.h"

uint32_t hole_make(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		   uint32_t from, uint32_t to, int64_t at_ns)
{
	uint32_t missing = 0;
	for (uint32_t psn = from; psn != to; psn++) {
		bool is_new = psn_distance(psn, sequence->head) >= 0;
		bool may_be_read = psn_distance(psn, sequence->read_end) < 0;
		if (may_be_read)
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
		slot->flags |= PSN_MISSING;
		if (is_new)
			slot->first_ns = slot->last_ns = at_ns;
	}
	return missing;
}

// Packet `number` has `psn`, above the next one.
void hole_jump(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
	       uint64_t number, uint32_t psn, int64_t at_ns)
{
	uint32_t from = sequence->next;
	for (; sequence->strays > 0 && from != psn; from++, sequence->strays--) {
		struct flow_psn *slot = psn_slot(flow, sequence, from);
		if (slot != NULL)
			slot->flags |= PSN_BAD; // that was it
	}
	sequence->strays = 0;
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

void hole_tell_repair(struct flow *flow, const struct sequence *sequence, uint32_t psn)
{
	bool is_asked = sequence->has_nak && sequence->nak_psn == psn;
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	if (is_asked && repair != NULL && repair->cause == FLOW_LOSS_BEFORE)
		repair->cause = FLOW_REORDER_BEFORE;
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
	if (is_hole)
		hole_tell_repair(flow, sequence, slot->psn);
	return true;
}

void hole_count_late(struct flow *flow, struct flow_stream *stream)
{
	stream->late++;
	blame(flow, stream, FLOW_REORDER_BEFORE, 1);
}
