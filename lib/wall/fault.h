// SPDX-License-Identifier: Apache-2.0
// Faults of the scenario at this host's own links: what they take away is taken at the ports.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>
#include <weft/host/cable_fault.h>
#include <weft/world/world.h>

// One way of a link.
struct link_faults {
	const struct cable_fault *faults;
	uint32_t count;
	struct rng rng;
};

// Faults that have no place here: those of other kinds, and those that are at no link of a NIC.
// -EINVAL with their number in the scenario.
int link_faults_check(const struct world *world, struct refusal *refusal);

void link_faults_init(struct link_faults *ret, const struct world *world, uint32_t cable);

// Whether a fault takes the frame that is at the port at `at`.
bool link_faults_take(struct link_faults *link, ps_t at);
