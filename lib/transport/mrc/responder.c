// SPDX-License-Identifier: Apache-2.0
// The receiving side: places packets in any order, keeps what is here, completes WRITE_WITH_IMM in
// posting order, and answers. The answer to a packet is written over its own descriptor and waits
// for the plane that the packet came in on.

#include "responder.h"

#include "credit.h"
#include "endpoint/control.h"
#include "endpoint/due.h"
#include "endpoint/endpoint.h"
#include "endpoint/operation.h"
#include "mpr_grant.h"
#include "reorder.h"

// What is asked of a data packet before its payload is placed. Which memory there is, is in
// region.c.

// Where the bytes lie that a packet lets know of its message: a first packet all of it, a last
// packet, too, a middle one itself alone. False when its payload contradicts opcode or length.
static bool span_of(const struct packet *packet, uint64_t full, uint64_t *ret_va,
		    uint64_t *ret_bytes)
{
	const struct packet_data *data = &packet->u.data;
	uint64_t payload = packet->payload_bytes, whole = data->message_bytes;
	*ret_va = data->va;
	*ret_bytes = whole;
	switch (packet->opcode) {
	case PACKET_WRITE_FIRST:
		return payload == full && whole > full;
	case PACKET_WRITE_MIDDLE:
		*ret_bytes = payload;
		return payload == full && whole > 2 * full;
	case PACKET_WRITE_LAST:
	case PACKET_WRITE_LAST_IMM:
		*ret_va -= whole - payload;
		return payload != 0 && payload <= full && whole > full &&
			(whole - payload) % full == 0;
	default: // ONLY
		return payload != 0 && payload <= full && whole == payload;
	}
}

// The same as below, of any packet but the usual one, which placement_refused() lets through.
static __attribute__((noinline)) enum refused_reason
placement_span_refused(const struct endpoint *endpoint, const struct qp *qp,
		       const struct packet *packet)
{
	uint64_t va, bytes;
	const struct region *region = region_find(&endpoint->regions, packet->u.data.rkey);
	bool is_true = span_of(packet, qp->payload_bytes, &va, &bytes);
	if (is_true && region && region_holds(region, va, bytes))
		return REFUSED_REASON_COUNT;
	enum refused_reason reason = is_true ? REFUSED_BOUNDS : REFUSED_LENGTH;
	return region ? reason : REFUSED_KEY;
}

// Why the payload of a new packet may not be placed, REFUSED_REASON_COUNT when it may. RETH stands
// on every packet, so every packet is asked; what several of them say together is not compared.
static inline enum refused_reason
placement_refused(const struct endpoint *endpoint, const struct qp *qp, const struct packet *packet)
{
	uint32_t full = qp->payload_bytes;
	const struct packet_data *data = &packet->u.data;
	const struct region *region = region_first(&endpoint->regions, data->rkey);
	if (packet->opcode == PACKET_WRITE_MIDDLE && packet->payload_bytes == full &&
	    data->message_bytes / 2 > full && region->rkey == data->rkey &&
	    region_holds(region, data->va, full))
		return REFUSED_REASON_COUNT;
	return placement_span_refused(endpoint, qp, packet);
}

// A SACK can tell of a cause so far behind its cumulative PSN.
#define OFFSET_MIN (-32768)

// A data packet's facts that its answer needs after the descriptor is overwritten.
struct trigger {
	uint32_t psn; // running
	uint32_t ev;
	bool is_marked;
	ps_t at;
};

// What is owed for a packet.
enum { DUE_SACK = 1 << 0, DUE_ACK = 1 << 1 };

void responder_place(struct endpoint *endpoint, const struct qp *qp, const struct packet *packet)
{
	const struct packet_data *data = &packet->u.data;
	endpoint->counters.payload_bytes_placed += packet->payload_bytes;
	if (packet->payload == 0 && !(data->rkey & RKEY_NOTICE))
		return;
	uint32_t tail = endpoint->dma_writes_tail++;
	check(tail - endpoint->dma_writes_head < DMA_WRITES);
	endpoint->dma_writes[tail % DMA_WRITES] = (struct dma_write){
		.nic = endpoint->nic,
		.qp = qp->number,
		.rkey = data->rkey,
		.va = data->va,
		.bytes = packet->payload_bytes,
		.payload = packet->payload,
	};
}

