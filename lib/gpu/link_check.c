// SPDX-License-Identifier: Apache-2.0
// What may stand in a link: shape, header, computations, figures. Pure. See gpu_link.h.

#include <weft/gpu/gpu_link.h>

#include <string.h>

#define PAGE 65536u // of the largest systems; buffers are pinned page by page
#define DILATION_MILLI_MAX UINT64_C(1000000000000)
#define FIGURE_MAX ((UINT64_C(1) << 51) - 1) // fits beside those of all other ranks
#define NS_PER_S INT64_C(1000000000)

static uint64_t round_up(uint64_t bytes, uint64_t grain)
{
	return (bytes + grain - 1) / grain * grain;
}

static uint32_t group_of(const struct gpu_link_shape *shape)
{
	return shape->group_ranks > 0 ? shape->group_ranks : shape->rank_count;
}

const char *gpu_link_shape_wrong(const struct gpu_link_shape *shape)
{
	if (shape->rank_count == 0 || shape->rank_count > GPU_RANKS_MAX || shape->op_count == 0 ||
	    shape->op_count > GPU_OPS_MAX)
		return "a link has 1 to 4096 ranks, and 1 to 16777216 computations of each";
	if (shape->group_ranks > GPU_RANKS_MAX ||
	    (shape->group_ranks != 0 && shape->group_ranks < shape->rank_count))
		return "a group has 1 to 4096 ranks, and those of the link are among them";
	if (shape->element_bytes != 2 && shape->element_bytes != 4)
		return "elements of a link have 2 or 4 bytes";
	if (shape->block_bytes == 0 || shape->block_bytes % shape->element_bytes != 0 ||
	    shape->block_bytes > UINT32_MAX ||
	    shape->slice_bytes != shape->block_bytes * group_of(shape) ||
	    shape->bucket_bytes % shape->slice_bytes != 0 || shape->bucket_bytes == 0 ||
	    shape->stretch_bytes % shape->bucket_bytes != 0 || shape->stretch_bytes == 0 ||
	    shape->stretch_bytes > UINT64_C(1) << 44)
		return "blocks of a link do not fill its slices, buckets and stretches";
	if (shape->dilation_milli == 0 || shape->dilation_milli > DILATION_MILLI_MAX)
		return "the dilation of a link is from 0.001 to 1000000000";
	return shape->limit_s > GPU_LIMIT_S_MAX ? "a link lasts 30 days at most" : NULL;
}

void gpu_link_lay_out(struct gpu_link_header *ret, const struct gpu_link_shape *shape)
{
	uint64_t flags = (uint64_t)shape->rank_count * shape->op_count *
		sizeof(struct gpu_link_flag);
	*ret = (struct gpu_link_header){.magic = GPU_LINK_MAGIC,
					.version = GPU_LINK_VERSION,
					.header_bytes = sizeof(*ret),
					.rank_count = shape->rank_count,
					.op_count = shape->op_count,
					.stretch_bytes = shape->stretch_bytes,
					.bucket_bytes = shape->bucket_bytes,
					.slice_bytes = shape->slice_bytes,
					.block_bytes = shape->block_bytes,
					.element_bytes = shape->element_bytes,
					.seed = shape->seed,
					.dilation_milli = shape->dilation_milli,
					.group_ranks = group_of(shape),
					.has_barrier = shape->has_barrier};
	ret->limit_s = shape->limit_s > 0 ? shape->limit_s : GPU_LIMIT_S_MAX;
	ret->ops = round_up(sizeof(*ret), 64);
	ret->ranks = ret->ops +
		round_up((uint64_t)shape->op_count * sizeof(struct gpu_link_op), 64);
	ret->asked = ret->ranks +
		round_up((uint64_t)shape->rank_count * sizeof(struct gpu_link_rank), 64);
	ret->done = round_up(ret->asked + flags, 64);
	ret->buffers = round_up(ret->done + flags, PAGE);
	ret->buffer_bytes = round_up(3 * shape->stretch_bytes, PAGE);
	ret->file_bytes = ret->buffers + ret->buffer_bytes * shape->rank_count;
}

const char *gpu_link_header_wrong(const struct gpu_link_header *header, uint64_t file_bytes)
{
	const struct gpu_link_shape shape = {.rank_count = header->rank_count,
					     .op_count = header->op_count,
					     .stretch_bytes = header->stretch_bytes,
					     .bucket_bytes = header->bucket_bytes,
					     .slice_bytes = header->slice_bytes,
					     .block_bytes = header->block_bytes,
					     .element_bytes = header->element_bytes,
					     .dilation_milli = header->dilation_milli,
					     .limit_s = header->limit_s,
					     .group_ranks = header->group_ranks};
	struct gpu_link_header whole;
	if (header->magic != GPU_LINK_MAGIC)
		return "this is not a link of a run";
	if (header->version != GPU_LINK_VERSION || header->header_bytes != sizeof(whole))
		return "this link has the layout of another version";
	if (gpu_link_shape_wrong(&shape) != NULL || header->group_ranks == 0 ||
	    header->limit_s == 0 || header->has_barrier > 1)
		return "this link is damaged: its sizes do not fit together";
	gpu_link_lay_out(&whole, &shape);
	if (header->file_bytes != whole.file_bytes || file_bytes != whole.file_bytes ||
	    header->ops != whole.ops || header->ranks != whole.ranks ||
	    header->asked != whole.asked || header->done != whole.done ||
	    header->buffers != whole.buffers || header->buffer_bytes != whole.buffer_bytes)
		return "this link is damaged: it is not as long as it says";
	return NULL;
}

