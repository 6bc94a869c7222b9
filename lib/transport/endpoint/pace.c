// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

#include "rc/rc.h"

#define BIT_PS (8 * (uint64_t)PS_PER_S) // of a byte at one bit per second

void pace_advance(struct qp *qp, ps_t now)
{
	while (qp->cc.wake_at < now)
		qp->cc.ops->on_time(&qp->cc, qp->cc.wake_at);
}

void pace_sent(struct qp *qp, uint32_t wire_bytes, ps_t now)
{
	struct rc *rc = rc_of(qp);
	ps_t gap = (ps_t)(wire_bytes * BIT_PS / qp->cc.rate_bps);
	ps_t due = rc->is_due ? ps_max(rc->next_at_ps, now - gap) : now;
	rc->is_due = false;
	rc->next_at_ps = due + gap;
	qp->cc.ops->on_sent(&qp->cc, wire_bytes, now);
}

void pace_hold(struct endpoint *endpoint, struct qp *qp)
{
	if (rc_of(qp)->is_held) // something was posted, and queued it, too
		return;
	rc_of(qp)->is_held = true;
	endpoint->work++;
	heap_push(&endpoint->paced, rc_of(qp)->next_at_ps, qp->context);
}

struct qp *pace_release(struct endpoint *endpoint, ps_t now)
{
	if (heap_next_at(&endpoint->paced) > now)
		return NULL;
	struct qp *qp = context_at(endpoint, (uint32_t)heap_pop(&endpoint->paced).key);
	rc_of(qp)->is_held = false;
	rc_of(qp)->is_due = true;
	endpoint->work--;
	return qp;
}

void pace_leave(struct endpoint *endpoint, struct qp *qp)
{
	if (!endpoint->is_rc || !rc_of(qp)->is_held)
		return;
	heap_remove(&endpoint->paced, qp->context);
	rc_of(qp)->is_held = false;
	endpoint->work--;
}

ps_t endpoint_next_at(const struct endpoint *endpoint)
{
	return heap_next_at(&endpoint->paced);
}
