// SPDX-License-Identifier: Apache-2.0
// Switches that spread packets over their equal ports themselves, instead of by the hash of the
// EV: in turn, to the shortest queue, or flowlet by flowlet. All depend on what went before, so
// that packets must be asked for in the order of their times.
#pragma once

#include "port.h"
#include "topology/route.h"

#define SPRAY_FLOWLETS 4096u // flows of equal hash share one

// What a switch remembers of a flow.
struct spray_flowlet {
	ps_t next_at;	 // from here on a packet begins another
	uint16_t member; // of the up ports
};

struct spray {
	enum fabric_spray kind;
	struct spray_flowlet *flowlets; // [SPRAY_FLOWLETS]
	ps_t gap_ps;
	uint16_t *order; // [route.up_count] turns of this round
	uint32_t at;	 // the next one
	uint32_t up_first, up_count;
	struct rng rng;
	bool is_ordered; // the ports are at the time of the packet already
};

// What htsim hashes under every rule: headers and answers.
#define SPRAY_BYTES_MIN 128u

// Draws what `kind` needs for a switch with this route. -ENOMEM.
int spray_init(struct spray *spray, struct arena *arena, enum fabric_spray kind,
	       const struct route *route, struct rng rng);

// The out-port of `packet`, which asks at `now`, or ROUTE_NONE. To compare queues the ports in
// question are brought to that time: their departures go to `out`.
uint32_t spray_port(struct spray *spray, const struct route *route, struct port *ports,
		    const struct packet *packet, ps_t now, struct outbox *out,
		    struct fabric_counters *counters);
