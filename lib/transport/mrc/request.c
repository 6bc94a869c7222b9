// SPDX-License-Identifier: Apache-2.0
// Work requests on their way. See request.h.
#include "request.h"

const struct send *request_of(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn)
{
	uint32_t low = qp->send_una;
	uint32_t high = qp->send_tail - 1;
	while (low != high) {
		uint32_t middle = low + (high - low) / 2;
		if (psn_distance(psn, qp->sends[middle & endpoint->sends_mask].last_psn) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return &qp->sends[low & endpoint->sends_mask];
}

static void complete_oldest(struct endpoint *endpoint, struct qp *qp)
{
	endpoint_complete_oldest(endpoint, qp);
	check(psn_distance(qp->send_at, qp->send_done) >= 0);
}

static void await_from(struct qp *qp, uint32_t since_units)
{
	qp->ack_since = since_units;
	qp->ack_tries = 0;
	qp->is_ack_due = false;
}

void request_passed(struct endpoint *endpoint, struct qp *qp)
{
	if (!request_awaits_ack(qp))
		await_from(qp, qp->heard_at);
	qp->send_una++;
	if (!(qp->capabilities & QP_CAN_ACK))
		complete_oldest(endpoint, qp);
}

void request_complete_to(struct endpoint *endpoint, struct qp *qp, uint32_t done, ps_t now)
{
	while (qp->send_done != done)
		complete_oldest(endpoint, qp);
	await_from(qp, sent_units(now));
}
