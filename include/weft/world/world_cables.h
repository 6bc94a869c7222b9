// SPDX-License-Identifier: Apache-2.0
// The cables of a world as they are planned, and what faults do to them.
#pragma once

#include <stdint.h>

#include <weft/core/time.h>
#include <weft/fabric/fabric.h>
#include <weft/host/cable_fault.h>

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
