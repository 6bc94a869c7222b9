// SPDX-License-Identifier: Apache-2.0
// A PSN is held lost when a NACK names it, when its wait ends, or when packets sent hole_age_ps
// later were acknowledged (loss.c). Each QP has at most one place in the timer heap, at or before
// its earliest deadline; the exact one is looked up when it rings.
#include "answer.h"

#include "credit.h"
#include "loss.h"
#include "path/balance.h"
#include "path/history.h"
#include "path/load.h"
#include "path/pair.h"
#include "request.h"
#include "requester.h"

// Uses up one of a PSN's tries. False when it was the last. Where there is no last one they are
// counted as far as the slot has room.
static bool use_try(const struct endpoint *endpoint, struct slot *slot)
{
	if (!loss_may_try(endpoint, slot_tries(slot)))
		return false;
	if (slot_tries(slot) < SLOT_FIVE_BITS)
		slot->flags = (uint16_t)(slot->flags + (1u << SLOT_TRIES_SHIFT));
	return true;
}

// What a NACK costs of its PSN's tries: as much as the time that the packet was out. Such a time is
// much shorter than a wait, so it is the one in which the clock passes a multiple of the wait that
// pays, for all. False when that was the last try.
static bool pay_for_nack(const struct endpoint *endpoint, struct slot *slot, ps_t now)
{
	uint32_t wait = loss_wait(endpoint, slot_tries(slot));
	if (sent_units(now) / wait == slot->sent_at / wait)
		return true;
	return use_try(endpoint, slot);
}

// What the target says of a packet that it did not keep. False when it says nothing that there is.
static bool read_reason(uint8_t reason, struct cc_loss *ret)
{
	switch (reason) {
	case PACKET_NACK_TRIMMED:
		*ret = (struct cc_loss){.is_trim = true};
		return true;
	case PACKET_NACK_TRIMMED_LAST:
	case PACKET_NACK_NO_BITMAP:
	case PACKET_NACK_NO_PKT_BUFFER:
	case PACKET_NACK_NO_RESOURCE: // the way was free, the target is busy
		*ret = (struct cc_loss){.is_trim = true, .is_last_hop = true};
		return true;
	case PACKET_NACK_PSN_OOR_WINDOW:
	case PACKET_NACK_UNEXP_EVENT:
		*ret = (struct cc_loss){0};
		return true;
	default:
		return false;
	}
}

static void count_nack(struct endpoint *endpoint, uint8_t reason)
{
	endpoint->counters.nacks_received++;
	endpoint->counters.nacks_window += reason == PACKET_NACK_PSN_OOR_WINDOW;
	endpoint->counters.nacks_resource += reason == PACKET_NACK_NO_BITMAP ||
		reason == PACKET_NACK_NO_PKT_BUFFER || reason == PACKET_NACK_NO_RESOURCE;
}

// A PSN that is out is sent again, at once as far as the window lets it.
static void send_again(struct endpoint *endpoint, struct qp *qp, uint32_t psn, struct cc_loss *loss,
		       ps_t now)
{
	struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
	if (__builtin_expect(qp->is_unpaid, 0))
		credit_heard(endpoint, qp, now);
	// the target heard of it: the next wait is a base one again
	slot->flags &= (uint16_t) ~(SLOT_FIVE_BITS << SLOT_WAITS_SHIFT);
	if (!pay_for_nack(endpoint, slot, now)) {
		qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
		return;
	}
	loss->rtt_ps = (ps_t)(sent_units(now) - slot->sent_at) << SENT_SHIFT;
	loss_of(endpoint, qp, psn, RTX_NACK, loss, now);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}

// How long ago a packet left that was last sent over this EV; -1: over another one.
static ps_t age_over(const struct slot *slot, uint32_t ev_index, ps_t now)
{
	bool is_same = slot->ev_index == ev_index;
	return is_same ? (ps_t)(sent_units(now) - slot->sent_at) << SENT_SHIFT : -1;
}

// The header of a packet over this EV arrived.
static void feed_path(struct endpoint *endpoint, struct qp *qp, uint32_t ev_index, uint8_t reason,
		      ps_t age_ps, ps_t now)
{
	path_at(&qp->path, now);
	endpoint->counters.paths_reinstated += path_arrived(&qp->path, ev_index) != PATH_SAME;
	bool is_trim = reason == PACKET_NACK_TRIMMED || reason == PACKET_NACK_TRIMMED_LAST;
	if (is_trim && qp->path.load != NULL)
		load_weigh(&qp->path, ev_index, true);
	if (reason != PACKET_NACK_TRIMMED)
		return;
	balance_feed(&qp->path, ev_index, BALANCE_TRIMMED, now);
	path_forget(&qp->path, ev_index);
	uint32_t late = history_late_trim(&qp->path, ev_index, endpoint->config->cc.base_rtt_ps,
					  age_ps);
	endpoint->counters.paths_skipped += history_skip(&qp->path, ev_index, late);
}

