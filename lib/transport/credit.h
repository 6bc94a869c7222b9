// SPDX-License-Identifier: Apache-2.0
// Credits of a receiver (cc_ops.has_credit), an extension that is not MRC's: those that are owed
// some get it in turn, no faster than the NIC's lines take what they will send. A credit tells all
// that was granted since the QP began, so that a later one makes up for one that was lost; when the
// last one is lost, the sender sends a packet without after a while, and is owed anew.
#pragma once

#include "endpoint.h"

// Data came in for a QP.
void credit_owe(struct endpoint *endpoint, struct qp *qp, ps_t now);

// The time of the next credit has come.
void credit_on_time(struct endpoint *endpoint, ps_t now, struct outbox *out);

// A credit came.
void credit_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		    ps_t now);

// Takes a QP that ends off the list.
void credit_leave(struct endpoint *endpoint, struct qp *qp);