static void complete(struct endpoint *endpoint, const struct qp *qp, uint32_t imm, uint32_t bytes)
{
	struct completion completion = {
		.kind = COMPLETION_RECEIVED, .qp = qp->number, .imm = imm, .bytes = bytes};
	endpoint->counters.messages_received++;
	endpoint_complete(endpoint, &completion);
}

// Hands up each WRITE_WITH_IMM before which everything is here.
static void complete_stashed(struct endpoint *endpoint, struct qp *qp)
{
	while (qp->pending_imm_count > 0) {
		struct pending_imm *pending_imm =
			&qp->pending_imm[qp->rqmsn_wanted & endpoint->pending_imm_mask];
		check(!pending_imm->is_full || pending_imm->rqmsn == qp->rqmsn_wanted);
		if (!pending_imm->is_full || psn_distance(qp->rcv_next, pending_imm->psn) <= 0)
			return;
		pending_imm->is_full = false;
		qp->pending_imm_count--;
		qp->rqmsn_wanted++;
		complete(endpoint, qp, pending_imm->imm, pending_imm->bytes);
	}
}

static bool carries_imm(const struct packet *packet)
{
	return packet->opcode == PACKET_WRITE_LAST_IMM || packet->opcode == PACKET_WRITE_ONLY_IMM;
}

// What becomes of an immediate.
enum keeping {
	KEEPING_DONE,
	KEEPING_NO_ROOM, // the requester has more of them under way than was agreed
	KEEPING_LIE,	 // its number is taken, or behind us
};

// Keeps the immediate of a last packet.
static enum keeping keep_imm(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
			     uint32_t psn)
{
	const struct packet_data *data = &packet->u.data;
	uint16_t ahead = (uint16_t)(data->rqmsn - qp->rqmsn_wanted);
	struct pending_imm *pending_imm =
		&qp->pending_imm[data->rqmsn & endpoint->pending_imm_mask];
	if (ahead > INT16_MAX || (ahead < endpoint->config->wimm_max && pending_imm->is_full))
		return KEEPING_LIE;
	if (ahead >= endpoint->config->wimm_max)
		return KEEPING_NO_ROOM;
	*pending_imm = (struct pending_imm){.psn = psn,
					    .imm = data->imm,
					    .bytes = data->message_bytes,
					    .rqmsn = data->rqmsn,
					    .is_full = true};
	qp->pending_imm_count++;
	return KEEPING_DONE;
}

// Remembers that a PSN above a hole is to be reported.
static void note_news(struct qp *qp, uint32_t psn)
{
	if (psn_distance(qp->news_to, qp->rcv_next) <= 0 || qp->news_from == qp->news_to) {
		qp->news_from = psn;
		qp->news_to = psn + 1;
		return;
	}
	if (psn_distance(psn, qp->news_from) < 0)
		qp->news_from = psn;
	if (psn_distance(psn, qp->news_to) >= 0)
		qp->news_to = psn + 1;
}

// Moves the left edge over the PSN at it, the last of its request or not, and all that already came
// behind it. True when a request is done by that.
static bool move_edge(struct endpoint *endpoint, struct qp *qp, bool is_end)
{
	uint32_t run = 1;
	bool is_done = is_end;
	if (is_end)
		operation_done(qp, qp->rcv_next);
	if (qp->ooo_count > 0) {
		run += bitmap_ring_run(qp->received, endpoint->mpr_mask + 1, qp->rcv_next + 1,
				       qp->ooo_count);
		bitmap_ring_clear(qp->received, endpoint->mpr_mask + 1, qp->rcv_next + 1, run - 1);
		qp->ooo_count -= run - 1;
		is_done |= operation_pass(endpoint, qp, qp->rcv_next + 1, run - 1);
	}
	qp->rcv_next += run;
	return is_done;
}

// Takes a new packet. True when a request is done by it.
static bool accept(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		   uint32_t psn)
{
	responder_place(endpoint, qp, packet);
	qp->rcvd_bytes += packet->wire_bytes;
	qp->owed_bytes += packet->wire_bytes;
	bool is_done = false;
	if (psn == qp->rcv_next) {
		is_done = move_edge(endpoint, qp, operation_ends(packet));
	} else {
		bitmap_set(qp->received, psn & endpoint->mpr_mask);
		qp->ooo_count++;
		note_news(qp, psn);
		if (operation_ends(packet))
			operation_hold(endpoint, qp, psn);
	}
	complete_stashed(endpoint, qp);
	return is_done;
}

