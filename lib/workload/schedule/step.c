// SPDX-License-Identifier: Apache-2.0
// The schedule of a step.
// Facts: Megatron-LM's interleaved schedule, see step_operation.c. Gathers of the first two chunks
// are sent at the start, those of chunk k + 1 with the first forward of chunk k; collectives of a
// stage go one after the other. Aligned: stage r reduces a chunk r backwards after its last one, so
// that all stages send together, or at its end.
// A collective begins when all replicas have come to it. Replicas are run one after the other with
// the times at which the others came to the gathers, and again until these do not change: they only
// grow, and each depends on earlier ones alone.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#include "step_operation.h"

#define OPERATIONS_MAX (UINT64_C(1) << 22) // stages x chunks x micro-batches
#define NOT_DONE (-1)
#define PPM STEP_PPM
#define PPB STEP_PPB
#define OTHER_PS_MAX (INT64_C(1000) * PS_PER_S)
#define CELL_PS_MAX (INT64_C(100) * PS_PER_S)
#define COMPUTED_PS_MAX (INT64_C(1000000) * PS_PER_S)

struct stage {
	uint32_t next, operations;
	ps_t free_at, network_at, gather_wait_ps;
	uint32_t backwards; // done
};

struct step {
	const struct plan *plan;
	struct step_cells cells;
	struct stage *stages;
	ps_t *forward_at, *backward_at; // [stage][chunk][micro-batch], NOT_DONE before
	uint32_t *fire_after; // [stage][chunk] backwards of the stage after which it is reduced
	bool *is_reduced;     // [stage][chunk]
	uint32_t replica;     // that runs
};

// ---------------------------------------------------------------- building

uint64_t step_bytes(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	uint64_t cells = (uint64_t)cut->pp * cut->vpp;
	return sizeof(struct step) + cut->pp * sizeof(struct stage) +
		cells * (sizeof(struct step_cell) + sizeof(uint32_t) + sizeof(bool)) +
		step_bucket_count(plan) * sizeof(struct step_bucket) +
		2 * cells * cut->micro_batches * sizeof(ps_t) + 16 * 64;
}

static int check_plan(const struct plan *plan, struct refusal *refusal)
{
	const struct parallel *cut = &plan->parallel;
	const struct timing *timing = &plan->timing;
	if (timing->forward_ps <= 0 || timing->backward_ps <= 0 || timing->other_ps < 0)
		return refuse(refusal, -EINVAL,
			      "this plan has no times of computation: none were published or "
			      "fitted");
	if ((uint64_t)cut->pp * cut->vpp * cut->micro_batches > OPERATIONS_MAX)
		return refuse(refusal, -EINVAL, "a step has at most % forwards", OPERATIONS_MAX);
	unsigned __int128 all = (unsigned __int128)(timing->forward_ps + timing->backward_ps) *
		cut->pp * cut->vpp * cut->micro_batches;
	ps_t most = ps_max(timing->forward_ps, timing->backward_ps);
	for (uint32_t i = 0; timing->has_parts && i < TIMED_COUNT; i++) {
		const struct timed *part = &timing->parts[i];
		most = ps_max(most, ps_max(part->forward_ps, part->backward_ps));
		all += (unsigned __int128)(part->forward_ps + part->backward_ps) *
			cut->micro_batches;
	}
	if (most > CELL_PS_MAX || timing->other_ps > OTHER_PS_MAX || all > COMPUTED_PS_MAX)
		return refuse(refusal, -EINVAL,
			      "a cell computes for at most % s, a step % s, the rest takes % s",
			      CELL_PS_MAX / PS_PER_S, COMPUTED_PS_MAX / PS_PER_S,
			      OTHER_PS_MAX / PS_PER_S);
	return 0;
}

