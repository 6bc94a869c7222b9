// SPDX-License-Identifier: Apache-2.0
// The collectives of a pipeline stage, and when a step releases them, in closed form.
//
// Times, from the start of the step, with f and b one micro-batch forward and backward through one
// chunk, p stages, v chunks, m micro-batches (in groups of p), stage r, chunk c:
//   pipeline       T = (m v + p - 1) (f + b)
//   gather c       0 for c < 2; else the first micro-batch of chunk c - 1 starts: (r + (c - 1) p) f
//   last backward  of chunk c ends at B = T - (r + c p) b: the cool-down is all backward, and
//                  stage r is done r slots before stage 0
//   reduce c       aligned: stage r waits r slots more, so that all stages send together: T - c p
//   b.
//                  Chunk 0 has no slots left to wait for: T - r b. Not aligned: B.
// Stage 0, chunk 0 not aligned: its buckets leave within its last backward, at the shares that the
// schedule has (step_cells.c): assumed, not measured. A plan without times releases all at once:
// its collectives run back to back.
//
// What it is not: a simulation of the pipeline, see step.c. The ideal one has no bubbles but its
// fill.

#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/workload.h>

#include "job.h"

#include "schedule/step_operation.h"

#define PPM 1000000

// ---------------------------------------------------------------- times

static ps_t gather_ps(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	if (chunk < 2)
		return 0;
	return (stage + (ps_t)(chunk - 1) * plan->parallel.pp) * plan->timing.forward_ps;
}

static ps_t last_backward_ps(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	ps_t backward_ps = plan->timing.backward_ps;
	// ZB-H1: the last gradients of weights, of which a later stage has more left
	return step_pipeline_ps(plan) -
		(stage + (ps_t)chunk * plan->parallel.pp) *
		(backward_ps - 2 * step_late_ps(plan, backward_ps));
}

static ps_t reduce_ps(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	ps_t own_ps = last_backward_ps(plan, stage, chunk);
	if (!plan->parallel.is_aligned || chunk == 0)
		return own_ps;
	return own_ps + stage * plan->timing.backward_ps;
}

// A part of a cell that is cut into buckets; the last backward of the first cell is shorter by the
// layers it lacks.
static ps_t part_ps(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t ready_ppm)
{
	ps_t end_ps = last_backward_ps(plan, stage, chunk);
	if (plan->parallel.is_aligned)
		return end_ps;
	ps_t late_ps = step_late_ps(plan, plan->timing.backward_ps);
	ps_t whole_ps = (late_ps > 0 ? late_ps : plan->timing.backward_ps) *
		plan_layers(plan, stage, chunk) / plan_slots(plan);
	return end_ps - whole_ps + whole_ps * ready_ppm / PPM;
}

// ---------------------------------------------------------------- the list

struct bucket_writer {
	struct bucket *to;
	uint32_t max, count;
};

static void append(char *text, size_t size, const char *what)
{
	size_t used = strlen(text), length = strlen(what);
	if (length > size - 1 - used)
		length = size - 1 - used;
	memcpy(text + used, what, length);
	text[used + length] = '\0';
}

static void append_number(char *text, size_t size, uint32_t number)
{
	char digits[12] = {0};
	int at = 11;
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	append(text, size, digits + at);
}

// "chunk 0 part 2"; part 0: the cell is one bucket.
static void label(struct bucket *bucket, uint32_t part)
{
	size_t size = sizeof(bucket->label);
	bucket->label[0] = '\0';
	append(bucket->label, size, "chunk ");
	append_number(bucket->label, size, bucket->chunk);
	if (part == 0)
		return;
	append(bucket->label, size, " part ");
	append_number(bucket->label, size, part);
}

static void put(struct bucket_writer *writer, const struct bucket *bucket)
{
	if (writer->count < writer->max)
		writer->to[writer->count] = *bucket;
	writer->count++;
}

