// SPDX-License-Identifier: Apache-2.0
// The sending side of RC. A packet exists only from its departure on. After a loss the next PSN
// goes back to the oldest that is not acknowledged, and all is sent again from there: psn_next
// moves back, una never does.
#include "rc.h"

#include <weft/core/opcode.h>

#include "endpoint/outgoing.h"
#include "endpoint/pace.h"
#include "endpoint/ready.h"
#include "mrc/answer.h"
#include "mrc/loss.h"
#include "mrc/requester.h"

// ---------------------------------------------------------------- what may leave

static const struct send *next_send(const struct endpoint *endpoint, const struct qp *qp)
{
	return &qp->sends[qp->send_at & endpoint->sends_mask];
}

static uint32_t wire_bytes_of(const struct qp *qp, const struct send *send, uint32_t psn)
{
	return psn == send->last_psn ? send->last_wire : qp->full_bytes;
}

// Wire bytes of the packet that would leave now, 0 when there is none or no window for it. The rule
// is the requester's, which queues a QP when something is posted.
static uint32_t sendable_bytes(struct endpoint *endpoint, struct qp *qp)
{
	if (qp->state != QP_RTS || qp->psn_next == qp->psn_posted ||
	    qp->psn_next - qp->una >= qp->mpr_limit)
		return 0;
	uint32_t bytes = wire_bytes_of(qp, next_send(endpoint, qp), qp->psn_next);
	if (qp->inflight == 0 || qp->asks_out == 0 || qp->inflight + bytes <= qp->cc.window_bytes)
		return bytes;
	endpoint->counters.window_stalls += !qp->is_stalled;
	qp->is_stalled = true;
	return 0;
}

static void wake(struct endpoint *endpoint, struct qp *qp)
{
	if (!qp->is_queued && !rc_of(qp)->is_held && sendable_bytes(endpoint, qp) > 0)
		ready_push(endpoint, qp);
}

// ---------------------------------------------------------------- timer

#define ARM_MAX_PS (262144 * PS_PER_NS)

// One place in the heap per QP, never further off than a base wait: after an ACK the deadline may
// be that early. Nor than ARM_MAX_PS, as a world does not end before a timer that waits for
// nothing.
static void arm(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	ps_t deadline_ps = rc_of(qp)->deadline_ps;
	if (qp->has_timer || deadline_ps == PS_NEVER)
		return;
	qp->has_timer = true;
	ps_t most_ps = ps_min(endpoint->config->rto_ps, ARM_MAX_PS);
	heap_push(&endpoint->timers, ps_min(deadline_ps, now + most_ps),
		  (uint64_t)TIMER_RETRANSMIT << TIMER_KIND_SHIFT | qp->context);
}

// ---------------------------------------------------------------- packets

static uint8_t opcode_of(const struct send *send, uint32_t psn)
{
	bool is_first = psn == send->first_psn;
	if (psn != send->last_psn)
		return is_first ? RC_WRITE_FIRST : RC_WRITE_MIDDLE;
	if (is_first)
		return send->has_imm ? RC_WRITE_ONLY_IMM : RC_WRITE_ONLY;
	return send->has_imm ? RC_WRITE_LAST_IMM : RC_WRITE_LAST;
}

// Writes the descriptor of a PSN of `send`. Only the first packet of a message tells the target
// address, region and length; of the others address and key say where the payload comes from, to
// whoever fills frames with it here, and travel in no frame.
static void describe(struct endpoint *endpoint, const struct qp *qp, const struct send *send,
		     uint32_t wire_bytes, struct packet *packet)
{
	uint32_t psn = qp->psn_next;
	packet->source = endpoint->nic;
	packet->target = qp->remote_nic;
	packet->ev = path_value(&qp->path, qp->path.single);
	packet->payload = 0;
	packet->wire_bytes = (uint16_t)wire_bytes;
	packet->payload_bytes = (uint16_t)(wire_bytes - endpoint->config->header_bytes);
	packet->klass = PACKET_CLASS_DATA;
	packet->flags = PACKET_ECT; // a full queue drops it
	packet->hop = 0;
	packet->plane = qp->ready_plane;
	packet->opcode = opcode_of(send, psn);
	packet->bth = 0;
	packet->timestamp = endpoint->sent_count++;
	packet->qpn = qp->remote_qpn;
	packet->psn = psn & PSN_MASK;
	packet->u.data = (struct packet_data){
		.va = send->va +
			(uint64_t)(psn - send->first_psn) * endpoint->config->payload_bytes,
		.rkey = send->rkey,
	};
	if (psn == send->first_psn)
		packet->u.data.message_bytes = send->bytes;
	if (psn == send->last_psn && send->has_imm)
		packet->u.data.imm = send->imm;
}

