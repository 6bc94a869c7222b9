// SPDX-License-Identifier: Apache-2.0
// The sending side: posting, and making the next packet when a line is free. A packet exists only
// from its departure on; until then there is the work request and a PSN. Not in here: what comes
// back (sack.c) and what is missing (loss.c).
#include "requester.h"

#include <errno.h>

#include "credit.h"
#include "endpoint/outgoing.h"
#include "endpoint/ready.h"
#include "flight.h"
#include "loss.h"
#include "path/doubt.h"
#include "path/load.h"
#include "path/status.h"
#include "request.h"
#include "sleek.h"
#include "tail.h"

#define POSTED_MAX 0x40000000u // PSNs between una and the end of the queue: keeps distances signed

// The packet that would leave now.
struct plan {
	uint32_t psn;
	uint32_t wire_bytes;
	bool is_rtx;
	bool is_reminder; // of an acknowledged request whose ACK did not come: in no window
};

int requester_post(struct endpoint *endpoint, struct qp *qp, const struct work *work, ps_t now)
{
	const struct transport_config *config = endpoint->config;
	if (qp->state != QP_RTS)
		return qp->state == QP_ERROR ? -ECONNRESET : -ENOTCONN;
	if (qp->send_tail - qp->send_done >= config->sends_max)
		return -ENOBUFS;
	check(work->bytes > 0);
	check(config->messages_max == 0 || qp->send_tail < config->messages_max);
	uint32_t packets = 1;
	if (work->bytes > qp->payload_bytes)
		packets += (work->bytes - 1) / qp->payload_bytes;
	if (packets > POSTED_MAX - (qp->psn_posted - qp->una))
		return -ENOBUFS;
	uint32_t last_payload = work->bytes - (packets - 1) * qp->payload_bytes;
	if (endpoint->has_demand)
		credit_posted(endpoint, qp, packets, last_payload + config->header_bytes, now);
	struct send *send = &qp->sends[qp->send_tail++ & endpoint->sends_mask];
	*send = (struct send){
		.va = work->va,
		.cookie = work->cookie,
		.posted_at = now,
		.rkey = work->rkey,
		.bytes = work->bytes,
		.imm = work->imm,
		.first_psn = qp->psn_posted,
		.last_psn = qp->psn_posted + packets - 1,
		.msn = qp->msn++,
		.rqmsn = qp->rqmsn,
		.last_wire = (uint16_t)(last_payload + config->header_bytes),
		.has_imm = work->has_imm,
	};
	qp->rqmsn = (uint16_t)(qp->rqmsn + work->has_imm);
	qp->psn_posted += packets;
	probe_wake(endpoint, qp, now);
	requester_wake(endpoint, qp);
	return 0;
}

// Whether new data may be numbered: there is some, and neither the PSN range nor the number of
// WRITE_WITH_IMM is used up.
static bool has_new(const struct endpoint *endpoint, const struct qp *qp)
{
	if (qp->psn_next == qp->psn_posted || qp->psn_next - qp->una >= qp->mpr_limit)
		return false;
	const struct send *send = &qp->sends[qp->send_at & endpoint->sends_mask];
	return !send->has_imm || qp->psn_next != send->first_psn || qp->wimm_count < qp->wimm_limit;
}

// Whether what goes again is the oldest packet in flight: others arrived behind it, so it is a
// repair that was lost and left last, or its request has not left whole. Else it is the last one of
// that.
static bool asks_of_tail(const struct endpoint *endpoint, const struct qp *qp)
{
	const struct send *oldest = &qp->sends[qp->send_done & endpoint->sends_mask];
	return qp->tail_probes > 0 && qp->inflight > 0 &&
		(qp->acked_count > 0 || psn_distance(oldest->last_psn, qp->psn_next) >= 0);
}

static const struct send *reminded(const struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t number = asks_of_tail(endpoint, qp) ? qp->send_una : qp->send_done;
	return &qp->sends[number & endpoint->sends_mask];
}

// A packet that the target may have goes again: it says what it has.
static void plan_reminder(const struct endpoint *endpoint, const struct qp *qp,
			  struct plan *ret_plan)
{
	const struct send *send = reminded(endpoint, qp);
	bool is_tail = asks_of_tail(endpoint, qp);
	*ret_plan = (struct plan){.psn = is_tail ? qp->una : send->last_psn,
				  .wire_bytes = is_tail ? request_wire_bytes(endpoint, qp, qp->una)
							: send->last_wire,
				  .is_rtx = true,
				  .is_reminder = true};
}

// Whether a packet may leave though the window is full: what SLEEK repairs.
static inline bool passes_full(const struct endpoint *endpoint, const struct qp *qp, bool is_rtx)
{
	return endpoint->has_sleek && is_rtx && sleek_is_recovering(endpoint, qp);
}

