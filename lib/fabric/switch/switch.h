// SPDX-License-Identifier: Apache-2.0
// What a switch is made of. Two ways to run one: port by port where no decision reads another
// port's queue (switch.c), else departure by departure in the order of time (ordered.c).
#pragma once

#include "pfc.h"
#include "port.h"
#include "spray.h"
#include "topology/route.h"

// What a switch needs that goes in the order of time.
struct ordered {
	struct pfc_port *pfc; // [port_count]; nothing is held in it without PFC
	struct pfc_config config;
	struct shared_buffer *buffer; // that all ports share; NULL: none
	struct shared_buffer shared;
	uint32_t gap_bytes;	       // with PFC and a buffer: between its threshold and going on
	uint64_t *stopped;	       // bit per port whose peer was asked to pause
	struct due departures, timers; // of ports
};

struct switch_ {
	struct port *ports;  // [port_count]
	uint64_t *busy;	     // bit per port: has packets waiting, or arrivals in this window
	uint32_t *batch_end; // [port_count + 1] arrivals of a port, then their end; 0 between
			     // windows; the last one: of those that have no way
	uint32_t port_count;
	struct route route;
	struct spray spray;
	struct route_epoch *next; // routes that come, after `route`; NULL: none
	struct ordered *ordered;  // NULL: ports do not depend on each other
	bool is_by_time;	  // without `ordered`: arrivals in the order of time, not by port
	struct fabric_counters counters;
};

// Brings the routes to those of a packet that arrives at `at`.
static inline void switch_reach(struct switch_ *self, ps_t at)
{
	while (__builtin_expect(self->next != NULL, 0) && self->next->at < at) {
		self->route = self->next->route;
		self->next = self->next->next;
	}
}

// Draws what the order of time needs, if `config` asks for it. -ENOMEM.
int ordered_init(struct switch_ *self, struct arena *arena, const struct topology *topology,
		 const struct fabric_config *config, const struct switch_plan *plan);

// As machine_run_fn.
ps_t ordered_run(struct switch_ *self, const struct inbox *in, ps_t until, struct outbox *out);
