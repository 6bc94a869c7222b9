// SPDX-License-Identifier: Apache-2.0
// What arrived, and what is owed for it.
#pragma once

#include "endpoint.h"

// Takes a data packet or a trimmed header; it is reused for the answer or given back.
void responder_receive(struct endpoint *endpoint, struct qp *qp, uint32_t index, ps_t now,
		       struct outbox *out);
