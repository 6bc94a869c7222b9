// SPDX-License-Identifier: Apache-2.0
// Whether a set can be run at all: circles, nothing to send, more than memory holds.

#include <errno.h>
#include <string.h>

#include "circle.h"
#include "expand.h"

int expand_check_memory(const struct expand *expand, uint64_t ops, uint64_t bytes)
{
	uint64_t most = expand->run->memory_bytes_max;
	if (most == 0 || bytes <= most)
		return 0;
	return refuse(
		expand->refusal, -EINVAL,
		"the trace makes % operations of % ranks, which take % MiB, but limits.memory "
		"is % MiB: raise it, or run a sample or fewer ranks",
		(int64_t)ops, expand->ranks, (int64_t)(bytes >> 20), (int64_t)(most >> 20));
}

// Before any work: what the nodes alone become, each an operation at least.
static int check_nodes(const struct expand *expand)
{
	const struct trace_set *set = expand->set;
	uint64_t ops = 0, ranks = set->rank_count == 1 ? expand->ranks : 1;
	for (uint32_t i = 0; i < set->rank_count; i++)
		for (uint32_t k = 0; k < set->ranks[i].node_count; k++)
			ops += ranks *
				(set->ranks[i].nodes[k].kind >= TRACE_KIND_COMPUTE &&
				 set->ranks[i].nodes[k].kind <= TRACE_KIND_COLLECTIVE);
	return expand_check_memory(expand, ops, ops * (sizeof(struct op) + sizeof(uint32_t)));
}

int expand_check(const struct expand *expand)
{
	const struct trace_set *set = expand->set;
	uint64_t communications = 0;
	for (uint32_t i = 0; i < set->rank_count; i++) {
		struct trace_rank *rank = &set->ranks[i];
		memcpy(expand->refusal->file, rank->path, sizeof(rank->path));
		int rc = rank->circular == 0	    ? 0
			: expand->run->cuts_circles ? circle_cut(rank, expand->refusal)
						    : circle_refuse(rank, expand->refusal);
		if (rc < 0)
			return rc;
		for (uint32_t k = 0; k < rank->node_count; k++)
			communications += rank->nodes[k].kind == TRACE_KIND_COLLECTIVE ||
				rank->nodes[k].kind == TRACE_KIND_SEND;
	}
	if (communications == 0)
		return refuse(expand->refusal, -EINVAL,
			      "the trace has no communication: there is nothing to run");
	if (set->left_bytes > 0)
		return refuse(
			expand->refusal, -EINVAL,
			"its pipeline transfers of % bytes stand in no line: a sample runs the "
			"data-parallel collectives without them",
			(int64_t)set->left_bytes);
	expand->refusal->file[0] = '\0';
	return check_nodes(expand);
}
