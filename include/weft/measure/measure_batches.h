// SPDX-License-Identifier: Apache-2.0
// Values of a sample in parts, to tell how far a quantile of all of them is from that of the whole.
#pragma once

#include <weft/measure/measure.h>

// Parts that lie apart, and the same values by when they came about: lib/measure/batches.c.
#define BATCH_COUNT 8u
#define PHASE_COUNT 3u
struct batches {
	struct hist of[BATCH_COUNT];	 // no cells: not drawn, and nothing is added
	struct hist phases[PHASE_COUNT]; // by when they came about
};

// Draws the parts for values 0..value_max, from the arena, whose they are. -ENOMEM.
int batches_init(struct batches *batches, struct arena *arena, uint64_t value_max);

// Empties them.
void batches_empty(struct batches *batches);

// Adds a value to part `batch`, of phase `phase`, when they were drawn.
void batches_add(struct batches *batches, uint32_t batch, uint32_t phase, int64_t value);

// Adds all values of `from`.
void batches_merge(struct batches *into, const struct batches *from);

// Half-width, of 95 % confidence, of a quantile over all parts, in the unit of the values. -1 when
// fewer than four parts have `values_min` values each.
int64_t batches_error(const struct batches *batches, uint32_t parts_per_million,
		      uint64_t values_min);

// By how much a quantile moved from the first and the second phase to the last: what it may move by
// once more, and what the first has too much weight for. -1 when fewer than `values_min` values are
// in one of the later two phases.
int64_t batches_drift(const struct batches *batches, uint32_t parts_per_million,
		      uint64_t values_min);
