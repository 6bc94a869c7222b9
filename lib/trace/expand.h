// SPDX-License-Identifier: Apache-2.0
// What expanding a set holds: expand.c goes through it twice, to count and to build; group.c says
// which ranks each collective is over.
#pragma once

#include <weft/core/arena.h>
#include <weft/trace/trace_run.h>
#include <weft/workload/coll.h>

#include "set.h"

// One collective: node nodes[m] of rank ranks[m], for each member m.
struct instance {
	uint32_t count;
	uint32_t *ranks, *nodes; // [count]
};

typedef int instance_fn(void *context, const struct instance *instance);

struct expand {
	struct trace_set *set;
	const struct trace_run *run;
	struct refusal *refusal;
	uint32_t ranks; // of the program
};

// circle.c: that it can be run, before any work. -EINVAL with the reason.
int expand_check(const struct expand *expand);

// That so many operations, of so many bytes, are within the memory that is allowed.
int expand_check_memory(const struct expand *expand, uint64_t ops, uint64_t bytes);

// The file of a rank.
const struct trace_rank *expand_rank(const struct expand *expand, uint32_t rank);

// Refuses a record of a rank's file.
int expand_refuse(const struct expand *expand, uint32_t rank, uint32_t node, const char *text,
		  int64_t first, int64_t second);

// instance.c: ranks of a collective that share a host, when it is as many on each; 0 else.
uint32_t instance_domain(const struct expand *expand, const struct instance *instance);

// instance.c: what it is to room workload. -EINVAL when it is of too many bytes.
int instance_config(const struct expand *expand, const struct instance *instance,
		    struct coll_config *ret);

// Calls `take` for each collective of the set, in an order that is the same each time. -EINVAL when
// the members of a group are not known or do not do the same; what `take` returns when it is not 0;
// -ENOMEM.
int group_instances(const struct expand *expand, instance_fn *take, void *context);

// All-to-all with split sizes: what each rank sends to each other one.

// Takes the split sizes of the node that was added last: `text` is "[1, 0, 3]", its rows for each
// member in turn, `elements` what all of them have, of so many bytes each; NULL or "[]": all are
// equal. -EINVAL when the list is cut, has other than `count` rows, or does not divide the
// elements; -ENOMEM.
int split_take(struct trace_input *input, const char *text, uint32_t count, uint64_t elements,
	       uint32_t element_bytes);

// The same of what the node receives, which is checked alone: a list that says nothing is left out.
// -ENOMEM.
int split_take_received(struct trace_input *input, const char *text, uint32_t count,
			uint64_t elements, uint32_t element_bytes);

// -EINVAL where a member receives another number of bytes than are sent to it.
int split_check(const struct expand *expand, const struct instance *instance);

// Whether members do not send the same to everyone, themselves included.
bool split_is_uneven(const struct expand *expand, const struct instance *instance);

struct split_place {
	struct program *program; // NULL: count only
	uint32_t *after;	 // [members] as coll_place has it
	uint32_t tag;
	uint16_t stream;
};

// Adds the messages of an uneven all-to-all, cut over channels and chunks as an even one's are, and
// their number to `ops` and `edges`. -EINVAL where one file stands for all ranks.
int split_put(const struct expand *expand, const struct instance *instance,
	      const struct coll_config *config, const struct split_place *place, uint64_t *ops,
	      uint64_t *edges);
