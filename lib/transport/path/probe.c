// SPDX-License-Identifier: Apache-2.0
// When probes leave, which of them are out, and what their answers say. A QP has one timer for all
// of this; it runs while the QP has work, or a probe is out, so that a world comes to its end. See
// probe.h.
#include "probe.h"

#include <string.h>

#include "balance.h"
#include "control_path.h"
#include "endpoint/control.h"
#include "endpoint/endpoint.h"
#include "history.h"
#include "mrc/request.h"

// A probe without an answer is given up after a base timeout.
static ps_t wait_ps(const struct endpoint *endpoint)
{
	return endpoint->config->rto_ps;
}

#define LINE_SHARE 200 // one in so many of the bits of a plane is that of an idle probe at most

// How often a QP that only receives probes: once per round trip. A fixed window needs no base round
// trip.
static ps_t round_trip_ps(const struct endpoint *endpoint)
{
	return ps_max(endpoint->config->cc.base_rtt_ps, PS_PER_US);
}

// On a slow line it is less often.
static ps_t idle_period_ps(const struct endpoint *endpoint)
{
	const struct transport_config *config = endpoint->config;
	uint64_t rate_mbps = config->cc.rate_bps / 1000000;
	uint64_t bits = UINT64_C(8) * config->control_bytes * config->planes * LINE_SHARE;
	ps_t line_ps = rate_mbps == 0 ? 0 : (ps_t)(bits * PS_PER_US / rate_mbps);
	return ps_max(round_trip_ps(endpoint), line_ps);
}

static bool has_bad_paths(const struct qp *qp)
{
	return qp->path.held > 0 || qp->path.closed > 0;
}

// A request whose packets all arrived waits for the word of its target.
static bool has_own_data(const struct qp *qp)
{
	return qp->una != qp->psn_posted || request_awaits_ack(qp);
}

static uint64_t key_of(const struct qp *qp)
{
	return (uint64_t)TIMER_PROBE << TIMER_KIND_SHIFT | qp->context;
}

// Nothing may be due at all, where what is bad lies on planes that are down: then no timer stands
// in the way of the next that is.
static void arm_at(struct endpoint *endpoint, struct qp *qp, ps_t at)
{
	if (at == PS_NEVER)
		return;
	qp->has_probe_timer = true;
	qp->probes.rcvd_bytes = qp->rcvd_bytes;
	qp->probes.psn_next = qp->psn_next;
	heap_push(&endpoint->timers, at, key_of(qp));
}

void probe_wake(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (!qp->has_probe_timer && has_bad_paths(qp))
		arm_at(endpoint, qp, path_due_at(&qp->path, now));
}

void probe_wake_idle(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	if (qp->has_probe_timer)
		return;
	if (has_bad_paths(qp))
		arm_at(endpoint, qp, path_due_at(&qp->path, now));
	else if (probes_idle(endpoint->config) && !has_own_data(qp))
		arm_at(endpoint, qp, now + idle_period_ps(endpoint));
}

void probe_end(struct endpoint *endpoint, struct qp *qp)
{
	if (qp->has_probe_timer)
		heap_remove(&endpoint->timers, key_of(qp));
	qp->has_probe_timer = false;
	memset(qp->probes.out, 0, sizeof(qp->probes.out));
	qp->probes.out_count = 0;
}

// --- what is lost

static void count_retired(struct endpoint *endpoint, struct qp *qp, enum path_change change,
			  ps_t now)
{
	endpoint->counters.paths_retired += change != PATH_SAME;
	endpoint->counters.paths_replaced += change == PATH_REPLACED;
	if (change != PATH_SAME)
		control_path_lost(endpoint, qp);
	probe_wake(endpoint, qp, now);
}

void probe_lose(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now)
{
	balance_feed(&qp->path, index, BALANCE_LOST, now);
	count_retired(endpoint, qp, path_lose(&qp->path, index, now), now);
}

void probe_retire(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now)
{
	count_retired(endpoint, qp, path_retire(&qp->path, index, now), now);
}

static void take_back(struct qp *qp, struct probe *probe)
{
	probe->id = 0;
	qp->probes.out_count--;
}

// Gives up the probes that were out for too long.
static void expire(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	for (uint32_t i = 0; qp->probes.out_count > 0 && i < PROBES_OUT; i++) {
		struct probe *probe = &qp->probes.out[i];
		if (probe->id == 0 || now - probe->sent_at < wait_ps(endpoint))
			continue;
		endpoint->counters.probes_lost++;
		probe->lost_id = probe->id;
		take_back(qp, probe);
		uint32_t plane = probe->ev_index % endpoint->shape.planes;
		if (path_is_of_before(&qp->path, plane, probe->sent_at, now))
			continue;
		if (probe->is_idle)
			probe_lose(endpoint, qp, probe->ev_index, now);
		else // it may be in use again by now: a later one came back
			path_unanswered(&qp->path, probe->ev_index);
	}
}

