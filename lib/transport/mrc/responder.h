// SPDX-License-Identifier: Apache-2.0
// What arrived, and what is owed for it.
#pragma once

#include "endpoint/endpoint.h"

// Takes a data packet or a trimmed header; it is reused for the answer or given back.
void responder_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		       struct outbox *out);

// Gives a place order for a new data packet, if one is wanted.
void responder_place(struct endpoint *endpoint, const struct qp *qp, const struct packet *packet);

// The peer's probe came in, trimmed or not; it becomes the answer.
void responder_receive_probe(struct endpoint *endpoint, struct qp *qp, uint32_t index,
			     struct outbox *out);
