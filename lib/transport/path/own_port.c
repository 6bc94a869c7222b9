// SPDX-License-Identifier: Apache-2.0
// Ports of this NIC go down and come up. See own_port.h.
#include "own_port.h"

#include "control_path.h"
#include "endpoint/control.h"
#include "endpoint/operation.h"
#include "mrc/loss.h"

// How long a packet lives that is never answered.
static ps_t all_tries_ps(const struct endpoint *endpoint)
{
	const struct transport_config *config = endpoint->config;
	ps_t total = 0;
	for (uint32_t waits = 0; waits < config->rto_linear + config->rto_doublings; waits++)
		total += (ps_t)loss_wait(endpoint, waits) << SENT_SHIFT;
	return total;
}

static void arm(struct endpoint *endpoint, ps_t at)
{
	if (!endpoint->has_no_port_timer)
		heap_push(&endpoint->timers, at, status_timer_key(OWN_PORT_TIMER));
	endpoint->has_no_port_timer = true;
}

static void begin(struct endpoint *endpoint, ps_t now)
{
	endpoint->lost_port_anew = false;
	if (endpoint->config->rto_doublings == RTO_DOUBLINGS_FOREVER)
		return; // it would never be given up in the light either
	endpoint->no_port_until_ps = now + all_tries_ps(endpoint);
	arm(endpoint, endpoint->no_port_until_ps);
}

// Gives a packet that waited to the best plane that there is. A probe is of its own EV alone, and
// without a QP nobody waits for an answer.
static void move(struct endpoint *endpoint, uint32_t index, struct outbox *out)
{
	struct packet *packet = packet_at(out->packets, index);
	const struct peer *peer = peers_find(&endpoint->peers, packet->target);
	if (packet->opcode == PACKET_PROBE || !peer || peer->first_qp == 0) {
		endpoint->counters.answers_dropped++;
		packet_put(out->packets, index);
		return;
	}
	packet->plane = (uint8_t)control_path_plane(endpoint, peer, packet->plane);
	packet->ev = control_path_ev(endpoint, peer, packet->plane);
	bool is_ack = packet->opcode == PACKET_ACK;
	uint32_t number = packet->payload; // of an ACK: whose it is
	if (!control_send(endpoint, index, out) && is_ack)
		operation_dropped(endpoint, number, index);
}

// Clears the queue of a port that is down. With no port at all what is in there is dropped: it may
// never leave, and whoever waits for it has a timer.
static void move_waiting(struct endpoint *endpoint, uint32_t plane, struct outbox *out)
{
	struct fifo *waiting = &endpoint->control[plane];
	for (uint32_t left = waiting->count; left > 0; left--) {
		endpoint->held--;
		endpoint->work--;
		move(endpoint, (uint32_t)fifo_pop(waiting, out->chunks), out);
	}
}

// The peers of QPs in use are informed now, the others when they come into use. Returns whether one
// has something to send and no way left, now that it lost that of `plane`.
static bool touch_all(struct endpoint *endpoint, uint32_t plane)
{
	bool is_cut = false;
	for (uint32_t i = 0; i < endpoint->peers.count; i++) {
		for (uint32_t next = endpoint->peers.peers[i].first_qp; next != 0;) {
			struct qp *qp = endpoint_qp(endpoint, next - 1);
			next = endpoint->records[next - 1].peer_next;
			if (!status_is_in_use(qp))
				continue;
			status_touch(endpoint, qp);
			is_cut |= !qp->path.planes[plane].is_denied && path_is_cut(&qp->path);
		}
	}
	return is_cut;
}

void endpoint_port(struct endpoint *endpoint, uint32_t plane, bool is_up, ps_t now,
		   struct outbox *out)
{
	check(endpoint->config->port_status && plane < endpoint->shape.planes);
	if (is_up == !status_is_down(endpoint, plane))
		return;
	endpoint->shape.ports_down ^= UINT32_C(1) << plane;
	choose_ports(endpoint, endpoint->shape.ports_down);
	endpoint->counters.port_downs += !is_up;
	status_refresh(endpoint);
	for (uint32_t i = 0; i < endpoint->peers.count && is_up; i++)
		status_renew(endpoint, &endpoint->peers.peers[i], UINT32_C(1) << plane, now);
	for (uint32_t other = 0; other < endpoint->shape.planes; other++)
		if (status_is_down(endpoint, other))
			move_waiting(endpoint, other, out);
	if (touch_all(endpoint, plane) && !is_up)
		begin(endpoint, now);
}

void own_port_on_post(struct endpoint *endpoint, const struct qp *qp, ps_t now)
{
	if (path_is_cut(&qp->path))
		begin(endpoint, now);
}

// What an operator says comes without a time.
void own_port_on_deny(struct endpoint *endpoint)
{
	if (endpoint->shape.ports_down == 0)
		return;
	if (endpoint->has_no_port_timer)
		heap_remove(&endpoint->timers, status_timer_key(OWN_PORT_TIMER));
	endpoint->has_no_port_timer = false;
	endpoint->lost_port_anew = true;
	arm(endpoint, 0);
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

void own_port_on_time(struct endpoint *endpoint, ps_t now)
{
	endpoint->has_no_port_timer = false;
	if (endpoint->shape.ports_down == 0)
		return;
	if (endpoint->lost_port_anew)
		begin(endpoint, now);
	else if (now < endpoint->no_port_until_ps)
		arm(endpoint, endpoint->no_port_until_ps);
	else
		end_without_port(endpoint);
}
