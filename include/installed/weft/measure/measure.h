// SPDX-License-Identifier: Apache-2.0
// Measurement in fixed memory: log-linear histograms, counters by reason. No floating point, no
// text.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/time.h>

// Planes a NIC may have. MRC deployments use 4 or 8 (mrc.md section 6).
#define PLANES_MAX 16

// Why a packet ended before its target. Each is counted; none is an error.
enum drop_reason {
	DROP_QUEUE_FULL,    // data queue full and the packet not trimmable
	DROP_CONTROL_FULL,  // control queue full (headers, SACKs)
	DROP_NO_ROUTE,	    // the switch knows no port towards the target
	DROP_LINK_DOWN,	    // on or into a cable that is down
	DROP_RANDOM_LOSS,   // a cable's random loss
	DROP_UNKNOWN_QP,    // reached a NIC that has no such QP
	DROP_BAD_FRAME,	    // a frame that is no packet: damaged on its way
	DROP_BURST_LOSS,    // a cable's losses in a row
	DROP_HOST_FULL,	    // came to a host that stalls, and its receive queue was full
	DROP_HEADROOM_FULL, // PFC: more came after a pause than the headroom holds
	DROP_PAUSE_WATCH,   // PFC: its port had been paused for too long
	DROP_REASON_COUNT
};

// Which way a message went, by the distance of the two ends.
enum pair_class { PAIR_SAME_RACK, PAIR_SAME_T0, PAIR_ACROSS_T1, PAIR_CLASS_COUNT };

// Log-linear histogram of values 0 .. max, laid out as HdrHistogram does: buckets that double, each
// with the same number of equal cells, so that a value is off by less than one part in 10^digits.
// See G. Tene, HdrHistogram (public domain).
struct hist {
	uint64_t *counts;   // [count_cells]
	uint32_t cells;	    // length of `counts`
	uint32_t cell_bits; // log2 of the cells of the first bucket
	uint64_t total;	    // values added
	uint64_t over;	    // values above `value_max`, kept in the last cell too
	uint64_t value_max; // largest value that has a cell of its own
	int64_t min, max;   // exact; undefined while total is 0
	uint64_t sum;	    // exact while it fits in 64 bits
	// For hist_note(): cells of a bucket behind the first, and which values, from `usual` on,
	// are in range and no new extreme; none while it is empty.
	uint64_t half;
	uint64_t half_bits; // log2 of that: cell_bits - 1
	uint64_t usual, usual_count;
};

// What a series counts in each of its bins.
enum series_figure {
	SERIES_PLACED,	// payload bytes that were new, placed by the NIC that they are for
	SERIES_ARRIVED, // whole data packets that came to a NIC, duplicates included
	SERIES_LOST,	// data packets that cables lost
	SERIES_FIGURE_COUNT
};

// Counts over time: bin i holds what happened from i * bin_ps on and before (i + 1) * bin_ps. Sums
// only, so several can be added up. One that halves makes its bins twice as long when time outruns
// them: it always reaches from 0 to the last thing counted.
struct series {
	uint64_t (*bins)[SERIES_FIGURE_COUNT]; // [count]
	uint32_t count;
	ps_t bin_ps;
	bool halves;
	uint64_t after[SERIES_FIGURE_COUNT]; // what happened after the last bin
	uint64_t recent;		     // the bin that series_at() found last; and when it is,
	ps_t recent_ps, recent_span_ps;	     // 0 long: unknown
};

// What one path of a QP lost on a cable that was down. The QP is named by its target.
struct bypass_event {
	uint32_t nic, qpn, ev;	// of the lost packets: target, its QP, the path
	uint32_t cable;		// of the world
	ps_t down_ps;		// when the cable went down
	ps_t first_ps, last_ps; // first packet sent into it, and the last before the path was left
	uint32_t lost, tries;	// packets up to that one; those of later tries of the path
};

