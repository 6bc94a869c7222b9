// SPDX-License-Identifier: Apache-2.0
// The border of a rank's machines: cables that lead to machines of other ranks. The sending rank
// does what a cable does at its beginning (order, faults) and gives its packet back; the packet
// itself crosses as a copy, and the receiving rank lays it on the same cable, from its own pool. So
// no pool runs dry by traffic that goes one way.
//
// A rank runs the machines with such cables first and sends what they left while it runs the
// others. Whatever crosses arrives after the window, so it may be laid at any time within it.
#pragma once

#include <weft/engine/engine.h>
#include <weft/engine/ranks.h>

#include "lane.h"

// What ranks tell each other between two windows; lanes of one process have the same view.
struct border_news {
	int64_t next_window;  // in which something is to be done; INT64_MAX = none
	uint64_t work_done;   // ends of flows or of ranks' collectives
	uint64_t data_so_far; // data packets delivered
	uint64_t hops;	      // packets over cables
	uint32_t limit;	      // enum outbox_limit
	uint32_t wants_stop;
	uint64_t has_front; // all ranks have the step of rings that is waited for
};

// Draws the border of `lane`, whose cables to machines of other ranks are marked with it. -ENOMEM.
int border_init(struct border **ret, struct lane *lane, struct ranks *ranks, struct arena *arena);

// Bit per machine of this rank that has a cable to another one, or gives signals.
const uint64_t *border_machines(const struct border *border);

// The rank at the end of a cable that is_border, for a packet: all have a switch that is shared.
uint32_t border_rank(const struct border *border, const struct cable *cable,
		     const struct packet *packet);

// A packet leaves for rank `to` by cable `index`, whose end takes it at `at`; not in the order of
// the cable when `is_late`. It is copied.
void border_send(struct border *border, uint32_t to, uint32_t index, const struct packet *packet,
		 ps_t at, bool is_late);

// Departures of one port leave by cable `index`, which is_border and has no faults: those from
// `departure` on, at most up to `end`. Returns the first that leaves by another port.
const struct departure *border_cross(struct border *border, uint32_t index,
				     const struct departure *departure,
				     const struct departure *end);

// All other ranks hear a signal.
void border_signal(struct border *border, const struct signal *signal);

// A window in four steps: it begins; nothing more leaves; what came so far is laid (any number of
// times); all has come and gone.
void border_open(struct border *border);
void border_flush(struct border *border);
void border_poll(struct border *border);
void border_close(struct border *border);

// Packets that came and found the pool empty: the run ends with this window.
uint64_t border_stranded(const struct border *border);

// All ranks call it with what they know and get what all know together.
void border_agree(struct border *border, struct border_news *news);

// Bytes to rank 0 and there from the others, in the order in which they were written. A rank ends
// its stream by border_written().
void border_write(void *border, void *from, size_t bytes);
void border_written(struct border *border);
void border_read_from(struct border *border, uint32_t rank);
void border_read(void *border, void *to, size_t bytes);
