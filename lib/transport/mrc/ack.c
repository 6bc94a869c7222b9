// SPDX-License-Identifier: Apache-2.0
// The second layer of acknowledgement, requester's half. SACKs say which packets arrived; a request
// completes when the target says that it is done, in order. Who has a request whole has all its
// packets, so an ACK that overtakes its SACK speaks for both. An ACK that got lost is asked for by
// sending the last packet of its request again. The target's half is in operation.c.
#include "answer.h"

#include "request.h"
#include "requester.h"

// All requests before number `done` are done.
static void complete_to(struct endpoint *endpoint, struct qp *qp, uint32_t done, ps_t now)
{
	uint32_t behind = qp->sends[(done - 1) & endpoint->sends_mask].last_psn + 1;
	if (psn_distance(behind, qp->una) > 0)
		sack_take_all(endpoint, qp, behind, now);
	request_complete_to(endpoint, qp, done, now);
	requester_wake(endpoint, qp);
}

// Whether an ACK comes from its request's own packets. Numbers begin anew with each life of a QP,
// PSNs do not: without them an old ACK would pass for one of what is out now.
static bool is_of_this_life(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn,
			    uint32_t done)
{
	const struct send *last = &qp->sends[(done - 1) & endpoint->sends_mask];
	return psn_distance(done, qp->send_done) <= 0 || psn_distance(psn, last->last_psn) >= 0;
}

static bool is_nak(uint8_t syndrome)
{
	return syndrome == PACKET_NAK_REQUEST || syndrome == PACKET_NAK_ACCESS ||
		syndrome == PACKET_NAK_OPERATION;
}

// The target will not do a request. It may say so again when the request is over.
static void take_nak(struct endpoint *endpoint, struct qp *qp, uint32_t psn)
{
	endpoint->counters.naks_received++;
	const struct send *oldest = &qp->sends[qp->send_done & endpoint->sends_mask];
	if (qp->send_done != qp->send_tail && psn_distance(psn, oldest->first_psn) >= 0)
		qp_fail(endpoint, qp, QP_FAILURE_REMOTE);
}

void ack_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now)
{
	uint8_t syndrome = packet->u.ack.syndrome;
	bool is_ack = syndrome <= PACKET_ACK_FINE; // whatever its credits
	uint32_t psn = psn_extend(qp->una - 1, packet->psn);
	uint32_t done = psn_extend(qp->send_done, packet->u.ack.msn);
	if (psn_distance(psn, qp->psn_next) >= 0 || psn_distance(done, qp->send_at) > 0 ||
	    !(is_ack ? is_of_this_life(endpoint, qp, psn, done) : is_nak(syndrome))) {
		endpoint->counters.refused[REFUSED_ACK]++;
		return;
	}
	if (!is_ack) {
		take_nak(endpoint, qp, psn);
		return;
	}
	endpoint->counters.acks_received++;
	if ((qp->capabilities & QP_CAN_ACK) && psn_distance(done, qp->send_done) > 0)
		complete_to(endpoint, qp, done, now); // else it was overtaken
}
