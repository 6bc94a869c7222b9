// SPDX-License-Identifier: Apache-2.0
// The endpoint's public face: hands each call to the file that knows. No protocol in here; how an
// endpoint comes to be is in create.c, what it reports in event.c.

#include "endpoint.h"

#include <errno.h>

#include "control.h"
#include "mrc/answer.h"
#include "mrc/credit.h"
#include "mrc/flight.h"
#include "mrc/loss.h"
#include "mrc/requester.h"
#include "mrc/responder.h"
#include "mrc/sleek.h"
#include "mrc/tail.h"
#include "operation.h"
#include "outgoing.h"
#include "path/doubt.h"
#include "path/load.h"
#include "path/own_port.h"
#include "path/status.h"
#include "rc/rc.h"

// Most packets of data are like the one before: from the middle of a message, new, of the only QP
// that has something, with the window open behind them: another could follow, and the QP stays
// ready. A train of such leaves with what they have in common looked at once. It ends before the
// first packet that is not like them, which requester.c makes.

// The QP whose turn it is, if it is alone and has nothing to repair; else NULL.
static inline struct qp *train_qp(struct endpoint *endpoint, const struct ready_queue *queue,
				  uint32_t plane)
{
	if (queue->head != queue->tail || queue->head == 0 ||
	    (endpoint->has_shares | endpoint->is_untold))
		return NULL;
	struct qp *qp = context_at(endpoint, queue->head - 1);
	if (qp->state != QP_RTS || qp->lost_count > 0 || qp->is_ack_due ||
	    path_is_doubtful(&qp->path, plane) || load_is_full(qp, plane))
		return NULL;
	return qp;
}

// How many packets are neither the first nor the last of `send`, and have others behind them.
static inline uint32_t train_packets(const struct qp *qp, const struct send *send)
{
	uint32_t in_message = send->last_psn - qp->psn_next;
	uint32_t used = qp->psn_next - qp->una + 1;
	uint32_t in_range = used < qp->mpr_limit ? qp->mpr_limit - used : 0;
	// One that was queued for a repair that was not needed after all may have nothing new.
	if (qp->psn_next == qp->psn_posted || qp->psn_next == send->first_psn)
		return 0;
	return in_message < in_range ? in_message : in_range;
}

// Up to what is in flight by PSNs one more packet leaves and does not close the window.
static inline int64_t train_inflight(const struct qp *qp)
{
	int64_t ahead = (int64_t)(uint32_t)(qp->heard_bytes - qp->settled_bytes);
	if (qp->inflight < ahead)
		return -1;
	return (int64_t)qp->cc.window_bytes + ahead - 2 * (int64_t)qp->full_bytes - 1;
}

// Until when, in units, the next packet need not ask for a SACK.
static inline uint32_t train_quiet(const struct endpoint *endpoint)
{
	return endpoint->config->sack_rule == SACK_MRC ? endpoint->rto_units / 4 : UINT32_MAX;
}

// Writes the descriptor and the slot of a packet from the middle of `send`.
static inline void train_packet(const struct endpoint *endpoint, const struct qp *qp,
				const struct send *send, uint32_t psn, uint32_t ev_index, ps_t now,
				struct packet *packet)
{
	struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
	*slot = (struct slot){sent_units(now), (uint16_t)ev_index, SLOT_USED};
	packet->payload = 0;
	packet->wire_bytes = qp->full_bytes;
	packet->flags = PACKET_ECT | PACKET_TRIMMABLE;
	packet->klass = PACKET_CLASS_DATA;
	packet->payload_bytes = qp->payload_bytes;
	packet->hop = 0;
	packet->opcode = PACKET_WRITE_MIDDLE;
	packet->bth = 0;
	packet->psn = psn & PSN_MASK;
	packet->u.data = (struct packet_data){
		.va = send->va + (uint64_t)(psn - send->first_psn) * qp->payload_bytes,
		.rkey = send->rkey,
		.message_bytes = send->bytes,
		.msn = send->msn,
		.rqmsn = send->rqmsn,
	};
	outgoing_address(endpoint, qp, ev_index, now, packet);
}

