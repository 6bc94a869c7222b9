// SPDX-License-Identifier: Apache-2.0
// The gradients of training steps as a program. See weft/workload/gradients.h.

#include <weft/workload/gradients.h>

#include <errno.h>

#include <weft/core/check.h>

#define TAG_SCATTER 0u
#define TAG_GATHER 1u
#define STREAM_COMPUTE 0u
#define STREAM_REDUCE 1u
#define OPS_MAX (UINT64_C(1) << 28)

static const char *const work_names[] = {"gate", "fill", "reduce", "update"};
_Static_assert(sizeof(work_names) / sizeof(*work_names) == GRADIENTS_WORK_COUNT, "a name for each");

const char *gradients_work_name(enum gradients_work work)
{
	check((unsigned)work < GRADIENTS_WORK_COUNT);
	return work_names[work];
}

// ---------------------------------------------------------------- the list

// Gates, fills with their sums, and an update.
static uint32_t step_parts(const struct gradients_config *config)
{
	return config->buckets + 2 * config->buckets * config->slices + 1;
}

uint32_t gradients_parts(const struct gradients_config *config)
{
	return config->steps * step_parts(config) + config->buckets;
}

static uint64_t slice_bytes(const struct gradients_config *config)
{
	return config->bucket_bytes / config->slices;
}

static void gate_part(const struct gradients_config *config, uint32_t step, uint32_t bucket,
		      struct gradients_part *ret)
{
	*ret = (struct gradients_part){.work = GRADIENTS_GATE,
				       .needs_messages = step > 0,
				       .step = step,
				       .bucket = bucket,
				       .offset = bucket * config->bucket_bytes,
				       .bytes = config->bucket_bytes,
				       .compute_ps = step < config->steps ? config->forward_ps : 0};
}

static void slice_part(const struct gradients_config *config, uint32_t step, uint32_t at,
		       struct gradients_part *ret)
{
	uint32_t number = at / 2;
	bool is_sum = at % 2 == 1;
	*ret = (struct gradients_part){.work = is_sum ? GRADIENTS_REDUCE : GRADIENTS_FILL,
				       .needs_messages = is_sum,
				       .step = step,
				       .bucket = number / config->slices,
				       .slice = number % config->slices,
				       .offset = number * slice_bytes(config),
				       .bytes = slice_bytes(config),
				       .compute_ps = is_sum ? 0
							    : config->backward_ps / config->slices};
}

void gradients_part(const struct gradients_config *config, uint32_t index,
		    struct gradients_part *ret)
{
	uint32_t step = index / step_parts(config), at = index % step_parts(config);
	check(index < gradients_parts(config));
	if (at < config->buckets)
		gate_part(config, step, at, ret);
	else if (at + 1 < step_parts(config))
		slice_part(config, step, at - config->buckets, ret);
	else
		*ret = (struct gradients_part){.work = GRADIENTS_UPDATE,
					       .needs_messages = true,
					       .step = step,
					       .bytes = gradients_stretch_bytes(config),
					       .compute_ps = config->update_ps};
}

// ---------------------------------------------------------------- checks

static uint64_t messages(const struct gradients_config *config)
{
	return 2ull * config->steps * config->buckets * config->slices * config->ranks *
		(config->ranks - 1);
}

int gradients_check(const struct gradients_config *config, struct refusal *refusal)
{
	uint64_t grain = (uint64_t)config->slices * config->ranks * config->element_bytes;
	if (config->ranks < 2)
		return refuse(refusal, -EINVAL, "gradients need 2 ranks or more");
	if (config->element_bytes != 2 && config->element_bytes != 4)
		return refuse(refusal, -EINVAL,
			      "gradients are numbers of 2 bytes (BF16) or 4 (FP32), not %",
			      config->element_bytes);
	if (config->bucket_bytes == 0 || config->bucket_bytes % grain != 0)
		return refuse(refusal, -EINVAL,
			      "a bucket of % bytes has no whole elements for each of % ranks in "
			      "each of its slices; take a multiple of % bytes",
			      (int64_t)config->bucket_bytes, config->ranks, (int64_t)grain);
	if (gradients_block_bytes(config) > UINT32_MAX ||
	    gradients_stretch_bytes(config) > INT64_MAX / 4)
		return refuse(refusal, -EINVAL, "a block of % bytes is too long for one message",
			      (int64_t)gradients_block_bytes(config));
	uint64_t ops = 2 * messages(config) + (uint64_t)config->ranks * gradients_parts(config);
	if (ops > OPS_MAX)
		return refuse(refusal, -EINVAL, "these gradients are % operations: too many",
			      (int64_t)ops);
	return 0;
}

// ---------------------------------------------------------------- the program

static uint32_t op_count(const struct gradients_config *config)
{
	return (uint32_t)(2 * messages(config)) + config->ranks * gradients_parts(config);
}

// A message: its send waits, its receive is waited for, and its send as well. A computation waits
// for the one before; a sum for its fill, and the update for it.
static uint32_t edge_max(const struct gradients_config *config)
{
	return (uint32_t)(3 * messages(config)) + 3 * config->ranks * gradients_parts(config);
}

