// SPDX-License-Identifier: Apache-2.0
// Reading a SACK: the cumulative ack moves una and passes work requests in posting order, the
// bitmap takes single PSNs out of flight, the echo feeds path and congestion control. A clear bit
// means "no information", not "lost". The cumulative ack is the last PSN of which it and all before
// were received.
#include "answer.h"

#include "credit.h"
#include "flight.h"
#include "loss.h"
#include "mpr_grant.h"
#include "path/balance.h"
#include "path/ev_slot.h"
#include "path/history.h"
#include "path/load.h"
#include "path/pair.h"
#include "request.h"
#include "requester.h"
#include "sleek.h"
#include "tail.h"

#define OOO_NOT_KEPT 0x7fff // as much as the field has room for

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
	load_take(&qp->path, qp->slots[bit].ev_index, wire_bytes);
	qp->asks_out -= (qp->slots[bit].flags & SLOT_ASKS) != 0;
}

// Moves una to `una`; returns the wire bytes that were not known to be there.
static inline __attribute__((always_inline)) uint32_t advance(struct endpoint *endpoint,
							      struct qp *qp, uint32_t una)
{
	uint32_t newly_bytes = 0;
	while (qp->una != una) {
		const struct send *send = &qp->sends[qp->send_una & endpoint->sends_mask];
		uint32_t psn = qp->una++;
		uint32_t bit = psn & endpoint->mpr_mask;
		if (qp->acked_count > 0 && bitmap_get(qp->acked, bit)) {
			bitmap_clear(qp->acked, bit);
			qp->acked_count--;
		} else {
			bool is_short = qp->slots[bit].flags & SLOT_SHORT;
			uint32_t bytes = is_short ? send->last_wire : qp->full_bytes;
			settle(endpoint, qp, psn, bytes);
			newly_bytes += bytes;
		}
		if (psn == send->last_psn) {
			qp->wimm_count -= send->has_imm;
			request_passed(endpoint, qp);
		}
	}
	return newly_bytes;
}

// In every run, at every acknowledgement.
static inline void check_window(const struct endpoint *endpoint, const struct qp *qp)
{
	check(qp->cc.window_bytes >= endpoint->window_min && "a window is a packet or more");
	check(qp->cc.window_bytes <= endpoint->window_max && "a window is never above its first");
}

void sack_take_all(struct endpoint *endpoint, struct qp *qp, uint32_t una, ps_t now)
{
	uint32_t heard = qp->heard_bytes;
	flight_settle(qp, advance(endpoint, qp, una));
	struct cc_ack ack = {.newly_bytes = qp->heard_bytes - heard,
			     .inflight_bytes = flight_bytes(qp),
			     .rtt_ps = -1};
	qp->cc.ops->on_ack(&qp->cc, &ack, now);
	check_window(endpoint, qp);
	sack_arm_cc(endpoint, qp);
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
		uint32_t bytes = request_wire_bytes(endpoint, qp, psn);
		settle(endpoint, qp, psn, bytes);
		bitmap_set(qp->acked, psn & endpoint->mpr_mask);
		if (qp->acked_count++ == 0 || psn_distance(psn, qp->highest) > 0)
			qp->highest = psn;
		newly_bytes += bytes;
	}
	return newly_bytes;
}

