// SPDX-License-Identifier: Apache-2.0
// What faults do to a cable and to a host, as those see it.
#pragma once

#include <stdint.h>

#include <weft/core/time.h>
#include <weft/fabric/fabric.h>

// A fault as a cable sees it.
struct cable_fault {
	enum fault_kind kind;
	ps_t from_ps, until_ps;
	uint32_t threshold;  // a packet is hit when the cable's next 32 random bits are below
	ps_t down_ps, up_ps; // of a flap
	ps_t delay_ps;	     // REORDER: held back for so long at most
	uint32_t rate_ppb;   // SLOW: what is left of the rate
	struct burst_chances burst;
	uint32_t good_threshold; // BURST: `threshold` in the good state, and in the bad one
	uint32_t bad_threshold;
	uint32_t queue_packets; // STALL: so many wait at each port
};

#ifdef __cplusplus
extern "C" {
#endif

// Until when a host with these faults does nothing, asked at `at`; `at` when it works.
ps_t stall_until(const struct cable_fault *faults, uint32_t count, ps_t at);

#ifdef __cplusplus
}
#endif
