// SPDX-License-Identifier: Apache-2.0
// See worst_steps.h.

#include "worst_steps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/order.h>
#include <weft/host/world_program.h>
#include <weft/measure/measure_slices.h>

static void add_step(struct worst_steps *steps, const struct worst_step *step)
{
	check(steps->count < steps->count_max);
	steps->list[steps->count++] = *step;
}

// ---------------------------------------------------------------- programs

// What can begin once an operation has ended, in the order of what waits for what.
struct walk {
	ps_t *bases;	 // [ops]: when the last message was there, or sent, that it waited for
	uint32_t *waits; // [ops]: operations of its rank that were not seen yet
	uint32_t *queue; // [ops]
	uint32_t count;	 // of queue
};

// What waits for an operation is not held up by messages before this. A computation is none: what
// follows is late as it is itself.
static ps_t base_behind(const struct walk *walk, const struct world *world, uint32_t op)
{
	ps_t base = walk->bases[op];
	bool is_own = world->program->ops[op].kind == OP_COMPUTE;
	return is_own ? base : ps_max(base, world->op_times[op].end_ps);
}

static void see(struct walk *walk, uint32_t op, ps_t base)
{
	walk->bases[op] = ps_max(walk->bases[op], base);
	if (--walk->waits[op] == 0)
		walk->queue[walk->count++] = op;
}

// Each operation is reached: program_seal() found no circle.
static void walk_program(struct walk *walk, const struct world *world)
{
	const struct program *program = world->program;
	for (uint32_t i = 0; i < program->op_count; i++) {
		walk->bases[i] = 0;
		walk->waits[i] = program->ops[i].waits_for;
		if (walk->waits[i] == 0)
			walk->queue[walk->count++] = i;
	}
	for (uint32_t i = 0; i < walk->count; i++) {
		const struct op *op = &program->ops[walk->queue[i]];
		ps_t base = base_behind(walk, world, walk->queue[i]);
		for (uint32_t j = 0; j < op->next_count; j++)
			see(walk, program->next[op->next_first + j], base);
	}
}

static void read_messages(struct worst_steps *steps, const struct world *world, const ps_t *bases)
{
	const struct program *program = world->program;
	for (uint32_t i = 0; i < program->op_count; i++) {
		const struct op *op = &program->ops[i];
		if (op->kind != OP_RECEIVE || world->op_times[i].end_ps == PS_NEVER)
			continue;
		add_step(
			steps,
			&(struct worst_step){.took_ps = world->op_times[i].end_ps - bases[op->twin],
					     .from_nic = program->nics[op->peer],
					     .to_nic = program->nics[op->rank]});
	}
}

// ---------------------------------------------------------------- rings

// One channel of a rank, and the rank before it that sends there.
struct channel {
	const struct world *world;
	const struct group *group;
	const struct slices *own, *before;
	uint32_t group_index, at_before; // of the rank before, within the group
	size_t base;			 // of its slices
	uint32_t from_nic, to_nic;
};

// How much later than planned the rank before began its part: it may begin when its own part of the
// bucket before has ended, and as the bucket is released or, of a program, the operation's last
// message was there.
static ps_t began_late_ps(const struct channel *channel, uint32_t bucket, const ps_t *bases)
{
	const struct world *world = channel->world;
	const struct slice_part *part = &channel->before->parts[bucket];
	ps_t planned = world->job.buckets[channel->group->bucket_first + bucket].release_ps;
	if (world->program != NULL && bases == NULL)
		return 0; // nobody knows
	if (bases != NULL)
		planned = bases[program_collective_of(world->program, channel->group_index,
						      channel->at_before, bucket)];
	if (bucket > 0)
		planned = ps_max(planned, channel->before->parts[bucket - 1].end_ps);
	return ps_max(part->begin_ps - planned, 0);
}

// Whether the step of slice `last` is whole, the last one whose time is known.
static bool is_whole(const struct channel *channel, uint32_t last, uint32_t number)
{
	const struct slices *own = channel->own;
	const struct slice_sent *sent = &channel->before->sent[channel->base];
	bool is_cut = own->came_count[number] > own->max;
	bool has_next = last + 1 < own->max && sent[last + 1].at != PS_NEVER;
	if (has_next &&
	    (sent[last + 1].bucket != sent[last].bucket || sent[last + 1].step != sent[last].step))
		return true; // the next one has begun
	return !is_cut && !has_next && own->parts[sent[last].bucket].end_ps != PS_NEVER;
}

