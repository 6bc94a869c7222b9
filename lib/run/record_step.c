// SPDX-License-Identifier: Apache-2.0
// Writes what one rank of a step of --fidelity model meets: every forward and backward, gates at
// the first forward of a cell, the slices of its gradients in its last backward, their sums as the
// collective goes on. See record.h.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>

#include "run_parts.h"

#define SLICE_BYTES (UINT64_C(1) << 27) // of a bucket: little against a collective
#define PPM 1000000

struct recording {
	const struct plan *plan;
	const struct step *step;
	struct step_setup setup;
	struct step_times times;
	struct step_span *spans; // [span_count] of the stage, in its order
	uint32_t span_count, span_room, part_room;
	struct gpu_record record;
	uint32_t number; // of the step that is being written
	ps_t end_ps;	 // of the computation before, in it
};

static void note(void *context, const struct step_span *span)
{
	struct recording *of = context;
	check(of->span_count < of->span_room);
	of->spans[of->span_count++] = *span;
}

// ---------------------------------------------------------------- buckets

static bool find(const struct recording *of, uint32_t chunk, uint32_t index,
		 struct step_gradient *ret)
{
	return step_gradient(of->step, &of->setup, of->setup.watched, chunk, index, ret);
}

static uint32_t bucket_count(const struct recording *of, uint32_t chunk)
{
	struct step_gradient gradient;
	uint32_t count = 0;
	while (find(of, chunk, count, &gradient))
		count++;
	return count;
}

// Number of a cell's first bucket among those of the stage.
static uint32_t first_bucket(const struct recording *of, uint32_t chunk)
{
	uint32_t first = 0;
	for (uint32_t i = 0; i < chunk; i++)
		first += bucket_count(of, i);
	return first;
}

static uint64_t slices_of(const struct recording *of, const struct step_gradient *gradient)
{
	uint64_t slice = of->record.slice_bytes;
	return gradient->reduce_bytes / slice + (gradient->reduce_bytes % slice > 0);
}

// ---------------------------------------------------------------- parts

static int64_t ns(ps_t time)
{
	return time / PS_PER_NS;
}

static void put(struct recording *to, enum gpu_work work, uint32_t bucket, uint32_t slice,
		int64_t compute_ns, int64_t wait_ns)
{
	check(to->record.part_count < to->part_room);
	to->record.parts[to->record.part_count++] = (struct gpu_record_part){
		.work = work,
		.step = to->number,
		.bucket = bucket,
		.slice = slice,
		.compute_ns = compute_ns,
		.wait_ns = wait_ns};
}

// Behind the computation before. Rounded are the ends, so that their sum is that of the step.
static void put_next(struct recording *to, enum gpu_work work, uint32_t bucket, uint32_t slice,
		     ps_t begin, ps_t end)
{
	check(begin >= to->end_ps && end >= begin);
	put(to, work, bucket, slice, ns(end) - ns(begin), ns(begin) - ns(to->end_ps));
	to->end_ps = end;
}

// The first forward of a cell comes to its buckets one after the other.
static void put_gates(struct recording *to, const struct step_span *span)
{
	struct step_gradient gradient;
	uint32_t first = first_bucket(to, span->chunk);
	ps_t at = span->begin;
	for (uint32_t i = bucket_count(to, span->chunk); i > 0; i--) {
		check(find(to, span->chunk, i - 1, &gradient));
		at = ps_max(at, gradient.gathered_at);
		ps_t share = (ps_t)((__int128)span->compute_ps * gradient.forward_ppm / PPM);
		put_next(to, GPU_GATE, first + i - 1, 0, at, at + share);
		at += share;
	}
	if (at < span->end)
		put_next(to, GPU_COMPUTE, span->chunk, span->micro_batch, at, span->end);
}

