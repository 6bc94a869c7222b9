// SPDX-License-Identifier: Apache-2.0
// GOAL, the text format of LogGOPSim and Schedgen, as a program. The words are those of
// LogGOPSim's reader (spcl/LogGOPSim, txt2bin.re):
//
//   num_ranks 2
//   rank 0 {
//   l1: calc 683 cpu 1               // units of time on a core: a stream
//   l2: send 4096b to 1 tag 7
//   l2 requires l1                   // begins when l1 has ended
//   l3: recv 8b from 1
//   l3 irequires l2                  // begins when l2 may begin
//   }
//
// Labels are of their rank, and stand above what names them. A tag that is not said is 0. What a
// message's core is says nothing here: posting takes no time. Where a message says `nic 1` or more,
// each NIC of a rank is a rank of the program, rank * NICs + nic, and sends to the same one of its
// peer; computations are of the first. What waits for what must be of one NIC.
//
//   trace_goal.c  text to program     trace_goal_words.c  its words and labels
#pragma once

#include <stddef.h>

#include <weft/workload/program.h>

#ifdef __cplusplus
extern "C" {
#endif

// GOAL text as it stands: nobody has looked whether it can run.
struct goal_file {
	struct program *program; // not sealed: operations in the order of the text
	const uint32_t *lines;	 // [program->op_count] where each stands
	uint32_t ops;		 // of the text; computations that `irequires` needs follow them
	uint32_t line_count;
};

// Reads GOAL text, which need not end with NUL, into memory of the arena. A unit of `calc` is
// `unit_ps`. On damage -EINVAL with line (and column) and reason; -ENOMEM.
int goal_read(struct goal_file *ret, struct arena *arena, const char *text, size_t bytes,
	      ps_t unit_ps, struct refusal *refusal);

// Reads GOAL text, which need not end with NUL, and seals the program. A unit of `calc` is
// `unit_ps`. On damage, and for what cannot run: -EINVAL with line (and column) and reason;
// -ENOMEM.
int goal_parse(struct program **ret, struct arena *arena, const char *text, size_t bytes,
	       ps_t unit_ps, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
