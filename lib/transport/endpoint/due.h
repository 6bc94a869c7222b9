// SPDX-License-Identifier: Apache-2.0
// When the responder owes a SACK: by bytes, on marks, where the sender asks, and what else the rule
// of the configuration says (enum sack_rule).
#pragma once

#include "endpoint.h"

// A packet that asks for a SACK may overtake others on its way. What they carried would then wait
// for the sender's timer, so the request is answered once more when all before it is here; in htsim
// when no hole is left at all.
static inline bool due_ar_is_settled(const struct endpoint *endpoint, struct qp *qp,
				     const struct packet *packet, uint32_t psn)
{
	if (endpoint->config->sack_rule == SACK_HTSIM) {
		bool is_asked = qp->is_ar_open || (packet->bth & PACKET_AR);
		qp->is_ar_open = is_asked && qp->ooo_count > 0;
		return is_asked && qp->ooo_count == 0;
	}
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

// Whether there are more arrivals above a hole to report than one SACK can hold.
static inline bool due_news_is_full(const struct endpoint *endpoint, const struct qp *qp)
{
	if (endpoint->config->sack_rule == SACK_HTSIM)
		return false; // its window goes by bytes, and so do its repairs: by NACKs

	return qp->news_from != qp->news_to && psn_distance(qp->news_to, qp->rcv_next) > 0 &&
		qp->news_to - qp->news_from >= 64;
}

// Whether a SACK is due for a new packet, the QP's first or not; to be asked once for each.
// MRC 1.0, section 7.5.2: bytes since the last, AR, CE, a retransmission.
static inline bool due_sack(const struct endpoint *endpoint, struct qp *qp,
			    const struct packet *packet, uint32_t psn, bool is_first)
{
	if (due_ar_is_settled(endpoint, qp, packet, psn))
		return true;
	return qp->owed_bytes >= endpoint->config->sack_bytes || due_news_is_full(endpoint, qp) ||
		(packet->bth & (PACKET_AR | PACKET_RTX)) != 0 || (packet->flags & PACKET_CE) != 0 ||
		(is_first && endpoint->config->sack_rule == SACK_HTSIM);
}
