// SPDX-License-Identifier: Apache-2.0
// Without identifications: a packet that steps back, or jumps ahead of a repeat, waits for the next
// one, which tells whether it was late, doubled, or the first of a repeat.

#include "sequence.h"

// The first packet of a response: PSNs between it and the response before belong to requests of the
// other kinds, which are answered by ACKs.
bool packet_begins_response(const struct flow_packet *packet)
{
	uint8_t operation = packet->record->opcode & 31;
	return operation == 0x0d || operation == 0x10 || operation == 0x12;
}

bool packet_is_read(const struct flow_packet *packet)
{
	return (packet->record->opcode & 31) == 0x0c;
}

// The stream began before the first packet that passed here: a receiver waited for it.
static void begin_earlier(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			  uint32_t psn)
{
	note(flow, stream, FLOW_NOTE_LATE, sequence->pending_number, psn, 1);
	hole_count_late(flow, stream);
	hole_tell_repair(flow, sequence, psn, FLOW_REORDER_BEFORE);
	if (sequence->pending_is_again && !sequence->pending_is_read) { // it was not seen before
		stream->again--;
		stream->again_bytes -= sequence->pending_slot.bytes;
		stream->begun += (sequence->pending_slot.flags & PSN_BEGINS) != 0;
		sequence->pending_class->again--;
	}
	sequence->low = psn;
	sequence->expected = psn + 1;
	if (sequence->acked == psn + 1)
		sequence->acked = psn;
	struct flow_psn *slot = psn_slot(flow, sequence, psn);
	if (slot == NULL)
		return;
	*slot = sequence->pending_slot;
	slot->psn = psn;
	slot->flags |= PSN_LATE;
}

// [from, to), of which packet `number` was the first, came by themselves.
static void fill_late(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		      uint64_t number, uint32_t from, uint32_t to)
{
	note(flow, stream, FLOW_NOTE_LATE, number, from, to - from);
	for (uint32_t psn = from; psn != to; psn++) {
		struct flow_psn *slot = psn_find(sequence, psn);
		if (slot != NULL && slot->flags & PSN_MISSING)
			hole_fill_late(flow, stream, sequence, slot);
	}
	if (psn_distance(from, sequence->next) > 0)
		sequence_expect_nak(sequence, sequence->last_ns);
}

// In the midst of a repeat the packets up to `psn` were lost once more.
static void leap_to(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		    uint64_t number, uint32_t psn, int64_t at_ns)
{
	hole_jump(flow, stream, sequence, number, psn, at_ns);
	hole_fill(flow, stream, psn_find(sequence, psn));
	sequence->next = psn + 1;
}

// Whether the packet before this one passed as often, so that each repeat may have had it. A copy
// that was lost does not count.
static bool is_as_often(const struct sequence *sequence, const struct flow_psn *slot)
{
	const struct flow_psn *before = slot == NULL ? NULL : psn_find(sequence, slot->psn - 1);
	return before != NULL && slot->copies <= before->copies && !(slot->flags & PSN_FILLED);
}

static bool is_in_repeat(const struct sequence *sequence)
{
	return psn_distance(sequence->next, sequence->head) < 0;
}

// Whether its neighbours passed one behind the other between its last two copies.
static bool is_passed_over(const struct sequence *sequence, const struct flow_psn *slot,
			   const struct flow_psn *after)
{
	const struct flow_psn *before = psn_find(sequence, slot->psn - 1);
	return before != NULL && slot->copies > 1 &&
		sequence->pending_passed_ns < before->last_ns && before->last_ns < after->last_ns;
}

