// SPDX-License-Identifier: Apache-2.0
// Messages as ranks received them: of rings from the logs of both ends, of a collective's program
// from the times of its operations. See steps.h.

#include <errno.h>
#include <stdlib.h>

#include <weft/measure/measure_slices.h>

#include "steps.h"

static void add_message(struct steps *steps, const struct steps_message *message)
{
	if (steps->message_count == steps->message_max)
		steps->left_out[STEPS_MESSAGE]++;
	else
		steps->messages[steps->message_count++] = *message;
}

static int draw(struct steps *steps, uint64_t messages, uint64_t parts)
{
	uint64_t max = messages < steps->message_max ? messages : steps->message_max;
	uint64_t most = parts < steps->message_max ? parts : steps->message_max;
	steps->message_max = (uint32_t)max;
	steps->span_max = (uint32_t)(most + 2 * max);
	steps->messages = malloc((max + 1) * sizeof(*steps->messages));
	steps->spans = malloc((steps->span_max + 1) * sizeof(*steps->spans));
	return steps->messages == NULL || steps->spans == NULL ? -ENOMEM : 0;
}

static void add_part(struct steps *steps, const struct steps_span *span)
{
	if (span->until_ps == PS_NEVER || span->from_ps == PS_NEVER)
		steps->unfinished[STEPS_PART]++;
	else if (steps->count + 2 * steps->message_max >= steps->span_max)
		steps->left_out[STEPS_PART]++; // steps and messages have room of their own
	else
		steps->spans[steps->count++] = *span;
}

// ---------------------------------------------------------------- rings

// The rank number `at` of a group that begins at `first`: what came on `channel`, as its sender
// posted it.
static void read_channel(struct steps *steps, const struct group *group, uint32_t first,
			 uint32_t at, uint32_t channel)
{
	const struct slices *all = steps->world->slices, *own = &all[first + at];
	uint32_t before = group_previous(group, channel, at);
	size_t base = (size_t)channel * own->max;
	for (uint32_t i = 0; i < own->max; i++) {
		const struct slice_sent *sent = &all[first + before].sent[base + i];
		if (sent->at == PS_NEVER)
			return;
		add_message(steps,
			    &(struct steps_message){
				    .track = (first + at) * steps->channels + channel,
				    .bucket = group->bucket_first + sent->bucket,
				    .step = sent->step,
				    .from = before,
				    .number = i,
				    .bytes = sent->bytes,
				    .posted_ps = sent->at,
				    .came_ps = own->came[base + i],
				    .begin_ps = own->parts[sent->bucket].begin_ps,
				    .is_open = own->parts[sent->bucket].end_ps == PS_NEVER});
	}
}

static void read_parts(struct steps *steps, const struct group *group, uint32_t rank,
		       uint32_t channel)
{
	const struct slices *own = &steps->world->slices[rank];
	for (uint32_t i = 0; i < own->buckets; i++)
		add_part(steps,
			 &(struct steps_span){.track = rank * steps->channels + channel,
					      .level = STEPS_PART,
					      .bucket = group->bucket_first + i,
					      .from_ps = own->parts[i].begin_ps,
					      .until_ps = own->parts[i].end_ps});
}

static int read_rings(struct steps *steps)
{
	const struct world *world = steps->world;
	uint64_t ranks = 0, parts = 0;
	uint32_t first = 0;
	steps->channels = world->job.ring.channels;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		ranks += world->job.groups[i].ranks;
		parts += (uint64_t)world->job.groups[i].ranks * world->job.groups[i].bucket_count;
	}
	if (draw(steps, ranks * steps->channels * world->slices[0].max, parts * steps->channels) <
	    0)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		for (uint32_t at = 0; at < group->ranks; at++) {
			for (uint32_t channel = 0; channel < steps->channels; channel++) {
				read_channel(steps, group, first, at, channel);
				read_parts(steps, group, first + at, channel);
			}
			steps->left_out[STEPS_MESSAGE] += slices_missed(&world->slices[first + at]);
		}
		first += group->ranks;
	}
	return 0;
}

