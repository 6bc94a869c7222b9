// SPDX-License-Identifier: Apache-2.0
// A starter: the flows of one host that a trigger starts. Each host counts for itself how often a
// trigger was fired: at itself at once, at other hosts a signal's delay later. The last to come
// says when its flows begin, so the order in which hosts hear of it cannot matter.
#pragma once

#include <weft/core/machine.h>
#include <weft/core/time.h>

struct world_host;

struct trigger_flows {
	uint32_t host;
	uint32_t first; // flow, index + 1
	uint32_t next;	// starter of the same trigger, index + 1; 0 = the last
	uint32_t fired;
	ps_t at; // the last that is known of
};

struct starters {
	struct trigger_flows *list;
	uint32_t count;
	uint32_t *first;   // [triggers] starter, index + 1
	uint32_t *signals; // [hosts] how often each fires what starts flows at others
	uint32_t signals_max;
	uint64_t signals_total;
	ps_t delay_ps; // of a signal
};

#define SIGNAL_DELAY_PS (100 * PS_PER_NS) // traffic.signal_delay auto

// Flow `flow` begins at `at`.
void trigger_flows_start(struct world_host *host, uint32_t flow, ps_t at);

// A starter learns that its trigger was fired, and that this counts from `at` on. Whether its flows
// begin now: `needed` have fired.
bool trigger_flows_count(struct world_host *host, struct trigger_flows *starter, uint32_t needed,
			 ps_t at);

// One of the flows that trigger `number` waits for is done at `host`; 0 = no trigger.
void trigger_flows_fire(struct world_host *host, uint32_t number, ps_t now, struct outbox *out);
