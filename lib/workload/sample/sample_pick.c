// SPDX-License-Identifier: Apache-2.0
// A sample that names its collectives, by kind and size, instead of counting groups: those that a
// step waits for. For each a group is run that has it, the one in the middle of all that do, and of
// that group nothing else. A group takes all the picks that no group before it took.
//
// Picks with room_ps go one after the other, over all groups: a schedule prices each by itself.
// Back to back, each would begin on ranks that the one before left at different times, and a sample
// of few steps would take that for its steps' time.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#include "sample_pick.h"

static bool is_pick(const struct bucket *bucket, const struct sample_pick *pick)
{
	return bucket->kind == pick->kind && bucket->bytes == pick->bytes;
}

// Equal buckets of a group.
static uint32_t count_in(const struct job *job, const struct group *group,
			 const struct sample_pick *pick)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < group->bucket_count; i++)
		count += is_pick(&job->buckets[group->bucket_first + i], pick);
	return count;
}

// The middle one of the groups that have it; group_count when none has.
static uint32_t find_group(const struct job *job, const struct sample_pick *pick)
{
	uint32_t having = 0, seen = 0;
	for (uint32_t i = 0; i < job->group_count; i++)
		having += count_in(job, &job->groups[i], pick) > 0;
	for (uint32_t i = 0; i < job->group_count; i++) {
		if (count_in(job, &job->groups[i], pick) == 0)
			continue;
		if (seen++ == having / 2)
			return i;
	}
	return job->group_count;
}

// Chooses a group for each pick; `ret_of` tells which.
static int choose(struct job *job, const struct sample *want, uint32_t *ret_of,
		  struct refusal *refusal)
{
	for (uint32_t i = 0; i < job->group_count; i++)
		job->groups[i].is_chosen = false;
	for (uint32_t i = 0; i < want->pick_count; i++)
		ret_of[i] = UINT32_MAX;
	for (uint32_t i = 0; i < want->pick_count; i++) {
		if (ret_of[i] != UINT32_MAX)
			continue;
		uint32_t index = find_group(job, &want->picks[i]);
		if (index == job->group_count)
			return refuse(refusal, -EINVAL,
				      "no group of the job has a collective of % bytes of the kind "
				      "that the schedule waits for",
				      (int64_t)want->picks[i].bytes);
		job->groups[index].is_chosen = true;
		for (uint32_t j = i; j < want->pick_count; j++)
			if (ret_of[j] == UINT32_MAX &&
			    count_in(job, &job->groups[index], &want->picks[j]) > 0)
				ret_of[j] = index;
	}
	return 0;
}

// The first of the equal buckets stands for all of them.
static uint32_t keep_picks(struct job *job, const struct sample *want, const uint32_t *of,
			   uint32_t index, uint32_t next)
{
	const struct group group = job->groups[index];
	uint32_t kept = 0;
	for (uint32_t i = 0; i < group.bucket_count; i++) {
		struct bucket bucket = job->buckets[group.bucket_first + i];
		bool is_kept = false, is_seen = false;
		for (uint32_t j = 0; j < want->pick_count; j++)
			is_kept |= of[j] == index && is_pick(&bucket, &want->picks[j]);
		for (uint32_t j = 0; j < kept; j++)
			is_seen |= job->buckets[next + j].kind == bucket.kind &&
				job->buckets[next + j].bytes == bucket.bytes;
		if (!is_kept || is_seen)
			continue;
		bucket.siblings = count_in(job, &group,
					   &(struct sample_pick){bucket.kind, bucket.bytes, 0});
		job->buckets[next + kept++] = bucket;
	}
	return kept;
}

static ps_t room_of(const struct sample *want, const struct bucket *bucket)
{
	for (uint32_t i = 0; i < want->pick_count; i++)
		if (is_pick(bucket, &want->picks[i]))
			return want->picks[i].room_ps;
	return 0;
}

// The bucket that is released first of those that no group has behind it yet; NULL after the last.
static struct bucket *next_of(struct job *job, const uint32_t *done, uint32_t *ret_group)
{
	struct bucket *first = NULL;
	for (uint32_t i = 0; i < job->group_count; i++) {
		const struct group *group = &job->groups[i];
		if (done[i] == group->bucket_count)
			continue;
		struct bucket *bucket = &job->buckets[group->bucket_first + done[i]];
		if (first != NULL && bucket->release_ps >= first->release_ps)
			continue;
		first = bucket;
		*ret_group = i;
	}
	return first;
}

// Sets releases apart: none is earlier than the job has it.
static void give_room(struct job *job, const struct sample *want)
{
	uint32_t done[SAMPLE_PICKS_MAX] = {0}, group; // a group has one pick at least
	ps_t free_at = 0;
	for (struct bucket *bucket; (bucket = next_of(job, done, &group)) != NULL; done[group]++) {
		bucket->release_ps = ps_max(bucket->release_ps, free_at);
		free_at = ps_max(free_at, bucket->release_ps + room_of(want, bucket));
	}
}

int sample_pick(struct job *job, const struct sample *want, struct refusal *refusal)
{
	uint32_t of[SAMPLE_PICKS_MAX], run = 0, next = 0;
	check(want->pick_count <= SAMPLE_PICKS_MAX);
	int rc = choose(job, want, of, refusal);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < job->group_count; i++) {
		if (!job->groups[i].is_chosen)
			continue;
		struct group group = job->groups[i];
		uint32_t kept = keep_picks(job, want, of, i, next);
		group.bucket_first = next;
		group.bucket_count = kept;
		next += kept;
		job->groups[run++] = group;
	}
	job->group_count = run;
	job->bucket_count = next;
	check(run <= SAMPLE_PICKS_MAX);
	give_room(job, want);
	return 0;
}
