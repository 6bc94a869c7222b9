// SPDX-License-Identifier: Apache-2.0
// A merge sort of runs: machines leave their packets nearly in order, and what is in order already
// is taken as it is. qsort() of the C library may allocate.

#include "tap_parts.h"

#include <stdbool.h>
#include <string.h>

static bool is_before(const struct tap_key *a, const struct tap_key *b)
{
	return a->at != b->at ? a->at < b->at : a->cable < b->cable;
}

// Where the run that begins at `first` ends.
static uint32_t run_end(const struct tap_key *keys, uint32_t first, uint32_t count)
{
	uint32_t end = first;
	while (end < count && (end == first || !is_before(&keys[end], &keys[end - 1])))
		end++;
	return end;
}

// Merges from[first..middle) and from[middle..end) to the same places of `to`. Of equal ones the
// first run's go first.
static void merge(const struct tap_key *from, uint32_t first, uint32_t middle, uint32_t end,
		  struct tap_key *to)
{
	uint32_t a = first, b = middle;
	for (uint32_t i = first; i < end; i++) {
		if (a < middle && (b == end || !is_before(&from[b], &from[a])))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

struct tap_key *tap_sort(struct tap_key *keys, struct tap_key *scratch, uint32_t count)
{
	struct tap_key *from = keys, *to = scratch;
	while (run_end(from, 0, count) < count) {
		for (uint32_t first = 0, middle, end; first < count; first = end) {
			middle = run_end(from, first, count);
			end = run_end(from, middle, count);
			merge(from, first, middle, end, to);
		}
		struct tap_key *sorted = to;
		to = from;
		from = sorted;
	}
	return from;
}
