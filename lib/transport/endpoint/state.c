// SPDX-License-Identifier: Apache-2.0
// The states of a QP and the ways between them. What a QP does in a state is in the other files:
// they ask for it where it matters.

#include "endpoint.h"

#include <errno.h>

#include <weft/transport/transport_profiles.h>

#include "mrc/credit.h"
#include "mrc/flight.h"
#include "mrc/requester.h"
#include "mrc/sleek.h"
#include "pace.h"
#include "path/status.h"
#include "rc/rc.h"
#include "ready.h"

#define ID_BITS 56 // of qp_config.id

static bool is_in(const struct endpoint *endpoint, uint32_t qpn, enum qp_state state)
{
	return qpn < endpoint->qp_max && endpoint->records[qpn].state == state;
}

static bool is_possible(const struct endpoint *endpoint, const struct qp_config *config)
{
	return config->local_nic == endpoint->nic && config->id >> ID_BITS == 0 &&
		config->remote_qpn <= PSN_MASK &&
		endpoint_has_profiles(endpoint, config->ev_profile, config->cc_profile);
}

int endpoint_open(struct endpoint *endpoint, uint32_t qpn)
{
	if (!is_in(endpoint, qpn, QP_RESET))
		return -EINVAL;
	qp_enter(endpoint, qpn, QP_INIT);
	return 0;
}

// Goes to RTR as one that has received what `past` says.
static int ready_to_receive(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
			    const struct qp_past *past, ps_t now)
{
	if (!is_in(endpoint, qpn, QP_INIT) || !is_possible(endpoint, config))
		return -EINVAL;
	record_agree(endpoint, &endpoint->records[qpn], config);
	record_remember(&endpoint->records[qpn], past);
	choose_take(endpoint, &endpoint->records[qpn]);
	if (!endpoint->is_pooled)
		record_load(endpoint, endpoint_qp(endpoint, qpn), qpn, now);
	if (endpoint->is_rc)
		rc_open(endpoint, endpoint_qp(endpoint, qpn), config);
	if (endpoint->config->port_status)
		status_join(endpoint, qpn);
	qp_enter(endpoint, qpn, QP_RTR);
	return 0;
}

int endpoint_ready_to_receive(struct endpoint *endpoint, uint32_t qpn,
			      const struct qp_config *config, ps_t now)
{
	return ready_to_receive(endpoint, qpn, config, &(struct qp_past){0}, now);
}

int endpoint_ready_to_send(struct endpoint *endpoint, uint32_t qpn, ps_t now)
{
	if (!is_in(endpoint, qpn, QP_RTR))
		return -EINVAL;
	struct qp *qp = endpoint_qp(endpoint, qpn);
	if (qp)
		qp->newest_sent = sent_units(now);
	qp_enter(endpoint, qpn, QP_RTS);
	return 0;
}

int endpoint_resume(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
		    const struct qp_past *past, ps_t now)
{
	if (!is_in(endpoint, qpn, QP_RESET) || !is_possible(endpoint, config))
		return -EINVAL;
	int rc = endpoint_open(endpoint, qpn);
	if (rc == 0)
		rc = ready_to_receive(endpoint, qpn, config, past, now);
	return rc == 0 ? endpoint_ready_to_send(endpoint, qpn, now) : rc;
}

int endpoint_connect(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
		     ps_t now)
{
	return endpoint_resume(endpoint, qpn, config, &(struct qp_past){0}, now);
}

int endpoint_fail(struct endpoint *endpoint, uint32_t qpn)
{
	if (qpn >= endpoint->qp_max || is_in(endpoint, qpn, QP_RESET))
		return -EINVAL;
	if (is_in(endpoint, qpn, QP_ERROR))
		return 0;
	struct qp *qp = endpoint_qp(endpoint, qpn);
	if (endpoint->is_pooled)
		context_wait_no_more(endpoint, qpn);
	if (!qp || is_in(endpoint, qpn, QP_INIT)) { // nothing is out
		qp_enter(endpoint, qpn, QP_ERROR);
		endpoint->records[qpn].failure = QP_FAILURE_PROGRAM;
		endpoint->counters.qps_failed++;
		return 0;
	}
	qp_fail(endpoint, qp, QP_FAILURE_PROGRAM);
	if (endpoint->is_pooled)
		context_touch(endpoint, qp);
	return 0;
}

// ---------------------------------------------------------------- back to RESET

