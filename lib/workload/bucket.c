// SPDX-License-Identifier: Apache-2.0
// The gradient buckets of a pipeline stage, and when a step releases them.
// Facts: Megatron-LM's distributed data parallel and its interleaved one-forward-one-backward
// schedule. Bucketing is on for stage 0, chunk 0 alone; every other (stage, chunk) cell is one
// bucket. A bucket closes when its size first reaches the bucket size, walking the parameters
// backwards.
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
// Stage 0, chunk 0 not aligned: its buckets leave within its last backward, at the shares in
// `ready_percent`. Those shares are assumed (from the sizes of the matrix products), not measured.
//
// What it is not: a simulation of the pipeline. The ideal pipeline has no bubbles but its fill.

#include <string.h>

#include <weft/check.h>

#include "model.h"

#define PARTS_MAX 64u

// One bucket of stage 0, chunk 0: its size, and the share of the cell's last backward after which
// its gradients are there.
struct bucket_part {
	uint64_t params;
	uint32_t ready_percent;
};

struct bucket_fill {
	struct bucket_part parts[PARTS_MAX]; // in backward order
	uint32_t count;
	uint64_t open; // parameters of the bucket that is being filled
};

static void fill_put(struct bucket_fill *fill, uint64_t params, uint32_t percent, uint64_t size)
{
	fill->open += params;
	if (fill->open < size)
		return;
	fill->parts[fill->count++] = (struct bucket_part){fill->open, percent};
	fill->open = 0;
}

// Walks the cell backwards. Of a layer's backward, fc2 takes 30 %, fc1 45 %, attention 24 %.
static void fill_cell(struct bucket_fill *fill, const struct model *model)
{
	struct model_parts parts = model_parts(model);
	uint32_t layers = model_cell_layers(model, 0, 0);
	uint64_t size = model->bucket_params;
	check(4 * layers + 1 <= PARTS_MAX);
	*fill = (struct bucket_fill){0};
	for (uint32_t i = 0; i < layers; i++) {
		fill_put(fill, parts.fc2, (100 * i + 30) / layers, size);
		fill_put(fill, parts.fc1, (100 * i + 75) / layers, size);
		fill_put(fill, parts.proj, (100 * i + 99) / layers, size);
		fill_put(fill, parts.qkv, (100 * i + 99) / layers, size);
	}
	fill_put(fill, model_embedding_params(model), 100, 1); // the end closes the last bucket
}

// ---------------------------------------------------------------- times

static ps_t gather_ps(const struct model *model, uint32_t stage, uint32_t chunk)
{
	if (chunk < 2)
		return 0;
	return (stage + (ps_t)(chunk - 1) * model->pp) * model->forward_ps;
}

static ps_t last_backward_ps(const struct model *model, uint32_t stage, uint32_t chunk)
{
	ps_t slots = (ps_t)model->micro_batches * model->vpp + model->pp - 1;
	ps_t pipeline_ps = slots * (model->forward_ps + model->backward_ps);
	return pipeline_ps - (stage + (ps_t)chunk * model->pp) * model->backward_ps;
}

static ps_t reduce_ps(const struct model *model, uint32_t stage, uint32_t chunk)
{
	ps_t own_ps = last_backward_ps(model, stage, chunk);
	if (!model->is_aligned || chunk == 0)
		return own_ps;
	return own_ps + stage * model->backward_ps;
}

// A part of stage 0, chunk 0, whose last backward is shorter by the layers it lacks.
static ps_t part_ps(const struct model *model, uint32_t ready_percent)
{
	ps_t end_ps = last_backward_ps(model, 0, 0);
	if (model->is_aligned)
		return end_ps;
	ps_t whole_ps = model->backward_ps * model_cell_layers(model, 0, 0) /
		model_cell_slots(model);
	return end_ps - whole_ps + whole_ps * ready_percent / 100;
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

// "reduce_scatter chunk 0 part 2"
static void label(struct bucket *bucket, uint32_t part)
{
	size_t size = sizeof(bucket->label);
	append(bucket->label, size, "chunk ");
	append_number(bucket->label, size, bucket->chunk);
	if (part == 0)
		return;
	append(bucket->label, size, " part ");
	append_number(bucket->label, size, part);
}

static void put(struct bucket_writer *writer, struct bucket bucket, uint32_t part)
{
	label(&bucket, part);
	bucket.siblings = 1;
	if (writer->count < writer->max)
		writer->to[writer->count] = bucket;
	writer->count++;
}

static void put_cell(struct bucket_writer *writer, const struct model *model,
		     const struct bucket *like)
{
	bool is_gather = like->kind == COLLECTIVE_ALL_GATHER;
	uint32_t unit = is_gather ? model->param_bytes : model->grad_bytes;
	struct bucket bucket = *like;
	bucket.release_ps = is_gather ? gather_ps(model, like->stage, like->chunk)
				      : reduce_ps(model, like->stage, like->chunk);
	if (like->stage != 0 || like->chunk != 0) {
		bucket.bytes = model_cell_params(model, like->stage, like->chunk) * unit;
		put(writer, bucket, 0);
		return;
	}
	struct bucket_fill fill;
	fill_cell(&fill, model);
	for (uint32_t i = 0; i < fill.count; i++) { // parameters are wanted in forward order
		const struct bucket_part *part = &fill.parts[is_gather ? fill.count - 1 - i : i];
		bucket.bytes = part->params * unit;
		if (!is_gather)
			bucket.release_ps = part_ps(model, part->ready_percent);
		put(writer, bucket, i + 1);
	}
}

uint32_t bucket_list(const struct model *model, uint32_t stage, struct bucket *ret, uint32_t max)
{
	struct bucket_writer writer = {.to = ret, .max = max};
	struct bucket like = {.kind = COLLECTIVE_ALL_GATHER, .stage = stage};
	for (like.chunk = 0; like.chunk < model->vpp; like.chunk++)
		put_cell(&writer, model, &like);
	like.kind = COLLECTIVE_REDUCE_SCATTER;
	for (uint32_t i = model->vpp; i > 0; i--) { // backwards: the last chunk is done first
		like.chunk = i - 1;
		put_cell(&writer, model, &like);
	}
	return writer.count;
}