void retransmit_on_nack(struct endpoint *endpoint, struct qp *qp, const struct packet *nack,
			ps_t now)
{
	const struct packet_nack_info *info = &nack->u.nack;
	uint32_t psn = psn_extend(qp->una, info->psn);
	uint32_t bit = psn & endpoint->mpr_mask;
	uint32_t ev_index = path_index(&qp->path, info->ev_echo);
	struct cc_loss loss;

	if (psn_distance(psn, qp->psn_next) >= 0 || ev_index == PATH_NO_EV ||
	    !read_reason(info->reason, &loss)) {
		endpoint->counters.refused[REFUSED_NACK]++;
		return;
	}
	count_nack(endpoint, info->reason);
	if (pair_is_asked(qp))
		ev_index = pair_of(endpoint, qp, info->ev_echo, psn, nack->plane);
	if (ev_index != PATH_NO_EV)
		feed_path(endpoint, qp, ev_index, info->reason,
			  age_over(&qp->slots[bit], ev_index, now), now);
	if (psn_distance(psn, qp->una) < 0 || bitmap_get(qp->acked, bit))
		return; // arrived meanwhile
	if (info->reason == PACKET_NACK_UNEXP_EVENT)
		qp_fail(endpoint, qp, QP_FAILURE_REMOTE);
	else if (!bitmap_get(qp->lost, bit) && qp->slots[bit].ev_index == ev_index)
		send_again(endpoint, qp, psn, &loss, now); // else it was, or will be
}

// Ends the wait of one PSN. False when that was its last try.
static bool time_out(struct endpoint *endpoint, struct qp *qp, uint32_t psn, ps_t now)
{
	struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
	if (!use_try(endpoint, slot))
		return false;
	if (slot_waits(slot) < SLOT_FIVE_BITS)
		slot->flags = (uint16_t)(slot->flags + (1u << SLOT_WAITS_SHIFT));
	struct cc_loss loss = {0};
	loss_of(endpoint, qp, psn, RTX_TIMEOUT, &loss, now);
	return true;
}

// Send times come round. What was acknowledged last must not seem newer than what is out, however
// long nothing was acknowledged: from a quarter of a round on it is held to be that old.
static void age_newest(struct qp *qp, uint32_t now_units)
{
	if (now_units - qp->newest_sent > UINT32_MAX / 4)
		qp->newest_sent = now_units - UINT32_MAX / 4;
}

// Looks whether the oldest request waits for its ACK too long. Its last packet is then due to be
// sent again. False when it was so often already that the QP is to end; `next` is made smaller when
// the wait ends before that many units.
static bool await_ack(const struct endpoint *endpoint, struct qp *qp, uint32_t now_units,
		      uint32_t *next)
{
	if (!request_awaits_ack(qp) || qp->is_ack_due)
		return true;
	uint32_t age = now_units - qp->ack_since;
	uint32_t wait = loss_wait(endpoint, qp->ack_tries);
	if (age < wait) {
		*next = wait - age < *next ? wait - age : *next;
		return true;
	}
	if (!loss_may_try(endpoint, qp->ack_tries))
		return false;
	qp->ack_tries = (uint8_t)(qp->ack_tries + (qp->ack_tries < SLOT_TRIES_MAX));
	qp->is_ack_due = true;
	return true;
}

void retransmit_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	uint32_t now_units = sent_units(now);
	// never further than a base wait: what is sent meanwhile may be due that early
	uint32_t next = endpoint->rto_units;
	qp->has_timer = false;
	if (qp->state != QP_RTS)
		return;
	age_newest(qp, now_units);
	for (uint32_t from = qp->una; psn_distance(from, qp->psn_next) < 0; from += 64) {
		uint64_t out = loss_flying(endpoint, qp, from, qp->psn_next);
		for (; out != 0; out &= out - 1) {
			uint32_t psn = from + (uint32_t)__builtin_ctzll(out);
			const struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
			uint32_t age = now_units - slot->sent_at;
			uint32_t wait = loss_wait(endpoint, slot_waits(slot));
			if (age < wait) {
				next = wait - age < next ? wait - age : next;
			} else if (!time_out(endpoint, qp, psn, now)) {
				qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
				return;
			}
		}
	}
	if (!await_ack(endpoint, qp, now_units, &next)) {
		qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
		return;
	}
	if (qp->inflight > 0 || request_awaits_ack(qp))
		loss_arm_at(endpoint, qp, now, next);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}
