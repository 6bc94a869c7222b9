// SPDX-License-Identifier: Apache-2.0
// Ready-made packets that wait for the line of their plane: answers, and what timers send. They
// leave before data. Their number is bounded, see ENDPOINT_CONTROL_MAX.
#pragma once

#include "endpoint.h"
#include "path/status.h"

// Queues a packet for its plane. When the queue is full, or no port has light, it is given back and
// counted: whoever waits for such a packet has a timer. False when it did not wait.
static inline bool control_send(struct endpoint *endpoint, uint32_t index, struct outbox *out)
{
	struct fifo *queue = &endpoint->control[packet_at(out->packets, index)->plane];
	if (queue->count == ENDPOINT_CONTROL_MAX || status_has_no_port(endpoint)) {
		endpoint->counters.answers_dropped++;
		packet_put(out->packets, index);
		return false;
	}
	fifo_push(queue, out->chunks, index);
	endpoint->held++;
	endpoint->work++;
	return true;
}
