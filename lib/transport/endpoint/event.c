// SPDX-License-Identifier: Apache-2.0
// What an endpoint has to tell its owner: completions and place orders, oldest first. The work
// requests of a failed QP are flushed from its ring as they are polled, so that no number of
// failures can overflow anything.
#include "endpoint.h"

// The next flushed work request; false when there is none.
static bool flush_next(struct endpoint *endpoint, struct completion *ret)
{
	if (endpoint->flush_head == 0)
		return false;
	struct qp *qp = context_at(endpoint, endpoint->flush_head - 1);
	*ret = endpoint_take_oldest(endpoint, qp, COMPLETION_FLUSHED);
	ret->failure = (enum qp_failure)qp->failure;
	endpoint->counters.messages_flushed++;
	endpoint->counters.payload_bytes_flushed += ret->bytes;
	if (qp->send_done == qp->send_tail) {
		endpoint->flush_head = qp->flush_next;
		if (endpoint->flush_head == 0)
			endpoint->flush_tail = 0;
		if (endpoint->is_pooled)
			context_touch(endpoint, qp);
	}
	return true;
}

// The next QP that may post now; false when there is none.
static bool ready_next(struct endpoint *endpoint, struct completion *ret)
{
	uint32_t number;
	if (!context_notified(endpoint, &number))
		return false;
	*ret = (struct completion){.kind = COMPLETION_READY, .qp = number};
	return true;
}

uint32_t endpoint_poll(struct endpoint *endpoint, struct completion *ret, uint32_t max)
{
	uint32_t count = 0;
	while (count < max && endpoint->completions_head != endpoint->completions_tail) {
		uint32_t head = endpoint->completions_head++;
		ret[count++] = endpoint->completions[head & endpoint->completions_mask];
	}
	while (count < max && flush_next(endpoint, &ret[count]))
		count++;
	while (count < max && ready_next(endpoint, &ret[count]))
		count++;
	return count;
}

uint32_t endpoint_poll_dma_writes(struct endpoint *endpoint, struct dma_write *ret, uint32_t max)
{
	uint32_t count = 0;
	while (count < max && endpoint->dma_writes_head != endpoint->dma_writes_tail)
		ret[count++] = endpoint->dma_writes[endpoint->dma_writes_head++ % DMA_WRITES];
	return count;
}

bool endpoint_has_events(const struct endpoint *endpoint)
{
	// asked after every packet, and nearly always there is nothing: no branch for each
	return ((endpoint->completions_head ^ endpoint->completions_tail) |
		(endpoint->dma_writes_head ^ endpoint->dma_writes_tail) | endpoint->flush_head |
		endpoint->pool.notified.head) != 0;
}