// endpoint_next_train(), when there is no control, and no port has work.
static __attribute__((noinline)) ps_t train_send(struct endpoint *endpoint,
						 const struct train *train, struct outbox *out)
{
	struct ready_queue *queue = &endpoint->ready[endpoint->is_single ? train->plane : 0];
	struct qp *qp = train_qp(endpoint, queue, train->plane);
	ps_t start = train->start;
	if (qp == NULL)
		return start;
	const struct send *send = &qp->sends[qp->send_at & endpoint->sends_mask];
	const uint32_t full_bytes = qp->full_bytes, quiet = train_quiet(endpoint);
	const int64_t inflight_max = train_inflight(qp);
	const ps_t full_ps = line_ps(train->line, full_bytes);
	uint32_t left = train_packets(qp, send), psn = qp->psn_next, inflight = qp->inflight;
	if (psn == qp->una) // nothing was out: old send times may have wrapped
		return start;
	for (; left > 0 && start <= train->last && inflight <= inflight_max; left--) {
		if (sent_units(start) - qp->heard_at > quiet)
			break;
		uint32_t index = packet_get(out->packets);
		if (index == PACKET_NONE)
			break;
		struct packet *packet = packet_at(out->packets, index);
		packet->plane = (uint8_t)train->plane;
		balance_at(&qp->path, start);
		path_at(&qp->path, start);
		struct path_choice path = outgoing_pick(&qp->path, train->plane, PATH_NO_EV, false);
		check(!path.is_trial); // its plane is open
		train_packet(endpoint, qp, send, psn++, path.index, start, packet);
		inflight += full_bytes;
		outbox_send(out, train->port, index, full_bytes, start);
		start += full_ps;
	}
	uint32_t packets = psn - qp->psn_next;
	if (packets == 0)
		return start;
	qp->psn_next = psn;
	qp->inflight = inflight;
	load_add(&qp->path, train->plane, packets * full_bytes);
	qp->is_stalled = false;
	endpoint->counters.payload_bytes_new += (uint64_t)packets * qp->payload_bytes;
	outgoing_count(endpoint, train->plane, packets, (uint64_t)packets * full_bytes);
	loss_arm(endpoint, qp, train->start);
	return start;
}

#define PRESS_RESTORE (1u << 7) // of the penalty byte: what was taken is given back

int endpoint_register(struct endpoint *endpoint, uint32_t rkey, uint64_t va, uint64_t bytes)
{
	return region_add(&endpoint->regions, rkey, va, bytes);
}

int endpoint_unregister(struct endpoint *endpoint, uint32_t rkey)
{
	return region_remove(&endpoint->regions, rkey);
}

// Posts on a QP that may have to get a context first.
static __attribute__((noinline)) int post_pooled(struct endpoint *endpoint, uint32_t qpn,
						 const struct work *work, ps_t now)
{
	uint8_t state = endpoint->records[qpn].state;
	if (state != QP_RTS)
		return state == QP_ERROR ? -ECONNRESET : -ENOTCONN;
	struct qp *qp = context_for_post(endpoint, qpn, now);
	if (!qp)
		return -EAGAIN;
	int rc = requester_post(endpoint, qp, work, now);
	context_touch(endpoint, qp);
	return rc;
}

int endpoint_post(struct endpoint *endpoint, uint32_t qpn, const struct work *work, ps_t now)
{
	check(qpn < endpoint->qp_max);
	int rc = endpoint->is_pooled
		? post_pooled(endpoint, qpn, work, now)
		: requester_post(endpoint, endpoint_qp(endpoint, qpn), work, now);
	if (endpoint->has_port_work && rc == 0)
		own_port_on_post(endpoint, endpoint_qp(endpoint, qpn), now);
	return rc;
}

// The oldest control packet of a plane. Some say at the moment of their departure what is so then.
static __attribute__((noinline)) uint32_t
next_control(struct endpoint *endpoint, struct fifo *control, ps_t now, struct outbox *out)
{
	endpoint->held--;
	endpoint->work--;
	uint32_t index = (uint32_t)fifo_pop(control, out->chunks);
	struct packet *packet = packet_at(out->packets, index);
	if (packet->opcode == PACKET_PROBE) // its way begins now
		packet->timestamp = (uint16_t)(now / TIMESTAMP_PS);
	else if (packet->opcode == PACKET_ACK)
		operation_leaves(endpoint, packet, index);
	else
		service_ends(packet, now);
	return index;
}

