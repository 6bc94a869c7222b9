// SPDX-License-Identifier: Apache-2.0
// Samples: what is asked for is read, what is run fits, what is left out is put back with an error
// that covers it.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/plan.h>
#include <weft/workload/workload.h>

#include "../../shipped_plans.h"

#define ARENA_BYTES (8u << 20)
#define PAYLOAD 4096u

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));

static void azure_job(struct job *job)
{
	struct arena arena;
	struct refusal refusal;
	struct ring_config nccl = {2, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(
		job_from_plan(job, &arena, plan_find("llama-3.1-405b-azure"), 64, &nccl, &refusal),
		0);
}

// ---------------------------------------------------------------- text

static void a_sample_is_read(void **)
{
	struct sample sample;
	struct refusal refusal;
	assert_int_equal(sample_parse(&sample, "groups=2,steps=16,buckets=3,fill=5", &refusal), 0);
	assert_int_equal(sample.groups, 2);
	assert_int_equal(sample.steps, 16);
	assert_int_equal(sample.buckets, 3);
	assert_int_equal(sample.fill, 5);
	assert_int_equal(sample.packets_max, 0);
	assert_true(sample.is_on);
	assert_int_equal(sample_parse(&sample, "packets=20M", &refusal), 0);
	assert_int_equal(sample.packets_max, 20000000);
	assert_int_equal(sample.groups, 0);
	assert_int_equal(sample_parse(&sample, "packets=3G,groups=1K", &refusal), 0);
	assert_int_equal(sample.packets_max, UINT64_C(3000000000));
	assert_int_equal(sample.groups, 1000);
}

static void a_wrong_sample_is_refused_at_its_column(void **)
{
	static const struct {
		const char *text, *reason;
		uint32_t column;
	} all[] = {
		{"", "groups=k", 1},
		{"groups", "has the keys", 1},
		{"groups=", "whole number", 8},
		{"groups=two", "whole number", 8},
		{"groups=-1", "whole number", 8},
		{"groups=2,", "has the keys", 10},
		{"groups=2;steps=3", "a comma", 9},
		{"groups=2,groups=3", "twice", 10},
		{"groups=0", "is 0", 9},
		{"packets=2MB", "a comma", 11},
		{"packets=99999999999999999999", "above", 24},
		{"steps=2G", "above", 9},
		{"fill=1,colour=2", "has the keys", 8},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct sample sample = {.groups = 9};
		struct refusal refusal = {0};
		assert_int_equal(sample_parse(&sample, all[i].text, &refusal), -EINVAL);
		if (strstr(refusal.text, all[i].reason) == NULL)
			fail_msg("'%s': '%s'", all[i].text, refusal.text);
		assert_int_equal(refusal.column, all[i].column);
		assert_int_equal(sample.groups, 9);
	}
}

// ---------------------------------------------------------------- plans

// Packets of a job that leave their host, by running one rank's sends on each channel.
static uint64_t packets_by_hand(const struct job *job)
{
	static uint8_t room[1 << 16] __attribute__((aligned(64)));
	uint64_t packets = 0;
	for (uint32_t i = 0; i < job->group_count; i++) {
		const struct group *group = &job->groups[i];
		struct ring_config config = job->ring;
		struct arena arena;
		struct refusal refusal;
		struct ring *ring;
		config.ranks = group->ranks;
		memset(room, 0, sizeof(room));
		arena_init(&arena, room, sizeof(room));
		assert_int_equal(ring_create(&ring, &arena, &config, &refusal), 0);
		uint64_t of_rank = 0;
		for (uint32_t j = 0; j < group->bucket_count; j++) {
			const struct bucket *bucket = &job->buckets[group->bucket_first + j];
			ring_start(ring, bucket->kind, bucket->bytes);
			for (struct ring_action action; ring_is_busy(ring);) {
				action = ring_next(ring);
				if (action.kind == RING_SEND) { // a mirror: all ranks alike
					of_rank += (action.bytes + PAYLOAD - 1) / PAYLOAD;
					ring_on_received(ring, action.channel);
					ring_on_sent(ring, action.channel);
				} else if (action.kind == RING_GRANT) {
					ring_on_credit(ring, action.channel);
				}
			}
		}
		packets += of_rank * (group->ranks / group->ranks_per_host);
	}
	return packets;
}

static void without_a_sample_everything_is_run(void **)
{
	struct job job;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&job);
	assert_int_equal(sample_apply(&job, &(struct sample){0}, PAYLOAD, &plan, &refusal), 0);
	assert_int_equal(job.group_count, 32);
	assert_int_equal(job.ring.steps_max, 0);
	assert_int_equal(plan.packets, plan.packets_all);
	assert_int_equal(plan.bytes_run, plan.bytes_all);
	// 8,192 NICs with 25.4 GB each, in 4 KiB: 5.1e10 (and the shorter last packets of slices)
	assert_in_range(plan.packets / 1000000, 50000, 51500);
}

