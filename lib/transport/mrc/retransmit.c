// SPDX-License-Identifier: Apache-2.0
// Losses and timers. A PSN is held lost when a NACK names it, when its wait ends, or when packets
// sent hole_age_ps later were acknowledged. Each QP has at most one place in the timer heap, at or
// before its earliest deadline; the exact one is looked up when it rings.
#include "retransmit.h"

#include "ack.h"
#include "credit.h"
#include "flight.h"
#include "path/balance.h"
#include "path/doubt.h"
#include "path/ev_slot.h"
#include "path/history.h"
#include "path/load.h"
#include "path/pair.h"
#include "requester.h"
#include "sack.h"

uint32_t retransmit_first(struct endpoint *endpoint, struct qp *qp)
{
	uint32_t bits = endpoint->mpr_mask + 1;
	check(qp->lost_count > 0);
	if (psn_distance(qp->lost_from, qp->una) < 0)
		qp->lost_from = qp->una;
	for (;;) {
		uint64_t window = bitmap_ring_window(qp->lost, bits, qp->lost_from);
		if (window != 0) {
			qp->lost_from += (uint32_t)__builtin_ctzll(window);
			return qp->lost_from;
		}
		qp->lost_from += 64;
	}
}

// Whether a loss over this EV is the matter of its plane, and none of the window: it is slow, or so
// many of its EVs are bad that what is lost there says nothing of the others.
static bool is_of_plane(const struct path_set *set, uint32_t index)
{
	return load_is_slow(set, index) ||
		(set->load != NULL && path_is_doubtful(set, index % set->shape->planes));
}

// Ends the flight of a PSN: it will be sent again.
static void lose(struct endpoint *endpoint, struct qp *qp, uint32_t psn, enum rtx_reason reason,
		 struct cc_loss *loss, ps_t now)
{
	uint32_t bit = psn & endpoint->mpr_mask;
	struct slot *slot = &qp->slots[bit];
	loss->bytes = requester_wire_bytes(endpoint, qp, psn);
	check(qp->inflight >= loss->bytes);
	qp->inflight -= loss->bytes;
	load_take(&qp->path, slot->ev_index, loss->bytes);
	loss->inflight_bytes = flight_bytes(qp);
	qp->asks_out -= (slot->flags & SLOT_ASKS) != 0;
	bitmap_set(qp->lost, bit);
	if (qp->lost_count++ == 0 || psn_distance(psn, qp->lost_from) < 0)
		qp->lost_from = psn;
	slot->flags &= (uint16_t) ~(SLOT_ASKS | 3u << SLOT_REASON_SHIFT);
	slot->flags |= (uint16_t)((unsigned)reason << SLOT_REASON_SHIFT);
	bool is_unknown = reason == RTX_TIMEOUT && endpoint->config->is_timeout_ev_lost;
	if (reason == RTX_SLEEK) // that something is lost is known, not what: as htsim, no path
		return;		 // and no window pays for it
	if (reason != RTX_NACK)
		probe_lose(endpoint, qp, is_unknown ? 0 : slot->ev_index, now);
	bool is_slow_ev = loss->is_trim && !loss->is_last_hop &&
		(history_stands_out(&qp->path, slot->ev_index) ||
		 ev_slot_is_blocked(&qp->path, slot->ev_index));
	if (!is_slow_ev && !is_of_plane(&qp->path, slot->ev_index))
		qp->cc.ops->on_loss(&qp->cc, loss, now);
}

// The PSNs in [from, from + 64) that are in flight and before `end`, as bits.
static uint64_t flying(const struct endpoint *endpoint, const struct qp *qp, uint32_t from,
		       uint32_t end)
{
	uint32_t bits = endpoint->mpr_mask + 1;
	uint64_t window = ~(bitmap_ring_window(qp->acked, bits, from) |
			    bitmap_ring_window(qp->lost, bits, from));
	uint32_t left = end - from;
	return left >= 64 ? window : window & ((UINT64_C(1) << left) - 1);
}

void retransmit_holes(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (endpoint->config->hole_age_ps == 0 || qp->acked_count == 0)
		return;
	int32_t age_units = (int32_t)((endpoint->config->hole_age_ps + SENT_ROUND_UP) >>
				      SENT_SHIFT);
	for (uint32_t from = qp->una; psn_distance(from, qp->highest) < 0; from += 64) {
		uint64_t holes = flying(endpoint, qp, from, qp->highest);
		for (; holes != 0; holes &= holes - 1) {
			uint32_t psn = from + (uint32_t)__builtin_ctzll(holes);
			const struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
			if ((int32_t)(qp->newest_sent - slot->sent_at) > age_units) {
				struct cc_loss loss = {0};
				lose(endpoint, qp, psn, RTX_HOLE, &loss, now);
			} else if (!(slot->flags & SLOT_RTX)) {
				return; // all behind it were sent later
			}
		}
	}
}

