// SPDX-License-Identifier: Apache-2.0
// What part of a job is run packet by packet.
// Three things can be left out: groups (they share no NIC, and are alike), collectives of a group
// (equal ones stand for each other), and the later steps of a ring (it is steady once it is full).
//
// To fit a number of packets the planner first lowers the steps, but not below STEPS_USEFUL while
// something else can be left out: fewer give no error worth stating. Then it merges equal
// collectives and drops the smallest, then it drops groups, and last it lowers the steps to one.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/workload/workload.h>

#include "collective/cut.h"

// A sample that names its collectives, by kind and size, instead of counting groups: those that a
// step waits for. For each a group is run that has it, the one in the middle of all that do, and of
// that group nothing else. A group takes all the picks that no group before it took.
//
// Picks with room_ps go one after the other, over all groups: a schedule prices each by itself.
// Back to back, each would begin on ranks that the one before left at different times, and a sample
// of few steps would take that for its steps' time.

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

// Cuts `job` down to one collective for each of the picks. -EINVAL when the job has none such.
static int sample_pick(struct job *job, const struct sample *want, struct refusal *refusal)
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

#define PACKETS_MAX_DEFAULT UINT64_C(40000000)
#define FILL_DEFAULT 4u
#define STEPS_USEFUL 16u

// A plan being weighed.
struct planner {
	struct job *job;
	uint64_t payload_bytes;
	struct sample sample;  // 0 = all
	uint64_t steps_all;    // of the longest loop
	uint32_t buckets_most; // of any group
	bool is_merged;
};

// ---------------------------------------------------------------- counting

static uint64_t count_bucket(const struct planner *planner, const struct group *group,
			     const struct bucket *bucket)
{
	struct ring_config ring = planner->job->ring;
	uint64_t packets = 0, hosts = group->ranks / group->ranks_per_host;
	const struct sample *sample = &planner->sample;
	ring.ranks = group->ranks;
	ring.steps_max = sample->steps == 0 ? 0 : sample->fill + sample->steps;
	for (uint32_t channel = 0; channel < ring.channels; channel++)
		packets += ring_plan_packets(&ring, bucket->kind, bucket->bytes, channel,
					     planner->payload_bytes);
	// On each channel one member of a host sends to the next host; the others stay inside.
	return hosts > 1 ? packets * hosts : 0;
}

// How much of the group's time a bucket stands for: time goes with bytes where bandwidth rules.
static bool weighs_more(const struct bucket *a, const struct bucket *b)
{
	unsigned __int128 left = (unsigned __int128)a->bytes * a->siblings;
	return left > (unsigned __int128)b->bytes * b->siblings;
}

// Whether a bucket is among the heaviest that are run; of equals, the first.
static bool is_run(const struct planner *planner, const struct group *group, uint32_t index)
{
	const struct bucket *of = &planner->job->buckets[group->bucket_first];
	uint32_t most = planner->sample.buckets, before = 0;
	if (most == 0 || most >= group->bucket_count)
		return true;
	for (uint32_t i = 0; i < group->bucket_count; i++)
		before += weighs_more(&of[i], &of[index]) ||
			(i < index && !weighs_more(&of[index], &of[i]));
	return before < most;
}

static uint32_t groups_run(const struct planner *planner)
{
	uint32_t most = planner->sample.groups, all = planner->job->group_count;
	return most == 0 || most > all ? all : most;
}

// Groups of one size that stand together in the list are a kind of their own: a trace has
// data-parallel and expert groups.
struct group_class {
	uint32_t first, count;
};

static struct group_class group_class_at(const struct job *job, uint32_t first)
{
	struct group_class group_class = {first, 1};
	while (first + group_class.count < job->group_count &&
	       job->groups[first + group_class.count].ranks == job->groups[first].ranks)
		group_class.count++;
	return group_class;
}

static uint32_t count_kins(const struct job *job)
{
	uint32_t kins = 0;
	for (uint32_t at = 0; at < job->group_count; at += group_class_at(job, at).count)
		kins++;
	return kins;
}

// Chooses groups in the middles of `share` equal parts of a kin.
static void choose_middles(struct job *job, const struct group_class *group_class, uint32_t share)
{
	for (uint32_t i = 0; i < share; i++) {
		uint64_t middle = (2 * (uint64_t)i + 1) * group_class->count /
			(2 * (uint64_t)share);
		job->groups[group_class->first + middle].is_chosen = true;
	}
}