static void the_estimate_is_what_the_rings_send(void **)
{
	struct job job;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&job);
	struct sample want = {.groups = 3,
			      .steps = 20,
			      .buckets = 4,
			      .fill = 6,
			      .is_on = true,
			      .packets_max = UINT64_C(1) << 40};
	assert_int_equal(sample_apply(&job, &want, PAYLOAD, &plan, &refusal), 0);
	assert_int_equal(job.group_count, 3);
	assert_int_equal(job.ring.steps_max, 26);
	assert_int_equal(plan.packets, packets_by_hand(&job));
	assert_int_equal(plan.groups_all, 32);
	assert_int_equal(plan.buckets_all, 4 * (22 + 7 * 16));
	for (uint32_t i = 0; i < 3; i++) // in the middle of each third: groups 5, 16, 26
		assert_int_equal(job.groups[i].index, (2 * i + 1) * 32 / 6);
}

static void equal_buckets_are_merged_and_the_heaviest_kept(void **)
{
	struct job job;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&job);
	struct sample want = {
		.steps = 8, .buckets = 3, .is_on = true, .packets_max = UINT64_C(1) << 40};
	assert_int_equal(sample_apply(&job, &want, PAYLOAD, &plan, &refusal), 0);
	const struct group *middle = &job.groups[12], *first = &job.groups[0];
	assert_int_equal(middle->bucket_count, 2); // stage 3: 8 gathers, 8 reductions, all equal
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(job.buckets[middle->bucket_first + i].siblings, 8);
	assert_int_equal(job.buckets[middle->bucket_first].kind, COLLECTIVE_ALL_GATHER);
	assert_int_equal(first->bucket_count, 3); // 7 and 7 whole cells, and the embedding
	const struct bucket *of = &job.buckets[first->bucket_first];
	assert_int_equal(of[0].bytes, UINT64_C(2) * 525336576); // gathered first of all
	assert_int_equal(of[0].siblings, 1);
	assert_int_equal(of[1].siblings, 7);
	assert_int_equal(of[2].siblings, 7);
	assert_true(plan.bytes_run < plan.bytes_all);
	assert_int_equal(job.ring.steps_max, 4 + 8);
}

static void a_plan_fits_and_uses_what_it_is_given(void **)
{
	static const uint64_t budgets[] = {3000000, 9000000, 40000000, 700000000,
					   UINT64_C(20000000000)};
	for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++) {
		struct job job;
		struct sample_plan plan;
		struct refusal refusal;
		azure_job(&job);
		struct sample want = {.packets_max = budgets[i], .is_on = true};
		assert_int_equal(sample_apply(&job, &want, PAYLOAD, &plan, &refusal), 0);
		assert_true(plan.packets <= budgets[i]);
		assert_true(plan.packets > budgets[i] / 3);
		assert_true(plan.sample.steps >= 1);
		if (budgets[i] <= 40000000)
			assert_int_equal(plan.packets, packets_by_hand(&job));
	}
}

static void forty_million_packets_are_the_default(void **)
{
	struct job job;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&job);
	assert_int_equal(
		sample_apply(&job, &(struct sample){.is_on = true}, PAYLOAD, &plan, &refusal), 0);
	assert_true(plan.packets <= 40000000);
	assert_int_equal(plan.sample.packets_max, 40000000);
	assert_int_equal(plan.sample.fill, 4);
}

static void a_sample_that_cannot_fit_is_refused(void **)
{
	struct job job;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&job);
	struct sample want = {.packets_max = 1000, .is_on = true};
	assert_int_equal(sample_apply(&job, &want, PAYLOAD, &plan, &refusal), -EOVERFLOW);
	assert_non_null(strstr(refusal.text, "over the 1000 allowed"));
}

static void more_than_all_is_all(void **)
{
	struct job job;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&job);
	struct sample want = {.groups = 99,
			      .steps = 252,
			      .buckets = 99,
			      .is_on = true,
			      .packets_max = UINT64_C(1) << 60};
	assert_int_equal(sample_apply(&job, &want, PAYLOAD, &plan, &refusal), 0);
	assert_int_equal(job.group_count, 32);
	assert_int_equal(job.ring.steps_max, 0); // 4 + 252 is more than the 255 there are
	assert_int_equal(plan.bytes_run, plan.bytes_all);
}

// ---------------------------------------------------------------- extrapolation

static void equal_steps_are_put_back_exactly(void **)
{
	ps_t steps[20], error;
	for (uint32_t i = 0; i < 20; i++)
		steps[i] = 1000003;
	assert_int_equal(sample_extrapolate(777, steps, 20, 235, &error), 777 + 235 * 1000003ll);
	assert_int_equal(error,
			 (235 * 1000003ll + 30) / 60); // the resolution: a third of a step in 20
	assert_int_equal(sample_extrapolate(777, steps, 20, 0, &error), 777);
	assert_int_equal(error, 0);
	assert_int_equal(sample_extrapolate(0, steps, 1, 5, &error), 5 * 1000003ll);
	assert_int_equal(error, 5 * 1000003ll); // one step knows nothing of its error
}

