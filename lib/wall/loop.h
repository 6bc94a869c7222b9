// SPDX-License-Identifier: Apache-2.0
// The state of the loop, for the files of this folder.
#pragma once

#include <weft/ports/backing.h>
#include <weft/ports/codec.h>
#include <weft/ports/tap.h>
#include <weft/ports/tick.h>
#include <weft/wall/wall.h>

#include "fault.h"
#include "line.h"
#include "link.h"
#include "neighbour.h"
#include "rest.h"

struct world_host;

struct wall {
	// hot
	struct machine machine;
	struct world_host *host;
	struct outbox out;
	struct backing backing;
	struct arrival *arrivals; // [arrivals_max] of a turn
	struct arrival_run *runs; // [ports of the host]
	struct arrival *scratch[2];
	uint32_t arrivals_max, run_count, arrival_count;
	struct line *lines; // [line_count] in the order of ports
	uint32_t line_count;
	uint16_t *line_of;     // [ports of the host][hosts of the world] the way out
	struct next_hop *hops; // [ports of the host][NICs of the world]
	struct seen seen;      // of this host
	ps_t until;	       // all before it is done
	ps_t next;	       // when there is something to do without a new arrival
	ps_t looked_at;	       // the last turn
	ps_t links_at;	       // the next look at links
	bool *cut;	       // [ports of the host] without a link, as the NIC was informed
	struct link *links;    // [ports of the host]
	bool has_failed;       // a QP was seen in ERROR
	uint64_t ticked;       // up to which time is accounted to stages
	struct rest rest;
	ps_t slice_ps; // so much is run at once: the outbox has room for it
	struct wall_counts counts;
	uint64_t missed_before; // by the ports, when they were drained, or the loop was made
	struct hist turn_ns;
	struct tap_set *taps;			    // or NULL
	uint32_t *cable_in, *cable_out;		    // [ports of the host] of the world
	struct link_faults *faults_in, *faults_out; // [ports of the host]
	struct wall_options options;
	struct codec codec;
	struct world *world;
	uint64_t work_total; // of this host
};

// All time since the last call was this stage's.
static inline void account(struct wall *wall, enum wall_stage stage)
{
	uint64_t now = ticks();
	wall->counts.stage_ticks[stage] += now - wall->ticked;
	wall->ticked = now;
}

// Frames that the ports had no room for, so far.
static inline uint64_t missed_by_ports(const struct wall *wall)
{
	struct port_counts counts;
	wall->options.ports->ops->count(wall->options.ports, &counts);
	return counts.missed;
}

// Counts a frame that is no packet, for `reason`.
void other_count(struct wall *wall, const struct frame *frame, enum wire_reason reason);