// Counts the PSN that leaves as sent, for the first time or again.
static void number(struct endpoint *endpoint, struct qp *qp, const struct send *send,
		   uint32_t wire_bytes, ps_t now)
{
	struct rc *rc = rc_of(qp);
	uint32_t psn = qp->psn_next++;
	bool is_again = psn_distance(psn, rc->sent_end) < 0;
	qp->send_at += psn == send->last_psn;
	qp->inflight += wire_bytes;
	check((qp->inflight <= (uint64_t)qp->cc.window_bytes + qp->full_bytes ||
	       qp->asks_out == 0) &&
	      "bytes in flight are a window and a packet at most");
	qp->is_stalled = false;
	qp->slots[psn & endpoint->mpr_mask] = (struct slot){.sent_at = sent_units(now),
							    .flags = is_again ? SLOT_RTX : 0};
	if (psn == qp->una) // the oldest that is out: its wait begins
		rc->deadline_ps = now + loss_wait_ps(endpoint->config, rc->tries);
	if (is_again) {
		endpoint->counters.rtx[rc->reason]++;
		return;
	}
	rc->sent_end = psn + 1;
	endpoint->counters.payload_bytes_new += wire_bytes - endpoint->config->header_bytes;
}

// Whether the packet of `psn`, just counted, asks for an ACK: the last of a message, one per
// sack_bytes, and one after which nothing may follow before an ACK comes. A QP that is paced may
// send so slowly that the timer would ring before sack_bytes come together.
static bool asks_for_ack(const struct endpoint *endpoint, struct qp *qp, const struct send *send,
			 uint32_t psn, uint32_t wire_bytes, ps_t now)
{
	struct rc *rc = rc_of(qp);
	bool is_closed = qp->inflight + qp->full_bytes > qp->cc.window_bytes ||
		qp->psn_next - qp->una >= qp->mpr_limit;
	bool is_slow = qp->cc.rate_bps != 0 &&
		sent_units(now) - rc->asked_at > endpoint->rto_units / 4;
	rc->unasked_bytes += wire_bytes;
	if (psn != send->last_psn && !is_closed && !is_slow &&
	    rc->unasked_bytes < endpoint->config->sack_bytes)
		return false;
	rc->unasked_bytes = 0;
	rc->asked_at = sent_units(now);
	rc->asked = psn;
	qp->asks_out = 1;
	return true;
}

static void make_packet(struct endpoint *endpoint, struct qp *qp, uint32_t wire_bytes, ps_t now,
			struct packet *packet)
{
	const struct send *send = next_send(endpoint, qp);
	uint32_t psn = qp->psn_next;
	describe(endpoint, qp, send, wire_bytes, packet);
	number(endpoint, qp, send, wire_bytes, now);
	if (__builtin_expect(endpoint->is_noted, 0))
		outgoing_note(endpoint, qp, qp->path.single, now, packet);
	if (asks_for_ack(endpoint, qp, send, psn, wire_bytes, now))
		packet->bth = PACKET_AR;
	if (qp->cc.rate_bps != 0) {
		pace_advance(qp, now);
		pace_sent(qp, wire_bytes, now);
	}
	endpoint->counters.data_packets++;
	endpoint->counters.data_bytes += wire_bytes;
	endpoint->counters.plane_bytes[packet->plane] += wire_bytes;
	arm(endpoint, qp, now);
}

uint32_t rc_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out)
{
	struct ready_queue *queue = &endpoint->ready[plane];
	for (struct qp *qp; (qp = pace_release(endpoint, now)) != NULL;)
		wake(endpoint, qp);
	while (queue->head != 0) {
		struct qp *qp = context_at(endpoint, queue->head - 1);
		uint32_t wire_bytes = sendable_bytes(endpoint, qp);
		if (wire_bytes == 0) { // the window closed while it stood here
			ready_pop(endpoint, queue, qp);
			continue;
		}
		if (rc_of(qp)->next_at_ps > now) { // its rate does not allow it yet
			ready_pop(endpoint, queue, qp);
			pace_hold(endpoint, qp);
			continue;
		}
		uint32_t index = packet_get(out->packets);
		if (index == PACKET_NONE) {
			out->limit = OUTBOX_NO_PACKET;
			return PACKET_NONE;
		}
		ready_pop(endpoint, queue, qp);
		make_packet(endpoint, qp, wire_bytes, now, packet_at(out->packets, index));
		wake(endpoint, qp);
		return index;
	}
	return PACKET_NONE;
}

// ---------------------------------------------------------------- acknowledgements

// From here on everything is sent again that is not acknowledged.
static void go_back(struct endpoint *endpoint, struct qp *qp, enum rtx_reason reason, ps_t now)
{
	struct rc *rc = rc_of(qp);
	struct cc_loss loss = {
		.bytes = wire_bytes_of(qp, &qp->sends[qp->send_done & endpoint->sends_mask],
				       qp->una)};
	qp->psn_next = qp->una;
	qp->send_at = qp->send_done;
	qp->inflight = 0;
	qp->asks_out = 0;
	rc->unasked_bytes = 0;
	rc->reason = (uint8_t)reason;
	rc->deadline_ps = PS_NEVER; // until the packet has left
	qp->cc.ops->on_loss(&qp->cc, &loss, now);
}

