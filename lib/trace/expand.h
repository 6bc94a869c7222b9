// SPDX-License-Identifier: Apache-2.0
// What expanding a set holds: expand.c goes through it twice, to count and to build; group.c says
// which ranks each collective is over.
#pragma once

#include <weft/core/arena.h>
#include <weft/trace/trace_run.h>

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

// The file of a rank.
const struct trace_rank *expand_rank(const struct expand *expand, uint32_t rank);

// Refuses a record of a rank's file.
int expand_refuse(const struct expand *expand, uint32_t rank, uint32_t node, const char *text,
		  int64_t first, int64_t second);

// Calls `take` for each collective of the set, in an order that is the same each time. -EINVAL when
// the members of a group are not known or do not do the same; what `take` returns when it is not 0;
// -ENOMEM.
int group_instances(const struct expand *expand, instance_fn *take, void *context);