int step_create(struct step **ret, struct arena *arena, const struct plan *plan,
		struct refusal *refusal)
{
	const struct parallel *cut = &plan->parallel;
	int rc = plan_check(plan, refusal);
	if (rc == 0)
		rc = check_plan(plan, refusal);
	if (rc < 0)
		return rc;
	size_t cells = (size_t)cut->pp * cut->vpp, all = cells * cut->micro_batches;
	uint32_t buckets = step_bucket_count(plan);
	struct step *step = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*step));
	if (step == NULL)
		return refuse(refusal, -ENOMEM, "no memory for a schedule");
	*step = (struct step){.plan = plan};
	step->stages = arena_draw(arena, ARENA_WORKLOAD, cut->pp, sizeof(*step->stages));
	step->cells.cells = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(struct step_cell));
	step->cells.bucket_max = buckets;
	step->cells.buckets = arena_draw(arena, ARENA_WORKLOAD, buckets,
					 sizeof(struct step_bucket));
	step->forward_at = arena_draw(arena, ARENA_WORKLOAD, all, sizeof(ps_t));
	step->backward_at = arena_draw(arena, ARENA_WORKLOAD, all, sizeof(ps_t));
	step->fire_after = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(uint32_t));
	step->is_reduced = arena_draw(arena, ARENA_WORKLOAD, cells, sizeof(bool));
	if (arena_has_failed(arena))
		return refuse(refusal, -ENOMEM, "no memory for a schedule of % forwards",
			      (int64_t)all);
	step_cells_fill(&step->cells, plan);
	*ret = step;
	return 0;
}

// ---------------------------------------------------------------- times

// One micro-batch through a cell.
static ps_t cell_ps(const struct step *step, const struct step_setup *setup, uint32_t stage,
		    struct operation operation)
{
	const struct step_cell *cell = step_cell(&step->cells, stage, operation.chunk);
	const struct step_place place = {step->replica, stage, step->stages[stage].next};
	ps_t off_domain_ps = operation.is_backward ? setup->off_domain_backward_ps
						   : setup->off_domain_forward_ps;
	ps_t time = step_compute_ps(step->plan, cell, setup, &place);
	return setup->is_silent || operation.is_late
		? time
		: time + off_domain_ps * cell->layers / cell->slots;
}

// ---------------------------------------------------------------- gathers

// Parameters are wanted in the order of forward.
static void gather(struct step *step, const struct step_setup *setup, uint32_t stage,
		   uint32_t chunk, ps_t now)
{
	struct step_cell *cell = step_cell(&step->cells, stage, chunk);
	struct stage *at = &step->stages[stage];
	if (cell->is_gathered)
		return;
	cell->is_gathered = true;
	cell->reached_at = ps_max(cell->reached_at, now);
	now = ps_max(now, cell->joined_at);
	for (uint32_t i = cell->bucket_count; i > 0; i--) {
		struct step_bucket *bucket = &step->cells.buckets[cell->bucket_first + i - 1];
		ps_t start = ps_max(at->network_at, now);
		bucket->gathered_at = now;
		if (bucket->gather_bytes == 0)
			continue;
		bucket->gathered_at = start + step_bucket_ps(setup, bucket, true);
		at->network_at = bucket->gathered_at;
	}
}

// A forward that waits for its parameters as it comes to them. Returns its end.
static ps_t gated_forward(struct step *step, const struct step_cell *cell, struct stage *stage,
			  ps_t start, ps_t time)
{
	ps_t at = start;
	uint64_t used = 0;
	for (uint32_t i = cell->bucket_count; i > 0; i--) {
		const struct step_bucket *bucket = &step->cells.buckets[cell->bucket_first + i - 1];
		// ZeRO's parameters come behind the optimizer, all before a forward begins
		ps_t gathered_at = step->plan->parallel.sharding == SHARDING_MEGATRON
			? bucket->gathered_at
			: stage->network_at;
		stage->gather_wait_ps += ps_max(0, gathered_at - at);
		at = ps_max(at, gathered_at) + step_share(time, bucket->forward_ppm, PPM);
		used += bucket->forward_ppm;
	}
	return at + (used < PPM ? step_share(time, PPM - used, PPM) : 0);
}

// ---------------------------------------------------------------- between the units of a cell

