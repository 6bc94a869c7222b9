// SPDX-License-Identifier: Apache-2.0
// A starter: the flows of one host that a trigger starts. Each host counts for itself how often a
// trigger was fired: at itself at once, at other hosts a signal's delay later. The last to come
// says when its flows begin, so the order in which hosts hear of it cannot matter.
#pragma once

#include <weft/machine.h>
#include <weft/world.h>

struct world_host;

struct starter {
	uint32_t host;
	uint32_t first; // flow, index + 1
	uint32_t next;	// starter of the same trigger, index + 1; 0 = the last
	uint32_t fired;
	ps_t at; // the last that is known of
};

struct starters {
	struct starter *list;
	uint32_t count;
	uint32_t *first;   // [triggers] starter, index + 1
	uint32_t *signals; // [hosts] how often each fires what starts flows at others
	uint32_t signals_max;
	uint64_t signals_total;
	ps_t delay_ps; // of a signal
};

#define SIGNAL_DELAY_PS (100 * PS_PER_NS) // traffic.signal_delay auto

// Sorts the flows that wait by trigger and host. Before the hosts. -EINVAL when a delay of signals
// is given and there are none; -ENOMEM.
int starters_build(struct world *world, struct refusal *refusal);

// One of the flows that trigger `number` waits for is done at `host`; 0 = no trigger.
void starter_fire(struct world_host *host, uint32_t number, ps_t now, struct outbox *out);