// ---------------------------------------------------------------- programs

// How many messages must be there, one after the other, before an operation can begin.
struct depths {
	uint32_t *of;	 // [ops]
	uint32_t *waits; // [ops] operations and messages that were not seen yet
	uint32_t *queue; // [ops]
	uint32_t count;	 // of queue
};

static void see(struct depths *depths, uint32_t op, uint32_t depth)
{
	if (depth > depths->of[op])
		depths->of[op] = depth;
	if (--depths->waits[op] == 0)
		depths->queue[depths->count++] = op;
}

// Every operation is reached: program_seal() found no circle.
static void measure_depths(struct depths *depths, const struct program *program)
{
	depths->count = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		depths->of[i] = 0;
		depths->waits[i] = op->waits_for + (op->kind == OP_RECEIVE);
		if (depths->waits[i] == 0)
			depths->queue[depths->count++] = i;
	}
	for (uint32_t i = 0; i < depths->count; i++) {
		uint32_t index = depths->queue[i];
		const struct op *op = &program->ops[index];
		for (uint32_t j = 0; j < op->next_count; j++)
			see(depths, program->next[op->next_first + j], depths->of[index]);
		if (op->kind == OP_SEND)
			see(depths, op->twin, depths->of[index] + 1);
	}
}

static void read_receives(struct steps *steps, const struct depths *depths)
{
	const struct world *world = steps->world;
	const struct program *program = world->program;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind != OP_RECEIVE)
			continue;
		add_message(steps,
			    &(struct steps_message){.track = op->rank * steps->channels + op->tag,
						    .step = depths->of[op->twin],
						    .from = op->peer,
						    .number = i,
						    .bytes = op->bytes,
						    .posted_ps = world->op_times[op->twin].begin_ps,
						    .came_ps = world->op_times[i].end_ps});
	}
}

// All ranks begin at once, and a rank's part ends with its last operation.
static void read_program_parts(struct steps *steps, ps_t *ends)
{
	const struct world *world = steps->world;
	const struct program *program = world->program;
	for (uint32_t rank = 0; rank < program->ranks; rank++)
		ends[rank] = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		ps_t *end = &ends[program->ops[i].rank];
		*end = ps_max(*end, world->op_times[i].end_ps);
	}
	for (uint32_t track = 0; track < program->ranks * steps->channels; track++)
		add_part(steps,
			 &(struct steps_span){.track = track,
					      .level = STEPS_PART,
					      .until_ps = ends[track / steps->channels]});
}

static int read_program(struct steps *steps)
{
	const struct program *program = steps->world->program;
	size_t ops = program->op_count + 1;
	struct depths depths = {malloc(ops * sizeof(uint32_t)), malloc(ops * sizeof(uint32_t)),
				malloc(ops * sizeof(uint32_t)), 0};
	ps_t *ends = malloc((program->ranks + 1) * sizeof(*ends));
	uint64_t messages = 0;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		messages += op->kind == OP_RECEIVE;
		if (op->kind == OP_RECEIVE && op->tag >= steps->channels)
			steps->channels = op->tag + 1;
	}
	int rc = draw(steps, messages, (uint64_t)program->ranks * steps->channels);
	if (depths.of == NULL || depths.waits == NULL || depths.queue == NULL || ends == NULL)
		rc = -ENOMEM;
	if (rc == 0) {
		measure_depths(&depths, program);
		read_receives(steps, &depths);
		read_program_parts(steps, ends);
	}
	free(depths.of);
	free(depths.waits);
	free(depths.queue);
	free(ends);
	return rc;
}

int steps_read(struct steps *steps)
{
	const struct world *world = steps->world;
	bool is_collective = world->scenario->traffic.kind == TRAFFIC_COLLECTIVE;
	if (world->slices != NULL)
		return read_rings(steps);
	if (is_collective && world->op_times != NULL)
		return read_program(steps);
	if (world->job.group_count > 0)
		steps->reason = "watch.messages is none";
	else if (is_collective)
		steps->reason = "watch.operations is false";
	else
		steps->reason = "the traffic is not a collective";
	return 0;
}
