// SPDX-License-Identifier: Apache-2.0
// Credits of a receiver (cc_ops.has_credit), an extension that is not MRC's: those that are owed
// some get it in turn, no faster than the NIC's lines take what they will send. A credit tells all
// that was granted since the QP began, so that a later one makes up for one that was lost; when the
// last one is lost, the sender sends a packet without after a while, and is owed anew.
#pragma once

#include "endpoint/endpoint.h"

// Data came in for a QP.
void credit_arrived(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		    ps_t now);

// The time of the next credit has come.
void credit_on_time(struct endpoint *endpoint, ps_t now, struct outbox *out);

// Senders that tell (cc_config.credit_notified): the first answer ends what may be sent without
// credit, and all that waits then is asked for, and later what is posted; it is announced at once.
// A packet that is lost keeps its credit, of one that was trimmed the receiver knows. A QP that has
// nothing out begins anew.

// A work request of so many packets is about to be posted; the last one has `last_wire` bytes.
void credit_posted(struct endpoint *endpoint, struct qp *qp, uint32_t packets, uint32_t last_wire,
		   ps_t now);

// An answer to what was sent is about to be taken.
void credit_heard(struct endpoint *endpoint, struct qp *qp, ps_t now);

// No credit came for long: the last announcement may be lost.
void credit_again(struct endpoint *endpoint, struct qp *qp, ps_t now);

// Announces what is to be announced.
void credit_tell_all(struct endpoint *endpoint, struct outbox *out);

// An announcement of a sender arrived.
void credit_receive_demand(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
			   ps_t now);

// A credit came. True when the QP may send more by it.
bool credit_receive(struct endpoint *endpoint, struct qp *qp, const struct packet *packet,
		    ps_t now);

// Takes a QP that ends off the list.
void credit_leave(struct endpoint *endpoint, struct qp *qp);
