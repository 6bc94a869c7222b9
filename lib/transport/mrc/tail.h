// SPDX-License-Identifier: Apache-2.0
// The end of what a QP may send. Behind its last packets nothing arrives that would tell of
// their loss, nor behind the ACK of its last request; a retransmit timer is long. So when nothing
// new may leave and nothing was heard for a round trip and a hole's age, the last packet of the
// oldest request goes again, or the oldest one in flight when others arrived behind it: once until
// something new is acknowledged. The answer says what is missing, and holes are older than it.
// A window that is full of lost packets is such an end, too: then one packet more than it allows
// leaves, up to three times, since nobody knows yet which paths are lost. TCP's tail loss probe is
// alike (RFC 8985, section 7); MRC's sources name none (ours). Off where holes are
// (transport.hole_age).
#pragma once

#include "endpoint/endpoint.h"
#include "flight.h"
#include "request.h"

void tail_start(struct endpoint *endpoint, struct qp *qp, ps_t now);

#define TAIL_PROBES_WINDOW 3u

static inline bool tail_is_full(const struct qp *qp)
{
	return flight_bytes(qp) + qp->full_bytes > qp->cc.window_bytes;
}

// Whether repairs or new data wait for the window, and for nothing else.
static inline bool tail_waits_for_window(const struct qp *qp)
{
	bool has_new = qp->psn_next != qp->psn_posted && qp->psn_next - qp->una < qp->mpr_limit;
	return tail_is_full(qp) && (has_new || qp->lost_count > 0);
}

// Nothing new may leave: all is sent, or as far ahead of the oldest packet as may be, or as much as
// the window holds. And answers are waited for.
static inline bool tail_is_quiet(const struct qp *qp)
{
	return (qp->psn_next == qp->psn_posted || qp->psn_next - qp->una >= qp->mpr_limit ||
		tail_is_full(qp)) &&
		(qp->inflight > 0 || request_awaits_ack(qp));
}

// Looks whether a QP has come to the end of what it may send.
static inline void tail_arm(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (qp->has_tail_timer || qp->tail_probes >= TAIL_PROBES_WINDOW || !tail_is_quiet(qp))
		return;
	if (qp->tail_probes == 0 || tail_waits_for_window(qp))
		tail_start(endpoint, qp, now);
}

// The timer rang. True when a packet is due to leave.
bool tail_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now);
