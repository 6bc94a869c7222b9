// SPDX-License-Identifier: Apache-2.0
// The part of a host that runs programs (program.h): posts what may begin, times computations,
// tells the program what ended. Sends to a NIC of the same host go over the scale-up lines, others
// over connections, one for each pair of NICs that talk in one direction.
//
//   opgraph_host.c   while it runs     opgraph_hosts.c  building: lines, checks
#pragma once

#include <weft/core/machine.h>
#include <weft/core/refusal.h>
#include <weft/host/world_program.h>
#include <weft/workload/program.h>

#include <weft/host/nic.h>
#include <weft/host/write_target.h>

// What the opgraph hosts of all hosts share. Each host touches what belongs to its ranks and its
// NICs alone.
struct opgraph_host {
	const struct program *program;
	struct program_run *run;
	struct opgraph_connection *lines; // of the world
	uint32_t *line_of;		  // [ops] line of a send; OP_NONE: over the scale-up
	uint32_t *next; // [ops] of a send that waits for room in its QP: the one behind it
	// where the rings are: rank rank_of[group_first[group] + at] of its host
	const uint32_t *rank_of, *group_first;
	struct op_time *times;	 // [ops] with watch.operations, or NULL
	const uint8_t *owner_of; // [nics] of several jobs: whose each is; or NULL
	ps_t *begun_ps;		 // [ops] when computations began; NULL: nobody asks
	uint64_t *events;	 // [hosts] local events that may be under way at once
	uint32_t channels; // of rings whose messages are told apart by tag, each on QPs of its own;
			   // 0: messages take all QPs in turn
	struct write_target write_target;
};