// --- sending

// A number that names its place in `out`, and is not 0.
static struct probe *new_probe(struct qp *qp)
{
	uint32_t place = 0;
	while (qp->probes.out[place].id != 0)
		place++;
	do
		qp->probes.out[place].id = (uint16_t)(qp->probes.sequence++ * PROBES_OUT + place);
	while (qp->probes.out[place].id == 0);
	qp->probes.out_count++;
	return &qp->probes.out[place];
}

// Queues a probe over an EV. Its number, or 0 when there is no packet for it.
static uint16_t send(struct endpoint *endpoint, struct qp *qp, uint32_t ev_index, bool is_idle,
		     ps_t now, struct outbox *out)
{
	uint32_t index = packet_get(out->packets);
	if (index == PACKET_NONE) {
		out->limit = OUTBOX_NO_PACKET;
		return 0;
	}
	struct probe *probe = new_probe(qp);
	probe->sent_at = now;
	probe->ev_index = (uint16_t)ev_index;
	probe->is_idle = is_idle;
	*packet_at(out->packets, index) = (struct packet){
		.source = endpoint->nic,
		.target = qp->remote_nic,
		.ev = path_value(&qp->path, ev_index),
		.wire_bytes = (uint16_t)endpoint->config->control_bytes,
		.klass = PACKET_CLASS_DATA,
		.flags = PACKET_ECT | PACKET_TRIMMABLE,
		.plane = (uint8_t)(ev_index % endpoint->shape.planes),
		.opcode = PACKET_PROBE,
		.qpn = qp->remote_qpn,
		.u.probe = {.probe_id = probe->id},
	};
	endpoint->counters.probes_sent++;
	control_send(endpoint, index, out);
	return probe->id;
}

static void send_due(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out)
{
	while (has_bad_paths(qp) && qp->probes.out_count < PROBES_OUT) {
		uint32_t index = path_due(&qp->path, &qp->probes.from, now);
		if (index == PATH_NO_EV || send(endpoint, qp, index, false, now, out) == 0)
			return;
	}
}

// Whether data came in since the timer was set, or what was here came again: then answers do not
// arrive, and their EVs are to be looked at more than ever.
static bool has_received(const struct qp *qp)
{
	return qp->rcvd_bytes != qp->probes.rcvd_bytes || qp->probes.has_repeat;
}

// Whether data came in and none went out since the timer was set: then no SACK tells of the EVs
// that this QP's own answers take.
static bool is_receiving_only(const struct qp *qp)
{
	return has_received(qp) && !has_own_data(qp) && qp->psn_next == qp->probes.psn_next;
}

// Whether a probe may leave by `plane`. With every plane shut none is closed, but what waits for a
// port that is down here may wait forever.
static bool is_way(const struct qp *qp, uint32_t plane)
{
	return !path_is_closed(&qp->path, plane) && !(qp->path.shape->ports_down >> plane & 1);
}

static void send_idle(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out)
{
	uint32_t plane = rng_below(&qp->path.control_rng, endpoint->shape.planes);
	if (qp->probes.out_count < PROBES_OUT && is_way(qp, plane))
		send(endpoint, qp, path_control(&qp->path, plane), true, now, out);
}

uint16_t probe_ask(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out)
{
	uint32_t planes = endpoint->shape.planes, plane = rng_below(&qp->path.control_rng, planes);
	for (uint32_t left = planes; left > 0 && !is_way(qp, plane); left--)
		plane = (plane + 1) % planes;
	expire(endpoint, qp, now);
	if (qp->probes.out_count == PROBES_OUT || !is_way(qp, plane))
		return 0;
	return send(endpoint, qp, path_control(&qp->path, plane), false, now, out);
}

// When the next idle probe is due, where they are few: what wakes the timer may be something else.
static ps_t idle_due_at(const struct endpoint *endpoint, const struct qp *qp)
{
	ps_t newest = 0, period_ps = idle_period_ps(endpoint);
	if (period_ps == round_trip_ps(endpoint))
		return 0;
	for (uint32_t i = 0; i < PROBES_OUT; i++)
		newest = ps_max(newest, qp->probes.out[i].sent_at);
	return newest == 0 ? 0 : newest + period_ps;
}

// When to look again; PS_NEVER when there is no reason to.
static ps_t next_at(const struct endpoint *endpoint, const struct qp *qp, bool has_work,
		    bool is_idle, ps_t now)
{
	ps_t at = PS_NEVER;
	for (uint32_t i = 0; qp->probes.out_count > 0 && i < PROBES_OUT; i++)
		if (qp->probes.out[i].id != 0)
			at = ps_min(at, qp->probes.out[i].sent_at + wait_ps(endpoint));
	if (has_work) {
		ps_t due_at = path_due_at(&qp->path, now);
		if (qp->probes.out_count == PROBES_OUT) // an answer makes room for the next
			due_at = ps_max(due_at, now + round_trip_ps(endpoint));
		at = ps_min(at, due_at);
	}
	ps_t due_at = is_idle ? idle_due_at(endpoint, qp) : 0;
	if (is_idle)
		at = ps_min(at, due_at > now ? due_at : now + idle_period_ps(endpoint));
	return at;
}

