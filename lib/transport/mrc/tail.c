// SPDX-License-Identifier: Apache-2.0
// See tail.h.
#include "tail.h"

static uint32_t wait_units(const struct endpoint *endpoint)
{
	ps_t wait = endpoint->config->cc.base_rtt_ps + endpoint->config->hole_age_ps;
	return (uint32_t)((wait + SENT_ROUND_UP) >> SENT_SHIFT);
}

static void arm(struct endpoint *endpoint, struct qp *qp, uint32_t units, ps_t now)
{
	qp->has_tail_timer = true;
	heap_push(&endpoint->timers, ((now >> SENT_SHIFT) + units) << SENT_SHIFT,
		  (uint64_t)TIMER_TAIL << TIMER_KIND_SHIFT | qp->context);
}

void tail_start(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (endpoint->config->hole_age_ps != 0)
		arm(endpoint, qp, wait_units(endpoint), now);
}

bool tail_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	qp->has_tail_timer = false;
	bool is_window = tail_waits_for_window(qp);
	if (qp->state != QP_RTS || !tail_is_quiet(qp) || (qp->lost_count > 0 && !is_window) ||
	    qp->is_ack_due)
		return false;				 // what changes that looks again
	uint32_t quiet = sent_units(now) - qp->heard_at; // whatever leaves last asks for a SACK
	if (quiet < wait_units(endpoint)) {
		arm(endpoint, qp, wait_units(endpoint) - quiet, now);
		return false;
	}
	qp->tail_probes++;
	qp->is_window_due = is_window;
	qp->is_ack_due = !is_window;
	return true;
}