// Slices come in the order in which they were sent: those of a step in a row.
static void read_channel(struct worst_steps *steps, const struct channel *channel, uint32_t number,
			 const ps_t *bases)
{
	const struct slice_sent *sent = &channel->before->sent[channel->base], *first = sent;
	const ps_t *came = &channel->own->came[channel->base];
	struct worst_step step = {.from_nic = channel->from_nic, .to_nic = channel->to_nic};
	uint32_t i = 0;
	ps_t last = 0;
	for (; i < channel->own->max && sent[i].at != PS_NEVER && came[i] != PS_NEVER; i++) {
		bool is_new = i > 0 &&
			(sent[i].bucket != first->bucket || sent[i].step != first->step);
		if (is_new) {
			add_step(steps, &step);
			step.took_ps = 0;
			first = &sent[i];
		}
		step.took_ps += came[i] - ps_max(sent[i].at, ps_min(last, came[i]));
		if (&sent[i] == first && first->step == 0)
			step.took_ps += began_late_ps(channel, first->bucket, bases);
		last = ps_max(last, came[i]);
	}
	if (i > 0 && is_whole(channel, i - 1, number))
		add_step(steps, &step);
}

static void read_rings(struct worst_steps *steps, const struct world *world, const ps_t *bases)
{
	uint32_t first = 0;
	for (uint32_t i = 0; i < world->job.group_count; i++) {
		const struct group *group = &world->job.groups[i];
		for (uint32_t at = 0; at < group->ranks; at++) {
			struct channel channel = {
				.world = world,
				.group = group,
				.own = &world->slices[first + at],
				.group_index = i,
				.to_nic = group->gpus[at],
			};
			for (uint32_t number = 0; number < world->job.ring.channels; number++) {
				channel.at_before = group_previous(group, number, at);
				channel.before = &world->slices[first + channel.at_before];
				channel.from_nic = group->gpus[channel.at_before];
				channel.base = (size_t)number * channel.own->max;
				read_channel(steps, &channel, number, bases);
			}
			steps->left_out += slices_missed(channel.own);
		}
		first += group->ranks;
	}
}

// ---------------------------------------------------------------- the worst

static int by_time(const void *left, const void *right)
{
	const struct worst_step *a = left, *b = right;
	return ORDER(b->took_ps, a->took_ps);
}

static void pick(struct worst_steps *steps)
{
	qsort(steps->list, steps->count, sizeof(*steps->list), by_time);
	steps->worst = steps->count / 100 + (steps->count % 100 > 0);
	while (steps->worst > 0 && steps->worst < steps->count &&
	       steps->list[steps->worst].took_ps == steps->list[steps->worst - 1].took_ps)
		steps->worst++;
	if (steps->count == 0)
		steps->reason = "no step has ended";
}

// Steps that there may be.
static uint64_t most_of(const struct world *world)
{
	uint64_t most = 0;
	for (uint32_t i = 0; world->slices != NULL && i < world->job.group_count; i++)
		most += (uint64_t)world->job.groups[i].ranks * world->job.ring.channels *
			world->slices[0].max;
	for (uint32_t i = 0; world->op_times != NULL && i < world->program->op_count; i++)
		most += world->program->ops[i].kind == OP_RECEIVE;
	return most;
}

static const char *why_none(const struct world *world)
{
	if (world->slices != NULL || world->op_times != NULL)
		return NULL;
	if (world->program != NULL)
		return "watch.operations is false";
	if (world->job.group_count > 0)
		return "watch.messages is none";
	return world->coll_stream != NULL
		? "messages are generated on demand: no times of them are kept"
		: "the traffic has no steps";
}

static int draw(struct worst_steps *steps, struct walk *walk, const struct world *world)
{
	uint64_t most = most_of(world);
	if (most > UINT32_MAX)
		return -ENOMEM;
	steps->count_max = (uint32_t)most;
	steps->list = malloc((most + 1) * sizeof(*steps->list));
	if (world->op_times == NULL)
		return steps->list == NULL ? -ENOMEM : 0;
	size_t ops = world->program->op_count + (size_t)1;
	walk->bases = malloc(ops * sizeof(*walk->bases));
	walk->waits = malloc(ops * sizeof(*walk->waits));
	walk->queue = malloc(ops * sizeof(*walk->queue));
	return steps->list == NULL || walk->bases == NULL || walk->waits == NULL ||
			walk->queue == NULL
		? -ENOMEM
		: 0;
}

void worst_steps_find(struct worst_steps *ret, const struct world *world)
{
	struct walk walk = {0};
	*ret = (struct worst_steps){.reason = why_none(world)};
	if (ret->reason != NULL)
		return;
	if (draw(ret, &walk, world) < 0) {
		ret->reason = "no memory";
	} else {
		if (walk.bases != NULL)
			walk_program(&walk, world);
		if (world->slices != NULL)
			read_rings(ret, world, walk.bases);
		if (walk.bases != NULL)
			read_messages(ret, world, walk.bases);
		pick(ret);
	}
	free(walk.bases);
	free(walk.waits);
	free(walk.queue);
}

void worst_steps_free(struct worst_steps *steps)
{
	free(steps->list);
	steps->list = NULL;
}