// What would leave now, repairs before new data; false when there is nothing or no window for it.
static inline __attribute__((always_inline)) bool plan_next(struct endpoint *endpoint,
							    struct qp *qp, struct plan *ret_plan)
{
	if (qp->state != QP_RTS)
		return false;
	ret_plan->is_reminder = false;
	if (qp->lost_count > 0) {
		ret_plan->is_rtx = true;
		ret_plan->psn = loss_first(endpoint, qp);
		ret_plan->wire_bytes = request_wire_bytes(endpoint, qp, ret_plan->psn);
	} else if (qp->is_ack_due) {
		plan_reminder(endpoint, qp, ret_plan);
		return true;
	} else if (has_new(endpoint, qp)) {
		const struct send *send = &qp->sends[qp->send_at & endpoint->sends_mask];
		ret_plan->is_rtx = false;
		ret_plan->psn = qp->psn_next;
		ret_plan->wire_bytes = qp->psn_next == send->last_psn ? send->last_wire
								      : qp->full_bytes;
	} else {
		return false;
	}
	if (__builtin_expect(endpoint->has_shares, 0))
		share_refresh(qp);
	uint32_t room = qp->is_gate_full ? qp->full_bytes : ret_plan->wire_bytes;
	uint32_t flying = flight_bytes(qp);
	if (flying + room <= qp->cc.window_bytes)
		return true;
	// With nothing in flight, or when the window was cut after the packets in flight had left
	// and none of them asks for a SACK, nothing but the timer would end the wait; nor when
	// nothing is heard of them (tail.h). One more packet leaves, and it asks. What waits for
	// credit does not: that comes unasked. htsim waits.
	bool is_mute = flying == 0 || qp->is_window_due ||
		(qp->asks_out == 0 && endpoint->config->sack_rule == SACK_MRC);
	if (__builtin_expect(endpoint->has_shares, 0))
		is_mute = is_mute && share_is_mute(endpoint, qp);
	if (__builtin_expect(is_mute || passes_full(endpoint, qp, ret_plan->is_rtx), 0) &&
	    flying + room <= qp->cc.credit_bytes)
		return true;
	// SACKs round bytes up: with nothing in flight what is left of the last credit may
	// be short of a packet by as much, and no other comes. The next one pays for it.
	if (__builtin_expect(flying == 0 && room > qp->cc.credit_bytes &&
				     room <= (uint64_t)qp->cc.credit_bytes + FLIGHT_ROUNDED,
			     0))
		return true;
	endpoint->counters.window_stalls += !qp->is_stalled;
	qp->is_stalled = true;
	return false;
}

static void wake_one(struct endpoint *endpoint, struct qp *qp)
{
	struct plan plan;
	if (!qp->is_queued && plan_next(endpoint, qp, &plan))
		ready_push(endpoint, qp);
}

// All who share the QP's window, for it may have room now.
static __attribute__((noinline)) void wake_sharers(struct endpoint *endpoint, struct qp *qp)
{
	share_count(qp);
	for (struct qp *at = share_first(endpoint, qp); at != NULL; at = share_next(endpoint, at))
		wake_one(endpoint, at);
}

void requester_wake(struct endpoint *endpoint, struct qp *qp)
{
	struct plan plan;
	if (__builtin_expect(endpoint->has_shares, 0))
		wake_sharers(endpoint, qp);
	else if (!qp->is_queued && plan_next(endpoint, qp, &plan))
		ready_push(endpoint, qp);
}

static uint8_t opcode_of(const struct send *send, uint32_t psn)
{
	bool is_first = psn == send->first_psn;
	if (psn != send->last_psn)
		return is_first ? PACKET_WRITE_FIRST : PACKET_WRITE_MIDDLE;
	if (is_first)
		return send->has_imm ? PACKET_WRITE_ONLY_IMM : PACKET_WRITE_ONLY;
	return send->has_imm ? PACKET_WRITE_LAST_IMM : PACKET_WRITE_LAST;
}

// Writes the descriptor of a PSN of `send`; route and flags are its caller's.
static void describe(const struct endpoint *endpoint, const struct qp *qp, const struct send *send,
		     const struct plan *plan, struct packet *packet)
{
	const struct transport_config *config = endpoint->config;
	uint32_t psn = plan->psn;
	uint32_t at = psn - send->first_psn;
	packet->payload = 0;
	packet->wire_bytes = (uint16_t)plan->wire_bytes;
	packet->payload_bytes = (uint16_t)(plan->wire_bytes - config->header_bytes);
	packet->klass = PACKET_CLASS_DATA;
	packet->flags = PACKET_ECT | PACKET_TRIMMABLE;
	packet->hop = 0;
	packet->opcode = opcode_of(send, psn);
	packet->psn = psn & PSN_MASK;
	packet->u.data = (struct packet_data){
		.va = send->va + (uint64_t)at * qp->payload_bytes,
		.rkey = send->rkey,
		.message_bytes = send->bytes,
		.imm = send->has_imm && psn == send->last_psn ? send->imm : 0,
		.msn = send->msn,
		.rqmsn = send->rqmsn,
	};
}