// Whether nothing else of this plane may leave now: *ret is what does, or PACKET_NONE.
static inline bool goes_first(struct endpoint *endpoint, uint32_t plane, ps_t now,
			      struct outbox *out, uint32_t *ret)
{
	*ret = PACKET_NONE;
	if (endpoint->work == 0)
		return true;
	if (!endpoint->has_port_work)
		return false;
	if (status_is_down(endpoint, plane))
		return true;
	*ret = status_next(endpoint, plane, now, out);
	return *ret != PACKET_NONE;
}

uint32_t endpoint_next_control(struct endpoint *endpoint, uint32_t plane, ps_t now,
			       struct outbox *out)
{
	uint32_t request;
	if (goes_first(endpoint, plane, now, out, &request))
		return request;
	struct fifo *control = &endpoint->control[plane];
	return control->count == 0 ? PACKET_NONE : next_control(endpoint, control, now, out);
}

uint32_t endpoint_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out)
{
	uint32_t request;
	if (goes_first(endpoint, plane, now, out, &request))
		return request;
	struct fifo *control = &endpoint->control[plane];
	if (control->count == 0)
		return endpoint->is_rc ? rc_next(endpoint, plane, now, out)
				       : requester_next(endpoint, plane, now, out);
	return next_control(endpoint, control, now, out);
}

ps_t endpoint_next_train(struct endpoint *endpoint, const struct train *train, struct outbox *out)
{
	if (endpoint->work == 0 || (endpoint->has_port_work | endpoint->is_rc) ||
	    endpoint->control[train->plane].count > 0)
		return train->start;
	return train_send(endpoint, train, out);
}

bool endpoint_has_work(const struct endpoint *endpoint)
{
	return endpoint->work != 0;
}

bool endpoint_has_completed(const struct endpoint *endpoint)
{
	for (uint32_t number = 0; number < endpoint->qp_max; number++) {
		const struct qp *qp = endpoint_qp(endpoint, number);
		if (qp != NULL && qp->send_done != qp->send_tail)
			return false;
	}
	return true;
}

static bool is_trying(const struct endpoint *endpoint, const struct qp *qp)
{
	bool is_out = qp->psn_next != qp->una;
	if (endpoint->is_rc)
		return is_out && rc_of(qp)->tries > 0;
	const struct slot *oldest = &qp->slots[qp->una & endpoint->mpr_mask];
	return qp->ack_tries > 0 || (is_out && slot_waits(oldest) > 0) || path_is_cut(&qp->path);
}

uint32_t endpoint_trying(const struct endpoint *endpoint)
{
	uint32_t count = 0;
	for (uint32_t number = 0; number < endpoint->qp_max; number++) {
		const struct qp *qp = endpoint_qp(endpoint, number);
		count += qp != NULL && qp->state == QP_RTS && qp->send_done != qp->send_tail &&
			is_trying(endpoint, qp);
	}
	return count;
}

// The QP that a packet is for, NULL when there is none that would take it.
static struct qp *target_of(const struct endpoint *endpoint, const struct packet *packet)
{
	if (packet->qpn >= endpoint->qp_max || packet->plane >= endpoint->shape.planes)
		return NULL;
	struct qp *qp = context_at(endpoint, packet->qpn);
	bool is_open = qp->state == QP_RTS || qp->state == QP_RTR;
	return is_open && qp->remote_nic == packet->source ? qp : NULL;
}

// Whether it is for the endpoint, not for one of its QPs.
static bool is_of_ports(const struct endpoint *endpoint, const struct packet *packet)
{
	return endpoint->config->port_status &&
		(packet->opcode == PACKET_ENDPOINT_REQUEST ||
		 packet->opcode == PACKET_ENDPOINT_RESPONSE);
}

