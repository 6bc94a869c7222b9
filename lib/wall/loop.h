// SPDX-License-Identifier: Apache-2.0
// The state of the loop, for the files of this folder.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>
#include <weft/core/time.h>
#include <weft/host/cable_fault.h>
#include <weft/ports/backing.h>
#include <weft/ports/codec.h>
#include <weft/ports/port.h>
#include <weft/ports/tap.h>
#include <weft/ports/tick.h>
#include <weft/wall/fired.h>
#include <weft/wall/wall.h>
#include <weft/world/world.h>

#include "line.h"

// What a loop does that found nothing to do. One that owns its core looks again. Others let the
// kernel run who waits for the core, and after many empty turns sleep: each one lets a sleep be
// 1 us longer, up to what fills half the receive ring, half of what is a stall, and the next timer.
// A sleep that the kernel would stretch to more than twice what is asked for is not begun.

struct rest {
	bool owns_core;
	int64_t allowed_ns; // grows with each empty turn
	int64_t least_ns;   // what the shortest sleep takes here
	int64_t most_ns;
	uint64_t yields, sleeps;
	int64_t asleep_ns; // in all of them
};

// Sleeps a few times to see how long the shortest one is, unless the core is its own.
void rest_init(struct rest *ret, bool owns_core, int64_t most_ns);

// An empty turn; there is nothing to do for `idle_ns` unless something comes.
void rest_take(struct rest *rest, int64_t idle_ns);

// A turn that found something.
static inline void rest_end(struct rest *rest)
{
	rest->allowed_ns = 0;
}

// Faults of the scenario at this host's own links: what they take away is taken at the ports.

// One way of a link.
struct link_faults {
	const struct cable_fault *faults;
	uint32_t count;
	struct rng rng;
};

// Faults that have no effect here: those of other kinds, and those that are at no link of a NIC.
// -EINVAL with their number in the scenario.
int link_faults_check(const struct world *world, struct refusal *refusal);

void link_faults_init(struct link_faults *ret, const struct world *world, uint32_t cable);

// Whether a fault takes the frame that is at the port at `at`.
bool link_faults_take(struct link_faults *link, ps_t at);

// Links of ports, as the loop sees them: the NIC of the host is told when one goes and when it is
// back, transport.port_detect later, and tells its peers (transport.port_status).

struct wall;

struct link {
	ps_t other_since; // since it differs from what the NIC knows, or PS_NEVER
};

// Draws the table, and gives it to the host. -ENOMEM.
int link_init(struct wall *wall);

// Looks at them, if that was not done for a while; what was due before `at` may still be due.
void link_look(struct wall *wall, ps_t at);

// Who is behind which MAC: a host tells its link where its addresses are, answers who asks, and
// sends to the MAC that a NIC of the world announced, or by the address rule where none did.
//
// The first word of a NIC holds for a run: nothing in ARP says that a later one is true.

struct wall;

struct next_hop {
	uint8_t mac[6];
	bool is_known;
};

// Draws the table. -ENOMEM.
int neighbour_init(struct wall *wall);

// Tells the link of a port where this host's addresses are, and asks for those of the others.
void neighbour_announce(struct wall *wall, uint32_t port);

// Whether a frame is ARP or neighbour discovery of, or for, a NIC of the world: then it was heard.
// Its bytes stay the caller's.
bool neighbour_take(struct wall *wall, uint32_t line, const struct frame *frame);

// Writes the MACs of a frame that leaves by a line.
void neighbour_address(const struct wall *wall, const struct packet *packet, uint32_t line,
		       struct frame *frame);

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
	ps_t clocks_at;	       // and at clocks of devices
	bool *cut;	       // [ports of the host] without a link, as the NIC was informed
	struct link *links;    // [ports of the host]
	bool has_failed;       // a QP was seen in ERROR
	uint64_t ticked;       // up to which time is accounted to stages
	struct rest rest;
	struct fired fired; // triggers, from host to host
	ps_t slice_ps;	    // so much is run at once: the outbox has room for it
	struct wall_counts counts;
	uint64_t missed_before; // by the ports, when they were drained, or the loop was made
	uint64_t moved_before;	// frames received and sent up to the last turn
	struct hist turn_ns, burst_ns;
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

// Draws the lists, where there are triggers that start flows of other hosts. -ENOMEM.
int fired_init(struct wall *wall);

// Lets others know what the machine fired just now.
void fired_tell(struct wall *wall);

// Lets the machine know what others fired; it is `at` now.
void fired_hear(struct wall *wall, ps_t at);

// Counts a frame that is no packet, for `reason`.
void other_count(struct wall *wall, const struct frame *frame, enum wire_reason reason);
