// SPDX-License-Identifier: Apache-2.0
// What a receiver says: ACKs, NAKs and RNR NAKs of RC. A NAK names the PSN that the receiver wants.
// A go-back-N receiver that stood right at the tap would want `expected`: if the real one wants
// that, too, the loss was before the tap, for both miss it; if it wants an earlier one, that one
// passed here in its turn and was lost behind.

#include "rules.h"

#define ACKS_MIN 4 // so many that were asked for, and no other, are believed

// ---------------------------------------------------------------- what is acknowledged

static void acknowledge(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			uint32_t psn, int64_t at_ns)
{
	struct flow_psn *slot = psn_find(sequence, psn);
	bool is_read = psn_distance(psn, sequence->read_end) < 0;
	stream->acked_psns++;
	if (slot == NULL || !(slot->flags & PSN_SEEN)) {
		stream->acked_unseen += !is_read;
		sequence->message_ns = slot == NULL && is_read ? sequence->message_ns : -1;
		if (slot != NULL)
			slot->flags = PSN_ACKED;
		return;
	}
	if (slot->flags & PSN_MISSING &&
	    !sequence_is_open(sequence, psn)) { // a copy was lost that the receiver had no need of
		slot->flags = (uint16_t)((slot->flags & ~PSN_MISSING) | PSN_FILLED);
		blame(flow, stream, FLOW_LOSS_BEFORE, 1);
	}
	if (slot->flags & PSN_BEGINS) {
		sequence->message_ns = slot->first_ns;
		sequence->message_bytes = 0;
	}
	bool is_earlier = sequence->message_ns >= 0 && slot->first_ns < sequence->message_ns;
	if (is_earlier) // the first one was lost before the tap
		sequence->message_ns = slot->first_ns;
	sequence->message_bytes += slot->bytes;
	if (slot->flags & PSN_ENDS)
		message_end(flow, stream, sequence, psn, at_ns);
	slot->flags |= PSN_ACKED;
}

void answer_advance(struct flow *flow, struct flow_stream *stream, uint32_t psn, int64_t at_ns)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	for (uint32_t at = sequence->acked; psn_distance(psn, at) > 0; at++)
		acknowledge(flow, stream, sequence, at, at_ns);
	if (psn_distance(psn, sequence->acked) > 0)
		sequence->acked = psn;
	if (psn_distance(psn, sequence->expected) > 0)
		sequence->expected = psn;
}

// ---------------------------------------------------------------- ACK

// Whether what was sent again so long ago cannot have been answered yet: that takes as long as the
// soonest answer, or as the NAK for it where none came. Where stamps tell nothing, nothing speaks
// against it.
static bool is_before_answer(const struct sequence *sequence, int64_t lag_ns)
{
	int64_t soonest_ns = sequence->answer_ns > 0 ? sequence->answer_ns : sequence->behind_ns;
	return soonest_ns <= 0 || lag_ns < soonest_ns;
}

// Whether an ACK is for what the receiver had: it acknowledges what asks for that alone, and what
// it gets once more.
static bool tells_copy(const struct sequence *sequence, const struct flow_psn *slot)
{
	return !(slot->flags & PSN_ASKS) && sequence->acks_unasked == 0 &&
		sequence->acks_asked >= ACKS_MIN;
}

// Whether it may be: it mostly acknowledges what asks for that alone.
static bool may_tell_copy(const struct sequence *sequence, const struct flow_psn *slot)
{
	return !(slot->flags & PSN_ASKS) && sequence->acks_asked >= ACKS_MIN &&
		4 * sequence->acks_unasked < sequence->acks_asked;
}

// What was taken for lost behind the tap has another cause.
static void change_behind(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
			  enum flow_cause cause)
{
	struct flow_repair *repair = repair_at(flow, sequence->behind_repair);
	blame(flow, stream, sequence->is_behind_open ? FLOW_GONE_BEHIND : FLOW_LOSS_BEHIND, -1);
	blame(flow, stream, cause, 1);
	sequence->is_behind_open = cause == FLOW_GONE_BEHIND;
	if (repair != NULL)
		repair->cause = (uint8_t)cause;
}

