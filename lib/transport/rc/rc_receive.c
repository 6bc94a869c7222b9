// SPDX-License-Identifier: Apache-2.0
// The receiving side of RC: takes writes, and PSNs in order only. The first packet of a message
// says where it goes, the others follow on. A packet that is not the next one is dropped and, once
// per gap, answered by a NAK; one that was here before is acknowledged again.
#include "rc.h"

#include <weft/core/opcode.h>

#include "endpoint/control.h"
#include "mrc/responder.h"

// ---------------------------------------------------------------- answers

// Makes of a descriptor a control packet to the QP's other end, and queues it. Answers take the
// QP's own path back.
static void answer(struct endpoint *endpoint, struct qp *qp, uint32_t index, uint8_t opcode,
		   struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	packet->source = qp->remote_nic;
	packet->plane = qp->ready_plane;
	packet->opcode = opcode;
	packet->timestamp = 0;
	control_answer(endpoint, qp, index, out);
}

// An ACK up to the last packet in order, or a NAK for the next one.
static void answer_ack(struct endpoint *endpoint, struct qp *qp, uint32_t index, uint8_t syndrome,
		       struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	bool is_ack = syndrome == PACKET_ACK_FINE;
	packet->psn = (qp->rcv_next - is_ack) & PSN_MASK;
	packet->u.ack = (struct packet_ack){.msn = rc_of(qp)->msn & PSN_MASK, .syndrome = syndrome};
	endpoint->counters.sacks_sent += is_ack;
	endpoint->counters.nacks_sent += !is_ack;
	answer(endpoint, qp, index, RC_ACK, out);
}

// A packet came marked: the sender is to slow down. It is notified once in a while.
static void notify(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out)
{
	struct rc *rc = rc_of(qp);
	if (now < rc->cnp_at_ps)
		return;
	uint32_t index = packet_get(out->packets);
	if (index == PACKET_NONE) {
		out->limit = OUTBOX_NO_PACKET;
		return;
	}
	struct packet *packet = packet_at(out->packets, index);
	packet->psn = 0;
	packet->u.ack = (struct packet_ack){0};
	rc->cnp_at_ps = now + endpoint->config->cnp_ps;
	endpoint->counters.cnps_sent++;
	answer(endpoint, qp, index, RC_CNP, out);
}

// ---------------------------------------------------------------- data

static bool is_first(uint8_t opcode)
{
	return opcode == RC_WRITE_FIRST || opcode == RC_WRITE_ONLY || opcode == RC_WRITE_ONLY_IMM;
}

static bool is_last(uint8_t opcode)
{
	return opcode != RC_WRITE_FIRST && opcode != RC_WRITE_MIDDLE;
}

static bool carries_imm(uint8_t opcode)
{
	return opcode == RC_WRITE_LAST_IMM || opcode == RC_WRITE_ONLY_IMM;
}

// Whether a first packet may write its message: the whole of it is known here.
static enum refused_reason check_region(const struct endpoint *endpoint,
					const struct packet_data *data)
{
	const struct region *region = region_find(&endpoint->regions, data->rkey);
	if (!region)
		return REFUSED_KEY;
	return region_holds(region, data->va, data->message_bytes) ? REFUSED_REASON_COUNT
								   : REFUSED_BOUNDS;
}

// Why the next packet in order is refused, REFUSED_REASON_COUNT when it is not: a message is begun
// once, inside its region, and ends with its last byte; and a SEND, READ or atomic weft does not
// have.
static enum refused_reason check_next(const struct endpoint *endpoint, const struct rc *rc,
				      const struct packet *packet)
{
	uint32_t left_bytes = rc->left_bytes;
	if (rc_request_of(packet->opcode) != RC_REQUEST_COUNT)
		return REFUSED_OPCODE; // before its key and place are looked at
	if (is_first(packet->opcode) == rc->is_in_message)
		return REFUSED_LENGTH;
	if (is_first(packet->opcode))
		left_bytes = packet->u.data.message_bytes;
	bool is_true = is_last(packet->opcode) ? packet->payload_bytes == left_bytes
					       : packet->payload_bytes < left_bytes;
	if (!is_true || packet->payload_bytes == 0)
		return REFUSED_LENGTH;
	return is_first(packet->opcode) ? check_region(endpoint, &packet->u.data)
					: REFUSED_REASON_COUNT;
}

