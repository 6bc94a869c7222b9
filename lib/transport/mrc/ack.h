// SPDX-License-Identifier: Apache-2.0
// What a transport ACK or NAK tells the requester, and what is done when none comes.
#pragma once

#include "endpoint/endpoint.h"

// Whether whole requests are acknowledged by their packets, and wait for the target's word.
static inline bool ack_is_awaited(const struct qp *qp)
{
	return qp->send_done != qp->send_una;
}

// The request that una was in is acknowledged whole: it completes, or waits for its ACK.
void ack_request_passed(struct endpoint *endpoint, struct qp *qp);

void ack_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now);

// Looks whether the oldest request waits for its ACK too long. Its last packet is then due to be
// sent again. False when it was so often already that the QP is to end; `next` is made smaller when
// the wait ends before that many units.
bool ack_on_time(struct endpoint *endpoint, struct qp *qp, uint32_t now_units, uint32_t *next);