void answer_doubt(struct flow *flow, struct flow_stream *stream, struct sequence *sequence)
{
	if (sequence->has_behind && !sequence->is_behind_open)
		change_behind(flow, stream, sequence, FLOW_GONE_BEHIND);
}

// The receiver has all up to `psn`. If that is what its last NAK wanted, and no repeat can have
// brought it, it came by itself, late. After a repeat that is so if another NAK wants the very next
// one: it has not got what was sent behind the late one, and so nothing of the repeat. It is also
// so if the ACK is for a copy, the repeat's, or for more than was repeated.
static bool tell_late(struct flow *flow, struct flow_stream *stream, uint32_t psn, int64_t at_ns,
		      bool is_nak)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t wanted = sequence->behind_psn;
	const struct flow_psn *slot = psn_find(sequence, wanted);
	if (!sequence->has_behind || psn_distance(psn, wanted) < 0)
		return false;
	sequence->has_behind = !is_nak && psn == wanted; // a NAK may tell
	if (slot == NULL)
		return false;
	bool is_open = sequence_is_open(sequence, wanted);
	int64_t lag_ns = at_ns - (is_open ? sequence->pending_ns : slot->last_ns);
	bool is_repeated = is_open || slot->copies != sequence->behind_copies;
	bool wants_next = is_nak && psn == wanted;
	bool is_once = slot->copies <= sequence->behind_copies + 1; // else it has the repeat twice
	if (!is_nak && psn == wanted && is_once && may_tell_copy(sequence, slot))
		answer_doubt(flow, stream, sequence);
	const struct flow_psn *newest = psn_find(sequence, psn);
	bool is_alone = stream->late == sequence->behind_late &&
		(psn == wanted ||
		 (stream->doubled == sequence->behind_doubled && !sequence_is_open(sequence, psn)));
	bool had_it = !is_nak && newest != NULL && is_once && is_alone &&
		tells_copy(sequence, newest);
	bool is_first = is_open && sequence->is_pending &&
		slot->copies == (uint16_t)(sequence->behind_copies + 1);
	uint32_t repeated = is_first ? sequence->pending_to : sequence->next;
	bool is_beyond = !is_nak && !sequence->has_timer && is_once &&
		psn_distance(psn, repeated) >= 0;
	if (is_repeated && !had_it && !is_beyond &&
	    !(wants_next && is_before_answer(sequence, lag_ns)))
		return false;
	sequence->has_behind = false;
	bool is_soon = is_repeated && !had_it && !is_beyond;
	if (is_soon && sequence->answer_ns <= 0 && sequence->soon_nak_count < SOON_NAKS)
		sequence->soon_naks[sequence->soon_nak_count++] = (struct soon_nak){
			lag_ns, sequence->behind_repair, 0};
	bool is_open_cause = !is_repeated && sequence->behind_crossed;
	change_behind(flow, stream, sequence,
		      is_open_cause ? FLOW_GONE_BEHIND : FLOW_REORDER_BEHIND);
	sequence->was_behind = true;
	return true;
}

// The receiver has what it wanted, and nothing had been repeated here.
static void answer_open_nak(struct flow *flow, struct flow_stream *stream, uint32_t psn)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	if (!sequence->has_nak || psn_distance(psn, sequence->nak_psn) < 0 ||
	    sequence_is_open(sequence, sequence->nak_psn))
		return;
	struct flow_repair *repair = repair_at(flow, sequence->nak_repair);
	if (repair != NULL)
		repair->is_settled = true;
	sequence->has_nak = false;
	repair_keep_nak(sequence, 0);
}

// What a timer repeated is acknowledged. An ACK beyond what was repeated so far shows that the
// receiver had it. Else it had it if it answers twice: for the first copies, and for the repeat.
static void answer_timer(struct flow *flow, struct flow_stream *stream, uint32_t psn)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	if (!sequence->has_timer || psn_distance(psn, sequence->acked) < -1)
		return;
	int32_t ahead = psn_distance(psn, sequence->timer_head - 1);
	sequence->timer_acks += ahead == 0;
	if (psn_distance(psn, sequence->next) >= 0 || sequence->timer_acks == 2)
		repair_settle_timer(flow, stream, FLOW_TIMEOUT);
	else if (ahead > 0)
		repair_settle_timer(flow, stream, FLOW_LOSS_BEHIND);
}

