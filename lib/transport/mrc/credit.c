// SPDX-License-Identifier: Apache-2.0
#include "credit.h"

#include "endpoint/control.h"

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

static void owe(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->is_owed)
		push(endpoint, qp);
	arm(endpoint, now);
}

// Counts PSNs that left for the first time before one that came, and did not come themselves yet.
static void note_passed(struct qp *qp, const struct packet *packet)
{
	uint32_t psn = psn_extend(qp->rcv_next, packet->psn);
	int32_t ahead = psn_distance(psn, qp->credit_next);
	if (ahead >= 0) {
		qp->passed += (uint32_t)ahead;
		qp->credit_next = psn + 1;
	} else if (!(packet->bth & PACKET_RTX) && qp->passed > 0) {
		qp->passed--;
	}
}

// Their bytes. They are no more than what is missing: one that was lost is here when it came again.
static uint32_t passed_bytes(struct qp *qp)
{
	int32_t ahead = psn_distance(qp->credit_next, qp->rcv_next);
	uint32_t holes = ahead > 0 ? (uint32_t)ahead - qp->ooo_count : 0;
	if (qp->passed > holes)
		qp->passed = holes;
	return qp->passed * qp->full_bytes;
}

void credit_arrived(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now)
{
	note_passed(qp, packet);
	if (endpoint->has_throttle)
		throttle_data(&endpoint->throttle, packet->flags & PACKET_CE,
			      packet->flags & PACKET_TRIMMED, packet->flags & PACKET_TRIMMED_LAST,
			      now);
	owe(endpoint, qp, now);
}

// How long the lines take what was granted, at the share of them that is granted now.
static ps_t granted_ps(struct endpoint *endpoint, uint32_t bytes, ps_t now)
{
	ps_t line_ps = (ps_t)(bytes * BIT_PS / endpoint->credit_bps);
	return endpoint->has_throttle ? throttle_ps(&endpoint->throttle, line_ps, now) : line_ps;
}

// A packet of weft's own to the QP's other end, on one plane after the other.
static struct packet *address(struct endpoint *endpoint, const struct qp *qp, uint32_t index,
			      uint8_t opcode, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	packet->source = qp->remote_nic;
	packet->plane = (uint8_t)endpoint->credit_plane; // where that is alive
	if (++endpoint->credit_plane == endpoint->config->planes)
		endpoint->credit_plane = 0;
	packet->timestamp = 0;
	packet->psn = 0;
	packet->opcode = opcode;
	return packet;
}

static void grant(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out)
{
	struct packet *packet = address(endpoint, qp, index, PACKET_CREDIT, out);
	packet->u.credit = (struct packet_credit){.granted = qp->granted};
	endpoint->counters.grants_sent++;
	control_answer(endpoint, qp, index, out);
}

void credit_on_time(struct endpoint *endpoint, ps_t now, struct outbox *out)
{
	endpoint->has_credit_timer = false;
	while (endpoint->owed_head != 0) {
		struct qp *qp = pop(endpoint);
		uint32_t bytes = qp->cc.ops->receiver_grant(qp->receiver, passed_bytes(qp));
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
		endpoint->credit_at = now + granted_ps(endpoint, bytes, now);
		break;
	}
	arm(endpoint, now);
}

bool credit_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet, ps_t now)
{
	uint32_t bytes = packet->u.credit.granted - qp->credited;
	endpoint->counters.grants_received++;
	if (bytes == 0 || bytes > INT32_MAX) // an overtaken one
		return false;
	credit_heard(endpoint, qp, now);
	qp->credited = packet->u.credit.granted;
	qp->cc.ops->on_credit(&qp->cc, bytes, now);
	return true;
}

// Takes a QP off a list of contexts that are linked by `next`.
static void unlink_from(struct endpoint *endpoint, struct qp *qp, uint32_t *head, uint32_t *tail,
			uint32_t *(*next)(struct qp *))
{
	uint32_t context = qp->context + 1, before = 0;
	for (uint32_t at = *head; at != context; at = *next(context_at(endpoint, at - 1)))
		before = at;
	if (before == 0)
		*head = *next(qp);
	else
		*next(context_at(endpoint, before - 1)) = *next(qp);
	if (*tail == context)
		*tail = before;
}

static uint32_t *owed_next(struct qp *qp)
{
	return &qp->owed_next;
}