// All such events, by path, cable and the time when it went down.
struct bypass {
	struct bypass_event *events; // [max]
	uint32_t *places;	     // [mask + 1] hashed: event + 1, or 0
	uint32_t count, max, mask;
	ps_t silence_ps; // a path that was quiet for so long was left: what comes then is a try
	uint64_t missed; // packets of events that there was no room for
};

// What is measured over time; nothing by default, for it costs time and memory.
struct watch_config {
	ps_t bin_ps; // length of a bin; 0 = no series
	uint32_t bins;
	bool halves;   // bins that are full get longer; else all that is later is in the last one
	bool has_nics; // payload of each NIC, too
	uint32_t bypasses; // events of paths over dead cables; 0 = none are kept
	uint32_t packets, packets_from, packets_to; // kept of a pair of NICs; 0 = none
	uint32_t messages;	   // of rings, kept of each channel of each rank; 0 = none
	bool has_links, has_evs;   // cables, ports and hosts; EVs of flows: measure_evs.h
	bool has_delays, has_gaps; // single packets are timed: measure_delay.h
	bool has_operations;	   // when each operation of a program began and ended
	bool has_racks;		   // latency by the racks of both ends: measure_racks.h
};

#ifdef __cplusplus
extern "C" {
#endif

// The name of a reason as result.json prints it ("queue_full").
const char *drop_reason_name(enum drop_reason reason);

// "same_rack", "same_t0", "across_t1".
const char *pair_class_name(enum pair_class pair);

// Draws a histogram for values 0..value_max with `digits` (1 to 4) significant decimal digits.
// -EINVAL, -ENOMEM.
int hist_init(struct hist *hist, struct arena *arena, unsigned digits, uint64_t value_max);

// The same without `counts` [ret->cells], the caller's to give, all 0. -EINVAL.
int hist_shape(struct hist *ret, unsigned digits, uint64_t value_max);
// Bytes that hist_init() would draw.
uint64_t hist_bytes(unsigned digits, uint64_t value_max);

// Takes all values out.
void hist_empty(struct hist *hist);

// Adds a value; below zero is a bug.
void hist_add(struct hist *hist, int64_t value);

// Adds a value `times` times.
void hist_add_many(struct hist *hist, int64_t value, uint64_t times);

// Adds all values of `from`, which must have the same shape (a bug else).
void hist_merge(struct hist *into, const struct hist *from);

// The value at or below which `parts_per_million` of the values lie (nearest rank; 999000 = p99.9),
// as the highest value of its cell, never above the exact maximum. -1 when the histogram is empty.
int64_t hist_quantile(const struct hist *hist, uint32_t parts_per_million);

// The mean rounded down; -1 when empty.
int64_t hist_mean(const struct hist *hist);

// Lowest value of cell `index`, and the width of the cell in `ret_width`.
uint64_t hist_cell_low(const struct hist *hist, uint32_t index, uint64_t *ret_width);

// Draws a series of `count` bins of `bin_ps`. -ENOMEM.
int series_init(struct series *series, struct arena *arena, uint32_t count, ps_t bin_ps);

// Empties all bins.
void series_empty(struct series *series);

// Makes the bins long enough for `at`, of a series that halves.
void series_reach(struct series *series, ps_t at);

// Adds all of `from`, which must have the same bins (a bug else), or halve from the same ones on.
void series_merge(struct series *into, const struct series *from);

// The sum of a figure over the bins of [from, until): multiples of a bin, within the series (a bug
// else).
uint64_t series_sum(const struct series *series, enum series_figure figure, ps_t from, ps_t until);

// What was counted around `at`: the cells of its bin, which is `recent` then, or those after the
// last one.
uint64_t *series_find(struct series *series, ps_t at);

// Draws a log of at most `max` events. -ENOMEM.
int bypass_init(struct bypass *bypass, struct arena *arena, uint32_t max, ps_t silence_ps);

// `what` (nic, qpn, ev, cable, down_ps) lost a packet that was sent into the cable at `at`.
void bypass_lose(struct bypass *bypass, const struct bypass_event *what, ps_t at);

#ifdef __cplusplus
}
#endif
