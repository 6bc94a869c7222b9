// SPDX-License-Identifier: Apache-2.0
// The entropy values of a flow: those that it has to itself.
#pragma once

#include <weft/world.h>

// Lets QP `qpn`, at one end of the flow, use what traffic.flows says. Nothing where it says
// nothing, or where another process has the endpoint (NULL).
void flow_evs_keep(const struct world *world, uint32_t flow, struct endpoint *endpoint,
		   uint32_t qpn);