// Chooses the groups that are run: when there are enough of them one of each kin at least, and the
// rest in proportion.
static void choose_groups(const struct planner *planner)
{
	struct job *job = planner->job;
	uint32_t left = groups_run(planner), all = job->group_count, kins = count_kins(job);
	for (uint32_t i = 0; i < all; i++)
		job->groups[i].is_chosen = false;
	if (kins > left) {
		choose_middles(job, &(struct group_class){0, all}, left);
		return;
	}
	uint32_t spare = left - kins;
	for (uint32_t at = 0; at < all;) {
		struct group_class group_class = group_class_at(job, at);
		at += group_class.count;
		uint32_t share = 1 + (uint32_t)((uint64_t)spare * group_class.count / all);
		share = share > group_class.count ? group_class.count : share;
		if (left - share > all - at) // what rounding leaves must fit behind
			share = left - (all - at);
		choose_middles(job, &group_class, share);
		left -= share;
	}
}

static uint64_t count_packets(const struct planner *planner)
{
	uint64_t packets = 0;
	choose_groups(planner);
	for (uint32_t i = 0; i < planner->job->group_count; i++) {
		const struct group *group = &planner->job->groups[i];
		const struct bucket *first = &planner->job->buckets[group->bucket_first];
		for (uint32_t j = 0; group->is_chosen && j < group->bucket_count; j++)
			if (is_run(planner, group, j))
				packets += count_bucket(planner, group, &first[j]);
	}
	return packets;
}

// ---------------------------------------------------------------- merging

// One bucket for all of equal kind and size, released with the first of them.
static void merge(struct bucket *buckets, struct group *group)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < group->bucket_count; i++) {
		uint32_t at = 0;
		while (at < kept &&
		       (buckets[at].kind != buckets[i].kind ||
			buckets[at].bytes != buckets[i].bytes))
			at++;
		if (at < kept)
			buckets[at].siblings += buckets[i].siblings;
		else
			buckets[kept++] = buckets[i];
	}
	group->bucket_count = kept;
}

static void merge_all(struct planner *planner)
{
	planner->is_merged = true;
	planner->buckets_most = 0;
	for (uint32_t i = 0; i < planner->job->group_count; i++) {
		struct group *group = &planner->job->groups[i];
		struct bucket *buckets = &planner->job->buckets[group->bucket_first];
		merge(buckets, group);
		if (group->bucket_count > planner->buckets_most)
			planner->buckets_most = group->bucket_count;
	}
}

// ---------------------------------------------------------------- fitting

// Sets the most steps, from `floor` up to what is wanted, that fit. False when `floor` does not.
static bool fit_steps(struct planner *planner, uint32_t wanted, uint32_t floor)
{
	struct sample *sample = &planner->sample;
	sample->steps = wanted;
	if (count_packets(planner) <= sample->packets_max)
		return true;
	uint32_t low = floor, high = wanted; // `high` is too many
	if (high == 0)
		high = planner->steps_all > sample->fill
			? (uint32_t)(planner->steps_all - sample->fill)
			: 1;
	sample->steps = low;
	if (low >= high || count_packets(planner) > sample->packets_max)
		return false;
	while (high - low > 1) {
		sample->steps = low + (high - low) / 2;
		if (count_packets(planner) <= sample->packets_max)
			low = sample->steps;
		else
			high = sample->steps;
	}
	sample->steps = low;
	return true;
}

static bool fit(struct planner *planner)
{
	struct sample *sample = &planner->sample;
	uint32_t wanted = sample->steps;
	if (fit_steps(planner, wanted, STEPS_USEFUL))
		return true;
	if (!planner->is_merged)
		merge_all(planner);
	if (sample->buckets == 0 || sample->buckets > planner->buckets_most)
		sample->buckets = planner->buckets_most;
	for (; sample->buckets > 1; sample->buckets--)
		if (fit_steps(planner, wanted, STEPS_USEFUL))
			return true;
	sample->groups = groups_run(planner);
	for (; sample->groups > 1; sample->groups -= (sample->groups + 7) / 8)
		if (fit_steps(planner, wanted, STEPS_USEFUL))
			return true;
	return fit_steps(planner, wanted, 1);
}

// ---------------------------------------------------------------- applying