// Whether the responder should answer at once: nothing new may follow this packet before it does,
// or this QP sends so slowly that the timer would ring before sack_bytes come together. A window is
// closed when the next packet would fill it, as answers open it; a credit holds whole packets, and
// is used up when it does not hold one more.
static bool asks_for_sack(const struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	uint32_t next = flight_bytes(qp) + qp->full_bytes;
	bool is_closed = next >= qp->cc.window_bytes &&
		(next > qp->cc.credit_bytes || qp->cc.window_bytes < qp->cc.credit_bytes);
	bool is_slow = endpoint->config->sack_rule == SACK_MRC &&
		sent_units(now) - qp->heard_at > endpoint->rto_units / 4;
	if (!is_closed && !is_slow && has_new(endpoint, qp))
		return false;
	qp->heard_at = sent_units(now);
	return true;
}

// Somebody waits for the completion of a message: its last packet is answered at once (as
// InfiniBand adapters ask for it). htsim knows no messages.
static bool ends_message(const struct endpoint *endpoint, const struct send *send,
			 const struct plan *plan)
{
	return plan->psn == send->last_psn && endpoint->config->sack_rule == SACK_MRC;
}

static const struct send *number_new(struct endpoint *endpoint, struct qp *qp,
				     const struct plan *plan, ps_t now)
{
	const struct send *send = &qp->sends[qp->send_at & endpoint->sends_mask];
	if (qp->una == qp->psn_next) // nothing was out: old send times may have wrapped
		qp->newest_sent = qp->heard_at = sent_units(now);
	qp->wimm_count += send->has_imm && plan->psn == send->first_psn;
	qp->send_at += plan->psn == send->last_psn;
	qp->psn_next++;
	struct slot *slot = &qp->slots[plan->psn & endpoint->mpr_mask];
	slot->flags = SLOT_USED | (plan->wire_bytes != qp->full_bytes ? SLOT_SHORT : 0);
	endpoint->counters.payload_bytes_new += plan->wire_bytes - endpoint->config->header_bytes;
	return send;
}

static const struct send *number_again(struct endpoint *endpoint, struct qp *qp,
				       const struct plan *plan)
{
	struct slot *slot = &qp->slots[plan->psn & endpoint->mpr_mask];
	bitmap_clear(qp->lost, plan->psn & endpoint->mpr_mask);
	qp->lost_count--;
	qp->lost_from = plan->psn + 1;
	endpoint->counters.rtx[slot_reason(slot)]++;
	slot->flags &= (uint16_t) ~(3u << SLOT_REASON_SHIFT);
	slot->flags |= (uint16_t)(slot->flags & SLOT_RTX ? SLOT_AGAIN : SLOT_RTX);
	return request_of(endpoint, qp, plan->psn);
}

// Its slot is another PSN's, when it is further than a window behind.
static __attribute__((noinline)) void make_reminder(struct endpoint *endpoint, struct qp *qp,
						    const struct plan *plan, ps_t now,
						    struct packet *packet)
{
	struct slot *slot = &qp->slots[plan->psn & endpoint->mpr_mask];
	const struct send *send = reminded(endpoint, qp);
	balance_at(&qp->path, now);
	path_at(&qp->path, now);
	struct path_choice path = outgoing_pick(&qp->path, packet->plane, PATH_NO_EV, true);
	if (qp->psn_next - plan->psn <= endpoint->mpr_mask + 1) {
		slot->sent_at = sent_units(now);
		slot->flags |= SLOT_RTX;
	}
	qp->is_ack_due = false;
	qp->ack_since = qp->heard_at = sent_units(now);
	endpoint->counters.rtx[RTX_ACK]++;
	describe(endpoint, qp, send, plan, packet);
	outgoing_address(endpoint, qp, path.index, now, packet);
	packet->bth = PACKET_RTX;
}

// Whether little else would tell what was lost: a packet beyond a full window, one that used up a
// try of the few that it has, and with one plane, where none can stand in, one that was lost twice.
static bool must_arrive(const struct qp *qp, const struct plan *plan, const struct slot *slot)
{
	bool was_lost_twice = qp->path.shape->planes == 1 && (slot->flags & SLOT_RTX) != 0;
	return qp->is_window_due || (plan->is_rtx && (slot_tries(slot) > 0 || was_lost_twice));
}

