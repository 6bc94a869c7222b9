// SPDX-License-Identifier: Apache-2.0
// What a world would run, as a set of traces: one rank for each NIC.

#include "run_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Node of a rank in what is made.
struct made {
	struct trace_set *set;
	uint32_t rank;
};

static struct trace_node *add(const struct made *made, enum trace_kind kind, const char *name)
{
	struct trace_node *node = trace_make_node(made->set, made->rank);
	if (node == NULL)
		return NULL;
	node->kind = (uint8_t)kind;
	snprintf(node->name, sizeof(node->name), "%s", name);
	return node;
}

static uint32_t last_of(const struct made *made)
{
	return made->set->ranks[made->rank].node_count - 1;
}

// ---------------------------------------------------------------- programs

static enum trace_collective collective_of(enum collective_kind kind)
{
	if (kind == COLLECTIVE_ALL_REDUCE)
		return TRACE_COLLECTIVE_ALL_REDUCE;
	return kind == COLLECTIVE_ALL_GATHER ? TRACE_COLLECTIVE_ALL_GATHER
					     : TRACE_COLLECTIVE_REDUCE_SCATTER;
}

static int add_op(const struct made *made, const struct op *op, const struct job *job)
{
	static const enum trace_kind kinds[OP_KIND_COUNT] = {
		[OP_COMPUTE] = TRACE_KIND_COMPUTE,
		[OP_SEND] = TRACE_KIND_SEND,
		[OP_RECEIVE] = TRACE_KIND_RECEIVE,
		[OP_COLLECTIVE] = TRACE_KIND_COLLECTIVE,
	};
	struct trace_node *node = add(made, kinds[op->kind], op_kind_name(op->kind));
	if (node == NULL)
		return -ENOMEM;
	if (op->kind == OP_COMPUTE) {
		node->duration_ps = op->compute_ps;
		node->stream = op->stream;
	} else if (op->kind == OP_COLLECTIVE) {
		const struct group *group = &job->groups[op->group];
		const struct bucket *bucket = &job->buckets[group->bucket_first + op->bucket];
		node->group = op->group;
		node->bytes = bucket->bytes;
		node->collective = (uint8_t)collective_of(bucket->kind);
	} else {
		node->bytes = op->bytes;
		node->peer = op->peer;
		node->tag = op->tag;
	}
	return 0;
}

// Operations of a rank in their order; a node may wait for one that follows, so waits come as the
// file has them: before[] lists, for each operation, those that it waits for.
static int add_program(struct trace_set *set, const struct program *program)
{
	uint32_t *place = calloc((size_t)program->op_count + 1, sizeof(*place));
	uint32_t *counts = calloc((size_t)program->ranks + 1, sizeof(*counts));
	uint32_t *first = calloc((size_t)program->op_count + 2, sizeof(*first));
	uint32_t *before = calloc((size_t)program->edge_count + 1, sizeof(*before));
	int rc = place == NULL || counts == NULL || first == NULL || before == NULL ? -ENOMEM : 0;
	for (uint32_t i = 0; rc == 0 && i < program->op_count; i++)
		place[i] = counts[program->ops[i].rank]++;
	for (uint32_t i = 0; rc == 0 && i < program->op_count; i++)
		for (uint32_t k = 0; k < program->ops[i].next_count; k++)
			first[program->next[program->ops[i].next_first + k] + 1]++;
	for (uint32_t i = 0; rc == 0 && i < program->op_count; i++)
		first[i + 1] += first[i];
	for (uint32_t i = program->op_count; rc == 0 && i-- > 0;)
		for (uint32_t k = 0; k < program->ops[i].next_count; k++)
			before[--first[program->next[program->ops[i].next_first + k] + 1]] = i;
	for (uint32_t i = 0; rc == 0 && i < program->op_count; i++) {
		const struct made made = {set, program->ops[i].rank};
		rc = add_op(&made, &program->ops[i], program->job);
		uint32_t end = i + 1 < program->op_count ? first[i + 2] : program->edge_count;
		for (uint32_t k = first[i + 1]; rc == 0 && k < end; k++)
			rc = trace_make_wait(set, made.rank, place[before[k]]);
	}
	free(place);
	free(counts);
	free(first);
	free(before);
	return rc;
}

// ---------------------------------------------------------------- collectives

// A member's collectives, one after the other, each not before its release: computations of the
// length between releases run beside them.
static int add_member(const struct made *made, const struct job *job, const struct group *group,
		      uint32_t number)
{
	uint32_t collective = UINT32_MAX, clock = UINT32_MAX;
	ps_t reached = 0;
	for (uint32_t i = 0; i < group->bucket_count; i++) {
		const struct bucket *bucket = &job->buckets[group->bucket_first + i];
		if (bucket->release_ps > reached) {
			struct trace_node *node = add(made, TRACE_KIND_COMPUTE, "until released");
			if (node == NULL)
				return -ENOMEM;
			node->duration_ps = bucket->release_ps - reached;
			node->stream = number;
			if (clock != UINT32_MAX &&
			    trace_make_wait(made->set, made->rank, clock) < 0)
				return -ENOMEM;
			clock = last_of(made);
			reached = bucket->release_ps;
		}
		struct trace_node *node = add(made, TRACE_KIND_COLLECTIVE, bucket->label);
		if (node == NULL)
			return -ENOMEM;
		node->bytes = bucket->bytes;
		node->collective = (uint8_t)collective_of(bucket->kind);
		node->group = number;
		if (clock != UINT32_MAX && trace_make_wait(made->set, made->rank, clock) < 0)
			return -ENOMEM;
		if (collective != UINT32_MAX &&
		    trace_make_wait(made->set, made->rank, collective) < 0)
			return -ENOMEM;
		collective = last_of(made);
	}
	return 0;
}

