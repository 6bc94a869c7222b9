// SPDX-License-Identifier: Apache-2.0
// Routes that reconverge after failures. The timeline of faults is known before the run, so every
// switch gets the list of its routes over time; switches exchange nothing, and no order
// of execution can matter.
#pragma once

#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/fabric/fault.h>

#define REROUTE_TIMES_MAX 1024 // at which routes of a plane change

// How long a link has to be down, or up again, until a switch believes it; 0: it never does.
struct reroute_config {
	ps_t local_ps;	// the switches at its ends
	ps_t remote_ps; // all others
};

struct fabric_config;
struct switch_;

#ifdef __cplusplus
extern "C" {
#endif

// Hands each of topology.switch_count `switches` its routes over time: it stops using a port whose
// link is down after the local delay, and one behind which no way is left to a packet's target
// after the remote delay; both come back likewise. Among the shortest ways of the healthy fabric;
// where none is left packets have no route. Links that are down from the start are known at once.
// -EINVAL when links change too often; `ret_fault` is a fault that does. -ENOMEM.
int switches_reroute(struct switch_ **switches, struct arena *arena,
		     const struct topology *topology, const struct fabric_config *config,
		     const struct fault *faults, uint32_t fault_count, uint32_t *ret_fault,
		     struct refusal *refusal);

#ifdef __cplusplus
}
#endif