// Takes a packet for a QP that is there; it is reused for the answer or given back. Inline: a call
// more per packet is one per cent of a run.
static inline __attribute__((always_inline)) void
receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	if (endpoint->is_untold)
		status_touch(endpoint, qp);
	if (packet->opcode >= PACKET_WRITE_FIRST && packet->opcode <= PACKET_WRITE_ONLY_IMM) {
		endpoint->recent[0] = qp;
		responder_receive(endpoint, qp, index, now, out);
		return;
	}
	if (packet->opcode == PACKET_SACK) {
		endpoint->recent[1] = qp;
		sack_receive(endpoint, qp, packet, now);
	} else if (packet->opcode == PACKET_PROBE) {
		service_begins(endpoint, qp, packet, now);
		responder_receive_probe(endpoint, qp, index, out);
		return;
	} else if (packet->opcode == PACKET_NACK) {
		retransmit_on_nack(endpoint, qp, packet, now);
	} else if (packet->opcode == PACKET_ACK) {
		ack_receive(endpoint, qp, packet, now);
	} else if (packet->opcode == PACKET_CREDIT && endpoint->credit_bps != 0) {
		if (credit_receive(endpoint, qp, packet, now))
			requester_wake(endpoint, qp);
	} else if (packet->opcode == PACKET_DEMAND && endpoint->has_demand) {
		credit_receive_demand(endpoint, qp, packet, now);
	} else if (is_of_ports(endpoint, packet)) { // and a QP has the number that they are for
		status_receive(endpoint, index, now, out);
		return;
	} else {
		endpoint->counters.refused[REFUSED_OPCODE]++;
	}
	packet_put(out->packets, index);
}

// The same for a QP that may have to get a context first. An answer does not need one: without
// a context nothing is out that it could speak of.
static __attribute__((noinline)) void receive_pooled(struct endpoint *endpoint, uint32_t index,
						     ps_t now, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	if (is_of_ports(endpoint, packet)) {
		status_receive(endpoint, index, now, out);
		return;
	}
	const struct qp_record *record = &endpoint->records[packet->qpn];
	bool is_there = packet->qpn < endpoint->qp_max && packet->plane < endpoint->shape.planes &&
		(record->state == QP_RTS || record->state == QP_RTR) &&
		record->remote_nic == packet->source;
	struct qp *qp = is_there ? endpoint_qp(endpoint, packet->qpn) : NULL;
	bool is_answer = packet->opcode == PACKET_SACK || packet->opcode == PACKET_NACK ||
		packet->opcode == PACKET_ACK;
	if (is_there && !qp && !is_answer)
		qp = context_for_packet(endpoint, packet->qpn, now);
	if (qp) {
		endpoint->pool.now = now;
		receive(endpoint, qp, index, now, out);
		context_touch(endpoint, qp);
	} else if (is_there && !is_answer) {
		context_defer(endpoint, record, index, out);
	} else {
		endpoint->counters.no_qp += !is_there;
		endpoint->counters.answers_idle += is_there;
		packet_put(out->packets, index);
	}
}

void endpoint_receive(struct endpoint *endpoint, uint32_t index, ps_t now, struct outbox *out)
{
	if (endpoint->is_pooled) {
		receive_pooled(endpoint, index, now, out);
		return;
	}
	struct qp *qp = target_of(endpoint, packet_at(out->packets, index));
	if (!qp && is_of_ports(endpoint, packet_at(out->packets, index))) {
		status_receive(endpoint, index, now, out);
	} else if (!qp) {
		endpoint->counters.no_qp++;
		packet_put(out->packets, index);
	} else if (endpoint->is_rc) {
		rc_receive(endpoint, qp, index, now, out);
	} else {
		receive(endpoint, qp, index, now, out);
	}
}

static bool is_data(const struct packet *packet)
{
	return packet->opcode >= PACKET_WRITE_FIRST && packet->opcode <= PACKET_WRITE_ONLY_IMM &&
		!(packet->flags & PACKET_TRIMMED);
}

// The record of the open QP that a packet is for, NULL when there is none that would take it.
static const struct qp_record *record_for(const struct endpoint *endpoint,
					  const struct packet *packet)
{
	if (packet->qpn >= endpoint->qp_max || packet->plane >= endpoint->shape.planes)
		return NULL;
	const struct qp_record *record = &endpoint->records[packet->qpn];
	bool is_open = record->state == QP_RTS || record->state == QP_RTR;
	return is_open && record->remote_nic == packet->source ? record : NULL;
}

