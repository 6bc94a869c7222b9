// SPDX-License-Identifier: Apache-2.0
// The operations of one rank in a step.
// A gather is sent when the forward that asks for it begins: it waits for what that waits for.
// Collectives of a rank go one after the other, as on one stream of a GPU.
// Activations that leave their domain are exchanged behind the computation of their cell, all of
// them: they are waited for wherever they stand in it.

#include <weft/core/check.h>

#include "step_emit.h"

// Of `all` messages of a layer `forward` are of its forward, see plan_bucket.c.
static const struct {
	enum group_kind group;
	enum message_kind message;
	uint32_t tag, forward, all;
} dimensions[STEP_GROUP_COUNT] = {
	[STEP_GROUP_TENSOR] = {GROUP_TP, MESSAGE_TP, STEP_TAG_TENSOR, 4, 10},
	[STEP_GROUP_CONTEXT] = {GROUP_CP, MESSAGE_CP, STEP_TAG_CONTEXT, 1, 3},
	[STEP_GROUP_EXPERT] = {GROUP_EP, MESSAGE_EP, STEP_TAG_EXPERT, 2, 4},
};

static uint32_t member(const struct builder *builder, const struct group_list *group_list,
		       enum group_kind kind, uint32_t at)
{
	const struct step_program *of = builder->emit.of;
	return order_rank(of->order, of->plan, kind, group_list->group_of[builder->emit.rank], at);
}

// ---------------------------------------------------------------- collectives

static bool ring_of(const struct builder *builder, const struct step_bucket *bucket, bool is_gather,
		    struct step_ring *ret)
{
	uint32_t rank = builder->emit.rank, at = bucket->is_expert;
	uint32_t group = builder->rings[at].group_of[rank];
	uint32_t tag = bucket->is_expert ? STEP_TAG_EXPERT_PARAMS : 0;
	bool is_all = bucket->gather_bytes == 0;
	*ret = (struct step_ring){
		.kind = is_gather ? COLLECTIVE_ALL_GATHER
			: is_all  ? COLLECTIVE_ALL_REDUCE
				  : COLLECTIVE_REDUCE_SCATTER,
		.bytes = is_gather ? bucket->gather_bytes : bucket->reduce_bytes,
		.slice_tag = STEP_TAG_SLICE + tag,
		.credit_tag = STEP_TAG_CREDIT + tag,
		.stream = is_gather ? STEP_STREAM_GATHER : STEP_STREAM_REDUCE,
	};
	if (group == OP_NONE || ret->bytes == 0)
		return false;
	ret->group = &builder->emit.of->job->groups[group];
	ret->at = builder->rings[at].at_of[rank];
	return true;
}

// A collective that begins when both `a` and `b` have ended, and those before it. Returns its end.
static uint32_t collective(struct builder *builder, const struct step_bucket *bucket,
			   bool is_gather, uint32_t a, uint32_t b)
{
	struct step_emit *emit = &builder->emit;
	struct step_ring ring;
	uint16_t stream = (uint16_t)(is_gather ? STEP_STREAM_GATHER : STEP_STREAM_REDUCE);
	uint32_t begin = emit_compute(emit, stream, 0);
	emit_wait(emit, begin, a);
	emit_wait(emit, begin, b);
	emit_wait(emit, begin, builder->communicated);
	builder->communicated = ring_of(builder, bucket, is_gather, &ring)
		? emit_ring(emit, &ring, begin)
		: begin;
	return builder->communicated;
}

// The part of a reduce that goes among those that hold the same shard.
static void across(struct builder *builder, const struct step_bucket *bucket)
{
	const struct step_bucket part = {.reduce_bytes = bucket->across_bytes, .is_expert = true};
	if (bucket->across_bytes > 0)
		collective(builder, &part, false, OP_NONE, OP_NONE);
}

// Parameters of a chunk, in the order of forward.
static void gather(struct builder *builder, uint32_t chunk, uint32_t a, uint32_t b)
{
	const struct step_cell *cell = step_cell(&builder->cells, builder->stage, chunk);
	for (uint32_t i = cell->bucket_count; i > 0; i--) {
		struct step_bucket *bucket = &builder->cells.buckets[cell->bucket_first + i - 1];
		bucket->gather_op = OP_NONE;
		if (bucket->gather_bytes > 0)
			bucket->gather_op = collective(builder, bucket, true, a, b);
	}
}