// Sets the timer anew: more is due than was known when it was set.
static void hurry(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	ps_t at = next_at(endpoint, qp, true, false, now);
	if (qp->has_probe_timer)
		heap_remove(&endpoint->timers, key_of(qp));
	qp->has_probe_timer = false;
	arm_at(endpoint, qp, at);
}

void probe_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out)
{
	if (qp->state != QP_RTS) { // not even ready to send
		qp->has_probe_timer = false;
		return;
	}
	expire(endpoint, qp, now);
	bool has_work = has_own_data(qp) || has_received(qp);
	bool is_idle = probes_idle(endpoint->config) && is_receiving_only(qp);
	qp->probes.has_repeat = false;
	if (has_work)
		send_due(endpoint, qp, now, out);
	if (is_idle && idle_due_at(endpoint, qp) <= now)
		send_idle(endpoint, qp, now, out);
	qp->has_probe_timer = false;
	arm_at(endpoint, qp, ps_max(next_at(endpoint, qp, has_work, is_idle, now), now + 1));
}

// --- answers

// The probe that a SACK answers, NULL when it is not out, went over another EV, or after the time
// that comes back.
static struct probe *find_out(struct qp *qp, const struct packet *sack, ps_t now)
{
	const struct packet_sack *answer = &sack->u.sack;
	struct probe *probe = &qp->probes.out[answer->probe_id % PROBES_OUT];
	if (probe->id == 0 || probe->id != answer->probe_id ||
	    path_value(&qp->path, probe->ev_index) != answer->ev_echo)
		return NULL;
	ps_t age = now - probe->sent_at;
	uint16_t echo_age = (uint16_t)(now / TIMESTAMP_PS - sack->timestamp);
	return age < STAMP_AGE_MAX && echo_age > age / TIMESTAMP_PS + 1 ? NULL : probe;
}

// Whether a SACK answers a probe that was given up. Once: a second answer is a copy.
static bool is_late(struct qp *qp, const struct packet_sack *answer)
{
	struct probe *probe = &qp->probes.out[answer->probe_id % PROBES_OUT];
	if (probe->lost_id == 0 || probe->lost_id != answer->probe_id)
		return false;
	probe->lost_id = 0;
	return true;
}

bool probe_answered(struct endpoint *endpoint, struct qp *qp, const struct packet *sack, ps_t now,
		    ps_t *ret_rtt)
{
	struct probe *probe = find_out(qp, sack, now);
	*ret_rtt = -1;
	if (probe == NULL) {
		bool was_out = is_late(qp, &sack->u.sack);
		endpoint->counters.probes_late += was_out;
		return was_out;
	}
	uint32_t successes = endpoint->config->probe_successes;
	uint16_t ticks = (uint16_t)(now / TIMESTAMP_PS - sack->timestamp);
	bool is_stale = now - probe->sent_at >= STAMP_AGE_MAX;
	bool was_bad = path_state(&qp->path, probe->ev_index) == PATH_ASSUMED_BAD;
	endpoint->counters.probes_answered++;
	endpoint->counters.stamps_stale += is_stale;
	uint32_t closed = qp->path.closed;
	take_back(qp, probe);
	path_at(&qp->path, now);
	if (sack->u.sack.mark != PACKET_MARK_SKIP_ALWAYS) {
		ps_t rtt_ps = is_stale || !was_bad ? -1 : ticks * TIMESTAMP_PS;
		uint32_t late = history_late_beside(&qp->path, probe->ev_index, rtt_ps);
		bool is_marked = sack->u.sack.mark != PACKET_MARK_NONE || late > 0;
		enum path_change change = path_probed(&qp->path, probe->ev_index, is_marked,
						      successes != 0 ? successes : 1);
		endpoint->counters.paths_reinstated += was_bad && change != PATH_SAME;
		endpoint->counters.paths_skipped += is_marked && change != PATH_SAME;
		if (change != PATH_SAME)
			history_raise(&qp->path, probe->ev_index, late);
	} else {
		probe_retire(endpoint, qp, probe->ev_index, now);
	}
	if (qp->path.closed != closed) // the EVs of a plane that opened are due now
		hurry(endpoint, qp, now);
	// A probe is shorter than what the base round trip is of: it must not lower it.
	*ret_rtt = is_stale ? -1 : ps_max(ticks * TIMESTAMP_PS, endpoint->config->cc.base_rtt_ps);
	return true;
}
