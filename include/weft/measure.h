// SPDX-License-Identifier: Apache-2.0
// Measurement in fixed memory: log-linear histograms, counters by reason. No floating point, no
// text.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/arena.h>
#include <weft/time.h>

// Planes a NIC may have. MRC deployments use 4 or 8 (mrc.md section 6).
#define PLANES_MAX 16

// Why a packet ended before its target. Each is counted; none is an error.
enum drop_reason {
	DROP_QUEUE_FULL,   // data queue full and the packet not trimmable
	DROP_CONTROL_FULL, // control queue full (headers, SACKs)
	DROP_NO_ROUTE,	   // the switch knows no port towards the target
	DROP_LINK_DOWN,	   // on or into a cable that is down
	DROP_RANDOM_LOSS,  // a cable's random loss
	DROP_UNKNOWN_QP,   // reached a NIC that has no such QP
	DROP_BAD_FRAME,	   // a frame that is no packet: damaged on its way
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
	uint64_t value_max; // largest value that is told apart
	int64_t min, max;   // exact; undefined while total is 0
	uint64_t sum;	    // exact while it fits in 64 bits
};

// What a run measures that can be expected: of each receiving NIC; a share of data packets.
enum expect_measure { EXPECT_GOODPUT, EXPECT_RETRANSMITTED, EXPECT_MEASURE_COUNT };

enum expect_formula { // lib/report/expect.c
	EXPECT_ONE_WAY,
	EXPECT_RING_WRITES,
	EXPECT_PLANES_LEFT,
	EXPECT_PLANES_FLAPPING,
	EXPECT_LOSS_REPAIRED,
	EXPECT_LOSS_ON_WAY,
	EXPECT_FORMULA_COUNT
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

// Bytes that hist_init() would draw.
uint64_t hist_bytes(unsigned digits, uint64_t value_max);

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

#ifdef __cplusplus
}
#endif