// Whether a repeat left it out: in its midst what follows has passed as often, which may be the
// next packet; at any time both neighbours have, or came without it.
static bool is_left_out(const struct sequence *sequence, const struct flow_psn *slot, uint32_t next)
{
	const struct flow_psn *after = slot == NULL ? NULL : psn_find(sequence, slot->psn + 1);
	if (after == NULL)
		return false;
	if (is_passed_over(sequence, slot, after))
		return true;
	bool is_often = is_as_often(sequence, slot);
	bool is_after = is_often && next == after->psn;
	return (is_in_repeat(sequence) && slot->copies <= after->copies + is_after) ||
		(is_often && slot->copies <= after->copies);
}

#define PAUSE_STEPS 4 // no repeat pauses so long behind its first packet

// The one that waits came right behind others, and once more after a longer while, in which a
// repeat would have gone on, or sooner than any repeat after its NAK: the second one begins a
// repeat, and the first was late.
static bool comes_again(const struct sequence *sequence, uint32_t next)
{
	int64_t pause_ns = sequence->now_ns - sequence->last_ns;
	bool is_late = pause_ns > 2 * sequence->pending_silence_ns ||
		(sequence->step_ns > 0 && pause_ns > PAUSE_STEPS * sequence->step_ns);
	bool is_soon = sequence->has_nak && !sequence->is_rnr &&
		sequence->pending_ns - sequence->nak_ns < sequence->repeat_ns;
	return next == sequence->pending_from && (is_late || is_soon);
}

// Whether nothing tells if the one that waits, which comes once more at once, was late or is a
// repeat that was doubled: most packets have the stamp of the one before, and these two as well.
static bool is_hidden_by_stamps(const struct flow *flow, const struct sequence *sequence,
				uint32_t next)
{
	const struct flow_totals *totals = &flow->report.totals;
	return next == sequence->pending_from && sequence->pending_to - next == 1 &&
		sequence->now_ns == sequence->last_ns &&
		2 * (totals->same_stamp + totals->untimed) > totals->frames;
}

// What had passed before and jumped over the one that waits comes once more: that was a copy.
static bool leapt_twice(const struct sequence *sequence, uint32_t to, uint32_t next)
{
	return next == to && next == sequence->leap_psn && !sequence->leap_lacks &&
		psn_distance(sequence->next, next) == 1;
}

// Whether a NAK that is not answered yet asked for a repeat that begins there.
static bool is_wanted(const struct sequence *sequence, uint32_t psn)
{
	return (sequence->has_nak &&
		(sequence->is_rnr || psn_distance(psn, sequence->nak_psn) == 0)) ||
		repair_waits_for(sequence, psn);
}

static void withhold_copy(struct flow *flow, struct flow_stream *stream, uint64_t number,
			  uint32_t psn)
{
	note(flow, stream, FLOW_NOTE_COPY_OR_LATE, number, psn, 1);
	blame(flow, stream, FLOW_COPY_OR_LATE, 1);
}

// What filled the hole was late, or what was there was lost: NAKs for what was thrown away may come
// either way.
static void withhold_loss(struct flow *flow, struct flow_stream *stream,
			  const struct sequence *sequence, struct flow_psn *slot)
{
	slot->flags = (uint16_t)((slot->flags & ~PSN_MISSING) | PSN_LATE);
	blame(flow, stream, FLOW_GONE_BEFORE, 1);
	hole_tell_repair(flow, sequence, slot->psn, FLOW_GONE_BEFORE);
}

// What jumped ahead is a copy, unless what a NAK asked for begins at `next`: then a repeat was cut
// short there.
static void tell_copy(struct flow *flow, struct flow_stream *stream,
		      const struct sequence *sequence, uint32_t psn, uint32_t next)
{
	if (is_wanted(sequence, next))
		withhold_copy(flow, stream, sequence->leap_number, psn);
	else
		count_doubled(flow, stream, sequence->leap_number, psn);
}