static void reduce(struct builder *builder, uint32_t chunk)
{
	const struct step_cell *cell = step_cell(&builder->cells, builder->stage, chunk);
	for (uint32_t i = 0; i < cell->bucket_count; i++) {
		const struct step_bucket *bucket = &builder->cells.buckets[cell->bucket_first + i];
		collective(builder, bucket, false,
			   builder->plan->parallel.is_aligned ? builder->computed
							      : bucket->ready_op,
			   OP_NONE);
	}
}

// ---------------------------------------------------------------- activations

// Whom a rank sends to and hears from in round `i` of a message.
struct partners {
	uint32_t to, from;
};

static struct partners partners_of(const struct builder *builder, enum step_group kind, uint32_t i)
{
	const struct group_list *group_list = &builder->group_lists[kind];
	enum group_kind group = dimensions[kind].group;
	uint32_t at = group_list->at_of[builder->emit.rank], ranks = group_list->ranks;
	uint32_t far = kind == STEP_GROUP_EXPERT ? i + 1 : 1; // all to all, else the next one
	return (struct partners){member(builder, group_list, group, (at + far) % ranks),
				 member(builder, group_list, group, (at + ranks - far) % ranks)};
}

// One message of a dimension among its ranks: a ring of parts, one hop, or a part for each. The
// rank goes on when what is for it is there.
static void exchange(struct builder *builder, enum step_group kind, uint64_t bytes)
{
	struct step_emit *emit = &builder->emit;
	uint32_t ranks = builder->group_lists[kind].ranks, tag = dimensions[kind].tag;
	bool is_hop = kind == STEP_GROUP_CONTEXT;
	uint64_t each = is_hop ? bytes : (bytes + ranks - 1) / ranks;
	uint32_t before = builder->computed, end = emit_compute(emit, STEP_STREAM_GATHER, 0);
	for (uint32_t i = 0; i < (is_hop ? 1 : ranks - 1); i++) {
		struct partners with = partners_of(builder, kind, i);
		uint32_t receive = emit_receive(emit, with.from, tag, each, 0, false);
		uint32_t send = emit_send(emit, with.to, tag, each, 0);
		emit_wait(emit, send, before);
		emit_wait(emit, end, send);
		emit_wait(emit, end, receive);
		if (kind == STEP_GROUP_TENSOR)
			before = receive;
	}
	emit_wait(emit, end, builder->computed);
	builder->computed = end;
}

// What a cell's forward or backward exchanges outside its domain.
static void exchange_all(struct builder *builder, struct operation operation)
{
	struct message_sum sums[MESSAGE_COUNT] = {0};
	plan_cell_messages(builder->plan, builder->stage, operation.chunk, sums);
	for (uint32_t kind = 0; kind < STEP_GROUP_COUNT; kind++) {
		const struct message_sum *sum = &sums[dimensions[kind].message];
		uint64_t all = sum->count / builder->plan->parallel.micro_batches;
		uint64_t forward = all * dimensions[kind].forward / dimensions[kind].all;
		uint64_t count = operation.is_backward ? all - forward : forward;
		if (!builder->group_lists[kind].is_off_domain)
			continue;
		for (uint64_t i = 0; i < count; i++)
			exchange(builder, (enum step_group)kind, sum->bytes);
	}
}

static uint64_t edge_bytes(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	return (uint64_t)cut->sequence * cut->samples / cut->cp / cut->tp *
		plan->architecture->hidden * cut->activation_bytes;
}

// The stage that a forward or backward hears from, or sends to; its own: nobody.
static uint32_t neighbour(const struct builder *builder, struct operation operation, bool is_input)
{
	const struct parallel *cut = &builder->plan->parallel;
	bool is_down = operation.is_backward != is_input; // towards the first stage
	uint32_t stage = builder->stage, last = cut->pp - 1;
	if (is_down && stage > 0)
		return stage - 1;
	if (!is_down && stage < last)
		return stage + 1;
	if (is_down) // from the first stage on to the last one's chunk before
		return operation.chunk > 0 ? last : stage;
	return operation.chunk + 1 < cut->vpp ? 0 : stage;
}

static bool is_end(const struct builder *builder, struct operation operation)
{
	const struct parallel *cut = &builder->plan->parallel;
	return cut->pp > 1 && builder->stage + 1 == cut->pp && operation.chunk + 1 == cut->vpp;
}

// The last cell's forward is done: its backward may begin a little later.
static void turn(struct builder *builder, struct operation operation)
{
	const struct step_setup *setup = builder->emit.of->setup;
	ps_t time = setup->silent_send_ps > 0 ? setup->silent_send_ps : setup->send_ps;
	uint32_t op = emit_compute(&builder->emit, STEP_STREAM_LOSS, time);
	emit_wait(&builder->emit, op, builder->computed);
	builder->turns[operation.micro_batch] = op;
}

