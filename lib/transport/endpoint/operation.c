// SPDX-License-Identifier: Apache-2.0
// The second layer of acknowledgement, responder's half: a SACK says that packets are here, a
// transport ACK that whole requests are done. They are done in order, so a hole holds all behind it
// back and one ACK then speaks for all. What the requester makes of it is in ack.c.
#include "operation.h"

#include "control.h"

void operation_done(struct qp *qp, uint32_t psn)
{
	qp->ops_done++;
	qp->ops_end = psn + 1;
}

void operation_hold(const struct endpoint *endpoint, struct qp *qp, uint32_t psn)
{
	bitmap_set(qp->ends, psn & endpoint->mpr_mask);
	qp->ops_above++;
}

bool operation_pass_held(const struct endpoint *endpoint, struct qp *qp, uint32_t psn,
			 uint32_t count)
{
	uint32_t before = qp->ops_done, end = psn + count;
	while (qp->ops_above > 0 && psn_distance(psn, end) < 0) {
		uint64_t window = bitmap_ring_window(qp->ends, endpoint->mpr_mask + 1, psn);
		uint32_t left = end - psn, width = left < 64 ? left : 64;
		if (width < 64)
			window &= (UINT64_C(1) << width) - 1;
		for (; window != 0; window &= window - 1) {
			uint32_t at = psn + (uint32_t)__builtin_ctzll(window);
			bitmap_clear(qp->ends, at & endpoint->mpr_mask);
			qp->ops_above--;
			operation_done(qp, at);
		}
		psn += width;
	}
	return qp->ops_done != before;
}

// What the ACK says when it leaves is what was done last.
static void describe(const struct qp *qp, struct packet *packet)
{
	packet->psn = (qp->ops_end - 1) & PSN_MASK;
	packet->u.ack = (struct packet_ack){.msn = qp->ops_done & PSN_MASK,
					    .syndrome = PACKET_ACK_FINE};
}

bool operation_ack_waits(const struct qp *qp, struct outbox *out)
{
	if (qp->ack_waiting == PACKET_NONE)
		return false;
	describe(qp, packet_at(out->packets, qp->ack_waiting));
	return true;
}

void operation_ack(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	check(qp->ack_waiting == PACKET_NONE);
	describe(qp, packet);
	packet->opcode = PACKET_ACK;
	packet->timestamp = 0; // an AETH has none
	control_address(endpoint, qp->remote_qpn, packet);
	packet->payload = qp->number; // until it leaves: who waits
	endpoint->counters.acks_sent++;
	if (control_send(endpoint, index, out))
		qp->ack_waiting = index;
}

void operation_nak(struct endpoint *endpoint, struct qp *qp, uint32_t index, uint32_t psn,
		   enum refused_reason reason, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	bool is_access = reason == REFUSED_KEY || reason == REFUSED_BOUNDS;
	control_route(endpoint, qp, packet);
	packet->opcode = PACKET_ACK;
	packet->timestamp = 0;
	packet->psn = psn & PSN_MASK;
	packet->u.ack = (struct packet_ack){.msn = qp->ops_done & PSN_MASK,
					    .syndrome = is_access ? PACKET_NAK_ACCESS
								  : PACKET_NAK_REQUEST};
	control_address(endpoint, qp->remote_qpn, packet);
	endpoint->counters.naks_sent++;
	control_send(endpoint, index, out);
}

void operation_dropped(struct endpoint *endpoint, uint32_t number, uint32_t index)
{
	struct qp *qp = endpoint_qp(endpoint, number);
	if (qp && qp->ack_waiting == index) // else it was the last word of another life or context
		qp->ack_waiting = PACKET_NONE;
}

void operation_leaves(struct endpoint *endpoint, struct packet *packet, uint32_t index)
{
	uint32_t number = packet->payload;
	packet->payload = 0;
	if (packet->u.ack.syndrome != PACKET_ACK_FINE)
		return;
	operation_dropped(endpoint, number, index); // no longer there to be spoken through
}