// What waits is a copy, the end of a repeat that another one cut short, the beginning of one that
// was asked for, whose first packet is late, or of any, if what comes next is late.
static void take_copy(struct flow *flow, struct flow_stream *stream,
		      const struct sequence *sequence, const struct flow_psn *slot, uint32_t next)
{
	uint32_t psn = sequence->pending_from;
	if (is_in_repeat(sequence) &&
	    (is_as_often(sequence, slot) || is_wanted(sequence, psn - 1) ||
	     psn_distance(next, sequence->next) > 0)) {
		withhold_copy(flow, stream, sequence->pending_number, psn);
		return;
	}
	count_doubled(flow, stream, sequence->pending_number, psn);
	stream->again += sequence->pending_is_read; // count() leaves reads out
}

static void settle_one(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		       uint32_t next)
{
	sequence->is_pending = false;
	uint32_t from = sequence->pending_from, to = sequence->pending_to;
	struct flow_psn *slot = psn_find(sequence, from);
	bool is_lone = next != to && next != from && sequence->has_nak && !sequence->is_rnr &&
		next == sequence->nak_psn; // the repeat that was asked for begins there
	bool goes_on = psn_distance(next, sequence->next) >= 0 || is_lone;
	bool goes_back = psn_distance(next, from) < 0; // a repeat begins there, not here
	bool is_one = to - from == 1;
	bool is_hole = slot != NULL && slot->flags & PSN_MISSING;
	if ((goes_on || goes_back || comes_again(sequence, next)) && is_hole) {
		fill_late(flow, stream, sequence, sequence->pending_number, from, to);
		return;
	}
	if (is_hole && is_hidden_by_stamps(flow, sequence, next)) {
		withhold_loss(flow, stream, sequence, slot);
		return;
	}
	bool is_soon = sequence->pending_silence_ns < DOUBLED_NS;
	if (is_hole && is_one && is_soon && leapt_twice(sequence, to, next)) {
		slot->flags &= (uint16_t)~PSN_MISSING;
		tell_copy(flow, stream, sequence, next, from);
		sequence->next = to;
		return;
	}
	bool is_early = psn_distance(from, sequence->low) < 0; // before the first one here
	if ((goes_on || goes_back) && is_one && is_soon && is_early) {
		begin_earlier(flow, stream, sequence, from);
		return;
	}
	// A copy of what filled the hole, which no NAK asked for since, and the repeat goes on.
	bool is_right_behind = from == sequence->next - 1 && next == sequence->next &&
		slot != NULL && sequence->nak_ns <= slot->first_ns;
	if ((goes_on || goes_back) && is_one && is_soon && !is_right_behind &&
	    hole_fill_late(flow, stream, sequence, slot)) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->pending_number, from, 1);
		return;
	}
	bool is_far = psn_distance(sequence->next, from) > 2; // as a repeat it lacks all between
	bool is_asked = is_wanted(sequence, from);
	bool is_copied = sequence->pending_is_again && (!is_asked || is_far);
	// Right behind its original, and a repeat from farther back comes next.
	bool is_echo = goes_back && !is_far && !is_asked;
	// Of two late ones in a row, the second farther back, this is the first.
	bool is_behind = goes_back && !is_asked && is_left_out(sequence, slot, next);
	bool may_be_copy = (goes_on || is_echo || is_behind) && is_one && is_soon &&
		sequence->pending_is_again;
	// Asked for, it was sent once more than the repeat that went on from it shows.
	if (may_be_copy && is_copied && (is_asked || is_left_out(sequence, slot, next))) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->pending_number, from, 1);
		hole_count_late(flow, stream);
		return;
	}
	if (may_be_copy && is_copied) {
		take_copy(flow, stream, sequence, slot, next);
		return;
	}
	for (uint32_t psn = from; psn != to; psn++)
		hole_fill(flow, stream, psn_find(sequence, psn));
	bool waits = repair_waits_for(sequence, from); // for an earlier NAK
	if (may_be_copy && sequence->has_nak && !sequence->is_rnr &&
	    !waits) // it is if another repeat begins here
		repair_keep_nak(sequence, sequence->pending_number);
	struct repeat repeat = {sequence->pending_number,     sequence->pending_ns,
				sequence->pending_silence_ns, from,
				sequence->pending_is_read,    sequence->pending_wanted};
	repeat_begin(flow, stream, sequence, &repeat);
	sequence->next = to;
}

