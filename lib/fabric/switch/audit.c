// SPDX-License-Identifier: Apache-2.0
// The books of a switch, held against each other when a run ends: what its queues say that they
// hold against what lies in them, and the deepest queue against the deepest that may be.

#include <weft/core/check.h>

#include "switch.h"

static uint64_t bytes_in(const struct fifo *fifo, const struct fifo_pool *pool)
{
	uint64_t bytes = 0;
	uint32_t at = fifo->get;
	for (uint32_t i = 0; i < fifo->count; i++)
		bytes += entry_bytes(fifo_walk(pool, &at));
	return bytes;
}

void switch_audit(struct switch_ *self, struct fifo_pool *chunks)
{
	uint64_t deepest = 0;
	for (uint32_t i = 0; i < self->port_count; i++) {
		struct port *port = &self->ports[i];
		for (int klass = 0; klass < PACKET_CLASS_COUNT; klass++) {
			check(bytes_in(&port->queues[klass], chunks) == port->queued_bytes[klass] &&
			      "a queue holds the bytes that it counts");
			fifo_release(&port->queues[klass], chunks);
		}
		uint32_t limit = port->limit_bytes[PACKET_CLASS_DATA];
		if (port->special & PORT_SLOWS)
			limit = port->beside->nominal.data_bytes;
		deepest = limit > deepest ? limit : deepest;
	}
	// an empty queue takes any packet
	deepest = deepest > UINT16_MAX ? deepest : UINT16_MAX;
	if (self->ordered == NULL)
		check(self->counters.queue_bytes_max <= deepest && "no queue is beyond its limit");
}