static uint32_t *tell_next(struct qp *qp)
{
	return &qp->tell_next;
}

void credit_leave(struct endpoint *endpoint, struct qp *qp)
{
	if (qp->is_owed)
		unlink_from(endpoint, qp, &endpoint->owed_head, &endpoint->owed_tail, owed_next);
	if (qp->is_telling)
		unlink_from(endpoint, qp, &endpoint->tell_head, &endpoint->tell_tail, tell_next);
	qp->is_owed = qp->is_telling = false;
}

// ---------------------------------------------------------------- what a sender asks for

static void tell(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->is_telling) {
		qp->is_telling = true;
		qp->tell_next = 0;
		if (endpoint->tell_tail != 0)
			context_at(endpoint, endpoint->tell_tail - 1)->tell_next = qp->context + 1;
		else
			endpoint->tell_head = qp->context + 1;
		endpoint->tell_tail = qp->context + 1;
	}
	if (endpoint->has_demand_timer)
		return;
	endpoint->has_demand_timer = true;
	heap_push(&endpoint->timers, now, (uint64_t)TIMER_DEMAND << TIMER_KIND_SHIFT);
}

void credit_tell_all(struct endpoint *endpoint, struct outbox *out)
{
	endpoint->has_demand_timer = false;
	while (endpoint->tell_head != 0) {
		struct qp *qp = context_at(endpoint, endpoint->tell_head - 1);
		endpoint->tell_head = qp->tell_next;
		if (endpoint->tell_head == 0)
			endpoint->tell_tail = 0;
		qp->is_telling = false;
		if (qp->state != QP_RTS)
			continue;
		uint32_t index = packet_get(out->packets);
		if (index == PACKET_NONE) {
			out->limit = OUTBOX_NO_PACKET;
			return;
		}
		struct packet *packet = address(endpoint, qp, index, PACKET_DEMAND, out);
		packet->u.demand = (struct packet_demand){qp->asked, qp->unpaid};
		endpoint->counters.demands_sent++;
		control_answer(endpoint, qp, index, out);
	}
}

// Wire bytes of what is posted and has not left. Where a packet leaves only when a full one would
// fit, the last one of a message needs that much.
static uint32_t waiting_bytes(const struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t bytes = 0, psn = qp->psn_next;
	for (uint32_t at = qp->send_at; at != qp->send_tail; at++) {
		const struct send *send = &qp->sends[at & endpoint->sends_mask];
		uint32_t last = qp->is_gate_full ? qp->full_bytes : send->last_wire;
		bytes += (send->last_psn - psn) * qp->full_bytes + last;
		psn = send->last_psn + 1;
	}
	return bytes;
}

void credit_posted(struct endpoint *endpoint, struct qp *qp, uint32_t packets, uint32_t last_wire,
		   ps_t now)
{
	bool is_idle = qp->una == qp->psn_next && qp->send_at == qp->send_tail;
	if (!endpoint->has_demand || qp->is_unpaid)
		return;
	if (is_idle) { // what was granted and not used is given up
		qp->is_unpaid = true;
		qp->unpaid -= qp->cc.credit_bytes;
		qp->cc.credit_bytes = endpoint->credit_first;
		qp->cc.ops->on_credit(&qp->cc, 0, now);
		return;
	}
	qp->asked += (packets - 1) * qp->full_bytes;
	qp->asked += qp->is_gate_full ? qp->full_bytes : last_wire;
	tell(endpoint, qp, now);
}

void credit_heard(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->is_unpaid || qp->una == qp->psn_next) // or it answers a probe
		return;
	qp->is_unpaid = false;
	qp->unpaid += qp->inflight;
	if (qp->cc.credit_bytes > qp->inflight)
		qp->cc.credit_bytes = qp->inflight;
	qp->asked += waiting_bytes(endpoint, qp) + qp->lost_count * qp->full_bytes;
	tell(endpoint, qp, now);
}

void credit_again(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (endpoint->has_demand && !qp->is_unpaid && qp->una != qp->psn_posted)
		tell(endpoint, qp, now);
}

void credit_receive_demand(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
			   ps_t now)
{
	endpoint->counters.demands_received++;
	qp->cc.ops->receiver_notified(qp->receiver, packet->u.demand.asked,
				      packet->u.demand.unpaid);
	owe(endpoint, qp, now);
}
