// SPDX-License-Identifier: Apache-2.0
// What to send next: work requests become packets at the moment of their departure.
#pragma once

#include "endpoint/endpoint.h"

int requester_post(struct endpoint *endpoint, struct qp *qp, const struct work *work, ps_t now);

// The next data packet of the QPs of `plane`, in turn. PACKET_NONE: none may leave now.
uint32_t requester_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out);

// Puts the QP, and those that share its window, in the ready queue if they have something that may
// leave now.
void requester_wake(struct endpoint *endpoint, struct qp *qp);
