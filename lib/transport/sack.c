// SPDX-License-Identifier: Apache-2.0
// Reading a SACK: the cumulative ack moves una and completes work requests in posting order, the
// bitmap takes single PSNs out of flight, the echo feeds path and congestion control. A clear bit
// means "no information", not "lost". The cumulative ack is the last PSN of which it and all before
// were received.
#include "sack.h"

#include "requester.h"
#include "retransmit.h"

static void complete_oldest(struct endpoint *endpoint, struct qp *qp)
{
	const struct send *send = &qp->sends[qp->send_done++ & endpoint->sends_mask];
	struct completion completion = {
		.kind = COMPLETION_SENT,
		.qp = qp->number,
		.cookie = send->cookie,
		.bytes = send->bytes,
		.posted_at = send->posted_at,
	};
	check(psn_distance(qp->send_at, qp->send_done) >= 0);
	qp->wimm_count -= send->has_imm;
	endpoint->counters.messages_sent++;
	endpoint_complete(endpoint, &completion);
}

// Takes a PSN that the responder has now out of flight, or off the list of the lost.
static void settle(struct endpoint *endpoint, struct qp *qp, uint32_t psn, uint32_t wire_bytes)
{
	uint32_t bit = psn & endpoint->mpr_mask;
	uint32_t sent_at = qp->slots[bit].sent_at;
	if ((int32_t)(sent_at - qp->newest_sent) > 0)
		qp->newest_sent = sent_at;
	if (qp->lost_count > 0 && bitmap_get(qp->lost, bit)) {
		bitmap_clear(qp->lost, bit);
		qp->lost_count--;
		return;
	}
	if (!(qp->slots[bit].flags & SLOT_RTX)) // else either sending may be the one that is there
		path_heard(&qp->path, qp->slots[bit].ev_index);
	check(qp->inflight >= wire_bytes);
	qp->inflight -= wire_bytes;
	qp->asks_out -= (qp->slots[bit].flags & SLOT_ASKS) != 0;
}

// Moves una to `una`; returns the wire bytes that were not known to be there.
static uint32_t advance(struct endpoint *endpoint, struct qp *qp, uint32_t una)
{
	uint32_t newly_bytes = 0;
	while (qp->una != una) {
		const struct send *send = &qp->sends[qp->send_done & endpoint->sends_mask];
		uint32_t psn = qp->una++;
		uint32_t bit = psn & endpoint->mpr_mask;
		if (qp->acked_count > 0 && bitmap_get(qp->acked, bit)) {
			bitmap_clear(qp->acked, bit);
			qp->acked_count--;
		} else {
			bool is_short = qp->slots[bit].flags & SLOT_SHORT;
			uint32_t bytes = is_short ? send->last_wire : endpoint->full_bytes;
			settle(endpoint, qp, psn, bytes);
			newly_bytes += bytes;
		}
		if (psn == send->last_psn)
			complete_oldest(endpoint, qp);
	}
	return newly_bytes;
}

// Takes single PSNs: bit i stands for from + i. Those before una are old news.
static uint32_t take_bitmap(struct endpoint *endpoint, struct qp *qp, uint32_t from, uint64_t bits)
{
	uint32_t newly_bytes = 0;
	int32_t old = psn_distance(qp->una, from);
	if (old > 0) {
		bits = old < 64 ? bits >> old : 0;
		from = qp->una;
	}
	if (bits != 0)
		bits &= ~bitmap_ring_window(qp->acked, endpoint->mpr_mask + 1, from);
	for (; bits != 0; bits &= bits - 1) {
		uint32_t psn = from + (uint32_t)__builtin_ctzll(bits);
		uint32_t bytes = requester_wire_bytes(endpoint, qp, psn);
		settle(endpoint, qp, psn, bytes);
		bitmap_set(qp->acked, psn & endpoint->mpr_mask);
		if (qp->acked_count++ == 0 || psn_distance(psn, qp->highest) > 0)
			qp->highest = psn;
		newly_bytes += bytes;
	}
	return newly_bytes;
}

// Time stamps come round after 8.39 ms: from half of that on they tell no sending from another.
#define STAMP_AGE_MAX (TIMESTAMP_PS << 15)

