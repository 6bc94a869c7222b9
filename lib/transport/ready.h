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
		endpoint_qp(endpoint, queue->tail - 1)->ready_next = qp->number + 1;
	else
		queue->head = qp->number + 1;
	queue->tail = qp->number + 1;
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
