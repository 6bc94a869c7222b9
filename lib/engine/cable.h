// SPDX-License-Identifier: Apache-2.0
// A cable: one direction of a link, a first-in-first-out list of packets with the time of their
// arrival. It carries the delay (which is the lookahead of the window engine) and the faults; the
// sending port carries serialisation order.
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <weft/core/fifo.h>
#include <weft/core/rng.h>
#include <weft/measure/measure.h>
#include <weft/world/world.h>

#include "reorder_queue.h"

// What came over a cable to a host that does nothing: it waits in the receive queue of its port, up
// to a limit, and is taken when the host works again. Packets, or frames.

struct stalled {
	const struct cable_fault *faults; // of the cable
	uint32_t fault_count;
	uint32_t packets_max;
	struct fifo fifo;
	ps_t until; // of what waits: when the host takes it
};

enum stalled_answer {
	STALLED_NOT,  // the host works: it takes it
	STALLED_WAIT, // it waits now
	STALLED_FULL, // there is no room: it is lost
};

void stalled_init(struct stalled *stalled, const struct cable_fault *faults, uint32_t count);

// What becomes of something that comes at `at`, after all that came before was taken.
enum stalled_answer stalled_put(struct stalled *stalled, struct fifo_pool *chunks, ps_t at,
				uint64_t what);

// Whether something that waits is taken at or before `at`, and before `end`.
static inline bool stalled_is_due(const struct stalled *stalled, ps_t at, ps_t end)
{
	return stalled->fifo.count > 0 && stalled->until <= at && stalled->until < end;
}

struct cable {
	struct fifo fifo; // entries: packet << 32 | low 32 bits of the arrival time, in its units
	ps_t last_at;	  // arrival of the newest packet: arrivals never go back
	line_t line;
	ps_t delay_ps;
	ps_t marked_until; // the receiver is already marked active for arrivals before this time
	uint32_t to_machine;
	uint32_t to_port;
	uint32_t fault_first; // in the world's list
	uint16_t fault_count;
	bool has_reorder_queue : 1; // a fault of it holds packets back, or makes copies, or stalls
				    // its host
	bool is_slow : 1;	    // a fault of it slows the line
	bool is_boundary : 1;	    // it leads from a machine of this rank to one of another
	bool is_foreign : 1;	    // the machine at its end is not run by this rank
	bool is_special : 1; // it has faults or head_bytes, or is_boundary: more to do than to lay
			     // a packet on it
	uint8_t unit_shift : 3; // arrivals are rounded up to 2^unit_shift ps: 0, but of long cables
	uint8_t head_bytes;	// what a cut-through switch at its end reads of a packet; 0: all
};
static_assert(sizeof(struct cable) == 64, "a cable is one cache line");

// Arrival times on a cable are kept modulo 2^32 units and read relative to "now": a cable must be
// shorter than this. The unit of a world is 1 ps, or where its longest cable needs it more, up to
// 2^CABLE_UNIT_SHIFT_MAX ps.
#define CABLE_SPAN_UNITS (INT64_C(1) << 31)
#define CABLE_UNIT_SHIFT_MAX 7u

// `at` in whole units, rounded up.
static inline ps_t cable_units(ps_t at, uint8_t unit_shift)
{
	return (at + (INT64_C(1) << unit_shift) - 1) >> unit_shift;
}

static inline ps_t cable_round(ps_t at, uint8_t unit_shift)
{
	return cable_units(at, unit_shift) << unit_shift;
}

static inline uint64_t cable_entry(const struct cable *cable, ps_t at, uint32_t packet)
{
	return (uint64_t)packet << 32 | (uint32_t)(at >> cable->unit_shift);
}

// An entry where it lies in a list: its halves as they are in memory, so that nothing is shifted.
struct cable_halves {
	uint32_t at, packet;
};
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half comes first");

static inline void cable_put(uint64_t *entry, ps_t units, uint32_t packet)
{
	const struct cable_halves halves = {(uint32_t)units, packet};
	memcpy(entry, &halves, sizeof(halves));
}

static inline struct cable_halves cable_get(const uint64_t *entry)
{
	struct cable_halves halves;
	memcpy(&halves, entry, sizeof(halves));
	return halves;
}

// The arrival time of an entry, `now` being at most CABLE_SPAN_UNITS before it.
static inline ps_t cable_entry_at(const struct cable *cable, uint64_t entry, ps_t now)
{
	ps_t units = now >> cable->unit_shift;
	return (units + (int32_t)((uint32_t)entry - (uint32_t)units)) << cable->unit_shift;
}

// When the end takes a packet of which the first bit leaves at `start`, and the last bit arrives at
// `at`.
static inline ps_t cable_taken_at(const struct cable *cable, ps_t start, uint32_t bytes, ps_t at)
{
	if (cable->head_bytes == 0 || bytes <= cable->head_bytes)
		return at;
	return cable_round(start + line_ps(cable->line, cable->head_bytes) + cable->delay_ps,
			   cable->unit_shift);
}

// The line of a cable with faults that slow it, for a packet whose first bit leaves at `start`.
line_t cable_slow_line(const struct cable *cable, const struct cable_fault *faults, ps_t start);

// What becomes of a packet on a cable.
struct cable_fate {
	enum drop_reason drop; // DROP_REASON_COUNT: it is not lost
	bool is_damaged;
	bool is_doubled;
	ps_t held_ps;	// it arrives so much later
	uint64_t place; // dice that say what is damaged
};

// The fate of a packet whose first bit leaves at `start` and whose last bit would arrive at `at`.
// Draws from the cable's own stream only while a fault that hits a share of the packets is active.
// `is_bad` holds the states of the world's bursts, as `faults` its faults.
struct cable_fate cable_fate(const struct cable *cable, const struct cable_fault *faults,
			     uint8_t *is_bad, struct rng *rng, ps_t start, ps_t at);

// When the cable went down that lost such a packet (DROP_LINK_DOWN); of a flap, the last time.
ps_t cable_down_since(const struct cable *cable, const struct cable_fault *faults, ps_t start,
		      ps_t at);

// All cables of a world. A cable is numbered by where it leads: base[to_machine] + to_port.
struct cable_set {
	struct cable *cables;
	uint32_t *base;	    // [machines + 1]
	uint32_t *out;	    // cable at out-port p of machine m: out[base[m] + p]
	uint32_t *plan;	    // [cables] index in world->cables
	uint64_t **waiting; // [machines] bit per in-port whose cable holds packets
	struct rng *rng;    // [cables]
	struct reorder_queue **reorder_queue; // [cables] of those with has_reorder_queue
	struct stalled **stalled; // [cables] of those that lead to a host that stalls, or NULL
	uint8_t *is_bad;	  // [faults of the world] the state of a burst, the sender's
	uint64_t *digests;	  // [cables] chained over the deliveries of a cable to a host
	uint32_t count;
};

// Draws and lays the cables of a world, in units of 2^unit_shift ps. -ENOMEM.
int cable_set_init(struct cable_set *set, const struct world *world, uint8_t unit_shift,
		   struct arena *arena);