static bool is_first_hole(const struct sequence *sequence)
{
	const struct flow_psn *first = psn_find(sequence, sequence->pending_from);
	return first != NULL && first->flags & PSN_MISSING;
}

// The first of two is late, or the next packet tells what it was; the second one waits now.
static void shift_second(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			 uint32_t next)
{
	if (is_first_hole(sequence))
		fill_late(flow, stream, sequence, sequence->pending_number, sequence->pending_from,
			  sequence->pending_to);
	else
		settle_one(flow, stream, sequence, next);
	sequence->has_second = false;
	sequence->is_pending = true;
	sequence->pending_from = sequence->second_psn;
	sequence->pending_to = sequence->second_psn + 1;
	sequence->pending_number = sequence->second_number;
	sequence->pending_ns = sequence->second_ns;
	sequence->pending_silence_ns = sequence->second_silence_ns;
	sequence->pending_passed_ns = sequence->second_passed_ns;
	sequence->pending_wanted = sequence_wanted(sequence, sequence->second_psn);
}

// What waited for the next packet is decided: `next` is where the stream goes on.
void sequence_settle(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		     uint32_t next)
{
	uint32_t second = sequence->second_psn;
	bool goes_on = sequence->has_second && next == sequence->pending_to;
	bool leaps = sequence->has_second && next == second + 1 && next != sequence->next;
	uint32_t after = !leaps ? next : is_first_hole(sequence) ? sequence->pending_to : second;
	if (sequence->has_second && !goes_on && !leaps)
		shift_second(flow, stream, sequence, next);
	sequence->has_second = false;
	if (sequence->is_pending)
		settle_one(flow, stream, sequence, after);
	if (goes_on) // a repeat, and in its midst a late one
		fill_late(flow, stream, sequence, sequence->second_number, second, second + 1);
	if (leaps)
		leap_to(flow, stream, sequence, sequence->second_number, second,
			sequence->second_ns);
}

bool sequence_is_open(const struct sequence *sequence, uint32_t psn)
{
	bool is_pending = sequence->is_pending && psn_distance(psn, sequence->pending_from) >= 0 &&
		psn_distance(psn, sequence->pending_to) < 0;
	bool is_second = sequence->has_second && sequence->second_psn == psn;
	return is_pending || is_second || (sequence->has_leap && sequence->leap_psn == psn);
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
// one of those before the repeat, which may have been a repeat, too, or a copy.
static bool is_leap(const struct arrival *arrival)
{
	const struct sequence *sequence = arrival->sequence;
	bool is_repeat = psn_distance(sequence->next, sequence->head) < 0;
	return is_repeat && psn_distance(arrival->psn, sequence->next) > 0 &&
		arrival->slot != NULL && !packet_begins_response(arrival->packet);
}

// What jumped ahead had passed before. A late one is of a repeat that another one cut short: the
// packet before it, which came in time, has passed as often. Else it is a copy if the repeat goes
// on where it was. False: the packets between were lost.
static bool settle_again(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			 const struct flow_psn *slot, uint32_t next)
{
	const struct flow_psn *before = psn_find(sequence, slot->psn - 1);
	bool is_late = before != NULL && slot->copies <= before->copies;
	bool goes_on = next == sequence->next && slot->psn != next + 1; // those two may be swapped
	if (is_late) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->leap_number, slot->psn, 1);
		hole_count_late(flow, stream);
		sequence_expect_nak(sequence, sequence->leap_ns);
	} else if (goes_on) {
		tell_copy(flow, stream, sequence, slot->psn, next);
	}
	return is_late || goes_on;
}

