// SPDX-License-Identifier: Apache-2.0
// What to send next: work requests become packets at the moment of their departure.
#pragma once

#include "endpoint/endpoint.h"

int requester_post(struct endpoint *endpoint, struct qp *qp, const struct work *work, ps_t now);

// The next data packet of the QPs of `plane`, in turn. PACKET_NONE: none may leave now.
uint32_t requester_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out);

// Puts the QP in its ready queue if it has something that may leave now.
void requester_wake(struct endpoint *endpoint, struct qp *qp);

// The same for this QP alone, where others share its window.
void requester_wake_one(struct endpoint *endpoint, struct qp *qp);

// The work request that a PSN sent and not completed belongs to.
const struct send *requester_send_of(const struct endpoint *endpoint, const struct qp *qp,
				     uint32_t psn);

// Wire bytes of a PSN that was sent and not completed.
static inline uint32_t requester_wire_bytes(const struct endpoint *endpoint, const struct qp *qp,
					    uint32_t psn)
{
	if (qp->slots[psn & endpoint->mpr_mask].flags & SLOT_SHORT)
		return requester_send_of(endpoint, qp, psn)->last_wire;
	return qp->full_bytes;
}
