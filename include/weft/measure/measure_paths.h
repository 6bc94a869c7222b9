// SPDX-License-Identifier: Apache-2.0
// How long packets took path by path: a histogram for each, however many paths there are. Cells are
// small, and few where paths are many, so that 65,536 paths take no more than 144 MB.
#pragma once

#include <weft/measure/measure_add.h>

// So many paths have two digits each, as planes have; of more each has one.
#define PATHS_FINE_MAX 1024u

struct paths {
	uint32_t count;	       // of paths
	uint32_t cells;	       // of each
	uint32_t half_bits;    // log2 of the cells of a bucket behind the first, see struct hist
	uint64_t value_max;    // of the histograms
	uint32_t *counts;      // [count][cells], each modulo 2^32
	struct hist_sum *sums; // [count]
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws `count` histograms of values 0..value_max. -ENOMEM.
int paths_init(struct paths *paths, struct arena *arena, uint32_t count, uint64_t value_max);

// Takes all values out.
void paths_empty(struct paths *paths);

// Adds a value of any size to a path.
void paths_add(struct paths *paths, uint32_t path, int64_t value);

// Adds values of a path whose cells were counted one by one, as hist_add_sum() does.
void paths_add_sum(struct paths *paths, uint32_t path, const struct hist_sum *sum);

// Adds all values of `from`, which must have as many paths (a bug else).
void paths_merge(struct paths *into, const struct paths *from);

// An empty histogram of the shape of a path's, whose counts [ret->cells] are the caller's to give.
void paths_shape(const struct paths *paths, struct hist *ret);

// Adds all values of a path to a histogram of that shape. False, and nothing is added, where a cell
// has counted past 2^32 and does not tell any more.
bool paths_read(const struct paths *paths, uint32_t path, struct hist *into);

#ifdef __cplusplus
}
#endif

// The cells of a path: its cell of value v is hist_cell_in(half_bits, v), when that is in range.
static inline uint32_t *paths_cells(const struct paths *paths, uint32_t path)
{
	return paths->counts + (size_t)path * paths->cells;
}