static void settle_behind(struct flow *flow, uint32_t index)
{
	struct flow_repair *repair = repair_at(flow, index);
	if (repair != NULL && repair->cause == FLOW_REORDER_BEHIND)
		repair->cause = FLOW_LOSS_BEHIND;
}

// NAKs that an answer has shown not to have been too soon: both PSNs were lost.
static void settle_soon_naks(struct flow *flow, struct flow_stream *stream,
			     struct sequence *sequence)
{
	uint32_t count = sequence->soon_nak_count;
	if (sequence->answer_ns <= 0) // stamps do not tell
		return;
	sequence->soon_nak_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct soon_nak nak = sequence->soon_naks[i];
		if (nak.lag_ns < sequence->answer_ns) {
			sequence->soon_naks[sequence->soon_nak_count++] = nak;
			continue;
		}
		settle_behind(flow, nak.before_repair);
		settle_behind(flow, nak.repair);
		blame(flow, stream, FLOW_REORDER_BEHIND, -1);
		blame(flow, stream, FLOW_LOSS_BEHIND, 2);
	}
}

static void take_lag(struct flow *flow, struct flow_stream *stream, struct sequence *sequence,
		     const struct flow_psn *slot, int64_t lag_ns)
{
	bool is_least = sequence->answer_ns == 0 || lag_ns < sequence->answer_ns;
	if (is_least && slot->copies == 1) { // else it may be the answer to another copy
		sequence->answer_ns = lag_ns;
		settle_soon_naks(flow, stream, sequence);
	}
	flow_lag(&flow->report.ack, lag_ns);
}

// Does the receiver acknowledge what does not ask for it? In the midst of a repeat it may be what
// it gets once more.
static void take_asked(struct sequence *sequence, const struct flow_psn *slot)
{
	bool asks = slot->flags & PSN_ASKS;
	if (slot->copies > 1) // it may be for any of them
		return;
	sequence->acks_asked += asks;
	sequence->acks_unasked += !asks && sequence->next == sequence->head;
}

void answer_ack(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t psn = psn_extend(sequence->head, packet->record->psn);
	const struct flow_psn *slot = psn_find(sequence, psn);
	sequence_settle_by_answer(flow, stream, sequence);
	tell_late(flow, stream, psn, packet->at_ns, false);
	answer_open_nak(flow, stream, psn);
	bool is_news = psn_distance(psn, sequence->acked) >= 0 && slot != NULL;
	if (is_news)
		take_asked(sequence, slot);
	if (is_news && slot->flags & PSN_ASKS)
		take_lag(flow, stream, sequence, slot, packet->at_ns - slot->last_ns);
	answer_timer(flow, stream, psn);
	answer_advance(flow, stream, psn + 1, packet->at_ns);
}

// ---------------------------------------------------------------- NAK

// Whether a NAK was under way, or may have been, when the last copy of its PSN passed.
static bool may_have_crossed(const struct sequence *sequence, const struct flow_psn *slot,
			     int64_t at_ns)
{
	return slot != NULL && slot->flags & PSN_SEEN &&
		sequence_is_soon(sequence, at_ns - slot->last_ns);
}

// Whether it filled a hole that the receiver had been shown, and nothing has passed since that
// would show it another one.
static bool has_just_filled(const struct sequence *sequence, const struct flow_psn *slot)
{
	const uint16_t flags = PSN_FILLED | PSN_SHOWN;
	return slot != NULL && (slot->flags & flags) == flags && sequence->next == slot->psn + 1 &&
		!sequence->has_leap && !sequence->has_second;
}

