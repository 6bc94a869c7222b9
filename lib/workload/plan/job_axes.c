// SPDX-License-Identifier: Apache-2.0
// A collective on a torus: rings along its axes in place of one ring over all.
// Facts: the buffer is cut into as many parts as there are axes, each of which begins with another
// axis, so that all links work all the time; a part is reduced and scattered along one axis after
// the other, what is left of it being smaller each time, and gathered the other way round. Both
// directions of a row are a ring of half of each part. With rows of n routers along d axes a rank
// sends S (1 - n^-d) / (2 d) bytes over each of its 2 d links for a reduce-scatter: no way is
// shorter.
//
// What it is not: a phase along one axis begins here when the phase before it on the *same* axis is
// done, not the one of the same part on the axis before. Where axes are equally long they end
// together.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#include "collective/ring.h"
#include "job.h"

#define AXES 3

struct axes {
	struct job *job;
	struct arena *arena;
	struct refusal *refusal;
	const uint32_t *sizes; // [AXES] routers
	uint32_t stride[AXES]; // ranks from one router to the next
	uint32_t used[AXES], count;
	enum collective_kind kind;
	uint64_t bytes;
};

static uint32_t all_ranks(const struct axes *axes)
{
	return axes->sizes[0] * axes->sizes[1] * axes->sizes[2];
}

// What axis `at` of the used ones carries in `phase`, in one direction: one part, which the axes
// before it have scattered.
static uint64_t phase_bytes(const struct axes *axes, uint32_t at, uint32_t phase)
{
	uint64_t cut = 2 * (uint64_t)axes->count;
	for (uint32_t i = 1; i <= phase; i++)
		cut *= axes->sizes[axes->used[(at + axes->count - i) % axes->count]];
	return (axes->bytes + cut - 1) / cut;
}

static void put(struct axes *axes, struct group *group, uint32_t at, enum collective_kind kind,
		uint32_t phase)
{
	struct bucket *bucket = &axes->job->buckets[axes->job->bucket_count++];
	*bucket = (struct bucket){.kind = kind,
				  .bytes = phase_bytes(axes, at, phase),
				  .stage = axes->used[at],
				  .chunk = phase,
				  .siblings = 1};
	memcpy(bucket->label, "x phase 0", sizeof("x phase 0"));
	bucket->label[0] = (char)('x' + axes->used[at]);
	bucket->label[8] = (char)('0' + phase);
	group->bucket_count++;
}

static void put_phases(struct axes *axes, struct group *group, uint32_t at)
{
	group->bucket_first = axes->job->bucket_count;
	for (uint32_t i = 0; axes->kind != COLLECTIVE_ALL_GATHER && i < axes->count; i++)
		put(axes, group, at, COLLECTIVE_REDUCE_SCATTER, i);
	for (uint32_t i = axes->count; axes->kind != COLLECTIVE_REDUCE_SCATTER && i > 0; i--)
		put(axes, group, at, COLLECTIVE_ALL_GATHER, i - 1);
}

// The row through `first`, one way round or the other.
static int build_row(struct axes *axes, uint32_t at, uint32_t first, bool is_back)
{
	struct group *group = &axes->job->groups[axes->job->group_count];
	uint32_t axis = axes->used[at], ranks = axes->sizes[axis];
	int rc = group_draw(group, axes->arena, ranks, axes->refusal);
	if (rc < 0)
		return rc;
	group->index = axes->job->group_count++;
	group->stage = axis;
	group->ranks_per_host = 1;
	for (uint32_t i = 0; i < ranks; i++)
		group->gpus[i] = first + (is_back ? ranks - 1 - i : i) * axes->stride[axis];
	put_phases(axes, group, at);
	struct ring_config ring = axes->job->ring;
	ring.ranks = ranks;
	return ring_bytes_check(&ring, phase_bytes(axes, at, 0), axes->refusal);
}

static int build_axis(struct axes *axes, uint32_t at)
{
	uint32_t axis = axes->used[at], ranks = all_ranks(axes);
	for (uint32_t first = 0; first < ranks; first++) {
		if (first / axes->stride[axis] % axes->sizes[axis] != 0)
			continue; // not the row's first
		for (int is_back = 0; is_back < 2; is_back++) {
			int rc = build_row(axes, at, first, is_back != 0);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int find_axes(struct axes *axes, uint32_t along, uint32_t *rows)
{
	*rows = 0;
	for (uint32_t axis = 0; axis < AXES; axis++) {
		axes->stride[axis] = axis == 0 ? 1 : axes->stride[axis - 1] * axes->sizes[axis - 1];
		if ((along >> axis & 1) == 0)
			continue;
		if (axes->sizes[axis] < 3)
			return refuse(axes->refusal, -EINVAL,
				      "rings along an axis of a torus need 3 routers, not %",
				      axes->sizes[axis]);
		axes->used[axes->count++] = axis;
	}
	for (uint32_t i = 0; i < axes->count; i++)
		*rows += all_ranks(axes) / axes->sizes[axes->used[i]];
	return 0;
}

int job_from_axes(struct job *ret, struct arena *arena, uint32_t along, const uint32_t sizes[AXES],
		  enum collective_kind kind, uint64_t bytes, const struct ring_config *ring,
		  struct refusal *refusal)
{
	struct job job = {.ring = *ring};
	struct axes axes = {.job = &job,
			    .arena = arena,
			    .refusal = refusal,
			    .sizes = sizes,
			    .kind = kind,
			    .bytes = bytes};
	uint32_t rows, phases;
	int rc = find_axes(&axes, along, &rows);
	if (rc < 0)
		return rc;
	check(axes.count > 0);
	phases = axes.count * (kind == COLLECTIVE_ALL_REDUCE ? 2 : 1);
	job.ring.ranks = sizes[axes.used[0]];
	if ((rc = ring_config_check(&job.ring, refusal)) < 0 ||
	    (rc = job_draw(&job, arena, 2 * rows, 2 * rows * phases, refusal)) < 0)
		return rc;
	for (uint32_t i = 0; rc == 0 && i < axes.count; i++)
		rc = build_axis(&axes, i);
	if (rc == 0)
		*ret = job;
	return rc;
}
