// SPDX-License-Identifier: Apache-2.0
// What is measured of the queue of a port (PORT_WATCHED). For port.c.
#pragma once

#include "port.h"

// The chance that a packet should be marked which leaves so much behind, in DUE_MARK_ONE.
static inline uint64_t due_mark(const struct queue_watch *watch, uint32_t queued)
{
	if (queued <= watch->threshold_bytes)
		return 0;
	if (queued > watch->full_bytes || queued - watch->threshold_bytes >= watch->span_bytes)
		return DUE_MARK_ONE;
	return (queued - watch->threshold_bytes) * DUE_MARK_ONE / watch->span_bytes;
}

// A packet of data left at `start`, with the queue above the threshold or just no more, or marked.
__attribute__((noinline)) static void note_deep(struct port *port, uint64_t entry, ps_t start,
						bool is_marked)
{
	struct queue_watch *watch = &port->beside->watch;
	uint32_t queued = port->queued_bytes[PACKET_CLASS_DATA];
	if (watch->above_since_ps != PS_NEVER && queued <= watch->threshold_bytes) {
		watch->above_ps += start - watch->above_since_ps;
		watch->above_since_ps = PS_NEVER;
	}
	uint8_t before = entry_flags(entry);
	if ((before & (PACKET_ECT | PACKET_CE)) != PACKET_ECT || port->ecn_low_bytes == UINT32_MAX)
		return;
	watch->due += due_mark(watch, queued);
	if (is_marked) {
		watch->marked++;
		if (queued < watch->marked_min_bytes)
			watch->marked_min_bytes = queued;
	} else if (queued > watch->clear_max_bytes) {
		watch->clear_max_bytes = queued;
	}
}

// The same for any packet of data: most leave short queues behind.
static inline void note_leave(struct port *port, uint64_t entry, ps_t start, bool is_marked)
{
	const struct queue_watch *watch = &port->beside->watch;
	if (__builtin_expect(is_marked || watch->above_since_ps != PS_NEVER ||
				     port->queued_bytes[PACKET_CLASS_DATA] > watch->threshold_bytes,
			     0))
		note_deep(port, entry, start, is_marked);
}

// Something of a class had to wait at `now`.
static inline void note_wait(struct port *port, enum packet_class klass, ps_t now)
{
	struct queue_watch *watch = &port->beside->watch;
	uint32_t queued = port->queued_bytes[PACKET_CLASS_DATA];
	watch->waited++;
	if (klass == PACKET_CLASS_DATA)
		depth_note(&port->beside->depth, now, queued);
	if (queued <= watch->queue_max_bytes && queued <= watch->threshold_bytes)
		return;
	if (queued > watch->queue_max_bytes)
		watch->queue_max_bytes = queued;
	if (queued > watch->threshold_bytes && watch->above_since_ps == PS_NEVER)
		watch->above_since_ps = now;
}