static void make_packet(struct endpoint *endpoint, struct qp *qp, const struct plan *plan, ps_t now,
			struct packet *packet)
{
	struct slot *slot = &qp->slots[plan->psn & endpoint->mpr_mask];
	uint32_t avoid = plan->is_rtx ? slot->ev_index : PATH_NO_EV;
	balance_at(&qp->path, now);
	path_at(&qp->path, now);
	struct path_choice path = outgoing_pick(&qp->path, packet->plane, avoid,
						must_arrive(qp, plan, slot));
	const struct send *send = plan->is_rtx ? number_again(endpoint, qp, plan)
					       : number_new(endpoint, qp, plan, now);
	slot->sent_at = sent_units(now);
	slot->ev_index = (uint16_t)path.index;
	qp->inflight += plan->wire_bytes;
	load_add(&qp->path, packet->plane, plan->wire_bytes);
	if (__builtin_expect(endpoint->has_shares, 0))
		share_count(qp);
	check((flight_bytes(qp) <= (uint64_t)qp->cc.window_bytes + qp->full_bytes ||
	       qp->asks_out == 0 || qp->is_window_due || passes_full(endpoint, qp, plan->is_rtx)) &&
	      "bytes in flight are a window and a packet at most");
	qp->is_stalled = false;
	describe(endpoint, qp, send, plan, packet);
	outgoing_address(endpoint, qp, path.index, now, packet);
	packet->bth = plan->is_rtx ? PACKET_RTX : 0;
	if (asks_for_sack(endpoint, qp, now) || path.is_trial || qp->is_window_due ||
	    ends_message(endpoint, send, plan))
		packet->bth |= PACKET_AR;
	qp->is_window_due = false;
	if (packet->bth != 0) {
		slot->flags |= SLOT_ASKS;
		qp->asks_out++;
	}
	tail_arm(endpoint, qp, now);
}

// Puts the head of the queue behind its tail.
static void queue_turn(struct endpoint *endpoint, struct ready_queue *queue, struct qp *qp)
{
	ready_pop(endpoint, queue, qp);
	ready_push(endpoint, qp);
}

// Whether a QP leaves the line of `plane` to others, or idle.
static inline bool leaves_plane(const struct qp *qp, uint32_t plane)
{
	if (__builtin_expect(!path_is_doubtful(&qp->path, plane), 1))
		return load_is_full(qp, plane);
	uint64_t waiting = (uint64_t)(qp->psn_posted - qp->psn_next) * qp->full_bytes;
	return path_is_left(&qp->path, plane, waiting, qp->cc.window_bytes) ||
		load_is_full(qp, plane);
}

// The first QP in turn that has something for `plane`, its plan in `ret_plan`; NULL when there is
// none.
static struct qp *next_qp(struct endpoint *endpoint, struct ready_queue *queue, uint32_t plane,
			  struct plan *ret_plan)
{
	uint32_t first_closed = 0; // number + 1 of the first QP that leaves this plane alone
	while (queue->head != 0 && queue->head != first_closed) {
		struct qp *qp = context_at(endpoint, queue->head - 1);
		if (!plan_next(endpoint, qp, ret_plan)) { // the window closed while it stood here
			ready_pop(endpoint, queue, qp);
		} else if (leaves_plane(qp, plane)) {
			if (first_closed == 0)
				first_closed = queue->head;
			queue_turn(endpoint, queue, qp);
		} else {
			return qp;
		}
	}
	return NULL;
}

uint32_t requester_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out)
{
	struct ready_queue *queue = &endpoint->ready[endpoint->is_single ? plane : 0];
	struct plan plan;
	struct qp *qp = next_qp(endpoint, queue, plane, &plan);
	if (qp == NULL)
		return PACKET_NONE;
	uint32_t index = packet_get(out->packets);
	if (index == PACKET_NONE) {
		out->limit = OUTBOX_NO_PACKET;
		return PACKET_NONE;
	}
	struct packet *packet = packet_at(out->packets, index);
	packet->plane = (uint8_t)plane;
	// With nobody behind it, it has the next turn, too: it stays, if it has more.
	bool stays = queue->head == queue->tail && !endpoint->has_shares && !endpoint->is_untold;
	if (!stays)
		ready_pop(endpoint, queue, qp);
	if (plan.is_reminder)
		make_reminder(endpoint, qp, &plan, now, packet);
	else
		make_packet(endpoint, qp, &plan, now, packet);
	if (endpoint->is_untold)
		status_touch(endpoint, qp);
	outgoing_count(endpoint, plane, 1, plan.wire_bytes);
	loss_arm(endpoint, qp, now);
	if (!stays)
		requester_wake(endpoint, qp);
	else if (!plan_next(endpoint, qp, &plan))
		ready_pop(endpoint, queue, qp);
	return index;
}
