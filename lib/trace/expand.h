// SPDX-License-Identifier: Apache-2.0
// What expanding a set holds: expand.c goes through it twice, to count and to build; group.c says
// which ranks each collective is over.
#pragma once

#include <weft/core/arena.h>
#include <weft/trace/trace_run.h>
#include <weft/workload/coll.h>

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
