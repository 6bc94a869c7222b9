// SPDX-License-Identifier: Apache-2.0
// The end of what a QP may send. Behind its last packets nothing arrives that would tell of
// their loss, nor behind the ACK of its last request; a retransmit timer is long. So when nothing
// new may leave and nothing was heard for a round trip and a hole's age, the last packet of the
// oldest request goes again, or the oldest one in flight when others arrived behind it: once until
// something new is acknowledged. The answer says what is missing, and holes are older than it.
// TCP's tail loss probe is alike (RFC 8985, section 7); MRC's sources name none (ours). Off where
// holes are (transport.hole_age).
#pragma once

#include "ack.h"
#include "endpoint/endpoint.h"

void tail_start(struct endpoint *endpoint, struct qp *qp, ps_t now);

// Nothing new may leave: all is sent, or as far ahead of the oldest packet as may be. And answers
// are waited for.
static inline bool tail_is_quiet(const struct qp *qp)
{
	return (qp->psn_next == qp->psn_posted || qp->psn_next - qp->una >= qp->mpr_limit) &&
		(qp->inflight > 0 || ack_is_awaited(qp));
}

// Looks whether a QP has come to the end of what it may send.
static inline void tail_arm(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (tail_is_quiet(qp) && !(qp->has_tail_timer | qp->is_tail_probed))
		tail_start(endpoint, qp, now);
}

// The timer rang.
void tail_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now);