// Moves una to `una`; returns the wire bytes of what is acknowledged by that.
static uint32_t advance(struct endpoint *endpoint, struct qp *qp, uint32_t una)
{
	uint32_t newly_bytes = 0;
	while (qp->una != una) {
		const struct send *send = &qp->sends[qp->send_done & endpoint->sends_mask];
		uint32_t psn = qp->una++;
		uint32_t bytes = wire_bytes_of(qp, send, psn);
		if (psn_distance(psn, qp->psn_next) < 0)
			qp->inflight -= bytes;
		newly_bytes += bytes;
		if (psn == send->last_psn)
			endpoint_complete_oldest(endpoint, qp);
	}
	if (psn_distance(qp->una, qp->psn_next) > 0) { // it had gone back without need
		qp->psn_next = qp->una;
		qp->send_at = qp->send_done;
	}
	if (psn_distance(rc_of(qp)->asked, qp->una) < 0)
		qp->asks_out = 0;
	return newly_bytes;
}

// Round trip of the newest packet acknowledged; -1 when it was sent more than once.
static ps_t sample_rtt(const struct endpoint *endpoint, const struct qp *qp, uint32_t psn, ps_t now)
{
	const struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
	if (slot->flags & SLOT_RTX)
		return -1;
	return (ps_t)(sent_units(now) - slot->sent_at) << SENT_SHIFT;
}

// Takes all PSNs before `end` as here. A NAK is caused by a packet behind these: no round trip.
static void acknowledge(struct endpoint *endpoint, struct qp *qp, uint32_t end, bool is_ack,
			ps_t now)
{
	struct rc *rc = rc_of(qp);
	struct cc_ack ack = {.rtt_ps = is_ack ? sample_rtt(endpoint, qp, end - 1, now) : -1};
	if (__builtin_expect(endpoint->delays != NULL, 0) && ack.rtt_ps >= 0)
		delays_add_rtt(endpoint->delays, qp->ready_plane, ack.rtt_ps);
	ack.newly_bytes = advance(endpoint, qp, end);
	ack.inflight_bytes = qp->inflight;
	rc->tries = 0;
	rc->deadline_ps = qp->psn_next == qp->una ? PS_NEVER
						  : now + loss_wait_ps(endpoint->config, 0);
	qp->cc.ops->on_ack(&qp->cc, &ack, now);
}

// Whether one more try without success is allowed; if not, the QP is in ERROR.
static bool may_try_again(struct endpoint *endpoint, struct qp *qp)
{
	struct rc *rc = rc_of(qp);
	bool may = loss_may_try(endpoint, rc->tries);
	rc->tries = (uint8_t)(rc->tries + (rc->tries < UINT8_MAX));
	if (may)
		return true;
	qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
	return false;
}

// The receiver misses the PSN at una.
static void on_sequence_nak(struct endpoint *endpoint, struct qp *qp, bool is_news, ps_t now)
{
	if (qp->psn_next == qp->una) // gone back already, by the timer
		return;
	if (is_news || may_try_again(endpoint, qp))
		go_back(endpoint, qp, RTX_NACK, now);
}

void rc_send_on_answer(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		       ps_t now)
{
	uint8_t syndrome = packet->u.ack.syndrome;
	bool is_ack = syndrome <= PACKET_ACK_FINE; // any credits
	uint32_t psn = psn_extend(qp->una, packet->psn), end = psn + is_ack;
	bool is_news = psn_distance(end, qp->una) > 0;
	if (psn_distance(psn, rc_of(qp)->sent_end) >= 0 ||
	    (!is_ack && (syndrome < PACKET_NAK_SEQUENCE || syndrome > PACKET_NAK_OPERATION))) {
		endpoint->counters.refused[is_ack ? REFUSED_SACK : REFUSED_NACK]++;
		return;
	}
	endpoint->counters.sacks_received += is_ack;
	endpoint->counters.nacks_received += !is_ack;
	if (is_news)
		acknowledge(endpoint, qp, end, is_ack, now);
	if (!is_ack && end == qp->una) { // not an overtaken one
		if (syndrome == PACKET_NAK_SEQUENCE)
			on_sequence_nak(endpoint, qp, is_news, now);
		else
			qp_fail(endpoint, qp, QP_FAILURE_REMOTE);
	}
	sack_arm_cc(endpoint, qp);
	wake(endpoint, qp);
}

void rc_send_on_cnp(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	endpoint->counters.cnps_received++;
	pace_advance(qp, now);
	qp->cc.ops->on_cnp(&qp->cc, now);
	sack_arm_cc(endpoint, qp);
	wake(endpoint, qp); // the window may have grown
}

void rc_send_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	struct rc *rc = rc_of(qp);
	qp->has_timer = false;
	if (qp->state != QP_RTS)
		return;
	if (rc->deadline_ps <= now && may_try_again(endpoint, qp))
		go_back(endpoint, qp, RTX_TIMEOUT, now);
	if (qp->state != QP_RTS)
		return;
	arm(endpoint, qp, now);
	sack_arm_cc(endpoint, qp);
	wake(endpoint, qp);
}