// Whether the time stamp that a SACK echoes is that of a packet sent `age_ps` ago, to a tick.
static bool is_sent_then(uint16_t echo, ps_t age_ps, ps_t now)
{
	return (uint16_t)((now - age_ps) / TIMESTAMP_PS - echo + 1) <= 2;
}

// Round trip of the packet that caused the SACK, from the own table; -1 when it is not there any
// more, or was sent more than once and the echo is of another time.
static ps_t sample_rtt(struct endpoint *endpoint, const struct qp *qp, uint32_t trigger,
		       uint16_t echo, ps_t now)
{
	uint32_t age = qp->psn_next - trigger;
	const struct slot *slot = &qp->slots[trigger & endpoint->mpr_mask];
	if (age > endpoint->mpr_mask + 1 || !(slot->flags & SLOT_USED))
		return -1;
	ps_t age_ps = (ps_t)(sent_units(now) - slot->sent_at) << SENT_SHIFT;
	if (!(slot->flags & SLOT_RTX))
		return age_ps;
	bool is_stale = age_ps > STAMP_AGE_MAX;
	endpoint->counters.stamps_stale += is_stale;
	return is_stale || !is_sent_then(echo, age_ps, now) ? -1 : age_ps;
}

// Whether a SACK speaks only of PSNs that were sent.
static bool is_plausible(const struct qp *qp, uint32_t cumulative, uint32_t trigger,
			 const struct packet_sack *sack)
{
	if (psn_distance(cumulative, qp->psn_next) >= 0 || psn_distance(trigger, qp->psn_next) >= 0)
		return false;
	if (sack->bitmap == 0)
		return true;
	uint32_t last = cumulative + (uint32_t)(int32_t)sack->offset + 63u -
		(uint32_t)__builtin_clzll(sack->bitmap);
	return psn_distance(last, qp->psn_next) < 0;
}

void sack_arm_cc(struct endpoint *endpoint, struct qp *qp)
{
	if (qp->has_cc_timer || qp->cc.wake_at == PS_NEVER)
		return;
	qp->has_cc_timer = true;
	heap_push(&endpoint->timers, qp->cc.wake_at,
		  (uint64_t)TIMER_CC << TIMER_KIND_SHIFT | qp->number);
}

// The packet that caused the SACK arrived over its EV, marked or not.
static void feed_path(struct endpoint *endpoint, struct qp *qp, const struct packet_sack *sack)
{
	uint32_t ev_index = path_index(&qp->path, sack->ev_echo);
	if (ev_index == PATH_NO_EV)
		return;
	path_arrived(&qp->path, ev_index);
	if (sack->mark != 0)
		endpoint->counters.paths_skipped += path_skip(&qp->path, ev_index);
}

void sack_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now)
{
	const struct packet_sack *sack = &packet->u.sack;
	uint32_t cumulative = psn_extend(qp->una - 1, packet->psn);
	uint32_t trigger = cumulative + (uint32_t)(int32_t)sack->trigger_offset;
	if (!is_plausible(qp, cumulative, trigger, sack)) {
		endpoint->counters.refused[REFUSED_SACK]++;
		return;
	}
	endpoint->counters.sacks_received++;
	qp->heard_at = sent_units(now);
	uint32_t newly_bytes = 0;
	if (psn_distance(cumulative + 1, qp->una) > 0) // an overtaken SACK never moves una back
		newly_bytes = advance(endpoint, qp, cumulative + 1);
	newly_bytes += take_bitmap(endpoint, qp, cumulative + (uint32_t)(int32_t)sack->offset,
				   sack->bitmap);
	feed_path(endpoint, qp, sack);
	struct cc_ack ack = {
		.newly_bytes = newly_bytes,
		.inflight_bytes = qp->inflight,
		.rtt_ps = sample_rtt(endpoint, qp, trigger, packet->timestamp, now),
		.is_marked = sack->mark != 0,
		.penalty = sack->penalty & 0x7f,
		.is_restore = sack->penalty >> 7,
	};
	qp->cc.ops->on_ack(&qp->cc, &ack, now);
	retransmit_holes(endpoint, qp, now);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}
