// SPDX-License-Identifier: Apache-2.0
#include "sleek.h"

#include "endpoint/endpoint.h"
#include "loss.h"
#include "path/probe.h"

// uet-htsim's figures.
#define PACKETS_MIN 5u	   // out of order, that are a loss whatever the window is
#define FIRST_PROBE_RTTS 3 // without a SACK, while there is more to send
#define NEXT_PROBE_RTTS 5  // after a probe

static struct sleek *sleek_of(const struct endpoint *endpoint, const struct qp *qp)
{
	return (struct sleek *)(void *)((uint8_t *)(uintptr_t)qp + endpoint->layout.sleek);
}

void sleek_start(struct endpoint *endpoint, struct qp *qp)
{
	struct sleek *sleek = sleek_of(endpoint, qp);
	*sleek = (struct sleek){.from = qp->psn_next, .has_timer = sleek->has_timer};
}

static uint64_t key_of(const struct qp *qp)
{
	return (uint64_t)TIMER_SLEEK << TIMER_KIND_SHIFT | qp->context;
}

static bool is_open(const struct qp *qp)
{
	return qp->state == QP_RTS && qp->una != qp->psn_posted;
}

// The timer rings often enough that no probe is late, whatever is set meanwhile.
static void arm(struct endpoint *endpoint, struct qp *qp, const struct cc_aims *aims, ps_t now)
{
	struct sleek *sleek = sleek_of(endpoint, qp);
	if (sleek->has_timer)
		return;
	sleek->has_timer = true;
	ps_t at = ps_min(sleek->probe_at, now + aims->base_rtt_ps + aims->target_ps);
	heap_push(&endpoint->timers, ps_max(at, now + 1), key_of(qp));
}

void sleek_end(struct endpoint *endpoint, struct qp *qp)
{
	if (!endpoint->has_sleek)
		return;
	if (sleek_of(endpoint, qp)->has_timer)
		heap_remove(&endpoint->timers, key_of(qp));
	sleek_of(endpoint, qp)->has_timer = false;
}

// So many packets above a hole are a loss: as many as one and a half windows are payloads, but not
// more than the largest window, nor less than five.
static uint32_t packets_of_loss(const struct qp *qp, const struct cc_aims *aims)
{
	uint64_t bytes = (uint64_t)qp->cc.window_bytes * 3 / 2;
	if (bytes > aims->window_max)
		bytes = aims->window_max;
	uint64_t packets = bytes / qp->payload_bytes;
	return packets < PACKETS_MIN ? PACKETS_MIN : (uint32_t)packets;
}

// What is out of the window from the oldest PSN on goes again, if it did not in this recovery.
static void send_again(struct endpoint *endpoint, struct qp *qp, ps_t now)
{
	struct sleek *sleek = sleek_of(endpoint, qp);
	uint32_t end = qp->una + qp->cc.window_bytes / qp->payload_bytes;
	if (psn_distance(end, sleek->until) > 0)
		end = sleek->until;
	if (psn_distance(sleek->from, qp->una) < 0)
		sleek->from = qp->una;
	sleek->from = loss_all(endpoint, qp, sleek->from, end, now);
}

static void begin(struct endpoint *endpoint, struct qp *qp)
{
	struct sleek *sleek = sleek_of(endpoint, qp);
	sleek->is_recovering = true;
	sleek->until = qp->psn_next;
}

// A probe that met no queue says that what left before it should be there, too: all goes again,
// also what went in an earlier recovery.
static void read_probe(struct endpoint *endpoint, struct qp *qp, const struct cc_aims *aims,
		       ps_t rtt_ps)
{
	if (rtt_ps - aims->base_rtt_ps >= aims->target_ps)
		return;
	begin(endpoint, qp);
	sleek_of(endpoint, qp)->from = qp->una;
}

void sleek_on_sack(struct endpoint *endpoint, struct qp *qp, uint32_t ooo_count, uint16_t probe_id,
		   ps_t probe_rtt_ps, ps_t now)
{
	struct sleek *sleek = sleek_of(endpoint, qp);
	struct cc_aims aims;
	qp->cc.ops->aims(&qp->cc, endpoint_cc(endpoint, qp)->config, &aims);
	bool is_tail = qp->psn_next == qp->psn_posted;
	sleek->probe_at = now +
		(is_tail ? aims.base_rtt_ps + aims.target_ps : FIRST_PROBE_RTTS * aims.base_rtt_ps);
	if (is_open(qp))
		arm(endpoint, qp, &aims, now);
	if (probe_id != 0 && probe_id == sleek->probe_id && probe_rtt_ps >= 0)
		read_probe(endpoint, qp, &aims, probe_rtt_ps);
	if (sleek->is_recovering && psn_distance(qp->una, sleek->until) >= 0)
		sleek->is_recovering = false;
	bool is_loss = ooo_count >= packets_of_loss(qp, &aims) && qp->lost_count == 0;
	if (!sleek->is_recovering && is_loss)
		begin(endpoint, qp);
	if (sleek->is_recovering)
		send_again(endpoint, qp, now);
}

void sleek_on_time(struct endpoint *endpoint, struct qp *qp, ps_t now, struct outbox *out)
{
	struct sleek *sleek = sleek_of(endpoint, qp);
	struct cc_aims aims;
	sleek->has_timer = false;
	if (!is_open(qp))
		return;
	qp->cc.ops->aims(&qp->cc, endpoint_cc(endpoint, qp)->config, &aims);
	if (now >= sleek->probe_at) {
		sleek->probe_id = probe_ask(endpoint, qp, now, out);
		sleek->probe_at = now + NEXT_PROBE_RTTS * aims.base_rtt_ps;
	}
	arm(endpoint, qp, &aims, now);
}

bool sleek_is_recovering(const struct endpoint *endpoint, const struct qp *qp)
{
	return sleek_of(endpoint, qp)->is_recovering;
}
