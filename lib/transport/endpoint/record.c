// SPDX-License-Identifier: Apache-2.0
// How a context takes up the work of a QP from its record, and lays it down at rest.
#include "record.h"

#include <string.h>

#include "endpoint.h"
#include "mrc/flight.h"
#include "mrc/sleek.h"

static uint32_t smaller(uint32_t own, uint32_t notified)
{
	return notified == 0 || own < notified ? own : notified;
}

uint8_t transport_capabilities(const struct transport_config *config)
{
	return (uint8_t)((config->trim_nack ? QP_CAN_TRIM_NACK : 0) |
			 (config->service_time ? QP_CAN_SERVICE_TIME : 0) |
			 (config->dynamic_mpr ? QP_CAN_DYNAMIC_MPR : 0) |
			 (config->completion == COMPLETION_BY_ACK ? QP_CAN_ACK : 0));
}

// What comes in is held to this end's own limits alone: these it has announced.
void record_agree(const struct endpoint *endpoint, struct qp_record *record,
		  const struct qp_config *config)
{
	const struct transport_config *own = endpoint->config;
	// offsets on the packet are signed 16 bits
	uint32_t mpr = own->mpr <= INT16_MAX ? own->mpr : INT16_MAX;
	record->id = config->id;
	record->remote_nic = config->remote_nic;
	record->remote_qpn = config->remote_qpn;
	record->ev_profile = config->ev_profile;
	record->cc_profile = config->cc_profile;
	record->psn = config->first_psn;
	record->rcv_next = config->is_psn_apart ? config->rcv_psn : config->first_psn;
	record->ops_end = record->rcv_next;
	record->payload_bytes = (uint16_t)smaller(own->payload_bytes, config->mtu);
	record->mpr_limit = (uint16_t)smaller(mpr, config->mpr_dest);
	record->wimm_limit = (uint16_t)smaller(own->wimm_max, config->wimm_max_dest);
	if (config->header_bytes != 0)
		record->count_more = (int32_t)config->header_bytes - (int32_t)own->header_bytes;
	record->capabilities = transport_capabilities(own);
	if (config->capabilities & QP_NOTIFIED)
		record->capabilities &= config->capabilities;
}

void record_remember(struct qp_record *record, const struct qp_past *past)
{
	record->rcv_next = record->ops_end += past->packets;
	record->ops_done = past->requests;
	record->rqmsn_wanted = (uint16_t)past->requests;
	record->rcvd_bytes = past->wire_bytes;
	record->has_received = past->packets > 0;
}

static void load_numbers(const struct endpoint *endpoint, struct qp *qp,
			 const struct qp_record *record)
{
	qp->state = record->state;
	qp->failure = record->failure;
	qp->remote_nic = record->remote_nic;
	qp->remote_qpn = record->remote_qpn;
	qp->capabilities = record->capabilities;
	qp->payload_bytes = record->payload_bytes;
	qp->full_bytes = (uint16_t)(record->payload_bytes + endpoint->config->header_bytes);
	qp->mpr_limit = qp->mpr_agreed = record->mpr_limit;
	qp->wimm_limit = record->wimm_limit;
	qp->una = qp->psn_next = qp->psn_posted = record->psn;
	qp->lost_from = record->psn;
	qp->highest = record->psn - 1;
	qp->send_una = qp->send_at = qp->send_done = qp->send_tail = record->sends;
	qp->msn = record->msn;
	qp->rqmsn = record->rqmsn;
	qp->rcv_next = qp->credit_next = record->rcv_next;
	qp->news_from = qp->news_to = record->rcv_next;
	qp->rqmsn_wanted = record->rqmsn_wanted;
	qp->ops_done = record->ops_done;
	qp->ops_end = record->ops_end;
	qp->epoch = record->epoch;
	qp->rcvd_bytes = record->rcvd_bytes;
	qp->heard_bytes = qp->settled_bytes = record->heard_bytes;
	qp->count_base = record->count_base;
	qp->count_more = record->count_more;
	qp->count_psn = record->psn;
	qp->has_received = record->has_received;
}

