// SPDX-License-Identifier: Apache-2.0
// The cables of a world as they are planned, and what faults do to them.
#pragma once

#include <stdint.h>

#include <weft/fabric.h>
#include <weft/time.h>

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

// One direction of a link, towards (to_machine, to_port).
struct cable_plan {
	uint32_t from_machine, from_port;
	uint32_t to_machine, to_port;
	line_t line;
	ps_t delay_ps;
	uint32_t fault_first, fault_count; // in world.cable_faults
	uint8_t tier, plane;
	uint8_t head_bytes; // of a cut-through switch at its end; 0: the end wants all of a packet
};

#ifdef __cplusplus
extern "C" {
#endif

// Until when a host with these faults does nothing, asked at `at`; `at` when it works.
ps_t stall_until(const struct cable_fault *faults, uint32_t count, ps_t at);

#ifdef __cplusplus
}
#endif
