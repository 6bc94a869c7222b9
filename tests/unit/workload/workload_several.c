// SPDX-License-Identifier: Apache-2.0
// Several jobs on one fabric: who sits where.

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/workload.h>

static uint8_t memory[1 << 20] __attribute__((aligned(64)));
static struct refusal refusal;

static int several_job(struct job *job, enum placement placement, uint32_t jobs, uint32_t ranks,
		       uint64_t seed)
{
	const struct ring_config ring = {ranks, 4, 2 << 20, 2, 4, RING_PIPELINED, 0};
	const struct several several = {jobs, 48, 4, placement, COLLECTIVE_ALL_REDUCE, 1000, seed};
	struct arena arena;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	return job_from_several(job, &arena, &several, &ring, &refusal);
}

static void every_gpu_has_one_job_and_hosts_are_whole(void **)
{
	for (uint32_t placement = 0; placement <= PLACEMENT_RANDOM; placement++) {
		uint8_t seen[48] = {0};
		struct job job;
		assert_int_equal(several_job(&job, (enum placement)placement, 3, 16, 7), 0);
		assert_int_equal(job.group_count, 3);
		for (uint32_t i = 0; i < 3; i++) {
			const struct group *group = &job.groups[i];
			assert_int_equal(group->ranks_per_host, 4);
			for (uint32_t at = 0; at < 16; at++) {
				seen[group->gpus[at]]++;
				assert_int_equal(group->gpus[at] % 4, at % 4);
				if (at > 0)
					assert_true(group->gpus[at] > group->gpus[at - 1]);
			}
		}
		for (uint32_t gpu = 0; gpu < 48; gpu++)
			assert_int_equal(seen[gpu], 1);
	}
}

static void placements_are_what_they_are_called(void **)
{
	struct job job;
	uint32_t first[16];
	assert_int_equal(several_job(&job, PLACEMENT_PACKED, 3, 16, 1), 0);
	for (uint32_t at = 0; at < 16; at++)
		assert_int_equal(job.groups[2].gpus[at], 32 + at);
	assert_string_equal(job.buckets[2].label, "job 3");
	assert_int_equal(several_job(&job, PLACEMENT_SPREAD, 3, 16, 1), 0);
	for (uint32_t at = 0; at < 16; at++)
		assert_int_equal(job.groups[1].gpus[at], at / 4 * 12 + 4 + at % 4);
	assert_int_equal(several_job(&job, PLACEMENT_RANDOM, 3, 16, 1), 0);
	memcpy(first, job.groups[0].gpus, sizeof(first));
	assert_int_equal(several_job(&job, PLACEMENT_RANDOM, 3, 16, 1), 0);
	assert_memory_equal(first, job.groups[0].gpus, sizeof(first));
	assert_int_equal(several_job(&job, PLACEMENT_RANDOM, 3, 16, 2), 0);
	assert_memory_not_equal(first, job.groups[0].gpus, sizeof(first));
}

static void jobs_that_have_no_room_are_refused(void **)
{
	struct job job;
	assert_int_equal(several_job(&job, PLACEMENT_PACKED, 4, 16, 1), -EINVAL);
	assert_non_null(strstr(refusal.text, "4 jobs of 16 ranks do not go onto 48 GPUs"));
	assert_int_equal(several_job(&job, PLACEMENT_PACKED, 3, 6, 1), -EINVAL);
	assert_int_equal(several_job(&job, PLACEMENT_PACKED, 0, 4, 1), -EINVAL);
}
