// SPDX-License-Identifier: Apache-2.0
// What a collective of a trace is to the rooms that run it.

#include <weft/core/check.h>

#include "expand.h"

#define BARRIER_BYTES 4u

uint32_t instance_domain(const struct expand *expand, const struct instance *instance)
{
	uint32_t size = expand->run->rank_host, domain = 0;
	if (size < 2)
		return 1;
	while (domain < instance->count &&
	       instance->ranks[domain] / size == instance->ranks[0] / size)
		domain++;
	for (uint32_t m = 0; m < instance->count; m++)
		if (instance->count % domain != 0 ||
		    instance->ranks[m] / size != instance->ranks[m / domain * domain] / size)
			return 0;
	for (uint32_t m = domain; m < instance->count; m += domain)
		if (instance->ranks[m] / size == instance->ranks[m - 1] / size)
			return 0;
	return domain;
}

static bool kind_of(enum trace_collective collective, enum coll_kind *ret)
{
	static const int8_t kinds[TRACE_COLLECTIVE_COUNT] = {
		COLL_ALL_REDUCE,     COLL_REDUCE,     COLL_ALL_GATHER, COLL_GATHER,
		COLL_SCATTER,	     COLL_BROADCAST,  COLL_ALL_TO_ALL, COLL_REDUCE_SCATTER,
		COLL_REDUCE_SCATTER, COLL_ALL_REDUCE, // a barrier is a small one
	};
	*ret = (enum coll_kind)kinds[collective];
	return collective < TRACE_COLLECTIVE_COUNT;
}

int instance_config(const struct expand *expand, const struct instance *instance,
		    struct coll_config *ret)
{
	const struct trace_node *node =
		&expand_rank(expand, instance->ranks[0])->nodes[instance->nodes[0]];
	bool is_barrier = node->collective == TRACE_COLLECTIVE_BARRIER;
	uint32_t members = instance_domain(expand, instance);
	bool is_part = !expand->set->gathers_whole &&
		(node->collective == TRACE_COLLECTIVE_ALL_GATHER ||
		 node->collective == TRACE_COLLECTIVE_GATHER);
	*ret = (struct coll_config){.ranks = instance->count,
				    .bytes = is_barrier ? BARRIER_BYTES : node->bytes,
				    .element_bytes = 1,
				    .channels = expand->run->ring.channels,
				    .chunk_bytes = (uint32_t)expand->run->ring.chunk_bytes_max,
				    .domain = members > 0 ? members : 1};
	if (is_part && __builtin_mul_overflow(ret->bytes, instance->count, &ret->bytes))
		return expand_refuse(expand, instance->ranks[0], instance->nodes[0],
				     "record %: too many bytes", 0, 0);
	check(kind_of(node->collective, &ret->kind));
	ret->algorithm = coll_is_known(ret->kind, COLL_RING) ? COLL_RING : COLL_DIRECT;
	return 0;
}