// Picks the bitmap's place: the lowest arrivals above a hole that no SACK has reported, else the
// first hole.
static void fill_bitmap(const struct endpoint *endpoint, struct qp *qp, struct packet_sack *sack)
{
	uint32_t bits = endpoint->mpr_mask + 1;
	uint32_t from = qp->rcv_next;
	if (qp->news_from != qp->news_to && psn_distance(qp->news_to, from) > 0) {
		if (psn_distance(qp->news_from, from) > 0)
			from = qp->news_from;
		// All the news fits: what was reported before is reported again, lest a lost SACK
		// take it along.
		if (psn_distance(qp->news_to, from + 64) < 0)
			from = psn_distance(qp->news_to - 64, qp->rcv_next) > 0 ? qp->news_to - 64
										: qp->rcv_next;
		qp->news_from = from + 64;
		if (psn_distance(qp->news_from, qp->news_to) >= 0)
			qp->news_from = qp->news_to;
	} else { // nothing to tell; never so far behind that the numbers wrap
		qp->news_from = qp->news_to = qp->rcv_next;
	}
	uint32_t offset = from - (qp->rcv_next - 1);
	uint32_t left = bits - (from - qp->rcv_next); // the ring ends there
	if (offset > INT16_MAX) {		      // only with the largest ring
		left += offset - INT16_MAX;
		from -= offset - INT16_MAX;
		offset = INT16_MAX;
	}
	sack->bitmap = qp->ooo_count == 0 ? 0 : bitmap_ring_window(qp->received, bits, from);
	if (left < 64)
		sack->bitmap &= (UINT64_C(1) << left) - 1;
	sack->offset = (int16_t)offset;
}

// What every SACK tells; its cause is its caller's. The BTH has the cumulative PSN (MRC 1.0, table
// 7-6).
static void fill_sack(struct endpoint *endpoint, struct qp *qp, struct packet *packet)
{
	struct packet_sack *sack = &packet->u.sack;
	packet->opcode = PACKET_SACK;
	packet->psn = (qp->rcv_next - 1) & PSN_MASK;
	sack->rcvd_256 = (uint32_t)((qp->rcvd_bytes + 255) >> 8) & PSN_MASK;
	sack->ooo_count = (uint16_t)qp->ooo_count;
	sack->penalty = qp->penalty | endpoint->press;
	fill_bitmap(endpoint, qp, sack);
	qp->owed_bytes = 0;
}

static void answer_probe(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			 struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	uint16_t probe_id = packet->u.probe.probe_id;
	// a trim at the last hop is no fault of the path
	bool is_trimmed = (packet->flags & (PACKET_TRIMMED | PACKET_TRIMMED_LAST)) ==
		PACKET_TRIMMED;
	packet->u.sack = (struct packet_sack){
		.ev_echo = packet->ev,
		.mark = is_trimmed || (packet->flags & PACKET_CE) ? PACKET_MARK_SKIP_ONCE
								  : PACKET_MARK_NONE,
		.is_probe = 1,
		.probe_id = probe_id,
	};
	fill_sack(endpoint, qp, packet);
	endpoint->counters.sacks_sent++;
	control_answer(endpoint, qp, index, out);
}

void responder_receive_probe(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			     struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	endpoint->counters.trims_received += (packet->flags & PACKET_TRIMMED) != 0;
	endpoint->counters.trims_last_hop += (packet->flags & PACKET_TRIMMED_LAST) != 0;
	if (packet->u.probe.probe_id == 0) { // a trim took its number, or it never had one
		endpoint->counters.refused[REFUSED_PROBE]++;
		packet_put(out->packets, index);
		return;
	}
	endpoint->counters.probes_received++;
	answer_probe(endpoint, qp, index, out);
}

