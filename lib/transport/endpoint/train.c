// SPDX-License-Identifier: Apache-2.0
// Most packets of data are like the one before: from the middle of a message, new, of the only QP
// that has something, with the window open behind them: another could follow, and the QP stays
// ready. A train of such leaves with what they have in common looked at once. It ends before the
// first packet that is not like them, which requester.c makes.
#include "train.h"

#include "mrc/flight.h"
#include "mrc/retransmit.h"
#include "outgoing.h"
#include "path/doubt.h"
#include "path/load.h"

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

ps_t train_send(struct endpoint *endpoint, const struct train *train, struct outbox *out)
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
	retransmit_arm(endpoint, qp, train->start);
	return start;
}
