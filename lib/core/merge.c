// SPDX-License-Identifier: Apache-2.0
// The merge of runs: arrivals of several in-ports, each in order, become one list ordered by (time,
// in-port, FIFO). Runs are merged pairwise, neighbours first, so that the lower in-port stays on
// the left and wins ties.

#include <string.h>

#include <weft/core/machine.h>

// One run inside a list.
struct span {
	uint32_t first, count;
};

static void merge_two(const struct arrival *from, struct span left, struct span right,
		      struct arrival *to)
{
	const struct arrival *a = from + left.first, *a_end = a + left.count;
	const struct arrival *b = from + right.first, *b_end = b + right.count;
	while (a < a_end && b < b_end) {
		bool takes_b = b->at <
			a->at; // at equal time the left run, the lower in-port, goes first
		*to++ = *(takes_b ? b : a);
		b += takes_b;
		a += !takes_b;
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

// Merges neighbouring spans of `from` into `to`; returns how many spans are left.
static uint32_t merge_round(const struct arrival *from, struct span *spans, uint32_t count,
			    struct arrival *to)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < count; i += 2) {
		struct span merged = spans[i];
		if (i + 1 < count) {
			merge_two(from, spans[i], spans[i + 1], to + spans[i].first);
			merged.count += spans[i + 1].count;
		} else {
			memcpy(to + merged.first, from + merged.first, merged.count * sizeof(*to));
		}
		spans[left++] = merged;
	}
	return left;
}

const struct arrival *merge_runs(const struct inbox *in)
{
	if (in->run_count == 0)
		return in->scratch[0];
	if (in->run_count == 1)
		return in->runs[0].first;
	struct span spans[MACHINE_PORTS_MAX];
	check(in->run_count <= MACHINE_PORTS_MAX);
	const struct arrival *from =
		in->runs[0].first; // the driver lays the runs one behind the other
	uint32_t count = in->run_count, at = 0;
	for (uint32_t i = 0; i < count; i++) {
		check(in->runs[i].first == from + at);
		spans[i] = (struct span){at, in->runs[i].count};
		at += in->runs[i].count;
	}
	struct arrival *to = in->scratch[0];
	while (count > 1) {
		count = merge_round(from, spans, count, to);
		from = to;
		to = to == in->scratch[0] ? in->scratch[1] : in->scratch[0];
	}
	return from;
}
