// SPDX-License-Identifier: Apache-2.0
// A cable: one direction of a link, a first-in-first-out list of packets with the time of their
// arrival. It carries the delay (which is the lookahead of the window engine) and the faults; the
// sending port carries serialisation order.
#pragma once

#include <assert.h>
#include <stdint.h>

#include <weft/fifo.h>
#include <weft/measure.h>
#include <weft/rng.h>
#include <weft/world.h>

struct cable {
	struct fifo fifo; // entries: packet << 32 | low 32 bits of the arrival time
	ps_t last_at;	  // arrival of the newest packet: arrivals never go back
	line_t line;
	ps_t delay_ps;
	ps_t marked_until; // the receiver is already marked active for arrivals before this time
	uint32_t to_machine;
	uint32_t to_port;
	uint32_t fault_first; // in the world's list
	uint32_t fault_count;
};
static_assert(sizeof(struct cable) == 64, "a cable is one cache line");

// Arrival times on a cable are kept modulo 2^32 ps and read relative to "now": a cable must be
// shorter than this.
#define CABLE_SPAN_PS (INT64_C(1) << 31)

static inline uint64_t cable_entry(ps_t at, uint32_t packet)
{
	return (uint64_t)packet << 32 | (uint32_t)at;
}

// The arrival time of an entry, `now` being at most CABLE_SPAN_PS before it.
static inline ps_t cable_entry_at(uint64_t entry, ps_t now)
{
	return now + (int32_t)((uint32_t)entry - (uint32_t)now);
}

// Whether a packet whose first bit leaves at `start` and whose last bit would arrive at `at` is
// lost on this cable, and why. Draws from the cable's own stream only while a loss fault is active.
// DROP_REASON_COUNT = not lost.
enum drop_reason cable_fate(const struct cable *cable, const struct cable_fault *faults,
			    struct rng *rng, ps_t start, ps_t at);

// All cables of a world. A cable is numbered by where it leads: base[to_machine] + to_port.
struct cable_set {
	struct cable *cables;
	uint32_t *base;	    // [machines + 1]
	uint32_t *out;	    // cable at out-port p of machine m: out[base[m] + p]
	uint32_t *plan;	    // [cables] index in world->cables
	uint64_t **waiting; // [machines] bit per in-port whose cable holds packets
	struct rng *rng;    // [cables]
	uint64_t *digests;  // [cables] chained over the deliveries of a cable to a host
	uint32_t count;
};

// Draws and lays the cables of a world. -ENOMEM.
int cable_set_init(struct cable_set *set, const struct world *world, struct arena *arena);
