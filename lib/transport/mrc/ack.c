// SPDX-License-Identifier: Apache-2.0
// The second layer of acknowledgement, requester's half. SACKs say which packets arrived; a request
// completes when the target says that it is done, in order. Who has a request whole has all its
// packets, so an ACK that overtakes its SACK speaks for both. An ACK that got lost is asked for by
// sending the last packet of its request again. The target's half is in operation.c.
#include "ack.h"

#include "requester.h"
#include "retransmit.h"
#include "sack.h"

static void complete_oldest(struct endpoint *endpoint, struct qp *qp)
{
	const struct send *send = &qp->sends[qp->send_done++ & endpoint->sends_mask];
	struct completion completion = {
		.kind = COMPLETION_SENT,
		.qp = qp->number,
		.cookie = send->cookie,
		.bytes = send->bytes,
		.posted_at = send->posted_at,
	};
	check(psn_distance(qp->send_at, qp->send_done) >= 0);
	endpoint->counters.messages_sent++;
	endpoint_complete(endpoint, &completion);
}

static void await_from(struct qp *qp, uint32_t since_units)
{
	qp->ack_since = since_units;
	qp->ack_tries = 0;
	qp->is_ack_due = false;
}

void ack_request_passed(struct endpoint *endpoint, struct qp *qp)
{
	if (!ack_is_awaited(qp))
		await_from(qp, qp->heard_at);
	qp->send_una++;
	if (!(qp->capabilities & QP_CAN_ACK))
		complete_oldest(endpoint, qp);
}

// All requests before number `done` are done.
static void complete_to(struct endpoint *endpoint, struct qp *qp, uint32_t done, ps_t now)
{
	uint32_t behind = qp->sends[(done - 1) & endpoint->sends_mask].last_psn + 1;
	if (psn_distance(behind, qp->una) > 0)
		sack_take_all(endpoint, qp, behind, now);
	while (qp->send_done != done)
		complete_oldest(endpoint, qp);
	await_from(qp, sent_units(now));
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

bool ack_on_time(struct endpoint *endpoint, struct qp *qp, uint32_t now_units, uint32_t *next)
{
	if (!ack_is_awaited(qp) || qp->is_ack_due)
		return true;
	uint32_t age = now_units - qp->ack_since;
	uint32_t wait = retransmit_wait(endpoint, qp->ack_tries);
	if (age < wait) {
		*next = wait - age < *next ? wait - age : *next;
		return true;
	}
	if (!retransmit_may_try(endpoint, qp->ack_tries))
		return false;
	qp->ack_tries = (uint8_t)(qp->ack_tries + (qp->ack_tries < SLOT_TRIES_MAX));
	qp->is_ack_due = true;
	return true;
}