static uint32_t hear(struct builder *builder, struct operation operation)
{
	uint32_t from = neighbour(builder, operation, true);
	if (operation.is_backward && is_end(builder, operation))
		return builder->turns[operation.micro_batch];
	if (from == builder->stage)
		return OP_NONE;
	return emit_receive(&builder->emit, member(builder, &builder->stages, GROUP_PP, from),
			    operation.is_backward ? STEP_TAG_BACKWARD : STEP_TAG_FORWARD,
			    edge_bytes(builder->plan), 0, false);
}

static void tell(struct builder *builder, struct operation operation)
{
	uint32_t to = neighbour(builder, operation, false);
	if (to == builder->stage)
		return;
	uint32_t send = emit_send(&builder->emit, member(builder, &builder->stages, GROUP_PP, to),
				  operation.is_backward ? STEP_TAG_BACKWARD : STEP_TAG_FORWARD,
				  edge_bytes(builder->plan), 0);
	emit_wait(&builder->emit, send, builder->computed);
}

// ---------------------------------------------------------------- forwards and backwards

// A computation behind the latest one and `also`.
static void compute(struct builder *builder, ps_t time, uint32_t also)
{
	uint32_t op = emit_compute(&builder->emit, STEP_STREAM_COMPUTE, time);
	emit_wait(&builder->emit, op, builder->computed);
	emit_wait(&builder->emit, op, also);
	builder->computed = op;
}

// The first forward of a chunk waits for its parameters as it comes to them.
static void compute_gated(struct builder *builder, const struct step_cell *cell, ps_t time,
			  uint32_t input)
{
	uint64_t used = 0;
	compute(builder, 0, input);
	if (builder->plan->parallel.sharding != SHARDING_MEGATRON) // all at once, see step.c
		compute(builder, 0, builder->communicated);
	for (uint32_t i = cell->bucket_count; i > 0; i--) {
		const struct step_bucket *bucket =
			&builder->cells.buckets[cell->bucket_first + i - 1];
		compute(builder, step_share(time, bucket->forward_ppm, STEP_PPM),
			bucket->gather_op);
		used += bucket->forward_ppm;
	}
	if (used < STEP_PPM)
		compute(builder, step_share(time, STEP_PPM - used, STEP_PPM), OP_NONE);
}

// The last backward of a chunk, with the places in it at which buckets are ready.
static void compute_releasing(struct builder *builder, const struct step_cell *cell, ps_t time,
			      uint32_t input)
{
	ps_t done = 0;
	compute(builder, 0, input);
	for (uint32_t i = 0; i < cell->bucket_count; i++) {
		struct step_bucket *bucket = &builder->cells.buckets[cell->bucket_first + i];
		bool is_last = i + 1 == cell->bucket_count;
		ps_t until = is_last ? time : step_share(time, bucket->ready_ppm, STEP_PPM);
		compute(builder, ps_max(0, until - done), OP_NONE);
		done = ps_max(done, until);
		bucket->ready_op = builder->computed;
	}
}

// The gradients of a unit go out, and what is among those that hold the same shard.
static void reduce_unit(struct builder *builder, const struct step_bucket *unit)
{
	collective(builder, unit, false, builder->computed, OP_NONE);
	across(builder, unit);
}

// A forward or backward with collectives between its units: see run_units() in step.c.
static void compute_units(struct builder *builder, const struct operation *operation, ps_t time,
			  uint32_t input)
{
	const struct step_cell *cell = step_cell(&builder->cells, builder->stage, operation->chunk);
	const struct step_traffic traffic = step_traffic(builder->plan, operation);
	uint32_t gathered = 0, ppm;
	compute(builder, 0, input);
	for (uint32_t i = 0; i < cell->bucket_count; i++) {
		for (; traffic.is_gathered && gathered < cell->bucket_count &&
		     gathered <= i + traffic.prefetch;
		     gathered++) {
			struct step_bucket *next = step_unit(
				&builder->cells, cell, operation->is_backward, gathered, &ppm);
			next->gather_op = collective(builder, next, true, builder->computed,
						     OP_NONE);
		}
		struct step_bucket *unit = step_unit(&builder->cells, cell, operation->is_backward,
						     i, &ppm);
		compute(builder, step_share(time, ppm, STEP_PPM),
			!traffic.is_gathered		 ? OP_NONE
				: traffic.is_all_awaited ? builder->communicated
							 : unit->gather_op);
		if (traffic.is_reduced && !traffic.is_end_of_reduce)
			reduce_unit(builder, unit);
	}
	for (uint32_t i = 0;
	     traffic.is_reduced && traffic.is_end_of_reduce && i < cell->bucket_count; i++)
		reduce_unit(builder, step_unit(&builder->cells, cell, true, i, &ppm));
}