// Takes the next packet of a message. Its descriptor gets its place.
static void accept(struct endpoint *endpoint, struct qp *qp, struct packet *packet)
{
	struct rc *rc = rc_of(qp);
	if (is_first(packet->opcode)) {
		rc->va = packet->u.data.va;
		rc->rkey = packet->u.data.rkey;
		rc->message_bytes = rc->left_bytes = packet->u.data.message_bytes;
	}
	packet->u.data.va = rc->va;
	packet->u.data.rkey = rc->rkey;
	responder_place(endpoint, qp, packet);
	rc->va += packet->payload_bytes;
	rc->left_bytes -= packet->payload_bytes;
	rc->is_in_message = !is_last(packet->opcode);
	rc->is_nak_out = false;
	rc->msn += is_last(packet->opcode);
	qp->rcv_next++;
	qp->rcvd_bytes += packet->wire_bytes;
	if (!carries_imm(packet->opcode))
		return;
	struct completion completion = {.kind = COMPLETION_RECEIVED,
					.qp = qp->number,
					.imm = packet->u.data.imm,
					.bytes = rc->message_bytes};
	endpoint->counters.messages_received++;
	endpoint_complete(endpoint, &completion);
}

// Takes the packet that is next in order.
static void receive_next(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			 struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	enum refused_reason reason = check_next(endpoint, rc_of(qp), packet);
	if (reason != REFUSED_REASON_COUNT) { // such a request ends the connection
		bool is_access = reason == REFUSED_KEY || reason == REFUSED_BOUNDS;
		endpoint->counters.refused[reason]++;
		answer_ack(endpoint, qp, index, is_access ? PACKET_NAK_ACCESS : PACKET_NAK_REQUEST,
			   out);
		qp_fail(endpoint, qp, QP_FAILURE_REMOTE);
		return;
	}
	accept(endpoint, qp, packet);
	if (packet->bth & PACKET_AR)
		answer_ack(endpoint, qp, index, PACKET_ACK_FINE, out);
	else
		packet_put(out->packets, index);
}

// A packet behind a gap: dropped. The first one tells the sender.
static void receive_early(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			  struct outbox *out)
{
	struct rc *rc = rc_of(qp);
	endpoint->counters.out_of_window++;
	if (rc->is_nak_out) {
		packet_put(out->packets, index);
		return;
	}
	rc->is_nak_out = true;
	answer_ack(endpoint, qp, index, PACKET_NAK_SEQUENCE, out);
}

void rc_receive_data(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		     struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	struct transport_counters *counters = &endpoint->counters;
	int32_t ahead = psn_distance(psn_extend(qp->rcv_next, packet->psn), qp->rcv_next);
	if (packet->flags & PACKET_TRIMMED) { // RC knows no trimming: it is as good as lost
		counters->trims_received++;
		counters->trims_last_hop += (packet->flags & PACKET_TRIMMED_LAST) != 0;
		packet_put(out->packets, index);
		return;
	}
	counters->data_received++;
	if (packet->flags & PACKET_CE) {
		counters->marks_received++;
		notify(endpoint, qp, now, out);
	}
	if (ahead > 0) {
		receive_early(endpoint, qp, index, out);
	} else if (ahead == 0) {
		receive_next(endpoint, qp, index, out);
	} else {
		counters->duplicates++;
		answer_ack(endpoint, qp, index, PACKET_ACK_FINE, out);
	}
}
