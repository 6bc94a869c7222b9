// SPDX-License-Identifier: Apache-2.0
// The queues of QPs with something to send, first in first out: one for all planes, or one per
// plane where a QP has a single path. What may be sent is not known in here.
#pragma once

#include "endpoint.h"

static inline void ready_push(struct endpoint *endpoint, struct qp *qp)
{
	struct ready_queue *queue = &endpoint->ready[qp->ready_plane];
	qp->ready_next = 0;
	qp->is_queued = true;
	if (queue->tail != 0)
		context_at(endpoint, queue->tail - 1)->ready_next = qp->context + 1;
	else
		queue->head = qp->context + 1;
	queue->tail = qp->context + 1;
	endpoint->work++;
}

// Takes the head, `qp`, off its queue.
static inline void ready_pop(struct endpoint *endpoint, struct ready_queue *queue, struct qp *qp)
{
	queue->head = qp->ready_next;
	if (queue->head == 0)
		queue->tail = 0;
	qp->is_queued = false;
	endpoint->work--;
}

// Takes `qp` out of its queue, wherever it stands. Looks at all before it: for what happens rarely.
static inline void ready_leave(struct endpoint *endpoint, struct qp *qp)
{
	struct ready_queue *queue = &endpoint->ready[qp->ready_plane];
	if (!qp->is_queued)
		return;
	uint32_t context = qp->context + 1, before = 0;
	while ((before == 0 ? queue->head : context_at(endpoint, before - 1)->ready_next) !=
	       context)
		before = before == 0 ? queue->head : context_at(endpoint, before - 1)->ready_next;
	if (before == 0)
		queue->head = qp->ready_next;
	else
		context_at(endpoint, before - 1)->ready_next = qp->ready_next;
	if (queue->tail == context)
		queue->tail = before;
	qp->is_queued = false;
	endpoint->work--;
}
