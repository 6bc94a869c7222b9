// SPDX-License-Identifier: Apache-2.0
// Spans of what ranks waited for. See steps.h.

#include "steps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/core/order.h>
#include <weft/measure/measure_slices.h>

// What is not there yet comes last.
static int by_arrival(const void *left, const void *right)
{
	const struct steps_message *a = left, *b = right;
	int order = ORDER(a->track, b->track) ?: ORDER(a->came_ps, b->came_ps);
	return order ?: ORDER(a->number, b->number);
}

static int by_step(const void *left, const void *right)
{
	const struct steps_span *a = left, *b = right;
	int order = ORDER(a->bucket, b->bucket) ?: ORDER(a->step, b->step);
	return order ?: ORDER(a->until_ps, b->until_ps) ?: ORDER(a->number, b->number);
}

static int by_begin(const void *left, const void *right)
{
	const struct steps_span *a = left, *b = right;
	return ORDER(a->from_ps, b->from_ps) ?: by_step(left, right);
}

// ---------------------------------------------------------------- a track

// The messages of a track behind all spans; those that never came are among them, without an end.
static void put_messages(struct steps *steps, const struct steps_message *of, uint32_t count)
{
	ps_t before = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct steps_span *span = &steps->spans[steps->count + i];
		ps_t free_ps = ps_max(before, of[i].begin_ps);
		ps_t until = ps_max(of[i].came_ps, of[i].begin_ps);
		*span = (struct steps_span){
			.track = of[i].track,
			.level = STEPS_MESSAGE,
			.bucket = of[i].bucket,
			.step = of[i].step,
			.from = of[i].from,
			.number = of[i].number,
			.bytes = of[i].bytes,
			.posted_ps = of[i].posted_ps,
			.from_ps = ps_min(ps_max(of[i].posted_ps, free_ps), until),
			.until_ps = until};
		before = ps_max(before, until);
	}
}

// A step of `count` messages.
static struct steps_span step_over(const struct steps_span *messages, uint32_t count)
{
	struct steps_span step = messages[0];
	step.level = STEPS_STEP;
	step.count = count;
	step.bytes = 0;
	for (uint32_t i = 0; i < count; i++) {
		step.from_ps = ps_min(step.from_ps, messages[i].from_ps);
		step.until_ps = ps_max(step.until_ps, messages[i].until_ps);
		step.bytes += messages[i].bytes;
	}
	return step;
}

static bool is_same_step(const struct steps_span *a, const struct steps_span *b)
{
	return a->bucket == b->bucket && a->step == b->step;
}

// Steps of the messages at `first` of the spans, behind these. Returns how many they are.
static uint32_t put_steps(struct steps *steps, uint32_t first, uint32_t count)
{
	struct steps_span *of = &steps->spans[first];
	uint32_t found = 0;
	qsort(of, count, sizeof(*of), by_step);
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && is_same_step(&of[i], &of[end]);)
			end++;
		of[count + found] = step_over(&of[i], end - i);
		of[count + found++].number = i; // its first message; reported to nobody
	}
	qsort(&of[count], found, sizeof(*of), by_begin);
	return found;
}

// A step goes to the first lane in which the ones before have ended, and its messages with it.
static void put_lanes(struct steps_span *of, uint32_t count, uint32_t found, ps_t *ends)
{
	uint32_t lanes = 0;
	for (uint32_t i = 0; i < found; i++) {
		struct steps_span *step = &of[count + i];
		uint32_t lane = 0;
		while (lane < lanes && ends[lane] > step->from_ps)
			lane++;
		lanes += lane == lanes;
		ends[lane] = step->until_ps;
		step->lane = lane;
		for (uint32_t j = 0; j < step->count; j++)
			of[step->number + j].lane = lane;
	}
}