// A collective of `stage` that may begin at `now`, behind those before it. Returns its end.
static ps_t communicate(const struct step_setup *setup, const struct step_bucket *bucket,
			struct stage *stage, bool is_gather, ps_t now)
{
	stage->network_at = ps_max(stage->network_at, now) +
		step_bucket_ps(setup, bucket, is_gather);
	return stage->network_at;
}

// The gradients of a unit go out.
static void reduce_unit(const struct step_setup *setup, struct step_bucket *unit,
			struct stage *stage, ps_t now)
{
	unit->reduced_at = communicate(setup, unit, stage, false, now);
	if (unit->across_bytes > 0)
		stage->network_at += step_across_ps(setup, unit);
}

// A forward or backward unit by unit: gathers are sent so many units ahead as the plan prefetches,
// when the computation of a unit would begin; a reduce when its unit has ended. Returns the end.
static ps_t run_units(struct step *step, const struct step_setup *setup, struct stage *stage,
		      const struct step_cell *cell, const struct operation *operation, ps_t start,
		      ps_t time)
{
	const struct step_traffic traffic = step_traffic(step->plan, operation);
	uint32_t gathered = 0, ppm;
	ps_t at = start;
	for (uint32_t i = 0; i < cell->bucket_count; i++) {
		for (; traffic.is_gathered && gathered < cell->bucket_count &&
		     gathered <= i + traffic.prefetch;
		     gathered++) {
			struct step_bucket *next = step_unit(
				&step->cells, cell, operation->is_backward, gathered, &ppm);
			next->gathered_at = communicate(setup, next, stage, true, at);
		}
		struct step_bucket *unit = step_unit(&step->cells, cell, operation->is_backward, i,
						     &ppm);
		if (traffic.is_gathered) {
			ps_t there = traffic.is_all_awaited ? stage->network_at : unit->gathered_at;
			stage->gather_wait_ps += ps_max(0, there - at);
			at = ps_max(at, there);
		}
		at += step_share(time, ppm, PPM);
		if (traffic.is_reduced && !traffic.is_end_of_reduce)
			reduce_unit(setup, unit, stage, at);
	}
	for (uint32_t i = 0;
	     traffic.is_reduced && traffic.is_end_of_reduce && i < cell->bucket_count; i++)
		reduce_unit(setup, step_unit(&step->cells, cell, true, i, &ppm), stage, at);
	return at;
}

// ---------------------------------------------------------------- operations

static ps_t *slot(const struct step *step, ps_t *of, uint32_t stage, uint32_t chunk,
		  uint32_t micro_batch)
{
	const struct parallel *cut = &step->plan->parallel;
	return &of[((size_t)stage * cut->vpp + chunk) * cut->micro_batches + micro_batch];
}

// When what a forward or backward needs is there; NOT_DONE when it is not yet known.
static ps_t input_at(const struct step *step, uint32_t stage, struct operation operation,
		     ps_t send_ps, ps_t turn_ps)
{
	const struct parallel *cut = &step->plan->parallel;
	uint32_t last = cut->pp - 1, chunk = operation.chunk, micro_batch = operation.micro_batch;
	ps_t *from = operation.is_backward ? step->backward_at : step->forward_at;
	ps_t at;
	if (operation.is_late) // its own backward is done
		return 0;
	if (!operation.is_backward) {
		if (stage == 0 && chunk == 0)
			return 0;
		at = stage > 0 ? *slot(step, from, stage - 1, chunk, micro_batch)
			       : *slot(step, from, last, chunk - 1, micro_batch);
	} else if (stage < last) {
		at = *slot(step, from, stage + 1, chunk, micro_batch);
	} else if (chunk + 1 < cut->vpp) {
		at = *slot(step, from, 0, chunk + 1, micro_batch);
	} else {
		at = *slot(step, step->forward_at, last, chunk, micro_batch);
		send_ps = turn_ps; // to itself
	}
	return at == NOT_DONE ? NOT_DONE : at + (cut->pp > 1 ? send_ps : 0);
}

