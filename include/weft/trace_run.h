// SPDX-License-Identifier: Apache-2.0
// A set of traces as a program that a world can run: computations take their time, sends and
// receives are matched, collectives become messages (weft/coll.h).
//
//   line_up.c  traces without dependencies: collectives in order, with the gaps between them
//   expand.c   nodes to operations          group.c       which ranks a collective is over
//   goal_write.c  a program as GOAL text
#pragma once

#include <weft/program.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_run {
	uint32_t ranks;	      // where the set does not tell; else it must be the same
	uint32_t rank_host;   // ranks of a host: neighbours in a ring stay together
	uint32_t channels;    // parallel parts of each collective
	uint32_t chunk_bytes; // longest message of a collective
};

struct trace_program {
	struct program *program; // sealed
	void *memory;		 // that it lies in, owned
};

// Ranks that the set runs on; 0 when whoever runs it must say.
uint32_t trace_ranks(const struct trace_set *set);

// Expands a set. One file is what every rank does, each in groups of its own; several are a rank
// each. Kineto and PyTorch's traces are lined up first, in place. -EINVAL with file, record and
// reason: circles, a send of one file, groups whose members are not known or do not do the same,
// what program_seal() refuses; -ENOMEM. `ret` needs trace_program_free() after 0.
int trace_expand(struct trace_program *ret, struct trace_set *set, const struct trace_run *run,
		 struct refusal *refusal);
void trace_program_free(struct trace_program *program);

// Puts the collectives of each file in the order of their begin, one after the other, with a
// computation of the length of each gap between them. -ENOMEM.
int trace_line_up(struct trace_set *set, struct refusal *refusal);

#define TRACE_GOAL_UNIT_PS 1 // of `calc` in what trace_goal_text() writes

// The program as GOAL text in new memory (free()), with `calc` in units of `unit_ps`: times are
// rounded to them. -ENOMEM.
int trace_goal_text(char **ret_text, size_t *ret_bytes, const struct program *program,
		    ps_t unit_ps);

#ifdef __cplusplus
}
#endif
