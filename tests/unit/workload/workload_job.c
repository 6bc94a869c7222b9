// SPDX-License-Identifier: Apache-2.0
// Jobs: groups of the Azure mapping, rings through their hosts, one plain ring.

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/plan.h>
#include <weft/workload/workload.h>

#include "../../shipped_plans.h"

#define ARENA_BYTES (8u << 20)

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));
static const struct ring_config nccl = {2, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};

static void arena_fresh(struct arena *arena)
{
	memset(memory, 0, sizeof(memory));
	arena_init(arena, memory, sizeof(memory));
}

static void azure_job(struct job *job, uint32_t hosts, uint32_t gpus_per_host)
{
	struct arena arena;
	struct refusal refusal;
	arena_fresh(&arena);
	struct plan plan;
	assert_int_equal(plan_resize(&plan, plan_find("llama-3.1-405b-azure"),
				     hosts * gpus_per_host, &refusal),
			 0);
	assert_int_equal(job_from_plan(job, &arena, &plan, gpus_per_host, &nccl, &refusal), 0);
}

static void a_group_is_the_context_pair_of_every_rack(void **)
{
	struct job job;
	azure_job(&job, 128, 64);
	assert_int_equal(job.group_count, 32);
	assert_int_equal(job.bucket_count, 4 * (22 + 7 * 16));
	assert_int_equal(job.ring.ranks, 256);
	for (uint32_t i = 0; i < 32; i++) {
		const struct group *group = &job.groups[i];
		uint32_t stage = i / 4, tp = i % 4;
		assert_int_equal(group->stage, stage);
		assert_int_equal(group->ranks, 256);
		assert_int_equal(group->ranks_per_host, 2);
		for (uint32_t rack = 0; rack < 128; rack++) {
			assert_int_equal(group->gpus[2 * rack], rack * 64 + stage * 8 + tp);
			assert_int_equal(group->gpus[2 * rack + 1], rack * 64 + stage * 8 + 4 + tp);
		}
	}
}

static void buckets_need_no_padding_on_128_racks_and_little_on_112(void **)
{
	struct job job;
	azure_job(&job, 128, 64);
	const struct group *group = &job.groups[20];
	assert_int_equal(job.buckets[group->bucket_first].bytes, UINT64_C(2) * 1593901056);
	azure_job(&job, 112, 64);
	uint64_t bytes = job.buckets[job.groups[20].bucket_first].bytes;
	assert_int_equal(bytes % (896 * 2), 0); // lcm(224, 128) parameters of two bytes
	assert_true(bytes >= UINT64_C(2) * 1593901056);
	assert_true(bytes < UINT64_C(2) * (1593901056 + 896));
	assert_int_equal(job.groups[0].gpus[2], 64);
}

static void other_job(struct job *job, const char *name, uint32_t ranks, uint32_t gpus_per_host)
{
	struct arena arena;
	struct refusal refusal;
	struct plan plan;
	arena_fresh(&arena);
	assert_int_equal(plan_resize(&plan, plan_find(name), ranks, &refusal), 0);
	if (job_from_plan(job, &arena, &plan, gpus_per_host, &nccl, &refusal) != 0)
		fail_msg("%s: %s", name, refusal.text);
}

// DeepSeek-V3 on 8,192 GPUs: stages are outermost, 2,048 GPUs in 32 racks each. A stage has one
// group for what all share and one for each of its 32 shares of the experts, two ranks a rack.
static void experts_have_groups_of_their_own(void **)
{
	struct job job;
	other_job(&job, "deepseek-v3-gb300-8192", 8192, 64);
	assert_int_equal(job.group_count, 4 + 4 * 32);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(job.groups[i].ranks, 2048);
		assert_int_equal(job.groups[i].ranks_per_host, 64);
		assert_int_equal(job.groups[i].stage, i);
		assert_int_equal(job.groups[i].gpus[2047], 2048 * i + 2047);
	}
	for (uint32_t i = 4; i < job.group_count; i++) {
		const struct group *group = &job.groups[i];
		assert_int_equal(group->ranks, 64);
		assert_int_equal(group->ranks_per_host, 2);
		assert_int_equal(group->stage, (i - 4) / 32);
		assert_int_equal(group->gpus[1] - group->gpus[0], 32);
	}
	assert_int_equal(job.ring.ranks, 2048);
	assert_int_equal(job.leaves, 1u << MESSAGE_PP); // experts stay in a rack
	other_job(&job, "deepseek-v3-gb300-8192", 8192, 16);
	assert_int_equal(job.leaves, 1u << MESSAGE_PP | 1u << MESSAGE_EP);
}

// Llama on 1,024 GPUs with replicas innermost: tensor ranks are 16 apart, and a rack of 8 GPUs has
// none of another's group. The message is sequence / context ranks x hidden numbers of 2 bytes.
static void tensor_ranks_run_where_the_order_puts_them(void **)
{
	struct job job;
	struct arena arena;
	struct refusal refusal;
	struct plan plan;
	arena_fresh(&arena);
	assert_int_equal(plan_resize(&plan, plan_find("llama-3.1-405b-azure"), 1024, &refusal), 0);
	plan.parallel.order = "dp-tp-cp-pp";
	assert_int_equal(job_from_tensors(&job, &arena, &plan, 8, &nccl, &refusal), 0);
	assert_int_equal(job.group_count, 256);
	for (uint32_t i = 0; i < job.group_count; i++) {
		const struct group *group = &job.groups[i];
		assert_int_equal(group->ranks, 4);
		assert_int_equal(group->ranks_per_host, 1);
		assert_int_equal(group->bucket_count, 1);
		assert_int_equal(job.buckets[group->bucket_first].kind, COLLECTIVE_ALL_GATHER);
		assert_int_equal(job.buckets[group->bucket_first].bytes, 8192 / 2 * 16384 * 2);
		for (uint32_t at = 0; at < 4; at++)
			assert_int_equal(group->gpus[at], i / 16 * 64 + i % 16 + at * 16);
	}
	plan = *plan_find("bert-large-a100-4096");
	assert_int_equal(job_from_tensors(&job, &arena, &plan, 8, &nccl, &refusal), -EINVAL);
	assert_string_equal(refusal.text, "no layer of this job is cut among tensor ranks");
}

