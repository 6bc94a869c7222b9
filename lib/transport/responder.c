// SPDX-License-Identifier: Apache-2.0
// The receiving side: places packets in any order, keeps what is here, completes WRITE_WITH_IMM in
// posting order, and answers. The answer to a packet is written over its own descriptor and waits
// for the plane that the packet came in on.
#include "responder.h"

// A SACK can tell of a cause so far behind its cumulative PSN. An honest requester never sends one
// from further behind: it keeps less than that in flight.
#define OFFSET_MIN (-32768)

// A data packet's facts that its answer needs after the descriptor is overwritten.
struct trigger {
	uint32_t psn; // running
	uint32_t ev;
	bool is_marked;
};

void responder_place(struct endpoint *endpoint, const struct qp *qp, const struct packet *packet)
{
	const struct packet_data *data = &packet->u.data;
	endpoint->counters.payload_bytes_placed += packet->payload_bytes;
	if (packet->payload == 0 && !(data->rkey & RKEY_NOTICE))
		return;
	uint32_t tail = endpoint->places_tail++;
	check(tail - endpoint->places_head < PLACES);
	endpoint->places[tail % PLACES] = (struct place){
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
	while (qp->stash_count > 0) {
		struct stash *stash = &qp->stash[qp->rqmsn_wanted & endpoint->stash_mask];
#ifdef PLANT_COMPLETION_ORDER // a planted bug: two neighbours change places
		struct stash *other = &qp->stash[(qp->rqmsn_wanted ^ 1) & endpoint->stash_mask];
		stash = other->is_full ? other : stash;
#else
		check(!stash->is_full || stash->rqmsn == qp->rqmsn_wanted);
#endif
		if (!stash->is_full || psn_distance(qp->rcv_next, stash->psn) <= 0)
			return;
		stash->is_full = false;
		qp->stash_count--;
		qp->rqmsn_wanted++;
		complete(endpoint, qp, stash->imm, stash->bytes);
	}
}

static bool carries_imm(const struct packet *packet)
{
	return packet->opcode == PACKET_WRITE_LAST_IMM || packet->opcode == PACKET_WRITE_ONLY_IMM;
}

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

// Any packet but the usual one, which is_placeable() has let through.
static __attribute__((noinline)) bool is_span_placeable(struct endpoint *endpoint,
							const struct packet *packet)
{
	uint64_t va, bytes;
	const struct region *region = region_find(&endpoint->regions, packet->u.data.rkey);
	bool is_true = span_of(packet, endpoint->config->payload_bytes, &va, &bytes);
	if (is_true && region && region_holds(region, va, bytes))
		return true;
	enum refused_reason reason = is_true ? REFUSED_BOUNDS : REFUSED_LENGTH;
	endpoint->counters.refused[region ? reason : REFUSED_KEY]++;
	return false;
}

// Whether the payload of a new packet may be placed. RETH stands on every packet, so every packet
// is asked; what several of them say together is not compared.
static bool is_placeable(struct endpoint *endpoint, const struct packet *packet)
{
	uint32_t full = endpoint->config->payload_bytes;
	const struct packet_data *data = &packet->u.data;
	const struct region *region = region_first(&endpoint->regions, data->rkey);
	if (packet->opcode == PACKET_WRITE_MIDDLE && packet->payload_bytes == full &&
	    data->message_bytes / 2 > full && region->rkey == data->rkey &&
	    region_holds(region, data->va, full))
		return true;
	return is_span_placeable(endpoint, packet);
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
	struct stash *stash = &qp->stash[data->rqmsn & endpoint->stash_mask];
	if (ahead > INT16_MAX || (ahead < endpoint->config->wimm_max && stash->is_full))
		return KEEPING_LIE;
	if (ahead >= endpoint->config->wimm_max)
		return KEEPING_NO_ROOM;
	*stash = (struct stash){.psn = psn,
				.imm = data->imm,
				.bytes = data->message_bytes,
				.rqmsn = data->rqmsn,
				.is_full = true};
	qp->stash_count++;
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

// Moves the left edge over `psn`, which is at it, and all that already came behind it.
static void move_edge(struct endpoint *endpoint, struct qp *qp)
{
	uint32_t run = 1;
	if (qp->ooo_count > 0) {
		run += bitmap_ring_run(qp->received, endpoint->mpr_mask + 1, qp->rcv_next + 1,
				       qp->ooo_count);
		for (uint32_t i = 1; i < run; i++)
			bitmap_clear(qp->received, (qp->rcv_next + i) & endpoint->mpr_mask);
		qp->ooo_count -= run - 1;
	}
	qp->rcv_next += run;
}

static void accept(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		   uint32_t psn)
{
	responder_place(endpoint, qp, packet);
	qp->rcvd_bytes += packet->wire_bytes;
	qp->owed_bytes += packet->wire_bytes;
	if (psn == qp->rcv_next) {
		move_edge(endpoint, qp);
	} else {
		bitmap_set(qp->received, psn & endpoint->mpr_mask);
		qp->ooo_count++;
		note_news(qp, psn);
	}
	complete_stashed(endpoint, qp);
}

void responder_answer(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	packet->target = packet->source;
	packet->source = endpoint->nic;
	packet->ev = path_control(&qp->path, packet->plane);
	packet->payload = 0;
	packet->wire_bytes = (uint16_t)endpoint->config->control_bytes;
	packet->payload_bytes = 0;
	packet->klass = PACKET_CLASS_CONTROL;
	packet->flags = 0;
	packet->hop = 0;
	packet->bth = 0;
	packet->qpn = qp->remote_qpn;
	if (endpoint->control[packet->plane].count == ENDPOINT_CONTROL_MAX) {
		endpoint->counters.answers_dropped++; // the requester's timer repairs it
		packet_put(out->packets, index);
		return;
	}
	fifo_push(&endpoint->control[packet->plane], out->chunks, index);
	endpoint->held++;
	endpoint->work++;
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
		// All the news fits: what was told before is told again, lest a lost SACK take it
		// along.
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

static void answer_sack(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	struct packet_sack *sack = &packet->u.sack;
	uint32_t cumulative = qp->rcv_next - 1;
	int32_t offset = psn_distance(trigger->psn, cumulative);
	if (offset < OFFSET_MIN) // so old that the requester has no send time of it any more
		offset = OFFSET_MIN;
	packet->opcode = PACKET_SACK;
	packet->psn = cumulative & PSN_MASK;
	sack->ev_echo = trigger->ev;
	sack->rcvd_256 = (uint32_t)((qp->rcvd_bytes + 255) >> 8) & PSN_MASK;
	sack->trigger_offset = (int16_t)(offset > INT16_MAX ? INT16_MAX : offset);
	sack->ooo_count = (uint16_t)qp->ooo_count;
	sack->mark = trigger->is_marked;
	sack->penalty = qp->penalty;
	fill_bitmap(endpoint, qp, sack);
	qp->owed_bytes = 0;
	endpoint->counters.sacks_sent++;
	responder_answer(endpoint, qp, index, out);
}

static void answer_nack(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, uint8_t reason, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	packet->opcode = PACKET_NACK;
	packet->psn = trigger->psn & PSN_MASK;
	packet->u.nack = (struct packet_nack_info){
		.ev_echo = trigger->ev,
		.psn = trigger->psn & PSN_MASK,
		.reason = reason,
	};
	endpoint->counters.nacks_sent++;
	responder_answer(endpoint, qp, index, out);
}

static void receive_trimmed(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			    const struct trigger *trigger, struct outbox *out)
{
	bool is_last_hop = packet_at(out->packets, index)->flags & PACKET_TRIMMED_LAST;
	if (endpoint->config->trim_nack)
		answer_nack(endpoint, qp, index, trigger,
			    is_last_hop ? PACKET_NACK_TRIMMED_LAST : PACKET_NACK_TRIMMED, out);
	else
		packet_put(out->packets, index);
}

// A PSN that no honest requester sends by now. Above the window it may be one that holds another
// limit than ours, and is told; far below there is nobody to be told.
static void receive_outside(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			    const struct trigger *trigger, struct outbox *out)
{
	bool is_above = psn_distance(trigger->psn, qp->rcv_next) > 0;
	endpoint->counters.out_of_window++;
	if (is_above && endpoint->config->out_of_window == OUT_OF_WINDOW_NACK)
		answer_nack(endpoint, qp, index, trigger, PACKET_NACK_PSN_OOR_WINDOW, out);
	else
		packet_put(out->packets, index);
}

// An immediate that was not kept.
static void refuse_imm(struct endpoint *endpoint, struct qp *qp, uint32_t index,
		       const struct trigger *trigger, enum keeping keeping, struct outbox *out)
{
	endpoint->counters.refused[REFUSED_IMM]++;
	if (keeping == KEEPING_NO_ROOM)
		answer_nack(endpoint, qp, index, trigger, PACKET_NACK_NO_RESOURCE, out);
	else
		packet_put(out->packets, index);
}

// A packet that is here already: not placed, but answered, for its SACK may have been lost.
static void receive_again(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			  const struct trigger *trigger, struct outbox *out)
{
#ifdef PLANT_DELIVER_TWICE // a planted bug: it is delivered once more
	responder_place(endpoint, qp, packet_at(out->packets, index));
	if (carries_imm(packet_at(out->packets, index)))
		complete(endpoint, qp, packet_at(out->packets, index)->u.data.imm, 0);
#endif
#ifdef PLANT_LEAK_PACKET // a planted bug: the answer goes out in another descriptor
	uint32_t leaked = index;
	index = packet_get(out->packets);
	*packet_at(out->packets, index) = *packet_at(out->packets, leaked);
#endif
	if (psn_distance(trigger->psn, qp->rcv_next) > 0)
		note_news(qp, trigger->psn);
	answer_sack(endpoint, qp, index, trigger, out);
}

// A packet that asks for a SACK may overtake others on its way. What they carried would then wait
// for the sender's timer, so the request is answered once more when all before it is here.
static bool is_ar_settled(struct qp *qp, const struct packet *packet, uint32_t psn)
{
	if ((packet->bth & PACKET_AR) && psn_distance(psn, qp->rcv_next) > 0 &&
	    (!qp->is_ar_open || psn_distance(psn, qp->ar_psn) > 0)) {
		qp->is_ar_open = true;
		qp->ar_psn = psn;
	}
	if (!qp->is_ar_open || psn_distance(qp->ar_psn, qp->rcv_next) >= 0)
		return false;
	qp->is_ar_open = false;
	return true;
}

// Whether more is to be told of arrivals above a hole than one SACK can tell.
static bool is_news_full(const struct qp *qp)
{
	return qp->news_from != qp->news_to && psn_distance(qp->news_to, qp->rcv_next) > 0 &&
		qp->news_to - qp->news_from >= 64;
}

static bool is_sack_due(const struct endpoint *endpoint, const struct qp *qp,
			const struct packet *packet, bool is_first)
{
	return qp->owed_bytes >= endpoint->config->sack_bytes || is_news_full(qp) ||
		(packet->bth & (PACKET_AR | PACKET_RTX)) != 0 || (packet->flags & PACKET_CE) != 0 ||
		(is_first && endpoint->config->sack_rule == SACK_HTSIM);
}

static void receive_new(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			const struct trigger *trigger, struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	if (!is_placeable(endpoint, packet)) {
		packet_put(out->packets, index);
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
	accept(endpoint, qp, packet, trigger->psn);
	bool is_settled = is_ar_settled(qp, packet, trigger->psn);
	if (is_settled || is_sack_due(endpoint, qp, packet, is_first))
		answer_sack(endpoint, qp, index, trigger, out);
	else
		packet_put(out->packets, index);
}

void responder_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		       struct outbox *out)
{
	const struct packet *packet = packet_at(out->packets, index);
	bool is_trimmed = packet->flags & PACKET_TRIMMED;
	struct trigger trigger = {.psn = psn_extend(qp->rcv_next, packet->psn),
				  .ev = packet->ev,
				  .is_marked = packet->flags & PACKET_CE};
	int32_t ahead = psn_distance(trigger.psn, qp->rcv_next);
	uint32_t bit = trigger.psn & endpoint->mpr_mask;

	endpoint->counters.data_received += !is_trimmed;
	endpoint->counters.trims_received += is_trimmed;
	endpoint->counters.trims_last_hop += (packet->flags & PACKET_TRIMMED_LAST) != 0;
	endpoint->counters.marks_received += trigger.is_marked;
	if (ahead > (int32_t)endpoint->mpr_mask || ahead < OFFSET_MIN) {
		receive_outside(endpoint, qp, index, &trigger, out);
		return;
	}
	qp->penalty = qp->cc.ops->receiver_on_data(qp->receiver, packet->wire_bytes,
						   trigger.is_marked, is_trimmed, now);
	bool is_here = ahead < 0 || bitmap_get(qp->received, bit);
	endpoint->counters.duplicates += is_here && !is_trimmed;
	if (is_here)
		receive_again(endpoint, qp, index, &trigger, out);
	else if (is_trimmed)
		receive_trimmed(endpoint, qp, index, &trigger, out);
	else
		receive_new(endpoint, qp, index, &trigger, out);
}