// Where the PSN that a receiver wants was lost.
static enum flow_cause place_loss(struct flow *flow, struct flow_stream *stream, uint32_t psn,
				  const struct flow_packet *packet, int64_t *ret_passed_ns)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	const struct flow_psn *slot = psn_find(sequence, psn);
	if (slot != NULL && slot->flags & PSN_BAD) {
		blame(flow, stream, FLOW_CORRUPT_BEFORE, 1);
		return FLOW_CORRUPT_BEFORE;
	}
	if (slot != NULL && slot->flags & PSN_LATE)
		return FLOW_REORDER_BEFORE; // missed when it was overtaken, and here by now
	const struct flow_psn *before = psn_find(sequence, psn - 1);
	bool was_late = (slot != NULL && slot->flags & PSN_WAS_LATE) ||
		(before != NULL && before->flags & (PSN_LATE | PSN_WAS_LATE));
	if (was_late && may_have_crossed(sequence, slot, packet->at_ns))
		return FLOW_REORDER_BEFORE; // the late one came, what followed it had been too
					    // early
	bool is_wanted_here = psn_distance(psn, sequence->expected) >= 0;
	bool was_thrown_away = slot != NULL && (slot->flags & (PSN_SEEN | PSN_MISSING)) == PSN_SEEN;
	uint16_t lateness = PSN_LATE | (is_wanted_here ? PSN_WAS_LATE : 0);
	if (was_thrown_away && before != NULL && before->flags & lateness)
		return FLOW_REORDER_BEFORE; // what passed before a late one was out of order
	bool fills_hole = slot != NULL && slot->flags & PSN_MISSING &&
		sequence_is_open(sequence, psn);
	fills_hole |= has_just_filled(sequence, slot);
	bool is_early = slot == NULL && psn_distance(psn, sequence->low) < 0; // not seen here
	if (is_wanted_here || fills_hole || is_early)
		return FLOW_LOSS_BEFORE; // counted where the hole is filled
	if (slot != NULL && slot->flags & PSN_SEEN)
		*ret_passed_ns = packet->at_ns - slot->last_ns;
	sequence->expected = psn;
	blame(flow, stream, FLOW_LOSS_BEHIND, 1);
	return FLOW_LOSS_BEHIND;
}

// It may turn out that it was not lost. If its last copy may not have come when the NAK left, that
// one may bring it.
static void remember_behind(const struct flow_stream *stream, struct sequence *sequence,
			    uint32_t psn, int64_t at_ns, uint32_t repair)
{
	const struct flow_psn *slot = psn_find(sequence, psn);
	const struct flow_psn *next = psn_find(sequence, psn + 1); // which a NAK mostly answers
	sequence->behind_ns = next != NULL && next->flags & PSN_SEEN ? at_ns - next->last_ns : 0;
	sequence->has_behind = true;
	sequence->is_behind_open = false;
	sequence->behind_psn = psn;
	sequence->behind_crossed = slot != NULL && slot->copies > 1 && sequence->answer_ns > 0 &&
		may_have_crossed(sequence, slot, at_ns);
	sequence->behind_copies = slot != NULL ? slot->copies : 0;
	sequence->behind_doubled = stream->doubled;
	sequence->behind_late = stream->late;
	sequence->behind_repair = repair;
}

// A NAK once more. A copy of the network has the identification of the first one; without any
// nobody knows.
static void take_twice(struct flow *flow, const struct flow_stream *stream,
		       const struct flow_packet *packet)
{
	const struct sequence *sequence = &stream_state(flow, stream)->requests;
	const struct flow_psn *slot = psn_find(sequence, sequence->nak_psn);
	bool has_come = slot != NULL && slot->flags & PSN_SEEN && slot->last_ns >= sequence->nak_ns;
	uint16_t id = packet->record->identification;
	if (!has_come && id != 0 && sequence->nak_id != 0 && id != sequence->nak_id)
		rules_broken(flow, stream, FLOW_RULE_NAK_TWICE, packet->number);
}

// How long a NAK comes behind the packet after the one that it wants, at most.
static void take_nak_lag(struct sequence *sequence, uint32_t psn, int64_t at_ns)
{
	const struct flow_psn *next = psn_find(sequence, psn + 1);
	int64_t lag_ns = next != NULL && next->copies == 1 ? at_ns - next->first_ns : 0;
	if (lag_ns > sequence->nak_lag_ns)
		sequence->nak_lag_ns = lag_ns;
}