static void answer_sack(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	struct packet_sack *sack = &packet->u.sack;
	int32_t offset = psn_distance(trigger->psn, qp->rcv_next - 1);
	service_begins(endpoint, qp, packet, trigger->at);
	if (offset < OFFSET_MIN) // so old that the requester has no send time of it any more
		offset = OFFSET_MIN;
	sack->ev_echo = trigger->ev;
	sack->trigger_offset = (int16_t)(offset > INT16_MAX ? INT16_MAX : offset);
	sack->mark = trigger->is_marked;
	sack->mpr = endpoint->config->dynamic_mpr ? mpr_grant_make(endpoint, qp, trigger->at) : 0;
	sack->is_probe = 0;
	sack->probe_id = 0;
	fill_sack(endpoint, qp, packet);
	if (!qp->has_probe_timer)
		probe_wake_idle(endpoint, qp, trigger->at);
	endpoint->counters.sacks_sent++;
	control_answer(endpoint, qp, index, out);
}

// Both: the transport ACK takes the SACK's path, right behind it. Congestion control learns from
// the SACK.
static void answer_both(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, struct outbox *out)
{
	uint32_t ack = packet_get(out->packets);
	if (ack == PACKET_NONE) {
		out->limit = OUTBOX_NO_PACKET;
		packet_put(out->packets, index);
		return;
	}
	struct packet *packet = packet_at(out->packets, ack);
	packet->source = packet_at(out->packets, index)->source;
	answer_sack(endpoint, qp, index, trigger, out);
	packet->plane = packet_at(out->packets, index)->plane;
	packet->ev = packet_at(out->packets, index)->ev;
	operation_ack(endpoint, qp, ack, out);
}

// Answers a packet that is here now, as far as an answer is due.
static __attribute__((noinline)) void answer(struct endpoint *endpoint, struct qp *qp,
					     uint32_t index, const struct trigger *trigger,
					     unsigned due, struct outbox *out)
{
	if ((due & DUE_ACK) && (!(qp->capabilities & QP_CAN_ACK) || operation_ack_waits(qp, out)))
		due &= ~(unsigned)DUE_ACK;
	if (due == DUE_SACK) {
		answer_sack(endpoint, qp, index, trigger, out);
	} else if (due == DUE_ACK) {
		control_route(endpoint, qp, packet_at(out->packets, index));
		operation_ack(endpoint, qp, index, out);
	} else if (due != 0) {
		answer_both(endpoint, qp, index, trigger, out);
	} else {
		packet_put(out->packets, index);
	}
}

// Reasons: MRC 1.0, table 7-3.
static void answer_nack(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, uint8_t reason, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	service_begins(endpoint, qp, packet, trigger->at);
	packet->opcode = PACKET_NACK;
	packet->psn = trigger->psn & PSN_MASK;
	packet->u.nack = (struct packet_nack_info){
		.ev_echo = trigger->ev,
		.psn = trigger->psn & PSN_MASK,
		.reason = reason,
	};
	endpoint->counters.nacks_sent++;
	control_answer(endpoint, qp, index, out);
}

static void receive_trimmed(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			    const struct trigger *trigger, struct outbox *out)
{
	bool is_last_hop = packet_at(out->packets, index)->flags & PACKET_TRIMMED_LAST;
	endpoint->counters.trims_new++;
	if (qp->capabilities & QP_CAN_TRIM_NACK)
		answer_nack(endpoint, qp, index, trigger,
			    is_last_hop ? PACKET_NACK_TRIMMED_LAST : PACKET_NACK_TRIMMED, out);
	else
		packet_put(out->packets, index);
}

// A PSN above the window: of a requester that holds another limit than ours.
static void receive_above(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			  const struct trigger *trigger, struct outbox *out)
{
	endpoint->counters.out_of_window++;
	if (endpoint->config->out_of_window == OUT_OF_WINDOW_NACK)
		answer_nack(endpoint, qp, index, trigger, PACKET_NACK_PSN_OOR_WINDOW, out);
	else
		packet_put(out->packets, index);
}

// An immediate that was not kept.
static void refuse_imm(struct endpoint *endpoint, struct qp *qp, uint32_t index,
		       const struct trigger *trigger, enum keeping keeping, struct outbox *out)
{
	endpoint->counters.refused[REFUSED_IMM]++;
	if (endpoint->config->refused == REFUSED_NAK)
		operation_nak(endpoint, qp, index, trigger->psn, REFUSED_IMM, out);
	else if (keeping == KEEPING_NO_ROOM)
		answer_nack(endpoint, qp, index, trigger, PACKET_NACK_NO_RESOURCE, out);
	else
		packet_put(out->packets, index);
}