struct writer {
	const struct gradients_config *config;
	struct program *program;
};

static uint32_t part_op(const struct writer *writer, uint32_t rank, uint32_t step, uint32_t at)
{
	return gradients_op(writer->config, rank, step * step_parts(writer->config) + at);
}

static uint32_t gate_op(const struct writer *writer, uint32_t rank, uint32_t step, uint32_t bucket)
{
	return part_op(writer, rank, step, bucket);
}

static uint32_t fill_op(const struct writer *writer, uint32_t rank, uint32_t step, uint32_t slice)
{
	return part_op(writer, rank, step, writer->config->buckets + 2 * slice);
}

static uint32_t update_op(const struct writer *writer, uint32_t rank, uint32_t step)
{
	return part_op(writer, rank, step, step_parts(writer->config) - 1);
}

// All computations first, so that their numbers are known; each but a sum behind the one before.
static void put_parts(struct writer *writer, uint32_t rank)
{
	const struct gradients_config *config = writer->config;
	uint32_t before = OP_NONE, fill = OP_NONE;
	for (uint32_t i = 0; i < gradients_parts(config); i++) {
		struct gradients_part part;
		gradients_part(config, i, &part);
		bool is_sum = part.work == GRADIENTS_REDUCE;
		uint32_t op = program_compute(
			writer->program, rank, is_sum ? STREAM_REDUCE : STREAM_COMPUTE,
			config->is_external_compute ? OP_EXTERNAL_COMPUTE_PS : part.compute_ps);
		check(op == gradients_op(config, rank, i));
		program_wait(writer->program, op, is_sum ? fill : before);
		if (part.work == GRADIENTS_FILL)
			fill = op;
		if (!is_sum)
			before = op;
	}
}

// A block from `rank` to `to`, from the operation behind which it goes to the one that needs it;
// `keeps` may not begin while its bytes are still being sent.
struct block {
	uint32_t rank, to, tag;
	uint64_t from_offset, to_offset;
	uint32_t after, keeps, before;
};

static void put_block(struct writer *writer, const struct block *of)
{
	uint32_t bytes = (uint32_t)gradients_block_bytes(writer->config);
	uint32_t send = program_send(writer->program, of->rank, of->to, of->tag, bytes,
				     of->from_offset);
	uint32_t receive = program_receive(writer->program, of->to, of->rank, of->tag, bytes,
					   of->to_offset, false);
	program_wait(writer->program, send, of->after);
	program_wait(writer->program, of->keeps, send);
	program_wait(writer->program, of->before, receive);
}

// Slice number `slice` of a step, counted over its buckets, between two ranks.
static void put_pair(struct writer *writer, uint32_t step, uint32_t slice, uint32_t rank,
		     uint32_t to)
{
	const struct gradients_config *config = writer->config;
	uint64_t stretch = gradients_stretch_bytes(config), block = gradients_block_bytes(config);
	uint64_t at = slice * slice_bytes(config);
	uint32_t bucket = slice / config->slices;
	put_block(writer,
		  &(struct block){.rank = rank,
				  .to = to,
				  .tag = TAG_SCATTER,
				  .from_offset = at + to * block,
				  .to_offset = stretch + at + rank * block,
				  .after = fill_op(writer, rank, step, slice),
				  .keeps = update_op(writer, rank, step),
				  .before = fill_op(writer, to, step, slice) + 1});
	put_block(writer,
		  &(struct block){.rank = rank,
				  .to = to,
				  .tag = TAG_GATHER,
				  .from_offset = 2 * stretch + at + rank * block,
				  .to_offset = 2 * stretch + at + rank * block,
				  .after = update_op(writer, rank, step),
				  .keeps = gate_op(writer, rank, step + 1, bucket),
				  .before = gate_op(writer, to, step + 1, bucket)});
}

static void put_step(struct writer *writer, uint32_t step)
{
	const struct gradients_config *config = writer->config;
	for (uint32_t slice = 0; slice < config->buckets * config->slices; slice++)
		for (uint32_t distance = 1; distance < config->ranks; distance++)
			for (uint32_t rank = 0; rank < config->ranks; rank++)
				put_pair(writer, step, slice, rank,
					 (rank + distance) % config->ranks);
	for (uint32_t rank = 0; rank < config->ranks; rank++)
		for (uint32_t slice = 0; slice < config->buckets * config->slices; slice++)
			program_wait(writer->program, update_op(writer, rank, step),
				     fill_op(writer, rank, step, slice) + 1);
}

int gradients_program(struct program **ret, struct arena *arena,
		      const struct gradients_config *config, struct refusal *refusal)
{
	struct writer writer = {.config = config};
	int rc = gradients_check(config, refusal);
	if (rc == 0)
		rc = program_create(&writer.program, arena, config->ranks, op_count(config),
				    edge_max(config), refusal);
	if (rc < 0)
		return rc;
	for (uint32_t rank = 0; rank < config->ranks; rank++)
		put_parts(&writer, rank);
	for (uint32_t step = 0; step < config->steps; step++)
		put_step(&writer, step);
	*ret = writer.program;
	return program_seal(writer.program, arena, refusal);
}
