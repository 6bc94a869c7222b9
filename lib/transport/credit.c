// SPDX-License-Identifier: Apache-2.0
#include "credit.h"

#include "requester.h"
#include "responder.h"

#define BIT_PS (8 * (uint64_t)PS_PER_S) // of a byte at one bit per second

static void push(struct endpoint *endpoint, struct qp *qp)
{
	qp->owed_next = 0;
	if (endpoint->owed_tail != 0)
		context_at(endpoint, endpoint->owed_tail - 1)->owed_next = qp->context + 1;
	else
		endpoint->owed_head = qp->context + 1;
	endpoint->owed_tail = qp->context + 1;
	qp->is_owed = true;
}

static struct qp *pop(struct endpoint *endpoint)
{
	struct qp *qp = context_at(endpoint, endpoint->owed_head - 1);
	endpoint->owed_head = qp->owed_next;
	if (endpoint->owed_head == 0)
		endpoint->owed_tail = 0;
	qp->is_owed = false;
	return qp;
}

static void arm(struct endpoint *endpoint, ps_t now)
{
	if (endpoint->has_credit_timer || endpoint->owed_head == 0)
		return;
	endpoint->has_credit_timer = true;
	heap_push(&endpoint->timers, ps_max(endpoint->credit_at, now),
		  (uint64_t)TIMER_CREDIT << TIMER_KIND_SHIFT);
}

void credit_owe(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->is_owed)
		push(endpoint, qp);
	arm(endpoint, now);
}

static void grant(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	packet->source = qp->remote_nic;
	packet->plane = (uint8_t)endpoint->credit_plane; // where that is alive
	if (++endpoint->credit_plane == endpoint->config->planes)
		endpoint->credit_plane = 0;
	packet->timestamp = 0;
	packet->psn = 0;
	packet->opcode = PACKET_CREDIT;
	packet->u.credit = (struct packet_credit){.granted = qp->granted};
	endpoint->counters.grants_sent++;
	responder_answer(endpoint, qp, index, out);
}

void credit_on_time(struct endpoint *endpoint, ps_t now, struct outbox *out)
{
	endpoint->has_credit_timer = false;
	while (endpoint->owed_head != 0) {
		struct qp *qp = pop(endpoint);
		uint32_t bytes = qp->cc.ops->receiver_grant(qp->receiver);
		if (bytes == 0 || (qp->state != QP_RTS && qp->state != QP_RTR))
			continue; // all was granted in its last turn
		uint32_t index = packet_get(out->packets);
		if (index == PACKET_NONE) {
			out->limit = OUTBOX_NO_PACKET;
			return;
		}
		qp->granted += bytes;
		grant(endpoint, qp, index, out);
		push(endpoint, qp);
		endpoint->credit_at = now + (ps_t)(bytes * BIT_PS / endpoint->credit_bps);
		break;
	}
	arm(endpoint, now);
}

void credit_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now)
{
	uint32_t bytes = packet->u.credit.granted - qp->credited;
	endpoint->counters.grants_received++;
	if (bytes == 0 || bytes > INT32_MAX) // an overtaken one
		return;
	qp->credited = packet->u.credit.granted;
	qp->cc.ops->on_credit(&qp->cc, bytes, now);
	requester_wake(endpoint, qp);
}

void credit_leave(struct endpoint *endpoint, struct qp *qp)
{
	uint32_t context = qp->context + 1, before = 0;
	if (!qp->is_owed)
		return;
	for (uint32_t at = endpoint->owed_head; at != context;
	     at = context_at(endpoint, at - 1)->owed_next)
		before = at;
	if (before == 0)
		endpoint->owed_head = qp->owed_next;
	else
		context_at(endpoint, before - 1)->owed_next = qp->owed_next;
	if (endpoint->owed_tail == context)
		endpoint->owed_tail = before;
	qp->is_owed = false;
}
