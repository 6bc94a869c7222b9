// SPDX-License-Identifier: Apache-2.0
// The status of ports: a NIC knows when one of its own is down (own_port.h), sends nothing there,
// and tells the peers of its QPs by endpoint requests, which they answer. What a QP does with a
// plane that is down is in path.c. Facts and choices: docs/protocol.md, "Port status".
//
// An endpoint whose configuration has no port status calls none of this.
#pragma once

#include "endpoint/endpoint.h"

// A QP was opened: it belongs to the peer that it leads to.
void status_join(struct endpoint *endpoint, uint32_t number);

// And leaves it when it is reset.
void status_leave(struct endpoint *endpoint, uint32_t number);

// A QP failed: nobody is informed of ports on its account where no port leads to its peer.
void status_on_failure(struct endpoint *endpoint, const struct qp *qp);

// A QP is in use while there may be peers who do not know of our ports (endpoint.is_untold): asks
// that its peer be informed, if it does not know.
void status_touch(struct endpoint *endpoint, struct qp *qp);

// A port is down or a peer is to be informed (endpoint.has_port_work): the request that leaves by
// `plane`, which is up. PACKET_NONE when there is none, or no packet for it.
uint32_t status_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out);

// Takes an endpoint request or response; it is reused for the answer or given back.
void status_receive(struct endpoint *endpoint, uint32_t index, ps_t now, struct outbox *out);

// The timer of the request to peer `id` rang.
void status_on_time(struct endpoint *endpoint, uint32_t id, ps_t now);

// A plane that comes back is used at once, whatever was lost on it: of all QPs to the peer.
void status_renew(struct endpoint *endpoint, const struct peer *peer, uint32_t planes, ps_t now);

// Works out anew whether there is anybody to inform.
void status_refresh(struct endpoint *endpoint);

// Places that it needs in the heap: one per peer, and one.
static inline uint32_t status_timers(const struct transport_config *config, uint32_t qp_max)
{
	return config->port_status ? qp_max + 1 : 0;
}

static inline uint64_t status_timer_key(uint32_t id)
{
	return (uint64_t)TIMER_PORT << TIMER_KIND_SHIFT | id;
}

// Has something to send, or an answer to wait for.
static inline bool status_is_in_use(const struct qp *qp)
{
	return qp && qp->state == QP_RTS && qp->send_done != qp->send_tail;
}

static inline bool status_is_down(const struct endpoint *endpoint, uint32_t plane)
{
	return endpoint->shape.ports_down >> plane & 1;
}

// No port is up.
static inline bool status_has_no_port(const struct endpoint *endpoint)
{
	return endpoint->shape.ports_down + 1 == UINT32_C(1) << endpoint->shape.planes;
}
