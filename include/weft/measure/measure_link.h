// SPDX-License-Identifier: Apache-2.0
// What is counted cable by cable and port by port when a scenario says `watch.links`: what an
// operator reads from the counters of NICs and switches. Sums, extremes and times only, so what is
// in each does not depend on who adds it up.
#pragma once

#include <stdint.h>

#include <weft/measure/measure_add.h>

#define DUE_MARK_ONE (UINT64_C(1) << 20)
#define LINK_SPREAD_BITS 6u
#define LINK_SPREAD_CELLS \
	(1u << LINK_SPREAD_BITS) // an EV falls into one of so many cells, by a hash

// Of one cable, that is one direction of a link; counted where packets enter it.
struct link_count {
	// What each row of packets adds to is not side by side: else gcc adds two at once, which
	// takes more instructions to bring them together.
	uint64_t packets;     // whatever is put on it
	uint64_t lost_down;   // packets lost because it was down
	uint64_t bytes;	      // of all packets: wire bytes
	uint64_t lost_random; // lost one by one, or in bursts
	ps_t slow_ps;	      // the line's time for slow_bytes, packet by packet
	uint64_t damaged;     // packets whose bits flipped
	uint64_t data_bytes;  // of packets with payload
	uint64_t
		slow_bytes; // of those on a cable that may be slow; the others take the line's rate
	uint64_t downs;	    // times that it was found to have gone down since before
	ps_t down_ps;	    // when it last went down, of those
	ps_t first_lost_ps; // when the first was lost, PS_NEVER: none
	uint64_t doubled;   // packets that arrived twice
	uint64_t held_back; // that others may have overtaken
	ps_t held_max_ps;   // for so long at most
	ps_t first_odd_ps;  // when the first of these was sent, PS_NEVER: none
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

// How deep a queue was over time: the deepest in each of equal bins. When the bins are full, two
// neighbours become one, so that they always reach from 0 to now.
#define DEPTH_BINS 64u
#define DEPTH_BIN_PS PS_PER_US // at first
#define DEPTH_PORTS_MAX 16384u // of a world: with more of them no series is kept
struct depth_series {
	ps_t bin_ps;
	ps_t end_ps; // of the current bin
	uint32_t at; // which that is
	uint32_t most_bytes[DEPTH_BINS];
};

// Of a port that waits: made of these.
// log2 of the cells of a bucket of `bytes`, which has two digits
#define DEPTH_DIGITS 2u
#define DEPTH_HALF_BITS 7u
struct depth_watch {
	struct hist *bytes;	     // shared by ports of one shard and group
	struct depth_series *series; // its own, or NULL
};

// What one host had to compute, and how long that took it; and what came and was not taken at once.
struct work_count {
	uint64_t planned_ps, taken_ps;
	uint64_t waited;    // packets that waited in the receive queues of its ports, or found them
			    // full
	ps_t waited_max_ps; // for so long at most
	ps_t waited_from_ps; // when the first of them came; only where there is one
};

#ifdef __cplusplus
extern "C" {
#endif

// Empties a series.
void depth_series_init(struct depth_series *series);

// Goes on to the bin of `now`, which is never before the current one.
void depth_series_move(struct depth_series *series, ps_t now);

// The state has been `level` since the last one that was noted, until `now`.
void depth_series_hold(struct depth_series *series, ps_t now, uint32_t level);

// Makes the bins `bin_ps` long: those they have, doubled so and so many times.
void depth_series_widen(struct depth_series *series, ps_t bin_ps);

#ifdef __cplusplus
}
#endif

// The queue has so many bytes at `now`.
static inline void depth_series_note(struct depth_series *series, ps_t now, uint32_t bytes)
{
	if (now >= series->end_ps)
		depth_series_move(series, now);
	if (bytes > series->most_bytes[series->at])
		series->most_bytes[series->at] = bytes;
}

// The same for what a port that waits is measured by.
static inline void depth_note(const struct depth_watch *depth, ps_t now, uint32_t bytes)
{
	hist_note(depth->bytes, bytes);
	if (depth->series != NULL)
		depth_series_note(depth->series, now, bytes);
}

// Keeps the deepest state of the current bin as one of all times: before another bin begins, and
// before that is read.
static inline void depth_note_most(const struct depth_watch *depth, struct queue_watch *watch)
{
	const struct depth_series *series = depth->series;
	if (series != NULL && series->most_bytes[series->at] > watch->queue_max_bytes)
		watch->queue_max_bytes = series->most_bytes[series->at];
}