// The receiver wants the PSN behind that of its last NAK, and the two packets after it passed too
// long ago for one of them to tell it so: until then it may have waited for the repeat of the one
// before, which was overtaken, or all three were lost. Where packets behind the tap overtake, that
// repeat may have changed places with this PSN alone.
static bool has_waited(const struct flow_stream *stream, const struct sequence *sequence,
		       uint32_t psn, int64_t at_ns)
{
	const struct flow_psn *slot = psn_find(sequence, psn),
			      *second = psn_find(sequence, psn + 2);
	bool is_behind = slot != NULL && second != NULL && second->last_ns > slot->last_ns;
	bool is_slow = sequence->nak_lag_ns > 0 && is_behind &&
		at_ns - second->last_ns > sequence->nak_lag_ns;
	return psn == sequence->nak_psn + 1 && (is_slow || stream->causes[FLOW_REORDER_BEHIND] > 0);
}

void answer_nak(struct flow *flow, struct flow_stream *stream, const struct flow_packet *packet,
		bool is_rnr)
{
	struct sequence *sequence = &stream_state(flow, stream)->requests;
	uint32_t psn = psn_extend(sequence->head, packet->record->psn);
	sequence_settle_by_answer(flow, stream, sequence);
	bool is_same = sequence->has_nak && sequence->nak_psn == psn;
	// A later answer overtook it, which told that its PSN had arrived.
	bool is_overtaken = !is_rnr && psn_distance(sequence->acked, psn) > 0 &&
		psn_distance(psn, sequence->low) >= 0;
	uint32_t expected = sequence->expected;
	answer_advance(flow, stream, psn, packet->at_ns);
	if (is_same && !is_rnr && !sequence->is_rnr)
		take_twice(flow, stream, packet);
	if (is_same)
		return; // it says so once more
	enum flow_cause cause = FLOW_NOT_READY;
	int64_t passed_ns = -1;
	uint32_t soon = sequence->soon_nak_count;
	bool was_late = tell_late(flow, stream, psn - 1, packet->at_ns, true) ||
		(sequence->was_behind && psn == sequence->behind_psn + 1);
	sequence->was_behind = false;
	if (was_late && !is_rnr) { // what came before the late one was thrown away
		cause = FLOW_REORDER_BEHIND;
		sequence->expected = psn;
	} else if (is_rnr) {
		sequence->expected = psn;
		blame(flow, stream, cause, 1);
	} else {
		cause = place_loss(flow, stream, psn, packet, &passed_ns);
	}
	if (sequence->has_timer)
		repair_settle_timer(flow, stream, cause);
	uint32_t index;
	struct flow_repair *repair = repair_add(flow, stream, &index);
	if (sequence->soon_nak_count > soon)
		sequence->soon_naks[soon].repair = index;
	if (repair != NULL) {
		repair->cause = (uint8_t)cause;
		repair->psn = psn & PSN_MASK;
		repair->number = packet->number;
		repair->at_ns = packet->at_ns;
		repair->passed_ns = passed_ns;
	}
	if (is_overtaken) {
		sequence->expected = expected;
		return;
	}
	if (sequence->has_nak && !sequence->is_rnr) // the repeat that it asked for is on its way
		repair_keep_nak(sequence, 0);
	bool waited = has_waited(stream, sequence, psn, packet->at_ns);
	if (cause == FLOW_LOSS_BEHIND)
		remember_behind(stream, sequence, psn, packet->at_ns, index);
	if (cause == FLOW_LOSS_BEHIND && waited)
		answer_doubt(flow, stream, sequence);
	if (!is_rnr && !waited && !was_late)
		take_nak_lag(sequence, psn, packet->at_ns);
	sequence->has_nak = true;
	sequence->nak_repair = index;
	sequence->nak_psn = psn;
	sequence->is_rnr = is_rnr;
	sequence->is_nak_ignored = false;
	sequence->nak_ns = packet->at_ns;
	sequence->nak_id = packet->record->identification;
}
