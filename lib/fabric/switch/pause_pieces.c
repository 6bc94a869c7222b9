// SPDX-License-Identifier: Apache-2.0
// What is known about pauses at a switch, as pieces of plain memory: of each port what it received
// and what it holds, and what waits, by the port where it came in. deadlock.c reads all of that.

#include <weft/fabric/fabric_pause.h>

#include "switch.h"

// Entries of a queue; they are pushed in a process that did not run the switch. The packets that
// they name are not there: only what they say themselves is read.
static void tell_queue(struct fifo *queue, struct fifo_pool *chunks, bool is_taken,
		       switch_piece_fn *visit, void *context)
{
	uint32_t count = queue->count, at = queue->get;
	check(!is_taken || count == 0);
	visit(context, &count, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t entry = is_taken ? 0 : fifo_walk(chunks, &at);
		visit(context, &entry, sizeof(entry));
		if (is_taken)
			fifo_push(queue, chunks, entry);
	}
}

void switch_pause_pieces(struct switch_ *self, struct fifo_pool *chunks, bool is_taken,
			 switch_piece_fn *visit, void *context)
{
	if (self->ordered == NULL)
		return;
	visit(context, self->ordered->pfc, self->port_count * sizeof(*self->ordered->pfc));
	visit(context, &self->ordered->shared, sizeof(self->ordered->shared));
	for (uint32_t i = 0; self->ordered->config.is_on && i < self->port_count; i++)
		tell_queue(&self->ports[i].queues[PACKET_CLASS_DATA], chunks, is_taken, visit,
			   context);
}