// Slice `slice` of `count` is summed when as much of its collective has gone by.
static void put_slice(struct recording *to, const struct step_gradient *gradient, uint32_t bucket,
		      uint32_t slice, uint32_t count, ps_t end)
{
	ps_t time = gradient->reduced_at - gradient->reduce_begin;
	ps_t arrived = gradient->reduce_begin + (ps_t)((__int128)time * (slice + 1) / count);
	put_next(to, GPU_FILL, bucket, slice, to->end_ps, end);
	put(to, GPU_REDUCE, bucket, slice, 0, ns(ps_max(arrived - end, 0)));
}

// The last backward of a cell: its gradients come bucket by bucket.
static void put_fills(struct recording *to, const struct step_span *span)
{
	struct step_gradient gradient;
	uint32_t first = first_bucket(to, span->chunk), count = bucket_count(to, span->chunk);
	if (span->begin > to->end_ps)
		put_next(to, GPU_COMPUTE, span->chunk, span->micro_batch, span->begin, span->begin);
	for (uint32_t i = 0; i < count; i++) {
		check(find(to, span->chunk, i, &gradient));
		ps_t begin = to->end_ps, whole = span->end - span->begin;
		ps_t ready = i + 1 == count
			? span->end
			: span->begin + (ps_t)((__int128)whole * gradient.ready_ppm / PPM);
		uint32_t slices = (uint32_t)slices_of(to, &gradient); // there is room for them
		for (uint32_t k = 0; k < slices; k++)
			put_slice(to, &gradient, first + i, k, slices,
				  begin + (ps_t)((__int128)(ready - begin) * (k + 1) / slices));
	}
}

static void put_step(struct recording *to)
{
	uint32_t last = to->plan->parallel.micro_batches - 1;
	to->end_ps = 0;
	for (uint32_t i = 0; i < to->span_count; i++) {
		const struct step_span *span = &to->spans[i];
		if (!span->is_backward && span->micro_batch == 0)
			put_gates(to, span);
		else if (span->is_backward && span->micro_batch == last)
			put_fills(to, span);
		else
			put_next(to, GPU_COMPUTE, span->chunk, span->micro_batch, span->begin,
				 span->end);
	}
	put_next(to, GPU_UPDATE, 0, 0, to->times.step_ps - to->plan->timing.other_ps,
		 to->times.step_ps);
}

// What the last update sends is gathered, one bucket after the other.
static void put_end(struct recording *to)
{
	struct step_gradient gradient;
	for (uint32_t chunk = 0; chunk < to->plan->parallel.vpp; chunk++)
		for (uint32_t i = bucket_count(to, chunk); i > 0; i--) {
			check(find(to, chunk, i - 1, &gradient));
			put(to, GPU_GATE, first_bucket(to, chunk) + i - 1, 0, 0,
			    ns(gradient.gather_ps));
		}
}

// ---------------------------------------------------------------- the record

// Its place in the group that shares its parameters.
static uint32_t place_of(const struct fidelity *fidelity, const struct plan *plan, uint32_t gpu)
{
	uint32_t ranks = plan_dense_ranks(plan), groups = plan_ranks(plan) / ranks;
	for (uint32_t group = 0; group < groups; group++)
		for (uint32_t at = 0; at < ranks; at++)
			if (order_rank(&fidelity->world.order, plan, GROUP_DP, group, at) == gpu)
				return at;
	check(false);
	return 0;
}

// What the schedule of this stage has that a record cannot say.
static const char *wrong_with(const struct recording *of)
{
	struct step_gradient gradient;
	if (of->record.ranks < 2 || of->record.ranks > GPU_RANKS_MAX)
		return "a record is of a rank with 1 to 4095 others that share its parameters";
	if (of->record.element_bytes != 2 && of->record.element_bytes != 4)
		return "a record has gradients of 2 bytes (BF16) or 4 (FP32)";
	for (uint32_t chunk = 0; chunk < of->plan->parallel.vpp; chunk++)
		for (uint32_t i = 0; find(of, chunk, i, &gradient); i++)
			if (gradient.is_expert || gradient.gather_bytes == 0)
				return "a record has no experts, and parameters that are gathered "
				       "(distributed optimizer)";
	return NULL;
}

