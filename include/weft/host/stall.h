// SPDX-License-Identifier: Apache-2.0
// Hosts that faults hit: when one does nothing (a stall), and how far its own work is (a straggler
// is slower at it; in a stall it stands still).
#pragma once

#include <weft/host/cable_fault.h>

struct world_host;

// What faults say of a host. Zeroed: nothing.
struct host_faults {
	const struct cable_fault *stalls; // NULL: none
	uint32_t stall_count;
	const struct rate_change
		*work; // changes of its speed, oldest first; rate 0: it stands still
	uint32_t work_count;
};

// When a stall begins next, at `at` or after it, or PS_NEVER.
ps_t stall_next(const struct host_faults *faults, ps_t at);

// When a host has done `work_ps` of work since the start; PS_NEVER: never.
ps_t stall_work_done(const struct host_faults *faults, ps_t work_ps);

// The same for work that begins at `from`.
ps_t stall_work_until(const struct host_faults *faults, ps_t from, ps_t work_ps);
