// SPDX-License-Identifier: Apache-2.0
// One out-port of a switch: two class queues with strict priority, trimming when the data queue is
// full, ECN when a packet leaves, and lazy service. A port schedules no event. It remembers when
// its line is free and, before anything changes at time t, emits in one loop every departure that
// starts at or before t. The decisions depend on times only, never on how often the port is asked.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/fifo.h>
#include <weft/core/machine.h>
#include <weft/core/packet.h>
#include <weft/core/rng.h>
#include <weft/core/time.h>
#include <weft/fabric/fabric.h>
#include <weft/measure/measure_link.h>

// The order of arrivals at one out-port. Routing reads no queue, so only arrivals that leave by the
// same port need to be in time order, and sorting those few is cheaper than merging all in-ports.

// Arrivals that go to the same port.
struct batch {
	struct arrival *arrivals;
	struct arrival *spare; // a place as large, free for use
	uint32_t count;
};

// Sorts a batch by time. Stable: what was in (in-port, FIFO) order comes out in (time, in-port,
// FIFO) order. Overwrites the spare place.
void batch_sort(const struct batch *batch);

// A queue entry is packet index (32 bits), wire bytes (16), packet flags (8), class (8): service
// need not touch the descriptor unless it marks. The last three are one word of the descriptor.
static inline uint64_t entry_of(uint32_t index, const struct packet *packet)
{
	uint32_t facts = packet->wire_bytes | (uint32_t)packet->flags << 16 |
		(uint32_t)packet->klass << 24;
	return index | (uint64_t)facts << 32;
}

static inline uint32_t entry_packet(uint64_t entry)
{
	return (uint32_t)entry;
}

static inline uint32_t entry_bytes(uint64_t entry)
{
	return (uint16_t)(entry >> 32);
}

static inline uint8_t entry_flags(uint64_t entry)
{
	return (uint8_t)(entry >> 48);
}

static inline uint8_t entry_class(uint64_t entry)
{
	return (uint8_t)(entry >> 56);
}

// Where a switch remembers by which port a packet came in, that takes the place of the class and
// of all flags but the lowest: nothing is trimmed there.
static_assert(PACKET_ECT == 1 && MACHINE_PORTS_MAX <= 1 << 12, "an in-port and ECT fit");

static inline uint64_t entry_with_from(uint64_t entry, uint32_t port)
{
	return (entry & ((UINT64_C(1) << 52) - 1)) | (uint64_t)port << 52;
}

static inline uint32_t entry_from(uint64_t entry)
{
	return (uint32_t)(entry >> 52);
}

// What few ports do.
enum port_special {
	PORT_SHARES = 1,  // the classes share the line; else control goes first
	PORT_SLOWS = 2,	  // its rate changes
	PORT_ROUNDS = 4,  // the classes take turns by packets (weighted round robin)
	PORT_WATCHED = 8, // its queue is measured
	PORT_LINE = 16,	  // its queues count the packet on the line, and marks are made at its end
};

// A port at its full rate.
struct port_nominal {
	line_t line;
	uint32_t data_bytes, ecn_low_bytes, ecn_high_bytes, ecn_span_bytes;
};

// What few ports have beside them. With PORT_WATCHED each packet of data that waits reads the first
// part, which says when there is more to write down: it follows from the rest, and is 0 at first,
// so that the first packet sets it.
struct port_beside {
	ps_t usual_end_ps;    // of the bin
	uint32_t usual_bytes; // the threshold while it is below, or the deepest that is measured
	uint32_t least_bytes; // of those that were usual
	int64_t calm_bytes;   // no departure that leaves less is about the threshold or a mark
	uint32_t *most_bytes; // the deepest of this bin, or of all times
	uint64_t *cells;      // of the histogram of depths
	uint64_t waited, waited_bytes; // usual depths whose cells alone were counted, and their sum
	struct depth_watch depth;      // PORT_WATCHED
	struct queue_watch watch;      // PORT_WATCHED
	struct port_nominal nominal;   // PORT_SLOWS
};

struct port {
	// --- service
	ps_t free_at; // when the line is free for the next packet
	line_t line;
	struct fifo queues[PACKET_CLASS_COUNT];
	uint32_t queued_bytes[PACKET_CLASS_COUNT];
	uint32_t ecn_low_bytes; // UINT32_MAX: never marks
	uint16_t index;
	uint8_t special; // enum port_special, 0 for nearly all
	bool leads_to_nic;
	// --- only when a packet has to wait or is marked
	struct rng rng;
	uint32_t ecn_high_bytes;
	uint32_t limit_bytes[PACKET_CLASS_COUNT];
	uint32_t trim_bytes; // 0: no trimming
	union {
		uint32_t control_share_ppb; // PORT_SHARES: of the line, while both classes wait
		struct {		    // PORT_ROUNDS: packets of a round, control first
			uint16_t round_control, round_data;
		};
	};
	union {
		int64_t control_lead; // PORT_SHARES: bytes that control had above its share, in
				      // 10^-9
		int64_t round_left; // PORT_ROUNDS: packets of this round that have left
		ps_t started_at;    // PORT_LINE: the packet on the line
	};
	uint32_t ecn_span_bytes; // above the low threshold, where a line to all marks would end
	uint16_t slow_count;	 // PORT_SLOWS: changes that are left
	bool is_slow_scaled : 1;
	uint8_t line_holds : 2; // PORT_LINE: 0, or 1 + enum packet_class: whose oldest is on it
	uint8_t trim_choice;	// enum trim_choice
	const struct rate_change *slow; // PORT_SLOWS: the next change
	struct port_beside *beside;	// PORT_SLOWS, PORT_WATCHED; else NULL
};
static_assert(sizeof(struct port) == 128, "two cache lines");
static_assert(offsetof(struct port, rng) == 64, "service stays in the first line");

static inline bool port_is_backlogged(const struct port *port)
{
	return (port->queues[PACKET_CLASS_CONTROL].count | port->queues[PACKET_CLASS_DATA].count) !=
		0;
}

// Emits every departure that starts at or before `last`.
void port_advance(struct port *port, struct outbox *out, struct fabric_counters *counters,
		  ps_t last);

// Takes a packet at `now`: starts it when the port is idle, else queues, trims or drops it. True
// when the port has packets waiting afterwards.
bool port_accept(struct port *port, struct outbox *out, struct fabric_counters *counters,
		 uint32_t index, ps_t now);

// The same in steps, for a switch that knows when each is due (ordered.c). Which class goes next,
// one of which waits.
enum packet_class port_next_class(struct port *port, const struct outbox *out);

// Puts the oldest packet of a class on the line at free_at; returns its entry.
uint64_t port_emit_class(struct port *port, struct outbox *out, struct fabric_counters *counters,
			 enum packet_class klass);

// Puts a packet that never waited on the line at `now`.
void port_start(struct port *port, struct outbox *out, struct fabric_counters *counters,
		uint32_t index, ps_t now);

// Queues, trims or drops it at `now`.
void port_queue(struct port *port, struct outbox *out, struct fabric_counters *counters,
		enum packet_class klass, uint64_t entry, ps_t now);

// It finds no room in a shared buffer: trims it or the newest one in its queue, or drops it.
void port_refuse(struct port *port, struct outbox *out, struct fabric_counters *counters,
		 uint64_t entry);

// A window of the port: takes the arrivals of `batch` in time order, then advances to just before
// `until`.
void port_run(struct port *port, struct outbox *out, struct fabric_counters *counters,
	      const struct batch *batch, ps_t until);
