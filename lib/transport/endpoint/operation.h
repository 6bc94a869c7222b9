// SPDX-License-Identifier: Apache-2.0
// Which requests are done at the responder, and its word for it: the transport ACK.
#pragma once

#include "endpoint.h"

// Whether a data packet is the last of its request.
static inline bool operation_ends(const struct packet *packet)
{
	return packet->opcode >= PACKET_WRITE_LAST;
}

// The left edge passes `psn`, the last packet of a request.
void operation_done(struct qp *qp, uint32_t psn);

// The last packet of a request is here above a hole.
void operation_hold(const struct endpoint *endpoint, struct qp *qp, uint32_t psn);

// The left edge passes `count` PSNs from `psn` on that were here above a hole. True when a request
// is done by that.
bool operation_pass_held(const struct endpoint *endpoint, struct qp *qp, uint32_t psn,
			 uint32_t count);
static inline bool operation_pass(const struct endpoint *endpoint, struct qp *qp, uint32_t psn,
				  uint32_t count)
{
	return qp->ops_above > 0 && operation_pass_held(endpoint, qp, psn, count);
}

// Whether a transport ACK of the QP waits to leave. It then speaks for all that is done by now.
bool operation_ack_waits(const struct qp *qp, struct outbox *out);

// Turns a descriptor into the QP's transport ACK; none may be waiting. `source`, `plane` and `ev`
// are the caller's.
void operation_ack(struct endpoint *endpoint, struct qp *qp, uint32_t index, struct outbox *out);

// Turns a descriptor into a NAK of the request that `psn` belongs to.
void operation_nak(struct endpoint *endpoint, struct qp *qp, uint32_t index, uint32_t psn,
		   enum refused_reason reason, struct outbox *out);

// A transport ACK of QP `number` that waited was dropped: the next one is made anew.
void operation_dropped(struct endpoint *endpoint, uint32_t number, uint32_t index);

// A transport ACK or NAK leaves.
void operation_leaves(struct endpoint *endpoint, struct packet *packet, uint32_t index);
