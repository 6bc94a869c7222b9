// SPDX-License-Identifier: Apache-2.0
// A step as a program: who is with whom, and all ranks one after the other, counted first and then
// made. See step_program.h; the schedule is that of step.c.

#include <weft/workload/step_program.h>

#include <errno.h>

#include <weft/core/check.h>

#include "step_emit.h"

#define OPS_MAX (UINT64_C(1) << 28)

static const enum group_kind groups_of_kind[STEP_GROUP_COUNT] = {GROUP_TP, GROUP_CP, GROUP_EP};

// ---------------------------------------------------------------- who is with whom

static int draw_pair(struct arena *arena, uint32_t ranks, uint32_t **a, uint32_t **b)
{
	*a = arena_draw(arena, ARENA_WORKLOAD, ranks, sizeof(uint32_t));
	*b = arena_draw(arena, ARENA_WORKLOAD, ranks, sizeof(uint32_t));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static int find_step_group(struct builder *builder, struct arena *arena,
			   struct group_list *group_list, enum group_kind kind)
{
	const struct step_program *of = builder->emit.of;
	struct spread spread;
	order_spread(&spread, of->order, of->plan, kind, &of->gpu_layout);
	group_list->ranks = spread.ranks;
	group_list->is_off_domain = spread.domains_max > 1;
	if (draw_pair(arena, plan_ranks(of->plan), &group_list->group_of, &group_list->at_of) < 0)
		return -ENOMEM;
	for (uint32_t group = 0; group < spread.groups; group++) {
		for (uint32_t at = 0; at < spread.ranks; at++) {
			uint32_t rank = order_rank(of->order, of->plan, kind, group, at);
			group_list->group_of[rank] = group;
			group_list->at_of[rank] = at;
		}
	}
	return 0;
}

// Groups of dense parameters come first in a job.
static int find_rings(struct builder *builder, struct arena *arena)
{
	const struct step_program *of = builder->emit.of;
	uint32_t ranks = plan_ranks(of->plan), dense = 0;
	struct spread spread;
	enum group_kind kind = of->plan->parallel.shard_ranks > 0 ? GROUP_SHARD : GROUP_DP;
	order_spread(&spread, of->order, of->plan, kind, &of->gpu_layout);
	if (plan_shard_ranks(of->plan) > 1)
		dense = spread.groups;
	for (int i = 0; i < 2; i++) {
		if (draw_pair(arena, ranks, &builder->rings[i].group_of, &builder->rings[i].at_of) <
		    0)
			return -ENOMEM;
		for (uint32_t rank = 0; rank < ranks; rank++)
			builder->rings[i].group_of[rank] = OP_NONE;
	}
	for (uint32_t i = 0; i < of->job->group_count; i++) {
		const struct group *group = &of->job->groups[i];
		for (uint32_t at = 0; at < group->ranks; at++) {
			builder->rings[i >= dense].group_of[group->gpus[at]] = i;
			builder->rings[i >= dense].at_of[group->gpus[at]] = at;
		}
	}
	return 0;
}

// ---------------------------------------------------------------- all ranks

static int draw_cells(struct builder *builder, struct arena *arena)
{
	const struct plan *plan = builder->plan;
	size_t cells = (size_t)plan->parallel.pp * plan->parallel.vpp;
	uint32_t buckets = step_bucket_count(plan);
	builder->cells.cells = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(struct step_cell));
	builder->cells.bucket_max = buckets;
	builder->cells.buckets = arena_draw(arena, ARENA_WORKLOAD, buckets,
					    sizeof(struct step_bucket));
	builder->fire_at = arena_draw(arena, ARENA_WORKLOAD, plan->parallel.vpp, sizeof(uint32_t));
	builder->turns = arena_draw(arena, ARENA_WORKLOAD, plan->parallel.micro_batches,
				    sizeof(uint32_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	step_cells_fill(&builder->cells, plan);
	return 0;
}

// Room for the slices of the longest channel of any ring.
static int draw_slices(struct builder *builder, struct arena *arena)
{
	struct step_emit *emit = &builder->emit;
	uint64_t most = 1;
	for (uint32_t i = 0; i < emit->of->job->group_count; i++) {
		const struct group *group = &emit->of->job->groups[i];
		for (uint32_t j = 0; j < group->bucket_count; j++) {
			const struct bucket *bucket =
				&emit->of->job->buckets[group->bucket_first + j];
			struct step_ring ring = {
				.group = group, .kind = bucket->kind, .bytes = bucket->bytes};
			uint64_t slices = emit_ring_slices(emit->ring, &ring);
			most = slices > most ? slices : most;
		}
	}
	if (most > OPS_MAX)
		return -E2BIG;
	emit->slices_max = (uint32_t)most;
	emit->sends = arena_draw(arena, ARENA_WORKLOAD, most, sizeof(uint32_t));
	emit->receives = arena_draw(arena, ARENA_WORKLOAD, most, sizeof(uint32_t));
	emit->credits = arena_draw(arena, ARENA_WORKLOAD, most, sizeof(uint32_t));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static int check_input(const struct step_program *of, struct refusal *refusal)
{
	const struct timing *timing = &of->plan->timing;
	if (timing->forward_ps <= 0 || timing->backward_ps <= 0)
		return refuse(refusal, -EINVAL,
			      "this plan has no times of computation: none were published or "
			      "fitted");
	if (of->job->ring.form != RING_PIPELINED)
		return refuse(refusal, -EINVAL,
			      "a step by packets has pipelined rings, not the barrier form");
	return 0;
}

static int begin(struct builder *ret, struct arena *arena, const struct step_program *of,
		 struct refusal *refusal)
{
	*ret = (struct builder){.plan = of->plan,
				.emit = {.of = of,
					 .ring = &of->job->ring,
					 .gpu_layout = &of->gpu_layout,
					 .payload_bytes = of->payload_bytes}};
	int rc = check_input(of, refusal);
	if (rc < 0)
		return rc;
	rc = find_step_group(ret, arena, &ret->stages, GROUP_PP);
	for (int i = 0; rc == 0 && i < STEP_GROUP_COUNT; i++)
		rc = find_step_group(ret, arena, &ret->group_lists[i], groups_of_kind[i]);
	if (rc == 0)
		rc = find_rings(ret, arena);
	if (rc == 0)
		rc = draw_cells(ret, arena);
	if (rc == 0)
		rc = draw_slices(ret, arena);
	if (rc == -E2BIG)
		return refuse(refusal, -EINVAL, "rings with more than % slices", OPS_MAX);
	return rc < 0 ? refuse(refusal, rc, "no memory for a step as a program") : 0;
}

// Stops where nothing could hold it; the size is then what all ranks would come to, about.
static bool count(struct builder *builder)
{
	struct step_program_size *size = &builder->emit.size;
	uint64_t ranks = plan_ranks(builder->plan);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		step_rank(builder, rank);
		if (size->ops < OPS_MAX && size->edges < OPS_MAX)
			continue;
		size->ops = size->ops / (rank + 1) * ranks;
		size->edges = size->edges / (rank + 1) * ranks;
		size->packets = size->packets / (rank + 1) * ranks;
		return size->ops < OPS_MAX && size->edges < OPS_MAX;
	}
	return true;
}

int step_program_size(struct step_program_size *ret, const struct step_program *of,
		      struct arena *scratch, struct refusal *refusal)
{
	struct builder builder;
	int rc = begin(&builder, scratch, of, refusal);
	if (rc == 0 && !count(&builder))
		rc = -E2BIG;
	*ret = builder.emit.size;
	return rc;
}

int step_program_create(struct program **ret, struct arena *arena, const struct step_program *of,
			struct refusal *refusal)
{
	struct builder builder;
	int rc = begin(&builder, arena, of, refusal);
	if (rc < 0)
		return rc;
	if (!count(&builder))
		return refuse(refusal, -EINVAL, "this step is more than % operations", OPS_MAX);
	const struct step_program_size size = builder.emit.size;
	rc = program_create(&builder.emit.program, arena, plan_ranks(of->plan), (uint32_t)size.ops,
			    (uint32_t)size.edges, refusal);
	if (rc < 0)
		return rc;
	builder.emit.size = (struct step_program_size){0};
	for (uint32_t rank = 0; rank < plan_ranks(of->plan); rank++)
		step_rank(&builder, rank);
	check(builder.emit.size.ops == size.ops && builder.emit.size.edges == size.edges);
	*ret = builder.emit.program;
	return program_seal(*ret, arena, refusal);
}