// Data that may not be placed.
static void refuse_data(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, enum refused_reason reason,
			struct outbox *out)
{
	endpoint->counters.refused[reason]++;
	if (endpoint->config->refused == REFUSED_NAK)
		operation_nak(endpoint, qp, index, trigger->psn, reason, out);
	else
		packet_put(out->packets, index);
}

// A packet that is here already: not placed, but answered, for its SACK may have been lost, or the
// ACK of its request.
static void receive_again(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			  const struct trigger *trigger, struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	bool is_whole = !(packet->flags & PACKET_TRIMMED);
	endpoint->counters.duplicates += is_whole;
	qp->probes.has_repeat |= is_whole;
	endpoint->counters.rtx_spurious += is_whole && (packet->bth & PACKET_RTX);
	if (psn_distance(trigger->psn, qp->rcv_next) > 0)
		note_news(qp, trigger->psn);
	bool is_done = psn_distance(trigger->psn, qp->ops_end) < 0;
	answer(endpoint, qp, index, trigger, is_done ? DUE_SACK | DUE_ACK : DUE_SACK, out);
}

static void receive_new(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	enum refused_reason reason = placement_refused(endpoint, qp, packet);
	if (reason != REFUSED_REASON_COUNT) {
		refuse_data(endpoint, qp, index, trigger, reason, out);
		return;
	}
	if (carries_imm(packet)) {
		enum keeping keeping = keep_imm(endpoint, qp, packet, trigger->psn);
		if (keeping != KEEPING_DONE) {
			refuse_imm(endpoint, qp, index, trigger, keeping, out);
			return;
		}
	}
	bool is_first = !qp->has_received;
	qp->has_received = true;
	endpoint->counters.rtx_placed += (packet->bth & PACKET_RTX) != 0;
	unsigned due = accept(endpoint, qp, packet, trigger->psn) ? DUE_ACK : 0;
	if (due_sack(endpoint, qp, packet, trigger->psn, is_first))
		due |= DUE_SACK;
	if (due == 0)
		packet_put(out->packets, index);
	else if (due == DUE_SACK)
		answer_sack(endpoint, qp, index, trigger, out);
	else
		answer(endpoint, qp, index, trigger, due, out);
}

// Most packets come as they left.
static inline void count_received(struct transport_counters *counters, uint8_t flags)
{
	counters->data_received++;
	if (__builtin_expect(!(flags & (PACKET_TRIMMED | PACKET_TRIMMED_LAST | PACKET_CE)), 1))
		return;
	bool is_trimmed = flags & PACKET_TRIMMED;
	counters->data_received -= is_trimmed;
	counters->trims_received += is_trimmed;
	counters->trims_last_hop += (flags & PACKET_TRIMMED_LAST) != 0;
	counters->marks_received += (flags & PACKET_CE) != 0;
}

// What becomes of a PSN: in the window, known, or out of range (MRC 1.0, section 6.3.1).
void responder_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		       struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	bool is_trimmed = packet->flags & PACKET_TRIMMED;
	const uint32_t psn = psn_extend(qp->rcv_next, packet->psn);
	struct trigger trigger = {
		.psn = psn, .ev = packet->ev, .is_marked = packet->flags & PACKET_CE, .at = now};
	int32_t ahead = psn_distance(trigger.psn, qp->rcv_next);
	uint32_t bit = trigger.psn & endpoint->mpr_mask;

	count_received(&endpoint->counters, packet->flags);
	if (ahead > (int32_t)endpoint->mpr_last) {
		receive_above(endpoint, qp, index, &trigger, out);
		return;
	}
	qp->penalty = qp->cc.ops->receiver_on_data(qp->receiver, packet->wire_bytes,
						   trigger.is_marked, is_trimmed, now);
	if (__builtin_expect(endpoint->credit_bps != 0, 0))
		credit_arrived(endpoint, qp, packet, now);
	bool is_here = ahead < 0 || bitmap_get(qp->received, bit);
	if (__builtin_expect(endpoint->delays != NULL, 0) && !is_here && !is_trimmed &&
	    !(packet->bth & PACKET_RTX))
		reorder_note(endpoint, qp, trigger.psn);
	if (is_here)
		receive_again(endpoint, qp, index, &trigger, out);
	else if (is_trimmed)
		receive_trimmed(endpoint, qp, index, &trigger, out);
	else
		receive_new(endpoint, qp, index, &trigger, out);
}
