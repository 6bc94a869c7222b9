// SPDX-License-Identifier: Apache-2.0
// The endpoint's public face: hands each call to the file that knows. No protocol in here; how an
// endpoint comes to be is in create.c, what it reports in event.c.
#include "endpoint.h"

#include "rc.h"
#include "requester.h"
#include "responder.h"
#include "retransmit.h"
#include "sack.h"

void endpoint_connect(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
		      ps_t now)
{
	check(qpn < endpoint->qp_max && config->local_nic == endpoint->nic);
	qp_open(endpoint, endpoint_qp(endpoint, qpn), config, now);
	if (endpoint->is_rc)
		rc_open(endpoint, endpoint_qp(endpoint, qpn), config);
}

int endpoint_register(struct endpoint *endpoint, uint32_t rkey, uint64_t va, uint64_t bytes)
{
	return region_add(&endpoint->regions, rkey, va, bytes);
}

int endpoint_post(struct endpoint *endpoint, uint32_t qpn, const struct work *work, ps_t now)
{
	check(qpn < endpoint->qp_max);
	return requester_post(endpoint, endpoint_qp(endpoint, qpn), work, now);
}

uint32_t endpoint_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out)
{
	if (endpoint->work == 0)
		return PACKET_NONE;
	struct fifo *control = &endpoint->control[plane];
	if (control->count == 0)
		return endpoint->is_rc ? rc_next(endpoint, plane, now, out)
				       : requester_next(endpoint, plane, now, out);
	endpoint->held--;
	endpoint->work--;
	return (uint32_t)fifo_pop(control, out->chunks);
}

bool endpoint_has_work(const struct endpoint *endpoint)
{
	return endpoint->work != 0;
}

// The QP that a packet is for, NULL when there is none that would take it.
static struct qp *target_of(const struct endpoint *endpoint, const struct packet *packet)
{
	if (packet->qpn >= endpoint->qp_max || packet->plane >= endpoint->shape.planes)
		return NULL;
	struct qp *qp = endpoint_qp(endpoint, packet->qpn);
	return qp->state == QP_RTS && qp->remote_nic == packet->source ? qp : NULL;
}

void endpoint_receive(struct endpoint *endpoint, uint32_t index, ps_t now, struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	struct qp *qp = target_of(endpoint, packet);
	if (!qp) {
		endpoint->counters.no_qp++;
	} else if (endpoint->is_rc) {
		rc_receive(endpoint, qp, index, now, out);
		return;
	} else if (packet->opcode >= PACKET_WRITE_FIRST &&
		   packet->opcode <= PACKET_WRITE_ONLY_IMM) {
		responder_receive(endpoint, qp, index, now, out);
		return;
	} else if (packet->opcode == PACKET_SACK) {
		sack_receive(endpoint, qp, packet, now);
	} else if (packet->opcode == PACKET_NACK) {
		retransmit_on_nack(endpoint, qp, packet, now);
	} else {
		endpoint->counters.refused[REFUSED_OPCODE]++;
	}
	packet_put(out->packets, index);
}

ps_t endpoint_wake_at(const struct endpoint *endpoint)
{
	return heap_next_at(&endpoint->timers);
}

static void ring_cc(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	qp->has_cc_timer = false;
	if (qp->state != QP_RTS)
		return;
	if (qp->cc.wake_at <= now)
		qp->cc.ops->on_time(&qp->cc, now);
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}

void endpoint_on_time(struct endpoint *endpoint, ps_t now)
{
	while (heap_next_at(&endpoint->timers) <= now) {
		struct heap_item item = heap_pop(&endpoint->timers);
		struct qp *qp = endpoint_qp(endpoint, (uint32_t)item.key);
		if (item.key >> TIMER_KIND_SHIFT == TIMER_CC)
			ring_cc(endpoint, qp, now);
		else if (endpoint->is_rc)
			rc_send_on_time(endpoint, qp, now);
		else
			retransmit_on_time(endpoint, qp, now);
	}
}

const struct transport_counters *endpoint_counters(const struct endpoint *endpoint)
{
	return &endpoint->counters;
}

uint32_t endpoint_held(const struct endpoint *endpoint)
{
	return endpoint->held;
}