static int add_groups(struct trace_set *set, const struct job *job)
{
	char name[16];
	uint32_t number;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < job->group_count; i++) {
		snprintf(name, sizeof(name), "%u", i);
		bool is_all = job->group_count == 1 && job->groups[i].ranks == set->rank_count;
		rc = trace_make_group(set, is_all ? "all" : name, job->groups[i].gpus,
				      job->groups[i].ranks, &number);
	}
	return rc;
}

// A trace names the members of a group; their order is that of the ranks.
static int check_ways(const struct job *job, struct refusal *refusal)
{
	for (uint32_t i = 0; i < job->group_count; i++)
		for (uint32_t at = 1; at < job->groups[i].ranks; at++)
			if (job->groups[i].gpus[at] < job->groups[i].gpus[at - 1])
				return refuse(refusal, -EINVAL,
					      "group % goes round from rank % to rank %: a trace "
					      "cannot say the way round",
					      i, job->groups[i].gpus[at - 1],
					      job->groups[i].gpus[at]);
	return 0;
}

static int add_job(struct trace_set *set, const struct job *job)
{
	int rc = add_groups(set, job);
	for (uint32_t i = 0; rc == 0 && i < job->group_count; i++)
		for (uint32_t at = 0; rc == 0 && at < job->groups[i].ranks; at++) {
			const struct made made = {set, job->groups[i].gpus[at]};
			rc = add_member(&made, job, &job->groups[i], i);
		}
	return rc;
}

// ---------------------------------------------------------------- flows

// Each flow has a tag of its own, so that its two ends find each other whatever their order.
static int add_flow(struct trace_set *set, const struct flow *flow, uint32_t tag)
{
	const struct made from = {set, flow->from}, to = {set, flow->to};
	if (flow->start_ps > 0) {
		struct trace_node *wait = add(&from, TRACE_KIND_COMPUTE, "until it starts");
		if (wait == NULL)
			return -ENOMEM;
		wait->duration_ps = flow->start_ps;
		wait->stream = tag;
	}
	struct trace_node *send = add(&from, TRACE_KIND_SEND, "flow");
	if (send == NULL)
		return -ENOMEM;
	send->bytes = flow->bytes;
	send->peer = flow->to;
	send->tag = tag;
	if (flow->start_ps > 0 && trace_make_wait(set, flow->from, last_of(&from) - 1) < 0)
		return -ENOMEM;
	struct trace_node *receive = add(&to, TRACE_KIND_RECEIVE, "flow");
	if (receive == NULL)
		return -ENOMEM;
	receive->bytes = flow->bytes;
	receive->peer = flow->from;
	receive->tag = tag;
	return 0;
}

static int add_flows(struct trace_set *set, const struct world *world, struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; i < world->flow_count; i++)
		if (world->flows[i].trigger != 0)
			return refuse(refusal, -EINVAL,
				      "flow % waits for another: a trace of flows cannot say that",
				      i);
	for (uint32_t i = 0; rc == 0 && i < world->flow_count; i++)
		rc = add_flow(set, &world->flows[i], i);
	return rc;
}

// ---------------------------------------------------------------- the whole

// Of a job those up to the last that has a part in it, so that what is exported can be copied.
static uint32_t ranks_of(const struct world *world)
{
	uint32_t ranks = 0;
	if (world->program != NULL)
		return world->program->ranks;
	for (uint32_t i = 0; i < world->job.group_count; i++)
		for (uint32_t at = 0; at < world->job.groups[i].ranks; at++)
			if (world->job.groups[i].gpus[at] >= ranks)
				ranks = world->job.groups[i].gpus[at] + 1;
	return ranks > 0 ? ranks : world->fabric.nics;
}

int export_world(struct trace_set *ret, const struct world *world, struct refusal *refusal)
{
	const struct program *program = world->program;
	trace_set_init(ret, TRACE_FORMAT_CHAKRA);
	ret->gathers_whole = ret->has_times = true;
	if (world->scenario->sample.is_on && world->job.group_count > 0)
		return refuse(refusal, -EINVAL, "a sample is not a job: export with --sample off");
	if (world->coll_stream != NULL)
		return refuse(refusal, -EINVAL,
			      "messages that are generated on demand are in no list: export with "
			      "traffic.messages stored");
	if (world->scenario->traffic.beside_bytes > 0 &&
	    (program != NULL || world->job.group_count > 0))
		return refuse(refusal, -EINVAL,
			      "messages of traffic.beside are in no list: export without them");
	int rc = trace_make_ranks(ret, ranks_of(world));
	if (rc == 0 && program != NULL && program->job != NULL)
		rc = add_groups(ret, program->job);
	if (rc == 0 && program != NULL)
		rc = add_program(ret, program);
	else if (rc == 0 && world->job.group_count > 0)
		rc = check_ways(&world->job, refusal) < 0 ? -EINVAL : add_job(ret, &world->job);
	else if (rc == 0)
		rc = add_flows(ret, world, refusal);
	if (rc == 0)
		rc = trace_make_end(ret);
	return rc == -ENOMEM ? refuse(refusal, -ENODEV, "no memory for the trace") : rc;
}