void sequence_settle_leap(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			  uint32_t next)
{
	if (!sequence->has_leap)
		return;
	sequence->has_leap = false;
	uint32_t psn = sequence->leap_psn;
	struct flow_psn *slot = psn_find(sequence, psn);
	bool lacks = sequence->leap_lacks || slot == NULL;
	if (next != psn + 1 && !lacks && settle_again(flow, stream, sequence, slot, next))
		return;
	// The last new one of a repeat that lacks the packet before it: what a NAK asked for is
	// next.
	bool is_end = psn == sequence->leap_head && psn_distance(psn, sequence->next) == 1 &&
		is_wanted(sequence, next);
	if (next != psn + 1 && lacks && !is_end) {
		note(flow, stream, FLOW_NOTE_LATE, sequence->leap_number, psn, 1);
		sequence_expect_nak(sequence, sequence->leap_ns);
		bool is_new = psn_distance(psn, sequence->leap_head) >= 0;
		if (is_new)
			hole_make(flow, stream, sequence, sequence->leap_head, psn,
				  sequence->leap_ns);
		if (!hole_fill_late(flow, stream, sequence, slot))
			hole_count_late(flow, stream);
		return;
	}
	leap_to(flow, stream, sequence, sequence->leap_number, psn, sequence->leap_ns);
}

// Whether the packet fills a hole above the one that waits, which fills one as well, or may begin a
// repeat that a NAK asked for: then it waits, too.
static bool is_second(const struct arrival *arrival)
{
	const struct sequence *sequence = arrival->sequence;
	uint32_t above = sequence->has_second ? sequence->second_psn : sequence->pending_to;
	bool is_asked = !sequence->has_second && arrival->psn != sequence->next &&
		is_wanted(sequence, sequence->pending_from);
	return psn_distance(arrival->psn, above) > 0 && arrival->slot != NULL &&
		arrival->slot->flags & PSN_MISSING && (is_first_hole(sequence) || is_asked);
}

static void keep_second(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	if (sequence->has_second)
		shift_second(flow, arrival->stream, sequence, arrival->psn);
	sequence->has_second = true;
	sequence->second_psn = arrival->psn;
	sequence->second_number = arrival->packet->number;
	sequence->second_ns = arrival->packet->at_ns;
	sequence->second_silence_ns = arrival->packet->at_ns - sequence->last_ns;
	sequence->second_passed_ns = arrival->slot->last_ns;
}

// Whether the packet waits for the next one. False: what waited is decided.
bool sequence_waits(struct flow *flow, struct arrival *arrival)
{
	struct sequence *sequence = arrival->sequence;
	uint32_t psn = arrival->psn;
	bool is_hole = arrival->slot != NULL && arrival->slot->flags & PSN_MISSING;
	if (sequence->is_pending) {
		bool goes_on = psn == sequence->pending_to && psn != sequence->next;
		if (goes_on && is_first_hole(sequence) && is_hole && !sequence->has_second) {
			sequence->pending_to = psn + 1;
			return true;
		}
		if (is_second(arrival)) {
			keep_second(flow, arrival);
			return true;
		}
		// A repeat that goes on with what was seen: the step back was one.
		sequence_settle(flow, arrival->stream, sequence, psn);
	}
	if (is_leap(arrival)) {
		sequence->has_leap = true;
		sequence->leap_lacks = psn_distance(psn, sequence->head) >= 0 ||
			arrival->slot->flags & (PSN_MISSING | PSN_FILLED);
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
	sequence->pending_passed_ns = arrival->slot != NULL ? arrival->slot->last_ns : 0;
	sequence->pending_is_read = packet_is_read(arrival->packet);
	sequence->pending_is_again = arrival->is_again;
	sequence->pending_wanted = sequence_wanted(sequence, psn);
	sequence->pending_class = totals_class(flow, arrival->packet->record);
	sequence->pending_slot = (struct flow_psn){0};
	psn_keep(&sequence->pending_slot, arrival->packet);
	return true;
}
