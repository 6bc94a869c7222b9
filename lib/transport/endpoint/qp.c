// SPDX-License-Identifier: Apache-2.0
// The birth and the end of a QP, and where its rings lie. What it does in between is in
// requester.c, responder.c, retransmit.c and sack.c.
#include <weft/core/integer.h>

#include "endpoint.h"

#include <string.h>

#include "mrc/requester.h"
#include "mrc/sleek.h"
#include "pace.h"
#include "path/status.h"
#include "ready.h"

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
	uint32_t sends = power_of_two(1, qp_messages(config, config->sends_max));
	uint32_t stashes = power_of_two(1, qp_messages(config, config->wimm_max));
	uint32_t psns = power_of_two(1, config->mpr); // places; the window may be less
	uint64_t at = 0;
	uint64_t bits = psns / 64 * sizeof(uint64_t);

	place_ring(&at, sizeof(struct qp));
	layout.sends = place_ring(&at, sends * sizeof(struct send));
	layout.slots = place_ring(&at, psns * sizeof(struct slot));
	layout.acked = place_ring(&at, bits);
	layout.lost = place_ring(&at, bits);
	layout.received = place_ring(&at, bits);
	layout.ends = place_ring(&at, bits);
	layout.pending_imm = place_ring(&at, stashes * sizeof(struct pending_imm));
	layout.path = place_ring(&at, path_bytes(shape));
	layout.sleek = place_ring(&at, config->sleek ? sizeof(struct sleek) : 0);
	layout.bytes = at;
	layout.sends_mask = sends - 1;
	layout.pending_imm_mask = stashes - 1;
	layout.mpr_mask = psns - 1;
	*ret_layout = layout;
}

// A context keeps what belongs to its place: its numbers, and its places in the timer heap, which
// ring once more and look up what is due then.
void qp_wipe(struct qp *qp)
{
	uint32_t context = qp->context, number = qp->number;
	bool has_timer = qp->has_timer, has_tail_timer = qp->has_tail_timer;
	memset(qp, 0, sizeof(*qp));
	qp->context = context;
	qp->number = number;
	qp->has_timer = has_timer;
	qp->has_tail_timer = has_tail_timer;
}

bool qp_is_at_rest(const struct qp *qp)
{
	const struct profile *profile = qp->path.shape ? qp->path.shape->profile : NULL;
	uint32_t denied = profile ? profile->denied_count : 0;
	if (qp->path.denied != denied && qp->state != QP_ERROR) // by an operator
		return false;
	if (qp->send_done != qp->send_tail || qp->has_cc_timer)
		return false;
	bool owes = qp->owed_bytes != 0 || qp->is_ar_open;
	return qp->state == QP_ERROR || (qp->ooo_count == 0 && qp->pending_imm_count == 0 && !owes);
}

void qp_clear(const struct endpoint *endpoint, struct qp *qp)
{
	memset((uint8_t *)qp + sizeof(*qp), 0, endpoint->layout.bytes - sizeof(*qp));
	qp_wipe(qp);
}

void qp_enter(struct endpoint *endpoint, uint32_t number, enum qp_state state)
{
	struct qp *qp = endpoint_qp(endpoint, number);
	endpoint->records[number].state = (uint8_t)state;
	if (qp)
		qp->state = (uint8_t)state;
}

void qp_fail(struct endpoint *endpoint, struct qp *qp, enum qp_failure failure)
{
	qp_enter(endpoint, qp->number, QP_ERROR);
	qp->failure = endpoint->records[qp->number].failure = (uint8_t)failure;
	qp->inflight = 0;
	qp->lost_count = 0;
	qp->is_ack_due = false;
	ready_leave(endpoint, qp); // nobody comes for it where no port is up
	pace_leave(endpoint, qp);
	probe_end(endpoint, qp);
	sleek_end(endpoint, qp);
	if (endpoint->has_shares) // what it had out is room for others
		requester_wake(endpoint, qp);
	status_on_failure(endpoint, qp);
	endpoint->counters.qps_failed++;
	endpoint->counters.qps_failed_remote += failure == QP_FAILURE_REMOTE;
	if (qp->send_done == qp->send_tail)
		return;
	if (endpoint->flush_tail != 0)
		context_at(endpoint, endpoint->flush_tail - 1)->flush_next = qp->context + 1;
	else
		endpoint->flush_head = qp->context + 1;
	endpoint->flush_tail = qp->context + 1;
}
