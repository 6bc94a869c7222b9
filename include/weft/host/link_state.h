// SPDX-License-Identifier: Apache-2.0
// Whether there is light on a cable: what a NIC can know of the faults that hit it. Lost packets
// are no business of a port; whether a cable takes them is the driver's.
#pragma once

#include <weft/host/cable_fault.h>

// A NIC's port that faults hit.
struct port_watch {
	const struct cable_fault *faults;
	uint32_t fault_count;
	bool link_is_down; // as its NIC knows it
};

// Whether the faults leave light on their cable at time `at`; before 0 it is as at 0.
bool link_state_is_up(const struct port_watch *watch, ps_t at);

// When that changes next after `at`, or PS_NEVER. Where it does not for very many edges of faults,
// a time at which to ask again.
ps_t link_state_next(const struct port_watch *watch, ps_t at);

// Whether the light was the same all of the time from `from` to `to`, both included.
static inline bool link_state_is_steady(const struct port_watch *watch, ps_t from, ps_t to)
{
	return link_state_next(watch, from) > to;
}