static void run_forward(struct builder *builder, struct operation operation, ps_t time)
{
	uint32_t chunk = operation.chunk, input = hear(builder, operation);
	const struct step_cell *cell = step_cell(&builder->cells, builder->stage, chunk);
	if (plan_is_interleaved(builder->plan)) {
		compute_units(builder, &operation, time, input);
		return;
	}
	if (operation.micro_batch > 0) {
		compute(builder, time, input);
		return;
	}
	if (chunk > 0 && chunk + 1 < builder->cells.chunks)
		gather(builder, chunk + 1, builder->computed, input);
	compute_gated(builder, cell, time, input);
}

static void run_backward(struct builder *builder, struct operation operation, ps_t time)
{
	const struct parallel *cut = &builder->plan->parallel;
	uint32_t input = operation.is_late ? OP_NONE : hear(builder, operation);
	bool is_last = operation.micro_batch + 1 == cut->micro_batches &&
		step_has_gradients(cut, operation);
	if (plan_is_interleaved(builder->plan)) {
		compute_units(builder, &operation, time, input);
		return;
	}
	if (!is_last || cut->is_aligned) {
		compute(builder, time, input);
		return;
	}
	compute_releasing(builder, step_cell(&builder->cells, builder->stage, operation.chunk),
			  time, input);
}

// Aligned: a chunk is reduced so many backwards after its last one as the stage's number, or at the
// stage's end. Else at once.
static void find_fires(struct builder *builder)
{
	const struct parallel *cut = &builder->plan->parallel;
	uint32_t backwards = 0, all = cut->micro_batches * cut->vpp;
	for (uint32_t index = 0; index < step_operations(cut); index++) {
		struct operation operation = step_operation(cut, builder->stage, index);
		if (!step_has_gradients(cut, operation))
			continue;
		backwards++;
		if (operation.micro_batch + 1 != cut->micro_batches)
			continue;
		uint32_t after = backwards + (cut->is_aligned ? builder->stage : 0);
		builder->fire_at[operation.chunk] = after < all ? after : all;
	}
}

void step_rank(struct builder *builder, uint32_t rank)
{
	const struct step_program *of = builder->emit.of;
	const struct parallel *cut = &builder->plan->parallel;
	uint32_t backwards = 0;
	builder->emit.rank = rank;
	builder->stage = order_stage(of->order, of->plan, rank);
	builder->replica = order_replica(of->order, of->plan, rank);
	builder->computed = builder->communicated = OP_NONE;
	find_fires(builder);
	for (uint32_t chunk = 0; chunk < 2 && chunk < cut->vpp && !plan_is_interleaved(of->plan);
	     chunk++)
		gather(builder, chunk, OP_NONE, OP_NONE);
	for (uint32_t index = 0; index < step_operations(cut); index++) {
		struct operation operation = step_operation(cut, builder->stage, index);
		const struct step_place place = {builder->replica, builder->stage, index};
		const struct step_cell *cell = step_cell(&builder->cells, builder->stage,
							 operation.chunk);
		ps_t time = step_compute_ps(of->plan, cell, of->setup, &place);
		if (operation.is_backward)
			run_backward(builder, operation, time);
		else
			run_forward(builder, operation, time);
		if (!operation.is_late)
			exchange_all(builder, operation);
		if (!operation.is_backward && is_end(builder, operation))
			turn(builder, operation);
		else if (!operation.is_late)
			tell(builder, operation);
		bool has_gradients = step_has_gradients(cut, operation);
		backwards += has_gradients;
		if (plan_is_interleaved(of->plan))
			continue;
		for (uint32_t chunk = cut->vpp; has_gradients && chunk > 0; chunk--)
			if (builder->fire_at[chunk - 1] == backwards)
				reduce(builder, chunk - 1);
	}
	uint32_t end = emit_compute(&builder->emit, STEP_STREAM_OTHER, of->plan->timing.other_ps);
	emit_wait(&builder->emit, end, builder->computed);
	emit_wait(&builder->emit, end, builder->communicated);
}
