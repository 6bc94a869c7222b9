// SPDX-License-Identifier: Apache-2.0
// A stable sort for short lists that are almost in order, and sometimes long ones: insertion in
// blocks, then merging of neighbouring blocks. A window brings a port a handful of arrivals; an
// incast some hundreds.

#include "port.h"

#include <string.h>

#define BLOCK 32u

static void insert_sort(struct arrival *arrivals, uint32_t count)
{
	for (struct arrival *next = arrivals + 1; next < arrivals + count; next++) {
		if (next[-1].at <= next->at) // as most are
			continue;
		struct arrival moved = *next, *to = next;
		if (moved.at < arrivals->at) {
			memmove(arrivals + 1, arrivals, (size_t)(next - arrivals) * sizeof(*next));
			*arrivals = moved;
			continue;
		}
		for (; to[-1].at > moved.at; to--) // the first one ends it
			*to = to[-1];
		*to = moved;
	}
}

// Merges from[0..middle) and from[middle..count) into `to`; at equal time the left goes first.
static void merge(const struct arrival *from, uint32_t middle, uint32_t count, struct arrival *to)
{
	uint32_t left = 0, right = middle;
	for (uint32_t i = 0; i < count; i++) {
		bool takes_right = left == middle ||
			(right < count && from[right].at < from[left].at);
		to[i] = from[takes_right ? right : left];
		right += takes_right;
		left += !takes_right;
	}
}

// Blocks, then ever longer ones of two neighbours each.
static __attribute__((noinline)) void sort_long(const struct batch *batch)
{
	uint32_t count = batch->count;
	struct arrival *from = batch->arrivals, *to = batch->spare;
	for (uint32_t first = 0; first < count; first += BLOCK)
		insert_sort(&from[first], count - first < BLOCK ? count - first : BLOCK);
	for (uint32_t width = BLOCK; width < count; width *= 2) {
		for (uint32_t first = 0; first < count; first += 2 * width) {
			uint32_t rest = count - first;
			uint32_t middle = rest < width ? rest : width;
			merge(&from[first], middle, rest < 2 * width ? rest : 2 * width,
			      &to[first]);
		}
		struct arrival *merged = to;
		to = from;
		from = merged;
	}
	if (from != batch->arrivals)
		memcpy(batch->arrivals, from, count * sizeof *from);
}

void batch_sort(const struct batch *batch)
{
	if (batch->count <= BLOCK)
		insert_sort(batch->arrivals, batch->count);
	else
		sort_long(batch);
}