// The other way round, from number `first` on: parameters are wanted in the order of forward.
static void turn(struct bucket_writer *writer, uint32_t first)
{
	uint32_t low = first, high = writer->count;
	for (; high <= writer->max && low + 1 < high; low++, high--) {
		struct bucket swap = writer->to[low];
		writer->to[low] = writer->to[high - 1];
		writer->to[high - 1] = swap;
	}
}

// Numbered as they go; a cell that is not cut has one bucket.
static void label_cell(struct bucket_writer *writer, uint32_t first, bool is_cut)
{
	for (uint32_t i = first; i < writer->count && i < writer->max; i++)
		label(&writer->to[i], is_cut ? i - first + 1 : 0);
}

static void put_cell(struct bucket_writer *writer, const struct plan *plan,
		     const struct bucket *like, bool is_expert)
{
	const struct parallel *cut = &plan->parallel;
	bool is_gather = like->kind == COLLECTIVE_ALL_GATHER;
	bool is_cut = plan->parallel.sharding != SHARDING_MEGATRON ||
		(like->stage == 0 && like->chunk == 0);
	uint32_t left = plan_part_count(plan, like->stage, like->chunk), first = writer->count;
	struct plan_bucket found;
	while (plan_bucket_next(plan, like->stage, like->chunk, is_expert, &left, &found)) {
		struct bucket bucket = *like;
		bucket.bytes = found.padded * (is_gather ? cut->param_bytes : cut->grad_bytes);
		bucket.siblings = 1;
		bucket.release_ps = is_gather ? gather_ps(plan, like->stage, like->chunk)
					      : reduce_ps(plan, like->stage, like->chunk);
		if (is_cut && !is_gather && !cut->is_aligned)
			bucket.release_ps = part_ps(
				plan, like->stage, like->chunk,
				step_ready_ppm(plan, like->stage, like->chunk, left));
		put(writer, &bucket);
	}
	if (is_gather)
		turn(writer, first);
	label_cell(writer, first, is_cut);
}

// ---------------------------------------------------------------- of each micro-batch

// One forward or backward of a cell that begins at `begin`: gathers run `prefetch` units ahead,
// reduces behind each unit or behind the last.
struct pass {
	const struct plan *plan;
	struct bucket_writer *writer;
	bool is_expert;
	bool is_across; // only what goes between those that hold the same shard
	uint32_t stage;
	struct operation operation;
	struct step_traffic traffic;
	uint32_t count; // of units
	ps_t begin;
};

// When the computation of unit `at` of a pass begins, in an ideal pass; of `count`: its end.
static ps_t unit_ps(const struct pass *pass, uint32_t at)
{
	const struct timing *timing = &pass->plan->timing;
	bool is_backward = pass->operation.is_backward;
	uint32_t chunk = pass->operation.chunk;
	ps_t time = is_backward ? timing->backward_ps : timing->forward_ps;
	uint32_t parts = plan_part_count(pass->plan, pass->stage, chunk), left = parts, low = parts;
	struct plan_bucket unit;
	uint32_t number = is_backward ? at : pass->count - at;
	for (uint32_t i = 0; i < number; i++) {
		plan_bucket_next(pass->plan, pass->stage, chunk, pass->is_expert, &left, &unit);
		low = left;
	}
	uint64_t done = is_backward ? step_ready_ppm(pass->plan, pass->stage, chunk, low)
				    : step_forward_ppm(pass->plan, pass->stage, chunk, low);
	if (at == 0 || at >= pass->count)
		return pass->begin + (at == 0 ? 0 : time);
	return pass->begin + (ps_t)((__int128)time * done / PPM);
}