static void a_ring_that_still_fills_states_its_drift(void **)
{
	ps_t steps[32], error;
	for (uint32_t i = 0; i < 32; i++)
		steps[i] = i < 16 ? 2000 : 1000;
	sample_extrapolate(0, steps, 32, 1000, &error);
	assert_true(error >= 500 * 1000);
}

// 255 correlated steps, of which the first 64 are seen.
static void the_stated_error_covers_correlated_steps(void **)
{
	uint32_t covered = 0;
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 7);
		ps_t steps[255], truth = 0, error, late = 0;
		for (uint32_t i = 0; i < 255; i++) {
			late = late / 2 + (ps_t)rng_below(&rng, 200000) - 100000;
			steps[i] = 1000000 + late;
			truth += i >= 64 ? steps[i] : 0;
		}
		ps_t guess = sample_extrapolate(0, steps, 64, 191, &error);
		covered += guess - truth <= error && truth - guess <= error;
	}
	assert_true(covered >= 950);
}

static void whole_runs_of_long_times_do_not_overflow(void **)
{
	ps_t steps[16], error;
	for (uint32_t i = 0; i < 16; i++)
		steps[i] = (ps_t)(i + 1) * PS_PER_S;
	ps_t whole = sample_extrapolate(PS_PER_S, steps, 16, 100000, &error);
	assert_int_equal(whole, PS_PER_S + 850000 * PS_PER_S);
	assert_true(error == PS_NEVER); // a trend that goes on outlasts the clock
}

// A step that gets shorter all the time: what is left out is shorter than what was seen.
static void a_trend_is_taken_to_go_on(void **)
{
	ps_t steps[40], error, truth = 0;
	for (uint32_t i = 0; i < 40; i++) {
		steps[i] = 4000000 - 40000 * (ps_t)i;
		truth += i >= 8 ? steps[i] : 0;
	}
	ps_t guess = sample_extrapolate(0, steps, 8, 32, &error);
	assert_true(guess > truth && guess - truth <= error);
}

// What was found to repeat has the error of its spread alone.
static void a_period_states_less_than_a_sample(void **)
{
	ps_t steps[20], error, repeated;
	for (uint32_t i = 0; i < 20; i++)
		steps[i] = 1000000 + (i % 2 == 0 ? 10000 : 0);
	ps_t whole = sample_extrapolate(0, steps, 20, 100, &error);
	assert_int_equal(sample_repeat(steps, 20, 100, &repeated), whole);
	assert_int_equal(repeated, 100500000 / 80);
	assert_true(repeated < error);
}

// ---------------------------------------------------------------- picks

// Two collectives of stage 0's groups and one of another stage's: none begins while another has its
// room, none before the job releases it.
static void picks_have_room_over_all_groups(void **)
{
	static const ps_t room[] = {40 * PS_PER_MS, 7 * PS_PER_MS, 3 * PS_PER_MS};
	struct job job, all;
	struct sample_plan plan;
	struct refusal refusal;
	azure_job(&all);
	const struct bucket *first = &all.buckets[all.groups[0].bucket_first];
	const struct bucket *other = &all.buckets[all.groups[16].bucket_first];
	const struct sample want = {
		.is_on = true,
		.steps = 2,
		.pick_count = 3,
		.picks = {{first[0].kind, first[0].bytes, room[0]},
			  {first[1].kind, first[1].bytes, room[1]},
			  {other[0].kind, other[0].bytes, room[2]}},
	};
	assert_true(first[0].bytes != first[1].bytes && other[0].bytes > first[1].bytes);
	azure_job(&job);
	assert_int_equal(sample_apply(&job, &want, PAYLOAD, &plan, &refusal), 0);
	assert_int_equal(job.bucket_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct bucket *a = &job.buckets[i];
		for (uint32_t j = 0; j < 3; j++) {
			const struct bucket *b = &job.buckets[j];
			ps_t needed = 0;
			for (uint32_t k = 0; k < 3; k++)
				if (want.picks[k].bytes == a->bytes)
					needed = want.picks[k].room_ps;
			assert_true(needed > 0);
			assert_true(i == j || b->release_ps < a->release_ps ||
				    b->release_ps >= a->release_ps + needed);
		}
	}
	// without room the job's own releases stay: gathers of the first chunk all at once
	struct sample crowded = want;
	for (uint32_t i = 0; i < 3; i++)
		crowded.picks[i].room_ps = 0;
	azure_job(&job);
	assert_int_equal(sample_apply(&job, &crowded, PAYLOAD, &plan, &refusal), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(job.buckets[i].release_ps, 0);
}
