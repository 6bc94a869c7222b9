// SPDX-License-Identifier: Apache-2.0
// The birth and the end of a QP, and where its rings lie. What it does in between is in
// requester.c, responder.c, retransmit.c and sack.c.
#include "endpoint.h"

static uint32_t power_of_two_above(uint32_t count)
{
	uint32_t power = 1;
	while (power < count)
		power *= 2;
	return power;
}

static uint64_t place_ring(uint64_t *at, uint64_t bytes)
{
	uint64_t offset = *at;
	*at += (bytes + 63) & ~UINT64_C(63);
	return offset;
}

void qp_layout_of(const struct transport_config *config, const struct path_shape *shape,
		  struct qp_layout *ret_layout)
{
	struct qp_layout layout = {0};
	uint32_t sends = power_of_two_above(config->sends_max);
	uint32_t stashes = power_of_two_above(config->wimm_max);
	uint64_t at = 0;
	uint64_t bits = config->mpr / 64 * sizeof(uint64_t);

	place_ring(&at, sizeof(struct qp));
	layout.sends = place_ring(&at, sends * sizeof(struct send));
	layout.slots = place_ring(&at, config->mpr * sizeof(struct slot));
	layout.acked = place_ring(&at, bits);
	layout.lost = place_ring(&at, bits);
	layout.received = place_ring(&at, bits);
	layout.stash = place_ring(&at, stashes * sizeof(struct stash));
	layout.path = place_ring(&at, path_bytes(shape));
	layout.bytes = at;
	layout.sends_mask = sends - 1;
	layout.stash_mask = stashes - 1;
	layout.mpr_mask = config->mpr - 1;
	*ret_layout = layout;
}

static void point_to_rings(struct qp *qp, const struct qp_layout *layout)
{
	uint8_t *base = (uint8_t *)qp;
	qp->sends = (void *)(base + layout->sends);
	qp->slots = (void *)(base + layout->slots);
	qp->acked = (void *)(base + layout->acked);
	qp->lost = (void *)(base + layout->lost);
	qp->received = (void *)(base + layout->received);
	qp->stash = (void *)(base + layout->stash);
}

static void start_numbers(struct qp *qp, uint32_t first_psn)
{
	qp->una = qp->psn_next = qp->psn_posted = first_psn;
	qp->lost_from = first_psn;
	qp->highest = first_psn - 1;
	qp->rcv_next = first_psn;
	qp->news_from = qp->news_to = first_psn;
}

void qp_open(struct endpoint *endpoint, struct qp *qp, const struct qp_config *config, ps_t now)
{
	const struct cc_config *cc = &endpoint->config->cc;
	check(qp->state == QP_CLOSED);
	point_to_rings(qp, &endpoint->layout);
	start_numbers(qp, config->first_psn);
	qp->remote_nic = config->remote_nic;
	qp->remote_qpn = config->remote_qpn;
	qp->newest_sent = sent_units(now);
	path_init(&qp->path, &endpoint->shape, (uint8_t *)qp + endpoint->layout.path,
		  rng_of(endpoint->seed, RNG_QP, config->id));
	if (endpoint->is_single)
		qp->ready_plane = (uint8_t)(qp->path.single % endpoint->shape.planes);
	qp->cc.ops = endpoint->cc_ops;
	qp->cc.ops->init(&qp->cc, cc, now);
	qp->cc.ops->receiver_init(qp->receiver, cc);
	qp->state = QP_RTS;
}

void qp_fail(struct endpoint *endpoint, struct qp *qp, enum qp_failure failure)
{
	qp->state = QP_ERROR;
	qp->failure = (uint8_t)failure;
	qp->inflight = 0;
	qp->lost_count = 0;
	endpoint->counters.qps_failed++;
	endpoint->counters.qps_failed_remote += failure == QP_FAILURE_REMOTE;
	if (qp->send_done == qp->send_tail)
		return;
	if (endpoint->flush_tail != 0)
		endpoint_qp(endpoint, endpoint->flush_tail - 1)->flush_next = qp->number + 1;
	else
		endpoint->flush_head = qp->number + 1;
	endpoint->flush_tail = qp->number + 1;
}