static void point_to_rings(struct qp *qp, const struct qp_layout *layout)
{
	uint8_t *base = (uint8_t *)qp;
	qp->sends = (void *)(base + layout->sends);
	qp->slots = (void *)(base + layout->slots);
	qp->acked = (void *)(base + layout->acked);
	qp->lost = (void *)(base + layout->lost);
	qp->received = (void *)(base + layout->received);
	qp->ends = (void *)(base + layout->ends);
	qp->pending_imm = (void *)(base + layout->pending_imm);
}

// The EVs of a QP are the same in all contexts that it has in its life; the dice go on where they
// stood. What was known of the paths' health is forgotten.
static void load_path(struct endpoint *endpoint, struct qp *qp, const struct qp_record *record)
{
	uint8_t *memory = (uint8_t *)qp + endpoint->layout.path;
	path_init(&qp->path, choose_shape(endpoint, record->ev_profile), memory,
		  rng_of(endpoint->seed, RNG_QP, record->id));
	if (record->has_dice) {
		qp->path.rng.state = record->rng;
		qp->path.control_rng.state = record->control_rng;
	}
	if (record->peer != 0)
		qp->path.peer_down = endpoint->peers.peers[record->peer - 1].down;
	if (endpoint->is_single)
		qp->ready_plane = (uint8_t)(qp->path.single % endpoint->shape.planes);
}

void record_load(struct endpoint *endpoint, struct qp *qp, uint32_t number, ps_t now)
{
	struct qp_record *record = &endpoint->records[number];
	qp_wipe(qp);
	point_to_rings(qp, &endpoint->layout);
	load_numbers(endpoint, qp, record);
	load_path(endpoint, qp, record);
	qp->number = number;
	qp->newest_sent = sent_units(now);
	qp->cc_profile = record->cc_profile;
	const struct cc_choice *choice = endpoint_cc(endpoint, qp);
	qp->is_gate_full = choice->is_gate_full;
	qp->cc.ops = choice->ops;
	qp->cc.credit_bytes = UINT32_MAX;
	qp->cc.ops->init(&qp->cc, choice->config, now);
	qp->is_unpaid = endpoint->has_demand;
	if (endpoint->has_shares)
		share_join(endpoint, qp, now);
	qp->cc.ops->receiver_init(qp->receiver, choice->config);
	if (endpoint->has_sleek)
		sleek_start(endpoint, qp);
	record->context = qp->context + 1;
}

// At rest the bitmaps and the list of pending immediates are clear. Paths are not, and send times
// of one QP must not pass for those of the next; those that were used lie together.
static void clear_traces(const struct endpoint *endpoint, struct qp *qp)
{
	memset((uint8_t *)qp + endpoint->layout.path, 0, path_bytes(&endpoint->shape));
	for (uint32_t psn = qp->psn_next - 1;; psn--) {
		struct slot *slot = &qp->slots[psn & endpoint->mpr_mask];
		if (!(slot->flags & SLOT_USED))
			return;
		slot->flags = 0;
	}
}

void record_store(struct endpoint *endpoint, struct qp *qp)
{
	struct qp_record *record = &endpoint->records[qp->number];
	check(qp_is_at_rest(qp) && record->context == qp->context + 1);
	probe_end(endpoint, qp); // with the health of paths goes what would mend it
	record->psn = qp->psn_posted;
	record->sends = qp->send_tail;
	record->msn = qp->msn;
	record->rqmsn = qp->rqmsn;
	record->rcv_next = qp->rcv_next;
	record->rqmsn_wanted = qp->rqmsn_wanted;
	record->ops_done = qp->ops_done;
	record->ops_end = qp->ops_end;
	record->epoch = qp->epoch;
	record->rcvd_bytes = qp->rcvd_bytes;
	record->heard_bytes = qp->heard_bytes;
	record->count_base = qp->count_base + flight_more(qp, qp->psn_posted);
	record->has_received = qp->has_received;
	record->rng = qp->path.rng.state;
	record->control_rng = qp->path.control_rng.state;
	record->has_dice = true;
	record->context = 0;
	if (qp->state == QP_ERROR) // what was in flight left its marks
		qp_clear(endpoint, qp);
	else
		clear_traces(endpoint, qp);
}