// Takes out the lightest buckets of a group until those are left that is_run() names.
static uint32_t drop_light(struct bucket *buckets, uint32_t count, uint32_t most)
{
	while (count > most) {
		uint32_t lightest = 0;
		for (uint32_t i = 1; i < count; i++)
			if (!weighs_more(&buckets[i], &buckets[lightest]))
				lightest = i; // of equals, the last
		count--;
		memmove(&buckets[lightest], &buckets[lightest + 1],
			(count - lightest) * sizeof(*buckets));
	}
	return count;
}

// Moves the chosen groups and their buckets to the front.
static void cut_job(struct planner *planner)
{
	struct job *job = planner->job;
	uint32_t run = 0, next = 0;
	choose_groups(planner);
	for (uint32_t i = 0; i < job->group_count; i++) {
		struct group group = job->groups[i];
		struct bucket *buckets = &job->buckets[group.bucket_first];
		uint32_t count = group.bucket_count;
		if (!group.is_chosen)
			continue;
		if (planner->sample.buckets > 0)
			count = drop_light(buckets, count, planner->sample.buckets);
		memmove(&job->buckets[next], buckets, count * sizeof(*buckets));
		group.bucket_first = next;
		group.bucket_count = count;
		next += count;
		job->groups[run++] = group;
	}
	job->group_count = run;
	job->bucket_count = next;
	job->ring.steps_max = planner->sample.steps == 0
		? 0
		: planner->sample.fill + planner->sample.steps;
}

static void measure_job(struct planner *planner)
{
	const struct job *job = planner->job;
	for (uint32_t i = 0; i < job->group_count; i++) {
		const struct group *group = &job->groups[i];
		if (group->bucket_count > planner->buckets_most)
			planner->buckets_most = group->bucket_count;
		for (uint32_t j = 0; j < group->bucket_count; j++) {
			enum collective_kind kind = job->buckets[group->bucket_first + j].kind;
			uint64_t steps = cut_steps_all(group->ranks, kind);
			if (steps > planner->steps_all)
				planner->steps_all = steps;
		}
	}
}

// Says in numbers what "all" has come to.
static struct sample as_run(const struct planner *planner)
{
	struct sample sample = planner->sample;
	if (sample.steps > 0 && sample.steps + (uint64_t)sample.fill >= planner->steps_all)
		sample.steps = 0;
	if (sample.groups >= planner->job->group_count)
		sample.groups = 0;
	if (planner->is_merged && sample.buckets > planner->buckets_most)
		sample.buckets = planner->buckets_most;
	return sample;
}

static uint64_t bytes_of(const struct job *job)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < job->bucket_count; i++)
		bytes += job->buckets[i].bytes * job->buckets[i].siblings;
	return bytes;
}

int sample_apply(struct job *job, const struct sample *want, uint64_t payload_bytes,
		 struct sample_plan *ret, struct refusal *refusal)
{
	check(payload_bytes > 0);
	struct planner planner = {.job = job, .payload_bytes = payload_bytes};
	measure_job(&planner);
	struct sample_plan plan = {.groups_all = job->group_count,
				   .buckets_all = job->bucket_count,
				   .packets_all = count_packets(&planner),
				   .bytes_all = bytes_of(job)};
	plan.packets = plan.packets_all;
	plan.bytes_run = plan.bytes_all;
	if (!want->is_on) {
		*ret = plan;
		return 0;
	}
	int rc = want->pick_count > 0 ? sample_pick(job, want, refusal) : 0;
	if (rc < 0)
		return rc;
	planner.sample = *want;
	if (planner.sample.packets_max == 0)
		planner.sample.packets_max = PACKETS_MAX_DEFAULT;
	if (planner.sample.fill == 0)
		planner.sample.fill = FILL_DEFAULT;
	if (want->buckets > 0)
		merge_all(&planner);
	if (!fit(&planner))
		return refuse(refusal, -EOVERFLOW,
			      "one group, one collective and one ring step after % to fill are % "
			      "packets, over the % allowed: allow more (packets=), or fewer to "
			      "fill (fill=)",
			      planner.sample.fill, (int64_t)count_packets(&planner),
			      (int64_t)planner.sample.packets_max);
	planner.sample = as_run(&planner);
	plan.sample = planner.sample;
	plan.packets = count_packets(&planner);
	cut_job(&planner);
	plan.bytes_run = bytes_of(job);
	*ret = plan;
	return 0;
}