bool endpoint_may_complete(const struct endpoint *endpoint, const struct packet *packet)
{
	const struct qp_record *record = record_for(endpoint, packet);
	if (record == NULL)
		return false;
	return is_data(packet) || packet->opcode == PACKET_ACK ||
		(packet->opcode == PACKET_SACK && !(record->capabilities & QP_CAN_ACK));
}

// Answers data that somebody else does not take.
static void answer_untaken(struct endpoint *endpoint, uint32_t index, enum packet_nack reason,
			   struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	const struct qp_record *record = record_for(endpoint, packet);
	if (record != NULL && is_data(packet))
		context_answer_nack(endpoint, record, index, (uint8_t)reason, out);
	else
		packet_put(out->packets, index);
}

void endpoint_turn_away(struct endpoint *endpoint, uint32_t index, struct outbox *out)
{
	answer_untaken(endpoint, index, PACKET_NACK_NO_PKT_BUFFER, out);
}

void endpoint_refuse(struct endpoint *endpoint, uint32_t index, struct outbox *out)
{
	answer_untaken(endpoint, index, PACKET_NACK_UNEXP_EVENT, out);
}

void endpoint_press(struct endpoint *endpoint, uint8_t penalty)
{
	check(penalty < PRESS_RESTORE);
	if (penalty != 0 || endpoint->press != 0) // to who was never pressed nothing is given back
		endpoint->press = (uint8_t)(penalty != 0 ? penalty : PRESS_RESTORE);
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
	if (qp->cc.wake_at <= now) {
		qp->cc.ops->on_time(&qp->cc, now);
		credit_again(endpoint, qp, now);
	}
	sack_arm_cc(endpoint, qp);
	requester_wake(endpoint, qp);
}

static void ring_tail(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (tail_on_time(endpoint, qp, now))
		requester_wake(endpoint, qp);
}

static void ring_port(struct endpoint *endpoint, uint32_t id, ps_t now)
{
	if (id == OWN_PORT_TIMER)
		own_port_on_time(endpoint, now);
	else
		status_on_time(endpoint, id, now);
}

static void ring(struct endpoint *endpoint, uint64_t key, ps_t now, struct outbox *out)
{
	enum timer_kind kind = (enum timer_kind)(key >> TIMER_KIND_SHIFT);
	if (kind == TIMER_PORT) {
		ring_port(endpoint, (uint32_t)key, now);
		return;
	}
	if (kind == TIMER_CREDIT) {
		credit_on_time(endpoint, now, out);
		return;
	}
	if (kind == TIMER_DEMAND) {
		credit_tell_all(endpoint, out);
		return;
	}
	if (kind == TIMER_CONTEXTS) {
		context_on_time(endpoint, now);
		return;
	}
	struct qp *qp = context_at(endpoint, (uint32_t)key);
	if (kind == TIMER_CC)
		ring_cc(endpoint, qp, now);
	else if (kind == TIMER_PROBE)
		probe_on_time(endpoint, qp, now, out);
	else if (kind == TIMER_TAIL)
		ring_tail(endpoint, qp, now);
	else if (kind == TIMER_SLEEK)
		sleek_on_time(endpoint, qp, now, out);
	else if (endpoint->is_rc)
		rc_send_on_time(endpoint, qp, now);
	else
		retransmit_on_time(endpoint, qp, now);
	if (endpoint->is_pooled)
		context_timer_rang(endpoint, qp, now);
}

void endpoint_on_time(struct endpoint *endpoint, ps_t now, struct outbox *out)
{
	while (heap_next_at(&endpoint->timers) <= now)
		ring(endpoint, heap_pop(&endpoint->timers).key, now, out);
}

const struct transport_counters *endpoint_counters(const struct endpoint *endpoint)
{
	return &endpoint->counters;
}

void endpoint_time(struct endpoint *endpoint, struct delays *delays)
{
	endpoint->delays = delays;
	endpoint->is_noted = true;
}

void endpoint_count_evs(struct endpoint *endpoint, struct ev_count *const *counts)
{
	endpoint->ev_counts = counts;
	endpoint->is_noted = true;
}

uint32_t endpoint_held(const struct endpoint *endpoint)
{
	return endpoint->held;
}