static void run_forward(struct step *step, const struct step_setup *setup, uint32_t number,
			struct operation operation, ps_t start)
{
	struct stage *stage = &step->stages[number];
	const struct step_cell *cell = step_cell(&step->cells, number, operation.chunk);
	ps_t time = cell_ps(step, setup, number, operation);
	if (plan_is_interleaved(step->plan)) {
		stage->free_at = run_units(step, setup, stage, cell, &operation, start, time);
	} else if (operation.micro_batch == 0) {
		if (operation.chunk + 1 < step->plan->parallel.vpp)
			gather(step, setup, number, operation.chunk + 1, start);
		stage->free_at = gated_forward(step, cell, stage, start, time);
	} else {
		stage->free_at = start + time;
	}
	*slot(step, step->forward_at, number, operation.chunk,
	      operation.micro_batch) = stage->free_at;
}

// ---------------------------------------------------------------- reduces

// The gradients of a cell go out: its buckets at once, or each when it is ready.
static void release(struct step *step, uint32_t stage, uint32_t chunk, ps_t start, ps_t end)
{
	struct step_cell *cell = step_cell(&step->cells, stage, chunk);
	for (uint32_t i = 0; i < cell->bucket_count; i++) {
		struct step_bucket *bucket = &step->cells.buckets[cell->bucket_first + i];
		bool is_last = i + 1 == cell->bucket_count;
		ps_t at = is_last ? end : start + step_share(end - start, bucket->ready_ppm, PPM);
		bucket->released_at = ps_max(bucket->released_at, at);
	}
	step->is_reduced[stage * step->cells.chunks + chunk] = true;
}

// Aligned: what has waited long enough, and at the stage's end all that is left.
static void release_pending(struct step *step, uint32_t number)
{
	const struct stage *stage = &step->stages[number];
	for (uint32_t i = step->cells.chunks; i > 0; i--) {
		size_t cell = (size_t)number * step->cells.chunks + i - 1;
		bool is_due = step->fire_after[cell] != 0 &&
			(stage->backwards >= step->fire_after[cell] ||
			 2 * stage->backwards == stage->operations);
		if (is_due && !step->is_reduced[cell])
			release(step, number, i - 1, stage->free_at, stage->free_at);
	}
}

static void run_backward(struct step *step, const struct step_setup *setup, uint32_t number,
			 struct operation operation, ps_t start)
{
	const struct parallel *cut = &step->plan->parallel;
	struct stage *stage = &step->stages[number];
	size_t cell = (size_t)number * cut->vpp + operation.chunk;
	const struct step_cell *of = step_cell(&step->cells, number, operation.chunk);
	ps_t time = cell_ps(step, setup, number, operation);
	stage->free_at = plan_is_interleaved(step->plan)
		? run_units(step, setup, stage, of, &operation, start, time)
		: start + time;
	*slot(step, step->backward_at, number, operation.chunk,
	      operation.micro_batch) = stage->free_at;
	stage->backwards++;
	if (operation.micro_batch + 1 == cut->micro_batches && step_has_gradients(cut, operation) &&
	    !plan_is_interleaved(step->plan)) {
		step->fire_after[cell] = stage->backwards + number;
		if (!cut->is_aligned)
			release(step, number, operation.chunk, start, stage->free_at);
	}
	release_pending(step, number);
}

// Gradients of weights alone: nobody waits for them but their reduce.
static void run_late(struct step *step, const struct step_setup *setup, uint32_t number,
		     struct operation operation, ps_t start)
{
	const struct parallel *cut = &step->plan->parallel;
	struct stage *stage = &step->stages[number];
	stage->free_at = start + cell_ps(step, setup, number, operation);
	if (operation.micro_batch + 1 == cut->micro_batches)
		release(step, number, operation.chunk, cut->is_aligned ? stage->free_at : start,
			stage->free_at);
}