// Round trip of a packet that was last sent `age_ps` ago, by the time stamp that came back. -1 when
// that is of another time than this sending, or too old. A responder that takes its time of service
// out of round trips has moved it on by that.
static ps_t rtt_of_stamp(struct endpoint *endpoint, const struct qp *qp, uint16_t echo, ps_t age_ps,
			 ps_t now)
{
	if (age_ps > STAMP_AGE_MAX) {
		endpoint->counters.stamps_stale++;
		return -1;
	}
	uint16_t sent_ticks = (uint16_t)((now - age_ps) / TIMESTAMP_PS);
	uint16_t now_ticks = (uint16_t)(now / TIMESTAMP_PS);
	// send times are rounded down, and so may be a tick early
	uint16_t late = (uint16_t)(echo - sent_ticks), age = (uint16_t)(now_ticks - sent_ticks);
	bool is_ours = late <= (qp->capabilities & QP_CAN_SERVICE_TIME ? age : 1) ||
		late == UINT16_MAX;
	if (!is_ours)
		return -1;
	if (endpoint->config->rtt == RTT_STAMP)
		return (ps_t)(uint16_t)(now_ticks - echo) * TIMESTAMP_PS;
	if (!(qp->capabilities & QP_CAN_SERVICE_TIME) || late == UINT16_MAX)
		return age_ps;
	return ps_max(age_ps - late * TIMESTAMP_PS, 0);
}

// Whether a PSN is held in flight.
static bool is_flying(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn)
{
	uint32_t bit = psn & endpoint->mpr_mask;
	return psn_distance(psn, qp->una) >= 0 && !bitmap_get(qp->acked, bit) &&
		!bitmap_get(qp->lost, bit);
}

// Round trip of the packet that caused the SACK; -1 when it is not known any more. The own table of
// send times is more exact than time stamps, but cannot tell the sendings of a packet apart, nor
// what passed at the responder.
static ps_t sample_rtt(struct endpoint *endpoint, const struct qp *qp, uint32_t trigger,
		       uint16_t echo, ps_t now)
{
	uint32_t age = qp->psn_next - trigger;
	const struct slot *slot = &qp->slots[trigger & endpoint->mpr_mask];
	if (age > endpoint->mpr_mask + 1 || !(slot->flags & SLOT_USED))
		return -1;
	ps_t age_ps = (ps_t)(sent_units(now) - slot->sent_at) << SENT_SHIFT;
	if (!(slot->flags & SLOT_RTX) && !endpoint->reads_stamps)
		return age_ps;
	return rtt_of_stamp(endpoint, qp, echo, age_ps, now);
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
	if (qp->has_cc_timer || qp->cc.wake_at == PS_NEVER || qp->cc.ops->has_rate)
		return; // a rate is brought up to date when it is used, see pace.h
	qp->has_cc_timer = true;
	heap_push(&endpoint->timers, qp->cc.wake_at,
		  (uint64_t)TIMER_CC << TIMER_KIND_SHIFT | qp->context);
}

// The packet that caused the SACK arrived over its EV, marked or not; or the target wants no more
// of it. Returns whether the window is to take its word for how full the fabric is.
static bool feed_path(struct endpoint *endpoint, struct qp *qp, const struct packet_sack *sack,
		      uint32_t trigger, uint32_t plane, ps_t rtt_ps, ps_t now)
{
	uint32_t ev_index = path_index(&qp->path, sack->ev_echo);
	if (pair_is_asked(qp))
		ev_index = pair_of(endpoint, qp, sack->ev_echo, trigger, plane);
	if (ev_index == PATH_NO_EV)
		return true;
	path_at(&qp->path, now);
	endpoint->counters.paths_reinstated += path_arrived(&qp->path, ev_index) != PATH_SAME;
	balance_feed(&qp->path, ev_index,
		     sack->mark == PACKET_MARK_NONE ? BALANCE_CLEAN : BALANCE_MARKED, now);
	if (qp->path.load != NULL)
		load_weigh(&qp->path, ev_index, sack->mark == PACKET_MARK_SKIP_ONCE);
	uint32_t late = history_late(&qp->path, ev_index, rtt_ps);
	if (sack->mark == PACKET_MARK_SKIP_ALWAYS)
		probe_retire(endpoint, qp, ev_index, now);
	else if (sack->mark != PACKET_MARK_NONE)
		endpoint->counters.paths_skipped += history_skip(&qp->path, ev_index, late);
	return late < HISTORY_LATER && !load_is_slow(&qp->path, ev_index) &&
		!ev_slot_is_blocked(&qp->path, ev_index);
}

