// SPDX-License-Identifier: Apache-2.0
// The boundary of a rank's machines: cables that lead to machines of other ranks. The sending rank
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
struct boundary_news {
	int64_t next_window;  // in which something is to be done; INT64_MAX = none
	uint64_t work_done;   // ends of flows or of ranks' collectives
	uint64_t data_so_far; // data packets delivered
	uint64_t hops;	      // packets over cables
	uint32_t limit;	      // enum outbox_limit
	uint32_t wants_stop;
	uint64_t has_front; // all ranks have the step of rings that is waited for
};

// Draws the boundary of `lane`, whose cables to machines of other ranks are marked with it.
// -ENOMEM.
int boundary_init(struct boundary **ret, struct lane *lane, struct ranks *ranks,
		  struct arena *arena);

// Bit per machine of this rank that has a cable to another one, or gives signals.
const uint64_t *boundary_machines(const struct boundary *boundary);

// The rank at the end of a cable that is_boundary, for a packet: all have a switch that is shared.
uint32_t boundary_rank(const struct boundary *boundary, const struct cable *cable,
		       const struct packet *packet);

// A packet leaves for rank `to` by cable `index`, whose end takes it at `at`; not in the order of
// the cable when `is_late`. It is copied.
void boundary_send(struct boundary *boundary, uint32_t to, uint32_t index,
		   const struct packet *packet, ps_t at, bool is_late);

// Departures of one port leave by cable `index`, which is_boundary and has no faults: those from
// `departure` on, at most up to `end`. Returns the first that leaves by another port.
const struct departure *boundary_cross(struct boundary *boundary, uint32_t index,
				       const struct departure *departure,
				       const struct departure *end);

// All other ranks hear a signal.
void boundary_signal(struct boundary *boundary, const struct signal *signal);

// A window in four steps: it begins; nothing more leaves; what came so far is laid (any number of
// times); all has come and gone.
void boundary_open(struct boundary *boundary);
void boundary_flush(struct boundary *boundary);
void boundary_poll(struct boundary *boundary);
void boundary_close(struct boundary *boundary);

// Packets that came and found the pool empty: the run ends with this window.
uint64_t boundary_stranded(const struct boundary *boundary);

// All ranks call it with what they know and get what all know together.
void boundary_agree(struct boundary *boundary, struct boundary_news *news);

// Bytes to rank 0 and there from the others, in the order in which they were written. A rank ends
// its stream by boundary_written().
void boundary_write(void *boundary, void *from, size_t bytes);
void boundary_written(struct boundary *boundary);
void boundary_read_from(struct boundary *boundary, uint32_t rank);
void boundary_read(void *boundary, void *to, size_t bytes);
