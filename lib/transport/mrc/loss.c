// SPDX-License-Identifier: Apache-2.0
// PSNs held lost, and how long one that is out is waited for. See loss.h.
#include "loss.h"

#include "flight.h"
#include "path/doubt.h"
#include "path/ev_slot.h"
#include "path/history.h"
#include "path/load.h"
#include "request.h"

uint32_t loss_first(struct endpoint *endpoint, struct qp *qp)
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

// Whether a loss over this EV is the matter of its plane, and none of the window: it is slow, its
// port was down, or so many of its EVs are bad that what is lost there says nothing of the others.
static bool is_of_plane(const struct path_set *set, uint32_t index, bool is_of_port)
{
	return load_is_slow(set, index) ||
		(set->load != NULL &&
		 (is_of_port || path_is_doubtful(set, index % set->shape->planes)));
}

// Whether a packet left before its port came back.
static bool met_no_port(const struct endpoint *endpoint, const struct qp *qp,
			const struct slot *slot, ps_t now)
{
	ps_t age_ps = (ps_t)(sent_units(now) - slot->sent_at) << SENT_SHIFT;
	uint32_t plane = slot->ev_index % endpoint->shape.planes;
	return path_is_of_before(&qp->path, plane, now - age_ps, now);
}

// Ends the flight of a PSN: it will be sent again.
void loss_of(struct endpoint *endpoint, struct qp *qp, uint32_t psn, enum rtx_reason reason,
	     struct cc_loss *loss, ps_t now)
{
	uint32_t bit = psn & endpoint->mpr_mask;
	struct slot *slot = &qp->slots[bit];
	loss->bytes = request_wire_bytes(endpoint, qp, psn);
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
	bool is_of_port = reason != RTX_NACK && met_no_port(endpoint, qp, slot, now);
	if (reason != RTX_NACK && !is_of_port)
		probe_lose(endpoint, qp, is_unknown ? 0 : slot->ev_index, now);
	bool is_slow_ev = loss->is_trim && !loss->is_last_hop &&
		(history_stands_out(&qp->path, slot->ev_index) ||
		 ev_slot_is_blocked(&qp->path, slot->ev_index));
	if (!is_slow_ev && !is_of_plane(&qp->path, slot->ev_index, is_of_port))
		qp->cc.ops->on_loss(&qp->cc, loss, now);
}

// The PSNs in [from, from + 64) that are in flight and before `end`, as bits.
uint64_t loss_flying(const struct endpoint *endpoint, const struct qp *qp, uint32_t from,
		     uint32_t end)
{
	uint32_t bits = endpoint->mpr_mask + 1;
	uint64_t window = ~(bitmap_ring_window(qp->acked, bits, from) |
			    bitmap_ring_window(qp->lost, bits, from));
	uint32_t left = end - from;
	return left >= 64 ? window : window & ((UINT64_C(1) << left) - 1);
}

void loss_holes(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (endpoint->config->hole_age_ps == 0 || qp->acked_count == 0)
		return;
	int32_t age_units = (int32_t)((endpoint->config->hole_age_ps + SENT_ROUND_UP) >>
				      SENT_SHIFT);
	for (uint32_t from = qp->una; psn_distance(from, qp->highest) < 0; from += 64) {
		uint64_t holes = loss_flying(endpoint, qp, from, qp->highest);
		for (; holes != 0; holes &= holes - 1) {
			uint32_t psn = from + (uint32_t)__builtin_ctzll(holes);
			const struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
			if ((int32_t)(qp->newest_sent - slot->sent_at) > age_units) {
				struct cc_loss loss = {0};
				loss_of(endpoint, qp, psn, RTX_HOLE, &loss, now);
			} else if (!(slot->flags & SLOT_RTX)) {
				return; // all behind it were sent later
			}
		}
	}
}

uint32_t loss_all(struct endpoint *endpoint, struct qp *qp, uint32_t from, uint32_t end, ps_t now)
{
	uint32_t behind = from;
	for (; psn_distance(from, end) < 0; from += 64) {
		uint64_t out = loss_flying(endpoint, qp, from, end);
		for (; out != 0; out &= out - 1) {
			uint32_t psn = from + (uint32_t)__builtin_ctzll(out);
			struct cc_loss loss = {0};
			loss_of(endpoint, qp, psn, RTX_SLEEK, &loss, now);
			behind = psn + 1;
		}
	}
	return behind;
}

uint32_t loss_wait(const struct endpoint *endpoint, uint32_t waits)
{
	const struct transport_config *config = endpoint->config;
	if (waits < config->rto_linear)
		return endpoint->rto_units;
	uint32_t doublings = waits - config->rto_linear + 1;
	if (doublings > 31 || endpoint->rto_units > WAIT_MAX_UNITS >> doublings)
		return WAIT_MAX_UNITS;
	return (uint32_t)(((config->rto_ps << doublings) + SENT_ROUND_UP) >> SENT_SHIFT);
}

ps_t loss_wait_ps(const struct transport_config *config, uint32_t waits)
{
	const ps_t most_ps = (ps_t)WAIT_MAX_UNITS << SENT_SHIFT;
	if (waits < config->rto_linear)
		return config->rto_ps;
	uint32_t doublings = waits - config->rto_linear + 1;
	if (doublings > 31 || config->rto_ps > most_ps >> doublings)
		return most_ps;
	return config->rto_ps << doublings;
}

ps_t transport_tries_ps(const struct transport_config *config)
{
	ps_t total = 0;
	for (uint32_t waits = 0; waits < config->rto_linear + config->rto_doublings; waits++)
		total += loss_wait_ps(config, waits);
	return total;
}

bool loss_may_try(const struct endpoint *endpoint, uint32_t tries)
{
	const struct transport_config *config = endpoint->config;
	return config->rto_doublings == RTO_DOUBLINGS_FOREVER ||
		tries + 1 < config->rto_linear + config->rto_doublings;
}

void loss_arm_at(struct endpoint *endpoint, struct qp *qp, ps_t now, uint32_t units)
{
	ps_t at = ((now >> SENT_SHIFT) + units) << SENT_SHIFT;
	qp->has_timer = true;
	heap_push(&endpoint->timers, at,
		  (uint64_t)TIMER_RETRANSMIT << TIMER_KIND_SHIFT | qp->context);
}

void loss_arm(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->has_timer)
		loss_arm_at(endpoint, qp, now, endpoint->rto_units);
}
