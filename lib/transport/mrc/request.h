// SPDX-License-Identifier: Apache-2.0
// The requester's work requests on their way. SACKs say which packets arrived; a request completes
// when the target says that it is done (ack.c), in order, or at once where it says nothing of that.
#pragma once

#include "endpoint/endpoint.h"

// The work request that a PSN sent and not completed belongs to.
const struct send *request_of(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn);

// Wire bytes of a PSN that was sent and not completed.
static inline uint32_t request_wire_bytes(const struct endpoint *endpoint, const struct qp *qp,
					  uint32_t psn)
{
	if (qp->slots[psn & endpoint->mpr_mask].flags & SLOT_SHORT)
		return request_of(endpoint, qp, psn)->last_wire;
	return qp->full_bytes;
}

// Whether whole requests are acknowledged by their packets, and wait for the target's word.
static inline bool request_awaits_ack(const struct qp *qp)
{
	return qp->send_done != qp->send_una;
}

// The request that una was in is acknowledged whole: it completes, or waits for its ACK.
void request_passed(struct endpoint *endpoint, struct qp *qp);

// All requests before number `done` are done.
void request_complete_to(struct endpoint *endpoint, struct qp *qp, uint32_t done, ps_t now);