// More than a record has room for stay that.
static uint64_t step_parts_max(const struct recording *of)
{
	struct step_gradient gradient;
	uint64_t parts = 2 * (uint64_t)of->span_count + 1;
	for (uint32_t chunk = 0; chunk < of->plan->parallel.vpp; chunk++)
		for (uint32_t i = 0; find(of, chunk, i, &gradient); i++) {
			uint64_t slices = slices_of(of, &gradient);
			parts += 1 + 2 * (slices < GPU_OPS_MAX ? slices : GPU_OPS_MAX);
		}
	return parts;
}

static int write_all(struct recording *of, struct call *call, uint32_t gpu)
{
	struct gpu_record *record = &of->record;
	const char *wrong = wrong_with(of);
	if (wrong != NULL)
		return refuse(&call->refusal, -EINVAL, wrong);
	record->buckets = first_bucket(of, of->plan->parallel.vpp);
	record->steps = call->options.step_count;
	uint64_t parts = step_parts_max(of), room = parts * (record->steps + UINT64_C(1));
	if (parts > GPU_OPS_MAX || room > GPU_OPS_MAX)
		return refuse(
			&call->refusal, -EINVAL,
			"% steps are % computations, and a record has % at most: fewer --steps",
			record->steps, (int64_t)room, GPU_OPS_MAX);
	of->part_room = (uint32_t)room;
	record->parts = calloc(of->part_room, sizeof(*record->parts));
	if (record->parts == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for % computations",
			      of->part_room);
	for (; of->number < record->steps; of->number++)
		put_step(of);
	put_end(of);
	return record_keep(call, record, gpu);
}

static int run_and_write(struct recording *of, struct call *call, uint32_t gpu)
{
	struct schedule schedule;
	int rc = schedule_make(&schedule, of->plan, &call->refusal);
	if (rc < 0)
		return rc;
	of->step = schedule.step;
	step_run(schedule.step, &of->setup, &of->times, NULL);
	rc = write_all(of, call, gpu);
	schedule_free(&schedule);
	return rc;
}

int record_step(struct call *call, const struct fidelity *fidelity)
{
	const struct plan *plan = &fidelity->rows[0].of.plan;
	const struct parallel *cut = &plan->parallel;
	char *end;
	const char *word = call->options.record_rank;
	unsigned long gpu = strtoul(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || gpu >= plan_ranks(plan))
		return refuse(&call->refusal, -EINVAL,
			      "--record-rank: the scenario has no such rank; it has %",
			      plan_ranks(plan));
	if (plan_is_interleaved(plan))
		return refuse(&call->refusal, -EINVAL,
			      "--record-rank takes a step that is gathered and reduced once, not "
			      "one of FSDP, nor one that reduces each micro-batch");
	if (fidelity->rows[0].of.setup.replicas > 1)
		return refuse(
			&call->refusal, -EINVAL,
			"--record-rank takes a step in which all replicas do the same, without "
			"--slow gpuN");
	uint64_t grain = (uint64_t)plan_dense_ranks(plan) * cut->grad_bytes;
	struct recording of = {.plan = plan,
			       .setup = fidelity->rows[0].of.setup,
			       .span_room = 2 * cut->vpp * cut->micro_batches};
	of.setup.watch = note;
	of.setup.watch_context = &of;
	if (fidelity->world.is_measured)
		of.setup.collective_ppb = fidelity->world.measured_ppb;
	of.setup.watched = order_stage(&fidelity->world.order, plan, (uint32_t)gpu);
	of.record = (struct gpu_record){.rank = place_of(fidelity, plan, (uint32_t)gpu),
					.ranks = plan_dense_ranks(plan),
					.element_bytes = cut->grad_bytes,
					.slice_bytes = (SLICE_BYTES + grain - 1) / grain * grain,
					.seed = call->scenario.seed};
	of.spans = calloc(of.span_room, sizeof(*of.spans));
	int rc = of.spans == NULL ? refuse(&call->refusal, -ENODEV, "no memory for a schedule")
				  : run_and_write(&of, call, (uint32_t)gpu);
	gpu_record_free(&of.record);
	free(of.spans);
	return rc;
}
