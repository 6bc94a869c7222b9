// SPDX-License-Identifier: Apache-2.0
// A set of traces as a program that a world can run: computations take their time, sends and
// receives are matched, collectives run on NCCL's rings (weft/workload/workload.h) or, those that
// have none, become messages (weft/workload/coll.h).
//
//   line_up.c  traces without dependencies: collectives in order, with the gaps between them
//   expand.c   nodes to operations          group.c       which ranks a collective is over
//   spread.c   one file to a file a rank    chakra_write.c  a rank as Chakra's messages
//   goal_write.c  a program as GOAL text    make.c         sets that are no files
//   simai_write.c the lines of a step
//   rings.c    the rings of a program
#pragma once

#include <weft/trace/trace.h>
#include <weft/workload/program.h>
#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

struct trace_run {
	uint32_t ranks;	    // where the set does not tell; else it must be the same
	uint32_t rank_host; // ranks of a host: neighbours in a ring stay together
	// How all-reduces, all-gathers and reduce-scatters run, one after the other within a group.
	// Of the others, and of groups that do not have as many ranks on each host, its channels
	// and the longest message.
	struct ring_config ring;
	bool cuts_circles;	   // a wait of each circle of nodes is left out
	uint64_t memory_bytes_max; // of the program; 0: no limit
	bool has_messages_only;	   // rings as messages: slices and credits
};

struct trace_program {
	struct program *program; // sealed
	void *memory;		 // that it lies in, owned
};

// Ranks that the set runs on; 0 when whoever runs it must say.
uint32_t trace_ranks(const struct trace_set *set);

// Expands a set. One file is what every rank does, each in groups of its own; several are a rank
// each. Kineto and PyTorch's traces are lined up first, and one file with messages is spread, in
// place. -EINVAL with file, record and
// reason: circles, a send of one file, groups whose members are not known or do not do the same,
// what program_seal() refuses; -ENOMEM. `ret` needs trace_program_free() after 0.
int trace_expand(struct trace_program *ret, struct trace_set *set, const struct trace_run *run,
		 struct refusal *refusal);
void trace_program_free(struct trace_program *program);

// Puts files in the order of their ranks; -EINVAL where one is missing. Kineto and PyTorch: puts
// the collectives of each file in the order of their begin, one after the
// other, with a computation of the length of each gap between them, once. -ENOMEM.
int trace_line_up(struct trace_set *set, struct refusal *refusal);

// Makes the one file that stands for all ranks a file of each, its groups numbered ("0", "1", ...;
// "all" is all ranks). Nothing where there is a file for each rank. `ranks` as in trace_run.
// -EINVAL as trace_expand(), -ENOMEM.
int trace_spread(struct trace_set *set, uint32_t ranks, struct refusal *refusal);

// A rank of a set with a file for each as a Chakra execution trace, in new memory (free()). What a
// length of time has beyond microseconds stands in an attribute duration_ps, which we read and
// others skip. The part of an all-gather is rounded up. -ENOTSUP in a build without protobuf-c;
// -ENOMEM.
int trace_chakra_text(char **ret_text, size_t *ret_bytes, const struct trace_set *set,
		      uint32_t rank, struct refusal *refusal);

// The groups of such a set as JSON, {"0": [0, 1], ...}, as astra-sim reads them beside the traces;
// those of all ranks are left out. In new memory. -ENOMEM.
int trace_groups_text(char **ret_text, size_t *ret_bytes, const struct trace_set *set);

// The lines of a step as text of SimAI in new memory (free()), rounded to nanoseconds. -ENOMEM.
struct step_text; // weft/workload/step_text.h
int trace_simai_text(char **ret_text, size_t *ret_bytes, const struct step_text *text);

// The program as GOAL text in new memory (free()), with `calc` in units of `unit_ps`: times are
// rounded to them. -ENOMEM.
int trace_goal_text(char **ret_text, size_t *ret_bytes, const struct program *program,
		    ps_t unit_ps);

// ---------------------------------------------------------------- sets of our own

// Adds `count` ranks without nodes. -ENOMEM.
int trace_make_ranks(struct trace_set *set, uint32_t count);

// Adds a node to a rank; NULL without memory. Its id is its index. Valid until the next.
struct trace_node *trace_make_node(struct trace_set *set, uint32_t rank);

// The node of a rank that was added last waits for node `before` of it, which may follow. -ENOMEM.
int trace_make_wait(struct trace_set *set, uint32_t rank, uint32_t before);

// A group of so many ranks, `members` ascending; NULL: unknown. -ENOMEM.
int trace_make_group(struct trace_set *set, const char *name, const uint32_t *members,
		     uint32_t ranks, uint32_t *ret);

// Ends the making: from here on the set is as one that was read. -ENOMEM.
int trace_make_end(struct trace_set *set);

#ifdef __cplusplus
}
#endif