// ---------------------------------------------------------------- computations

// One computation for itself. No sum of two of its fields can wrap.
static const char *op_wrong(const struct gpu_link_header *header, const struct gpu_link_op *op)
{
	if (op->work >= GPU_WORK_COUNT)
		return "there is no such work";
	if (op->needs_messages > 1 ||
	    (op->needs_messages == 0 && (op->work == GPU_REDUCE || op->work == GPU_UPDATE)))
		return "sums and updates wait for messages; others do or do not";
	if (op->compute_ns < 0 || op->compute_ns > header->limit_s * NS_PER_S)
		return "it takes longer than the run may, or less than no time";
	if (op->offset > header->stretch_bytes || op->bytes > header->stretch_bytes - op->offset)
		return "it lies outside of the data of a rank";
	bool is_slice = op->work == GPU_FILL || op->work == GPU_REDUCE;
	if (op->offset % header->slice_bytes != 0 || op->bytes % header->slice_bytes != 0 ||
	    (is_slice && op->bytes != header->slice_bytes))
		return "it cuts slices";
	return NULL;
}

// What stands around it: a sum right behind its fill, and a fill never alone.
static const char *pair_wrong(const struct gpu_link_op *ops, uint32_t at)
{
	const struct gpu_link_op *fill = at > 0 ? &ops[at - 1] : NULL;
	bool is_behind = fill != NULL && fill->work == GPU_FILL && fill->step == ops[at].step;
	bool is_sum = ops[at].work == GPU_REDUCE;
	if (is_sum != is_behind || (is_sum && fill->offset != ops[at].offset))
		return "a fill and its sum do not stand one behind the other";
	return NULL;
}

static uint32_t step_ops_of(const struct gpu_link_header *header, const struct gpu_link_op *ops)
{
	for (uint32_t i = 0; i < header->op_count; i++)
		if (ops[i].work == GPU_UPDATE)
			return i + 1;
	return 0;
}

// The same as in the first step, and of the step whose turn it is; behind the last, gates.
static const char *turn_wrong(const struct gpu_link_header *header, const struct gpu_link_op *ops,
			      uint32_t at, uint32_t step_ops)
{
	const struct gpu_link_op *op = &ops[at], *first = &ops[at % step_ops];
	uint32_t steps = header->op_count / step_ops;
	if (op->step != at / step_ops)
		return "it is of a step whose turn it is not";
	if (op->step == steps)
		return op->work == GPU_GATE ? NULL : "behind the last step there are gates alone";
	if (op->work != first->work || op->bucket != first->bucket || op->slice != first->slice ||
	    op->offset != first->offset || op->bytes != first->bytes)
		return "it is not what the first step has in its place";
	return NULL;
}

const char *gpu_link_ops_wrong(const struct gpu_link_header *header, const struct gpu_link_op *ops,
			       uint32_t *ret_at)
{
	uint32_t step_ops = step_ops_of(header, ops);
	*ret_at = 0;
	if (step_ops == 0)
		return "a step has no update at its end";
	for (uint32_t i = 0; i < header->op_count; i++) {
		const char *wrong = op_wrong(header, &ops[i]);
		if (wrong == NULL)
			wrong = pair_wrong(ops, i);
		if (wrong == NULL)
			wrong = turn_wrong(header, ops, i, step_ops);
		*ret_at = i;
		if (wrong != NULL)
			return wrong;
	}
	return NULL;
}

const char *gpu_link_numbers_wrong(const struct gpu_link_header *header, const uint32_t *numbers)
{
	uint8_t is_seen[GPU_RANKS_MAX] = {0};
	for (uint32_t rank = 0; rank < header->rank_count; rank++) {
		if (numbers[rank] >= header->group_ranks || is_seen[numbers[rank]] != 0)
			return "this link is damaged: two ranks have one number, or one has none";
		is_seen[numbers[rank]] = 1;
	}
	return NULL;
}

// ---------------------------------------------------------------- figures

const char *gpu_link_figures_wrong(const struct gpu_link_header *header,
				   const struct gpu_link_figures *of)
{
	const int64_t times[] = {of->late_p50_ns, of->late_p99_ns,    of->late_max_ns,
				 of->gates_ns,	  of->update_wait_ns, of->compute_wait_ns,
				 of->barrier_ns,  of->clock_error_ns, of->fill_ns,
				 of->reduce_ns};
	const uint64_t counts[] = {of->elements, of->wrong, of->fill_bytes, of->reduce_bytes};
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (times[i] < 0 || times[i] > GPU_LIMIT_S_MAX * NS_PER_S)
			return "a time is below 0 or beyond 30 days";
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i] > FIGURE_MAX)
			return "a count is beyond what a run has";
	if (of->late_p50_ns > of->late_p99_ns || of->late_p99_ns > of->late_max_ns)
		return "its releases are later than the latest of them";
	if (of->releases > header->op_count || of->wrong > of->elements)
		return "it has more releases than computations, or more wrong elements than all";
	return NULL;
}