static void put_unit(const struct pass *pass, uint32_t at, enum collective_kind kind,
		     ps_t release_ps)
{
	const struct parallel *cut = &pass->plan->parallel;
	uint32_t chunk = pass->operation.chunk;
	uint32_t left = plan_part_count(pass->plan, pass->stage, chunk);
	uint32_t number = pass->operation.is_backward ? at : pass->count - 1 - at;
	struct plan_bucket unit;
	for (uint32_t i = 0; i <= number; i++)
		plan_bucket_next(pass->plan, pass->stage, chunk, pass->is_expert, &left, &unit);
	struct bucket bucket = {
		.kind = kind,
		.siblings = 1,
		.stage = pass->stage,
		.chunk = chunk,
		.release_ps = release_ps,
		.bytes = unit.padded *
			(kind == COLLECTIVE_ALL_GATHER ? cut->param_bytes : cut->grad_bytes)};
	if (pass->is_across)
		bucket.bytes /= plan_shard_ranks(pass->plan);
	label(&bucket, number + 1);
	put(pass->writer, &bucket);
}

static void put_pass(const struct pass *pass)
{
	const struct step_traffic *traffic = &pass->traffic;
	enum collective_kind reduce = pass->plan->parallel.has_distributed_optimizer
		? COLLECTIVE_REDUCE_SCATTER
		: COLLECTIVE_ALL_REDUCE;
	uint32_t gathered = 0;
	if (pass->is_across)
		reduce = COLLECTIVE_ALL_REDUCE;
	for (uint32_t at = 0; at < pass->count; at++) {
		for (; traffic->is_gathered && !pass->is_across && gathered < pass->count &&
		     gathered <= at + traffic->prefetch;
		     gathered++)
			put_unit(pass, gathered, COLLECTIVE_ALL_GATHER, unit_ps(pass, at));
		uint32_t end = traffic->is_end_of_reduce ? pass->count : at + 1;
		if (traffic->is_reduced)
			put_unit(pass, at, reduce, unit_ps(pass, end));
	}
}

static uint32_t count_units(const struct pass *pass)
{
	uint32_t chunk = pass->operation.chunk;
	struct plan_bucket unit;
	uint32_t count = 0, left = plan_part_count(pass->plan, pass->stage, chunk);
	while (plan_bucket_next(pass->plan, pass->stage, chunk, pass->is_expert, &left, &unit))
		count++;
	return count;
}

static uint32_t list_passes(const struct plan *plan, uint32_t stage, bool is_expert, bool is_across,
			    struct bucket_writer *writer)
{
	struct pass pass = {.plan = plan,
			    .writer = writer,
			    .is_expert = is_expert,
			    .is_across = is_across,
			    .stage = stage};
	for (uint32_t i = 0; i < step_operations(&plan->parallel); i++) {
		pass.operation = step_operation(&plan->parallel, stage, i);
		pass.traffic = step_traffic(plan, &pass.operation);
		pass.count = count_units(&pass);
		pass.begin = step_ideal_ps(plan, stage, i);
		put_pass(&pass);
	}
	return writer->count;
}

uint32_t bucket_list(const struct plan *plan, uint32_t stage, bool is_expert, struct bucket *ret,
		     uint32_t max)
{
	const struct parallel *cut = &plan->parallel;
	struct bucket_writer writer = {.to = ret, .max = max};
	if (plan_is_interleaved(plan))
		return list_passes(plan, stage, is_expert, false, &writer);
	struct bucket like = {.kind = COLLECTIVE_ALL_GATHER, .stage = stage};
	for (like.chunk = 0; cut->has_distributed_optimizer && like.chunk < cut->vpp; like.chunk++)
		put_cell(&writer, plan, &like, is_expert);
	like.kind = cut->has_distributed_optimizer ? COLLECTIVE_REDUCE_SCATTER
						   : COLLECTIVE_ALL_REDUCE;
	for (uint32_t i = cut->vpp; i > 0; i--) { // backwards: the last chunk is done first
		like.chunk = i - 1;
		put_cell(&writer, plan, &like, is_expert);
	}
	return writer.count;
}

uint32_t bucket_list_across(const struct plan *plan, uint32_t stage, struct bucket *ret,
			    uint32_t max)
{
	struct bucket_writer writer = {.to = ret, .max = max};
	return list_passes(plan, stage, false, true, &writer);
}
