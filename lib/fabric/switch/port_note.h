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

// Whether the queue is above its threshold.
static inline bool is_above(const struct queue_watch *watch)
{
	return watch->above_since_ps != PS_NEVER;
}

// Says when there will be more to write down than the bin's deepest state.
static inline void note_usual(struct port *port)
{
	struct port_beside *beside = port->beside;
	struct queue_watch *watch = &beside->watch;
	struct depth_series *series = beside->depth.series;
	uint32_t threshold = watch->threshold_bytes, low = port->ecn_low_bytes;
	beside->most_bytes = &watch->queue_max_bytes;
	beside->usual_end_ps = PS_NEVER;
	if (series != NULL) {
		beside->most_bytes = &series->most_bytes[series->at];
		beside->usual_end_ps = series->end_ps;
	}
	beside->cells = beside->depth.bytes->counts;
	uint64_t most = beside->depth.bytes->value_max;
	beside->usual_bytes = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	beside->calm_bytes = -1; // while it is above, departures may end it
	if (is_above(watch))
		return;
	beside->calm_bytes = low < threshold ? low : threshold;
	if (beside->usual_bytes > threshold)
		beside->usual_bytes = threshold;
}

// A packet of data left at `start`, with the queue above the threshold or just no more, or marked.
__attribute__((noinline)) static void note_deep(struct port *port, uint64_t entry, ps_t start,
						bool is_marked)
{
	struct queue_watch *watch = &port->beside->watch;
	uint32_t queued = port->queued_bytes[PACKET_CLASS_DATA];
	if (is_above(watch) && queued <= watch->threshold_bytes) {
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

// Whether a departure of data may have to do with marks or with the threshold.
static inline bool is_deep(const struct port *port)
{
	return (int64_t)port->queued_bytes[PACKET_CLASS_DATA] > port->beside->calm_bytes;
}

// The same for any packet of data: most leave short queues behind.
static inline void note_leave(struct port *port, uint64_t entry, ps_t start, bool is_marked)
{
	const struct queue_watch *watch = &port->beside->watch;
	if (__builtin_expect(is_marked || is_above(watch) ||
				     port->queued_bytes[PACKET_CLASS_DATA] > watch->threshold_bytes,
			     0)) {
		note_deep(port, entry, start, is_marked);
		note_usual(port);
	}
}

// Data had to wait at `now`, the first since the bin's end.
__attribute__((noinline)) static void note_bin(struct port_beside *beside, ps_t now)
{
	struct depth_series *series = beside->depth.series;
	if (series == NULL) // nothing has been set yet
		return;
	depth_note_most(&beside->depth, &beside->watch); // of the bin that is over
	depth_series_move(series, now);
	beside->most_bytes = &series->most_bytes[series->at];
	beside->usual_end_ps = series->end_ps;
}

// Data had to wait at `now`, the first that did, or its queue is above the threshold, or deeper
// than is measured.
__attribute__((noinline)) static void note_unusual(struct port *port, ps_t now, uint32_t queued)
{
	struct port_beside *beside = port->beside;
	struct queue_watch *watch = &beside->watch;
	watch->waited++;
	depth_note(&beside->depth, now, queued);
	if (queued > watch->queue_max_bytes)
		watch->queue_max_bytes = queued;
	if (queued > watch->threshold_bytes && !is_above(watch))
		watch->above_since_ps = now;
	note_usual(port);
}

// Data had to wait at `now`, with so many bytes then in their queue.
static inline void note_depth(struct port *port, ps_t now, uint32_t queued)
{
	struct port_beside *beside = port->beside;
	if (__builtin_expect(now >= beside->usual_end_ps, 0))
		note_bin(beside, now);
	if (__builtin_expect(queued > beside->usual_bytes, 0)) {
		note_unusual(port, now, queued);
		return;
	}
	if (queued > *beside->most_bytes)
		*beside->most_bytes = queued;
	if (__builtin_expect(queued < beside->least_bytes, 0))
		beside->least_bytes = queued;
	beside->cells[hist_cell_in(DEPTH_HALF_BITS, queued)]++;
	beside->waited++;
	beside->waited_bytes += queued;
}

// Something of a class had to wait at `now`. Only data make a queue of data longer.
static inline void note_wait(struct port *port, enum packet_class klass, ps_t now)
{
	if (klass == PACKET_CLASS_DATA)
		note_depth(port, now, port->queued_bytes[PACKET_CLASS_DATA]);
	else
		port->beside->watch.waited++;
}