static void leave_flush_list(struct endpoint *endpoint, struct qp *qp)
{
	uint32_t context = qp->context + 1, before = 0;
	for (uint32_t at = endpoint->flush_head; at != 0;) {
		uint32_t next = context_at(endpoint, at - 1)->flush_next;
		if (at != context) {
			before = at;
		} else {
			if (before == 0)
				endpoint->flush_head = next;
			else
				context_at(endpoint, before - 1)->flush_next = next;
			if (endpoint->flush_tail == context)
				endpoint->flush_tail = before;
		}
		at = next;
	}
}

static void forget_completions(struct endpoint *endpoint, uint32_t qpn)
{
	uint32_t mask = endpoint->completions_mask, to = endpoint->completions_head;
	for (uint32_t at = to; at != endpoint->completions_tail; at++)
		if (endpoint->completions[at & mask].qp != qpn)
			endpoint->completions[to++ & mask] = endpoint->completions[at & mask];
	endpoint->completions_tail = to;
}

static uint64_t timer_key(enum timer_kind kind, const struct qp *qp)
{
	return (uint64_t)kind << TIMER_KIND_SHIFT | qp->context;
}

// Takes a context out of everything in which it stands but the pool. What it is not in is not
// looked through: a program that resets all of its QPs has many.
static void clear_context(struct endpoint *endpoint, struct qp *qp)
{
	ready_leave(endpoint, qp);
	pace_leave(endpoint, qp);
	credit_leave(endpoint, qp);
	struct qp *sharer = endpoint->has_shares ? share_leave(endpoint, qp) : NULL;
	if (sharer != NULL)
		requester_wake(endpoint, sharer);
	if (qp->state == QP_ERROR)
		leave_flush_list(endpoint, qp);
	if (qp->has_timer)
		heap_remove(&endpoint->timers, timer_key(TIMER_RETRANSMIT, qp));
	if (qp->has_cc_timer)
		heap_remove(&endpoint->timers, timer_key(TIMER_CC, qp));
	if (qp->has_tail_timer)
		heap_remove(&endpoint->timers, timer_key(TIMER_TAIL, qp));
	qp->has_timer = qp->has_cc_timer = qp->has_tail_timer = false;
	probe_end(endpoint, qp);
	sleek_end(endpoint, qp);
}

int endpoint_reset(struct endpoint *endpoint, uint32_t qpn)
{
	if (qpn >= endpoint->qp_max)
		return -EINVAL;
	struct qp *qp = endpoint_qp(endpoint, qpn);
	if (qp)
		clear_context(endpoint, qp);
	forget_completions(endpoint, qpn);
	if (endpoint->records[qpn].peer != 0)
		status_leave(endpoint, qpn);
	if (endpoint->is_pooled)
		context_forget(endpoint, qpn);
	else
		qp_clear(endpoint, qp);
	choose_leave(endpoint, &endpoint->records[qpn]);
	endpoint->records[qpn] = (struct qp_record){
		.context = endpoint->is_pooled ? 0 : endpoint->records[qpn].context};
	return 0;
}

int endpoint_query(const struct endpoint *endpoint, uint32_t qpn, struct qp_view *ret)
{
	if (qpn >= endpoint->qp_max)
		return -EINVAL;
	const struct qp_record *record = &endpoint->records[qpn];
	const struct qp *qp = endpoint_qp(endpoint, qpn);
	bool is_at_work = qp && record->state >= QP_RTR;
	*ret = (struct qp_view){
		.state = (enum qp_state)record->state,
		.failure = (enum qp_failure)record->failure,
		.remote_nic = record->remote_nic,
		.remote_qpn = record->remote_qpn,
		.mtu = record->payload_bytes,
		.mpr = record->mpr_limit,
		.wimm_max = record->wimm_limit,
		.capabilities = record->capabilities,
		.psn_next = (is_at_work ? qp->psn_next : record->psn) & PSN_MASK,
		.psn_acked = (is_at_work ? qp->una : record->psn) & PSN_MASK,
		.psn_wanted = (is_at_work ? qp->rcv_next : record->rcv_next) & PSN_MASK,
		.msn = is_at_work ? qp->msn : record->msn,
	};
	if (is_at_work) {
		ret->psns_lost = qp->lost_count;
		ret->flight_bytes = flight_bytes(qp);
		ret->window_bytes = qp->cc.window_bytes;
	}
	return 0;
}
