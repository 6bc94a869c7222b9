// SPDX-License-Identifier: Apache-2.0
// How long QPs wait that no port leads out of. See no_port.h.
#include "no_port.h"

#include "mrc/retransmit.h"
#include "status.h"

// How long a packet lives that is never answered.
static ps_t all_tries_ps(const struct endpoint *endpoint)
{
	const struct transport_config *config = endpoint->config;
	ps_t total = 0;
	for (uint32_t waits = 0; waits < config->rto_linear + config->rto_doublings; waits++)
		total += (ps_t)retransmit_wait(endpoint, waits) << SENT_SHIFT;
	return total;
}

static void arm_no_port(struct endpoint *endpoint, ps_t at)
{
	if (!endpoint->has_no_port_timer)
		heap_push(&endpoint->timers, at, status_timer_key(STATUS_TIMER_NO_PORT));
	endpoint->has_no_port_timer = true;
}

void no_port_begin(struct endpoint *endpoint, ps_t now)
{
	endpoint->lost_port_anew = false;
	if (endpoint->config->rto_doublings == RTO_DOUBLINGS_FOREVER)
		return; // it would never be given up in the light either
	endpoint->no_port_until_ps = now + all_tries_ps(endpoint);
	arm_no_port(endpoint, endpoint->no_port_until_ps);
}

void no_port_on_post(struct endpoint *endpoint, const struct qp *qp, ps_t now)
{
	if (path_is_cut(&qp->path))
		no_port_begin(endpoint, now);
}

// What an operator says comes without a time.
void no_port_on_deny(struct endpoint *endpoint)
{
	if (endpoint->shape.ports_down == 0)
		return;
	if (endpoint->has_no_port_timer)
		heap_remove(&endpoint->timers, status_timer_key(STATUS_TIMER_NO_PORT));
	endpoint->has_no_port_timer = false;
	endpoint->lost_port_anew = true;
	arm_no_port(endpoint, 0);
}

// No port was up for long: whoever waits for one to send has waited as long as for a peer that is
// silent.
static void end_without_port(struct endpoint *endpoint)
{
	for (uint32_t i = 0; i < endpoint->peers.count; i++) {
		for (uint32_t next = endpoint->peers.peers[i].first_qp; next != 0;) {
			struct qp *qp = endpoint_qp(endpoint, next - 1);
			next = endpoint->records[next - 1].peer_next;
			if (status_is_in_use(qp) && path_is_cut(&qp->path))
				qp_fail(endpoint, qp, QP_FAILURE_RETRIES);
		}
	}
}

void no_port_on_time(struct endpoint *endpoint, ps_t now)
{
	endpoint->has_no_port_timer = false;
	if (endpoint->shape.ports_down == 0)
		return;
	if (endpoint->lost_port_anew)
		no_port_begin(endpoint, now);
	else if (now < endpoint->no_port_until_ps)
		arm_no_port(endpoint, endpoint->no_port_until_ps);
	else
		end_without_port(endpoint);
}
