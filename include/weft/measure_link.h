// SPDX-License-Identifier: Apache-2.0
// What is counted cable by cable and port by port when a scenario says `watch.links`: what an
// operator reads from the counters of NICs and switches. Sums, extremes and times only, so what is
// in each does not depend on who adds it up.
#pragma once

#include <stdint.h>

#include <weft/time.h>

#define DUE_MARK_ONE (UINT64_C(1) << 20)
#define LINK_SPREAD_BITS 6u
#define LINK_SPREAD_CELLS \
	(1u << LINK_SPREAD_BITS) // an EV falls into one of so many cells, by a hash

// Of one cable, that is one direction of a link; counted where packets enter it.
struct link_count {
	uint64_t packets, bytes; // whatever is put on it: wire bytes
	ps_t busy_ps;		 // the line's time for these: bytes / busy_ps is its rate
	uint64_t data_packets;	 // of these, with payload
	uint64_t data_bytes;	 // wire bytes of those
	uint64_t marked;	 // data packets that left with CE, wherever they got it
	uint64_t lost_down;	 // packets lost because it was down
	uint64_t lost_random;	 // lost one by one, or in bursts
	uint64_t damaged;	 // packets whose bits flipped
	uint64_t downs;		 // times that it was found to have gone down since before
	ps_t down_ps;		 // when it last went down, of those
	ps_t first_lost_ps;	 // when the first of the lost was sent, PS_NEVER: none
};

// Of one out-port of a switch: its data queue.
struct queue_watch {
	uint64_t waited;	   // packets that had to wait
	uint64_t marked;	   // marked CE here
	uint64_t trimmed, dropped; // given up, as the queue was full
	uint64_t due;		   // marks that were due by the thresholds, in DUE_MARK_ONE
	uint32_t threshold_bytes;  // marking should start here: the bound of above_ps, too
	uint32_t span_bytes;	   // above it, where a line to all marks should end
	uint32_t full_bytes;	   // from here on all should be marked
	uint32_t queue_max_bytes;
	uint32_t marked_min_bytes; // least queue behind a packet that was marked; UINT32_MAX: none
	uint32_t clear_max_bytes;  // deepest queue behind one that could be marked and was not
	ps_t above_ps;		   // time that the queue was above the threshold
	ps_t above_since_ps;	   // PS_NEVER: it is not
};

// What one host had to compute, and how long that took it.
struct work_count {
	uint64_t planned_ps, taken_ps;
};
