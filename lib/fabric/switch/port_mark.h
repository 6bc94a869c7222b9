// SPDX-License-Identifier: Apache-2.0
// ECN at the departure from a queue. For port.c.
#pragma once

#include "port.h"

// Whether the packet that just left is marked: never up to the low threshold, always above the high
// one, in between with a probability that grows linearly from 0 to ecn_share (Pmax of RED).
static inline bool port_marks(struct port *port, uint64_t entry)
{
	uint32_t queued = port->queued_bytes[PACKET_CLASS_DATA];
	uint32_t low = port->ecn_low_bytes;
	if (__builtin_expect(queued <= low, 1) || !(entry_flags(entry) & PACKET_ECT))
		return false;
	if (queued > port->ecn_high_bytes)
		return true;
	return rng_below(&port->rng, port->ecn_span_bytes) < queued - low;
}

// Marks the packet that just left, if it is its turn. True when it had no mark before.
static inline bool port_mark(struct port *port, const struct outbox *out,
			     struct fabric_counters *counters, uint64_t entry)
{
	if (!port_marks(port, entry))
		return false;
	struct packet *packet = packet_at(out->packets, entry_packet(entry));
	bool is_new = !(packet->flags & PACKET_CE); // packets are counted, not marks
	counters->marked += is_new;
	packet->flags |= PACKET_CE;
	return is_new;
}