// In the order in which they were released, one after the other.
static ps_t reduce_all(struct step *step, const struct step_setup *setup, uint32_t number)
{
	ps_t network_at = step->stages[number].network_at;
	if (plan_is_interleaved(step->plan))
		return network_at; // they went between the backwards
	for (uint32_t i = step->cells.chunks; i > 0; i--) {
		struct step_cell *cell = step_cell(&step->cells, number, i - 1);
		for (uint32_t j = 0; j < cell->bucket_count; j++) {
			struct step_bucket *bucket = &step->cells.buckets[cell->bucket_first + j];
			ps_t time = step_bucket_ps(setup, bucket, false);
			bucket->reduce_begin = ps_max(network_at, bucket->released_at);
			network_at = bucket->reduced_at = bucket->reduce_begin + time;
		}
	}
	return network_at;
}

// ---------------------------------------------------------------- the step

static void begin_replica(struct step *step, const struct step_setup *setup)
{
	const struct parallel *cut = &step->plan->parallel;
	size_t cells = (size_t)cut->pp * cut->vpp;
	for (size_t i = 0; i < cells * cut->micro_batches; i++)
		step->forward_at[i] = step->backward_at[i] = NOT_DONE;
	memset(step->fire_after, 0, cells * sizeof(*step->fire_after));
	memset(step->is_reduced, 0, cells * sizeof(*step->is_reduced));
	for (size_t i = 0; i < cells; i++)
		step->cells.cells[i].is_gathered = false;
	for (uint32_t r = 0; r < cut->pp; r++) {
		step->stages[r] = (struct stage){.operations = step_operations(cut)};
		if (plan_is_interleaved(step->plan))
			continue;
		gather(step, setup, r, 0, 0);
		if (cut->vpp > 1)
			gather(step, setup, r, 1, 0);
	}
}

static void tell(const struct step *step, const struct step_setup *setup, uint32_t number,
		 struct operation operation, ps_t start)
{
	if (setup->watch == NULL || setup->watched != number)
		return;
	const struct step_span span = {.chunk = operation.chunk,
				       .micro_batch = operation.micro_batch,
				       .is_backward = operation.is_backward,
				       .is_late = operation.is_late,
				       .begin = start,
				       .end = step->stages[number].free_at,
				       .compute_ps = cell_ps(step, setup, number, operation)};
	setup->watch(setup->watch_context, &span);
}

// Runs what stage `number` can run now. Whether there was anything.
static bool run_stage(struct step *step, const struct step_setup *setup, uint32_t number)
{
	struct stage *stage = &step->stages[number];
	bool has_run = false, is_inside = setup->is_silent && setup->silent_send_ps > 0;
	ps_t send_ps = is_inside ? setup->silent_send_ps : setup->send_ps;
	ps_t turn_ps = setup->silent_send_ps > 0 ? setup->silent_send_ps : send_ps;
	for (; stage->next < stage->operations; stage->next++, has_run = true) {
		struct operation operation = step_operation(&step->plan->parallel, number,
							    stage->next);
		ps_t input = input_at(step, number, operation, send_ps, turn_ps);
		if (input == NOT_DONE)
			break;
		ps_t start = ps_max(stage->free_at, input);
		if (operation.is_late)
			run_late(step, setup, number, operation, start);
		else if (operation.is_backward)
			run_backward(step, setup, number, operation, start);
		else
			run_forward(step, setup, number, operation, start);
		tell(step, setup, number, operation, start);
	}
	return has_run;
}

static void run_replica(struct step *step, const struct step_setup *setup)
{
	uint32_t stages = step->plan->parallel.pp;
	begin_replica(step, setup);
	for (bool has_run = true; has_run;) {
		has_run = false;
		for (uint32_t r = 0; r < stages; r++)
			has_run |= run_stage(step, setup, r);
	}
	for (uint32_t r = 0; r < stages; r++)
		check(step->stages[r].next == step->stages[r].operations);
}

// What replicas came to together; whether it is later than thought.
static bool join(struct step *step)
{
	size_t count = (size_t)step->plan->parallel.pp * step->plan->parallel.vpp;
	bool is_later = false;
	for (size_t i = 0; i < count; i++) {
		struct step_cell *cell = &step->cells.cells[i];
		is_later |= cell->reached_at > cell->joined_at;
		cell->joined_at = ps_max(cell->joined_at, cell->reached_at);
		cell->reached_at = 0;
	}
	return is_later;
}