static __attribute__((noinline)) void note_rtt(struct endpoint *endpoint, const struct qp *qp,
					       uint32_t ev, ps_t rtt_ps)
{
	uint32_t index = path_index(&qp->path, ev);
	if (index != PATH_NO_EV)
		delays_add_rtt(endpoint->delays, index, rtt_ps);
}

// How many packets the receiver has above the cumulative PSN that no SACK has listed one by one.
// Not known when the SACK was overtaken, or its receiver does not keep the number.
static inline int32_t untold_packets(const struct qp *qp, uint32_t cumulative,
				     const struct packet_sack *sack)
{
	bool is_kept = sack->ooo_count < OOO_NOT_KEPT && sack->ooo_count >= qp->acked_count;
	return is_kept && cumulative + 1 == qp->una ? (int32_t)(sack->ooo_count - qp->acked_count)
						    : FLIGHT_UNKNOWN;
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
	ps_t rtt_ps = -1;
	if (sack->is_probe && !probe_answered(endpoint, qp, packet, now, &rtt_ps)) {
		endpoint->counters.refused[REFUSED_PROBE]++;
		return;
	}
	endpoint->counters.sacks_received++;
	if (__builtin_expect(qp->is_unpaid, 0))
		credit_heard(endpoint, qp, now);
	uint32_t newly_bytes = 0, heard = qp->heard_bytes;
	bool has_sample = endpoint->config->rtt != RTT_ONCE ||
		(is_flying(endpoint, qp, trigger) &&
		 !(qp->slots[trigger & endpoint->mpr_mask].flags & SLOT_AGAIN));
	mpr_grant_take(qp, sack->mpr);
	if (psn_distance(cumulative + 1, qp->una) > 0) // an overtaken SACK never moves una back
		newly_bytes = advance(endpoint, qp, cumulative + 1);
	newly_bytes += take_bitmap(endpoint, qp, cumulative + (uint32_t)(int32_t)sack->offset,
				   sack->bitmap);
	if (!sack->is_probe || newly_bytes > 0) // else it says nothing new of data
		qp->heard_at = sent_units(now);
	flight_settle(qp, newly_bytes);
	flight_hear(qp, sack->rcvd_256, cumulative + 1 + sack->ooo_count,
		    untold_packets(qp, cumulative, sack));
	if (!sack->is_probe && has_sample)
		rtt_ps = sample_rtt(endpoint, qp, trigger, packet->timestamp, now);
	bool is_telling = sack->is_probe ||
		feed_path(endpoint, qp, sack, trigger, packet->plane, rtt_ps, now);
	if (__builtin_expect(endpoint->delays != NULL, 0) && rtt_ps >= 0 && !sack->is_probe)
		note_rtt(endpoint, qp, sack->ev_echo, rtt_ps);
	struct cc_ack ack = {
		.newly_bytes = qp->heard_bytes - heard,
		.inflight_bytes = flight_bytes(qp),
		.rtt_ps = is_telling ? rtt_ps : -1,
		// else it is about the path
		.is_marked = is_telling && sack->mark == PACKET_MARK_SKIP_ONCE,
		.penalty = sack->penalty & 0x7f,
		.is_restore = sack->penalty >> 7,
	};
	qp->cc.ops->on_ack(&qp->cc, &ack, now);
	check_window(endpoint, qp);
	loss_holes(endpoint, qp, now);
	if (__builtin_expect(endpoint->has_sleek, 0))
		sleek_on_sack(endpoint, qp, sack->ooo_count, sack->is_probe ? sack->probe_id : 0,
			      rtt_ps, now);
	if (request_awaits_ack(qp))
		loss_arm(endpoint, qp, now);
	if (newly_bytes > 0)
		qp->tail_probes = 0;
	tail_arm(endpoint, qp, now);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}