// Whether the last step of a ring's channel may have messages beyond those that were kept.
static bool is_cut(const struct steps *steps, uint32_t track)
{
	const struct slices *slices = steps->world->slices;
	if (slices == NULL)
		return false;
	const struct slices *own = &slices[track / steps->channels];
	return own->came_count[track % steps->channels] > own->max;
}

// Takes out what has no end; and the last step of a channel, `last`, when it may not be whole.
static void drop_open(struct steps *steps, uint32_t first, struct steps_span last, bool is_open)
{
	uint32_t kept = first;
	bool cut = is_cut(steps, last.track);
	for (uint32_t i = first; i < steps->count; i++) {
		struct steps_span *span = &steps->spans[i];
		bool is_last = span->level == STEPS_STEP && is_same_step(span, &last);
		if (span->until_ps == PS_NEVER || (is_last && is_open && !cut))
			steps->unfinished[span->level]++;
		else if (is_last && cut)
			steps->left_out[STEPS_STEP]++;
		else
			steps->spans[kept++] = *span;
	}
	steps->count = kept;
}

static void put_track(struct steps *steps, const struct steps_message *of, uint32_t count,
		      ps_t *ends)
{
	uint32_t first = steps->count;
	put_messages(steps, of, count);
	uint32_t found = put_steps(steps, first, count);
	struct steps_span last = steps->spans[first + count - 1]; // in the order of steps
	put_lanes(&steps->spans[first], count, found, ends);
	steps->count += count + found;
	drop_open(steps, first, last, of[count - 1].is_open);
}

// ---------------------------------------------------------------- whole

int steps_of(struct steps *ret, const struct world *world, uint32_t max)
{
	*ret = (struct steps){.world = world, .message_max = max};
	int rc = steps_read(ret);
	if (rc < 0 || ret->reason != NULL)
		return rc;
	ps_t *ends = malloc((ret->message_count + 1) * sizeof(*ends));
	if (ends == NULL)
		return -ENOMEM;
	if (ret->message_count > 0)
		qsort(ret->messages, ret->message_count, sizeof(*ret->messages), by_arrival);
	for (uint32_t i = 0, end; i < ret->message_count; i = end) {
		const struct steps_message *of = &ret->messages[i];
		for (end = i + 1;
		     end < ret->message_count && ret->messages[end].track == of->track;)
			end++;
		put_track(ret, of, end - i, ends);
	}
	free(ends);
	return 0;
}

void steps_free(struct steps *steps)
{
	free(steps->messages);
	free(steps->spans);
	steps->messages = NULL;
	steps->spans = NULL;
}

// ---------------------------------------------------------------- names

void steps_track_name(char *ret, size_t bytes, const struct steps *steps, uint32_t track)
{
	const struct world *world = steps->world;
	uint32_t rank = track / steps->channels, channel = track % steps->channels, i = 0;
	if (world->slices == NULL) {
		snprintf(ret, bytes, "rank %u (NIC %u) channel %u", rank,
			 world->program->nics[rank], channel);
		return;
	}
	while (rank >= world->job.groups[i].ranks)
		rank -= world->job.groups[i++].ranks;
	const struct group *group = &world->job.groups[i];
	snprintf(ret, bytes, "stage %u group %u rank %u (NIC %u) channel %u", group->stage,
		 group->index, rank, group->gpus[rank], channel);
}

static const char *part_name(const struct world *world, uint32_t bucket)
{
	struct coll_config config;
	if (world->slices != NULL)
		return world->job.buckets[bucket].label;
	scenario_collective(&config, world->scenario);
	return coll_kind_name(config.kind);
}

void steps_span_name(char *ret, size_t bytes, const struct steps *steps,
		     const struct steps_span *span)
{
	if (span->level == STEPS_PART)
		snprintf(ret, bytes, "%.60s", part_name(steps->world, span->bucket));
	else if (span->level == STEPS_STEP)
		snprintf(ret, bytes, "step %u", span->step);
	else
		snprintf(ret, bytes, "from rank %u", span->from);
}