uint32_t retransmit_all(struct endpoint *endpoint, struct qp *qp, uint32_t from, uint32_t end,
			ps_t now)
{
	uint32_t behind = from;
	for (; psn_distance(from, end) < 0; from += 64) {
		uint64_t out = flying(endpoint, qp, from, end);
		for (; out != 0; out &= out - 1) {
			uint32_t psn = from + (uint32_t)__builtin_ctzll(out);
			struct cc_loss loss = {0};
			lose(endpoint, qp, psn, RTX_SLEEK, &loss, now);
			behind = psn + 1;
		}
	}
	return behind;
}

uint32_t retransmit_wait(const struct endpoint *endpoint, uint32_t waits)
{
	const struct transport_config *config = endpoint->config;
	if (waits < config->rto_linear)
		return endpoint->rto_units;
	uint32_t doublings = waits - config->rto_linear + 1;
	if (doublings > 31 || endpoint->rto_units > WAIT_MAX_UNITS >> doublings)
		return WAIT_MAX_UNITS;
	return (uint32_t)(((config->rto_ps << doublings) + SENT_ROUND_UP) >> SENT_SHIFT);
}

bool retransmit_may_try(const struct endpoint *endpoint, uint32_t tries)
{
	const struct transport_config *config = endpoint->config;
	return config->rto_doublings == RTO_DOUBLINGS_FOREVER ||
		tries + 1 < config->rto_linear + config->rto_doublings;
}

// Uses up one of a PSN's tries. False when it was the last. Where there is no last one they are
// counted as far as the slot has room.
static bool use_try(const struct endpoint *endpoint, struct slot *slot)
{
	if (!retransmit_may_try(endpoint, slot_tries(slot)))
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
	uint32_t wait = retransmit_wait(endpoint, slot_tries(slot));
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
	lose(endpoint, qp, psn, RTX_NACK, loss, now);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}

// The header of a packet over this EV arrived.
static void feed_path(struct endpoint *endpoint, struct qp *qp, uint32_t ev_index, uint8_t reason,
		      ps_t now)
{
	path_at(&qp->path, now);
	endpoint->counters.paths_reinstated += path_arrived(&qp->path, ev_index) != PATH_SAME;
	bool is_trim = reason == PACKET_NACK_TRIMMED || reason == PACKET_NACK_TRIMMED_LAST;
	if (is_trim && qp->path.load != NULL)
		load_weigh(&qp->path, ev_index, true);
	if (reason != PACKET_NACK_TRIMMED)
		return;
	balance_feed(&qp->path, ev_index, BALANCE_TRIMMED, now);
	uint32_t late = history_late_trim(&qp->path, ev_index, endpoint->config->cc.base_rtt_ps);
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
		feed_path(endpoint, qp, ev_index, info->reason, now);
	if (psn_distance(psn, qp->una) < 0 || bitmap_get(qp->acked, bit))
		return; // arrived meanwhile
	if (info->reason == PACKET_NACK_UNEXP_EVENT)
		qp_fail(endpoint, qp, QP_FAILURE_REMOTE);
	else if (!bitmap_get(qp->lost, bit) && qp->slots[bit].ev_index == ev_index)
		send_again(endpoint, qp, psn, &loss, now); // else it was, or will be
}

static void arm_at(struct endpoint *endpoint, struct qp *qp, ps_t now, uint32_t units)
{
	ps_t at = ((now >> SENT_SHIFT) + units) << SENT_SHIFT;
	qp->has_timer = true;
	heap_push(&endpoint->timers, at,
		  (uint64_t)TIMER_RETRANSMIT << TIMER_KIND_SHIFT | qp->context);
}

void retransmit_arm(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->has_timer)
		arm_at(endpoint, qp, now, endpoint->rto_units);
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
	lose(endpoint, qp, psn, RTX_TIMEOUT, &loss, now);
	return true;
}

// Send times come round. What was acknowledged last must not seem newer than what is out, however
// long nothing was acknowledged: from a quarter of a round on it is held to be that old.
static void age_newest(struct qp *qp, uint32_t now_units)
{
	if (now_units - qp->newest_sent > UINT32_MAX / 4)
		qp->newest_sent = now_units - UINT32_MAX / 4;
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
		uint64_t out = flying(endpoint, qp, from, qp->psn_next);
		for (; out != 0; out &= out - 1) {
			uint32_t psn = from + (uint32_t)__builtin_ctzll(out);
			const struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
			uint32_t age = now_units - slot->sent_at;
			uint32_t wait = retransmit_wait(endpoint, slot_waits(slot));
			if (age < wait) {
				next = wait - age < next ? wait - age : next;
			} else if (!time_out(endpoint, qp, psn, now)) {
				qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
				return;
			}
		}
	}
	if (!ack_on_time(endpoint, qp, now_units, &next)) {
		qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
		return;
	}
	if (qp->inflight > 0 || ack_is_awaited(qp))
		arm_at(endpoint, qp, now, next);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}