// BERT has replicas alone, and an optimizer that is not distributed: one all-reduce.
static void a_job_of_replicas_alone_is_one_all_reduce(void **)
{
	struct job job;
	other_job(&job, "bert-large-a100-4096", 64, 8);
	assert_int_equal(job.group_count, 1);
	assert_int_equal(job.groups[0].ranks, 64);
	assert_int_equal(job.leaves, 0);
	for (uint32_t i = 0; i < job.bucket_count; i++)
		assert_int_equal(job.buckets[i].kind, COLLECTIVE_ALL_REDUCE);
	assert_true(job.bucket_count > 1); // Megatron's rule: 64 M parameters a bucket
	other_job(&job, "bert-large-a100-4096", 4096, 8);
	assert_int_equal(job.bucket_count, 1); // 4,096 M
	assert_int_equal(job.buckets[0].bytes, UINT64_C(2) * 336226108);
}

// Each channel must be one cycle over all ranks, cross each host once, and be the mirror of
// group_previous(); over k channels each member of a host must send out once.
static void expect_rings(const struct group *group)
{
	uint32_t members = group->ranks_per_host, left_from[16] = {0};
	for (uint32_t channel = 0; channel < members; channel++) {
		uint32_t at = 0, crossings = 0;
		for (uint32_t i = 0; i < group->ranks; i++) {
			uint32_t next = group_next(group, channel, at);
			assert_int_equal(group_previous(group, channel, next), at);
			if (next / members != at / members) {
				crossings++;
				left_from[at % members]++;
				assert_int_equal(next / members,
						 (at / members + 1) % (group->ranks / members));
			}
			at = next;
			assert_true(at != 0 || i == group->ranks - 1);
		}
		assert_int_equal(at, 0);
		assert_int_equal(crossings, group->ranks > members ? group->ranks / members : 0);
	}
	for (uint32_t i = 0; i < members && group->ranks > members; i++)
		assert_int_equal(left_from[i], group->ranks / members);
}

static void every_channel_is_one_ring_and_every_nic_carries_its_share(void **)
{
	for (uint32_t members = 1; members <= 8; members++) {
		for (uint32_t hosts = 1; hosts <= 5; hosts++) {
			if (members * hosts < 2)
				continue;
			struct group group = {.ranks = members * hosts, .ranks_per_host = members};
			expect_rings(&group);
		}
	}
}

static void a_plain_ring_takes_the_first_gpus(void **)
{
	struct arena arena;
	struct refusal refusal;
	struct job job;
	arena_fresh(&arena);
	struct ring_config ring = nccl;
	ring.ranks = 12;
	assert_int_equal(
		job_from_ring(&job, &arena, COLLECTIVE_ALL_REDUCE, 1000, 4, &ring, &refusal), 0);
	assert_int_equal(job.groups[0].ranks_per_host, 4);
	assert_int_equal(job.groups[0].gpus[11], 11);
	assert_int_equal(job.buckets[0].bytes, 1000);
	assert_string_equal(job.buckets[0].label, "all_reduce");
	assert_int_equal(
		job_from_ring(&job, &arena, COLLECTIVE_ALL_REDUCE, 1000, 16, &ring, &refusal), 0);
	assert_int_equal(job.groups[0].ranks_per_host, 12);
	assert_int_equal(
		job_from_ring(&job, &arena, COLLECTIVE_ALL_REDUCE, 1000, 5, &ring, &refusal),
		-EINVAL);
	assert_non_null(strstr(refusal.text, "5 of them on one host and 2 on another"));
}

static void jobs_that_cannot_be_are_refused(void **)
{
	struct arena arena;
	struct refusal refusal;
	struct job job = {.group_count = 77};
	const struct plan *plan = plan_find("llama-3.1-405b-azure");
	struct plan other;
	arena_fresh(&arena);
	assert_int_equal(job_from_plan(&job, &arena, plan, 63, &nccl, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "the mapping does not fit the hosts"));
	assert_int_equal(job_from_plan(&job, &arena, plan, 0, &nccl, &refusal), -EINVAL);
	assert_int_equal(plan_resize(&other, plan, 8191, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "not a whole number of replicas of 64"));
	assert_int_equal(plan_resize(&other, plan, 0, &refusal), -EINVAL);
	struct ring_config barrier = nccl;
	barrier.form = RING_BARRIER;
	barrier.ranks = 2;
	barrier.channels = 1;
	assert_int_equal(job_from_ring(&job, &arena, COLLECTIVE_ALL_GATHER, UINT64_C(1) << 33, 1,
				       &barrier, &refusal),
			 -22);
	assert_non_null(strstr(refusal.text, "one message"));
	arena_init(&arena, memory, 4096);
	assert_int_equal(job_from_plan(&job, &arena, plan, 64, &nccl, &refusal), -ENOMEM);
	assert_int_equal(job.group_count, 77); // untouched
}