static void note_replica(const struct step *step, bool is_first, struct step_times *ret,
			 struct step_stage *stages)
{
	for (uint32_t r = 0; r < step->plan->parallel.pp; r++) {
		const struct stage *stage = &step->stages[r];
		ret->backward_ps = ps_max(ret->backward_ps, stage->free_at);
		if (stages == NULL)
			continue;
		if (is_first)
			stages[r] = (struct step_stage){0};
		stages[r].backward_ps = ps_max(stages[r].backward_ps, stage->free_at);
		stages[r].gather_wait_ps = ps_max(stages[r].gather_wait_ps, stage->gather_wait_ps);
	}
}

// All replicas, with the gathers as they joined them before.
static void run_replicas(struct step *step, const struct step_setup *setup, struct step_times *ret,
			 struct step_stage *stages)
{
	*ret = (struct step_times){0};
	for (uint32_t i = 0; i < step->cells.bucket_max; i++)
		step->cells.buckets[i].released_at = 0;
	for (uint32_t replica = 0; replica < setup->replicas; replica++) {
		step->replica = replica;
		run_replica(step, setup);
		note_replica(step, replica == 0, ret, stages);
	}
}

void step_run(struct step *step, const struct step_setup *setup, struct step_times *ret,
	      struct step_stage *stages)
{
	uint32_t count = step->plan->parallel.pp, cells = count * step->plan->parallel.vpp;
	check(setup->jitter_ppb <= PPB / 2 && setup->replicas > 0 && setup->collective_ppb >= -PPB);
	for (uint32_t i = 0; i < cells; i++)
		step->cells.cells[i].joined_at = step->cells.cells[i].reached_at = 0;
	run_replicas(step, setup, ret, stages);
	for (uint32_t i = 0; setup->replicas > 1 && join(step); i++) {
		check(i <= cells);
		run_replicas(step, setup, ret, stages);
	}
	for (uint32_t r = 0; r < count; r++) {
		ps_t end = reduce_all(step, setup, r);
		ret->reduce_ps = ps_max(ret->reduce_ps, end);
		if (stages != NULL)
			stages[r].reduce_ps = end;
	}
	ret->step_ps = ps_max(ret->backward_ps, ret->reduce_ps) + step->plan->timing.other_ps;
}

void step_expose(struct step *step, const struct step_setup *setup, struct step_exposed *ret,
		 struct step_stage *stages)
{
	struct step_setup silent = *setup;
	silent.is_silent = true;
	step_run(step, &silent, &ret->without, NULL);
	step_run(step, setup, &ret->with, stages);
	ret->head_ps = ret->with.backward_ps - ret->without.backward_ps;
	ret->tail_ps = ps_max(0, ret->with.reduce_ps - ret->with.backward_ps);
}

bool step_gradient(const struct step *step, const struct step_setup *setup, uint32_t stage,
		   uint32_t chunk, uint32_t index, struct step_gradient *ret)
{
	const struct step_cell *cell = step_cell(&step->cells, stage, chunk);
	if (index >= cell->bucket_count)
		return false;
	const struct step_bucket *of = &step->cells.buckets[cell->bucket_first + index];
	*ret = (struct step_gradient){
		.reduce_bytes = of->reduce_bytes,
		.gather_bytes = of->gather_bytes,
		.forward_ppm = of->forward_ppm,
		.ready_ppm = of->ready_ppm,
		.is_expert = of->is_expert,
		.gathered_at = of->gathered_at,
		.gather_ps = of->gather_bytes > 0 ? step_bucket_ps(setup, of, true) : 0,
		.reduce_begin = of->reduce_begin,
		.reduced_at = of->reduced_at};
	return true;
}

uint32_t step_collectives(const struct step *step, struct step_collective *ret, uint32_t max)
{
	const struct parallel *cut = &step->plan->parallel;
	return step_cells_collectives(&step->cells, cut->pp * cut->vpp, step->plan, ret, max);
}
