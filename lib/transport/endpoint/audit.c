// SPDX-License-Identifier: Apache-2.0
// The books of an endpoint, held against each other when a run ends: totals against planes, each
// QP's counts against the bits they count. What does not add up is a bug of ours, whatever the
// network did.

#include <weft/core/check.h>

#include "endpoint.h"
#include "path/load.h"

// Sending: what is out lies between the oldest PSN not acknowledged and the next new one.
static void audit_sending(const struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t mpr = endpoint->mpr_mask + 1, out = qp->psn_next - qp->una;
	uint32_t lost = bitmap_count(qp->lost, mpr), acked = bitmap_count(qp->acked, mpr);
	check(out <= mpr && "a QP's PSNs are within its window");
	check(lost == qp->lost_count && "a QP's lost PSNs are counted");
	check(acked == qp->acked_count && "a QP's acknowledged PSNs are counted");
	check(lost + acked <= out && "a QP's PSNs are lost, acknowledged or in flight");
	check(qp->inflight <= (uint64_t)(out - lost - acked) * qp->full_bytes &&
	      "a QP's bytes in flight are those of its PSNs");
	if (out == 0)
		check(qp->inflight == 0 && "a QP with nothing out has no bytes in flight");
}

// What planes hold is what is in flight.
static void audit_planes(const struct endpoint *endpoint, const struct qp *qp)
{
	uint64_t flying = 0, weights = 0;
	for (uint32_t plane = 0; plane < endpoint->shape.planes; plane++) {
		flying += qp->path.load->planes[plane].flying;
		weights += qp->path.load->planes[plane].weight;
	}
	check(flying == qp->inflight && "bytes in flight of all planes are all bytes in flight");
	check(weights == qp->path.load->weights && "a QP's planes have all of its weights");
}

static void audit_receiving(const struct endpoint *endpoint, const struct qp *qp)
{
	uint32_t above = bitmap_count(qp->received, endpoint->mpr_mask + 1);
	check(above == qp->ooo_count && "a QP's packets above a hole are counted");
}

void endpoint_audit(const struct endpoint *endpoint)
{
	const struct transport_counters *counters = &endpoint->counters;
	uint64_t planes = 0;
	for (int i = 0; i < PLANES_MAX; i++)
		planes += counters->plane_bytes[i];
	check(planes == counters->data_bytes && "bytes of all planes are all bytes");
	check(counters->payload_bytes_new <= counters->data_bytes && "payload is sent in packets");
	check(counters->duplicates <= counters->data_received && "duplicates were received");
	for (uint32_t number = 0; number < endpoint->qp_max; number++) {
		const struct qp *qp = endpoint_qp(endpoint, number);
		if (qp == NULL || qp->state != QP_RTS)
			continue;
		if (endpoint->is_rc)
			continue; // goes back to a PSN: it has no bits
		audit_sending(endpoint, qp);
		if (qp->path.load != NULL)
			audit_planes(endpoint, qp);
		audit_receiving(endpoint, qp);
		if (endpoint->has_shares)
			share_audit(endpoint, qp);
	}
}
