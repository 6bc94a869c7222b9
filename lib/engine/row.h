// SPDX-License-Identifier: Apache-2.0
// What watch.links counts of a row of departures, all by one port. Inline, for every hop comes
// here.
#pragma once

#include "lane.h"

// Counts a row of departures of machine `m`, all by one port: those from `first` on and before
// `end`, up to the first by another port, which it returns.
const struct departure *lane_count_row(const struct lane *lane, uint32_t m,
				       const struct departure *first, const struct departure *end);

// Of a row that a host sends, up to `end`: over which EVs its data go. The ports of hosts are
// alike.
void lane_count_spread(const struct lane *lane, uint32_t m, const struct departure *first,
		       const struct departure *end);

// Of a row onto cable `index`, which is slow at times: the line's time.
void lane_count_slow(const struct lane *lane, uint32_t index, const struct departure *first,
		     const struct departure *end);

struct row {
	const struct departure *first;
	uint64_t bytes, other_bytes; // of all; of those without payload
};

static inline __attribute__((always_inline)) void row_begin(struct row *row,
							    const struct departure *first)
{
	*row = (struct row){.first = first};
}

// Packets of more than `other_max` bytes have payload and are not looked at.
static inline __attribute__((always_inline)) void row_add(struct row *row, const struct lane *lane,
							  const struct departure *departure,
							  uint32_t other_max)
{
	row->bytes += departure->bytes;
	if (__builtin_expect(departure->bytes > other_max, 1))
		return;
	if (packet_at(lane->out.packets, departure->packet)->payload_bytes == 0)
		row->other_bytes += departure->bytes;
}

// Counts for cable `index` a row of departures of machine `m` that ends before `end`, but for the
// time of a slow line, which is no cable that rows are laid on at once (is_special).
static inline __attribute__((always_inline)) void row_end(const struct row *row,
							  const struct lane *lane, uint32_t m,
							  uint32_t index,
							  const struct departure *end, bool is_slow)
{
	const struct world_links *links = &lane->world->links;
	struct link_count *count = &links->counts[lane->cables.plan[index]];
	count->packets += (uint64_t)(end - row->first);
	count->bytes += row->bytes;
	count->data_bytes += row->bytes - row->other_bytes;
	if (is_slow)
		lane_count_slow(lane, index, row->first, end);
	if (m < lane->world->topology.hosts)
		lane_count_spread(lane, m, row->first, end);
}
