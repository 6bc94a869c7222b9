// SPDX-License-Identifier: Apache-2.0
// Rings along the axes of a torus.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/workload.h>

#define ARENA_BYTES (8u << 20)

static uint8_t memory[ARENA_BYTES] __attribute__((aligned(64)));
static const struct ring_config nccl = {2, 1, 2 << 20, 2, 4, RING_PIPELINED, 0};
static struct refusal refusal;

static int torus_job(struct job *job, uint32_t along, uint32_t x, uint32_t y, uint32_t z,
		     enum collective_kind kind, uint64_t bytes)
{
	const uint32_t sizes[3] = {x, y, z};
	struct arena arena;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	return job_from_axes(job, &arena, along, sizes, kind, bytes, &nccl, &refusal);
}

// Routers between a and b along the one axis in which they differ, the shorter way.
static uint32_t distance(uint32_t a, uint32_t b, const uint32_t sizes[3])
{
	uint32_t sum = 0;
	for (uint32_t axis = 0; axis < 3; axis++) {
		uint32_t size = sizes[axis], apart = (a % size + size - b % size) % size;
		sum += apart < size - apart ? apart : size - apart;
		a /= size;
		b /= size;
	}
	return sum;
}

static void every_hop_is_one_link_and_every_link_has_one_ring(void **)
{
	static uint8_t used[3 * 4 * 5][3][2];
	const uint32_t sizes[3] = {3, 4, 5};
	struct job job;
	memset(used, 0, sizeof(used));
	assert_int_equal(torus_job(&job, 7, 3, 4, 5, COLLECTIVE_ALL_REDUCE, 1 << 20), 0);
	assert_int_equal(job.group_count, 2 * (4 * 5 + 3 * 5 + 3 * 4));
	for (uint32_t i = 0; i < job.group_count; i++) {
		const struct group *group = &job.groups[i];
		assert_int_equal(group->ranks, sizes[group->stage]);
		assert_int_equal(group->ranks_per_host, 1);
		for (uint32_t at = 0; at < group->ranks; at++) {
			uint32_t from = group->gpus[at];
			uint32_t to = group->gpus[group_next(group, 0, at)];
			assert_int_equal(distance(from, to, sizes), 1);
			used[from][group->stage][i % 2]++;
		}
	}
	for (uint32_t rank = 0; rank < 60; rank++)
		for (uint32_t axis = 0; axis < 3; axis++)
			assert_true(used[rank][axis][0] == 1 && used[rank][axis][1] == 1);
}

// S (1 - n^-d) / (2 d) bytes over each link, from the loops of the phases.
static void no_link_carries_more_than_its_share(void **)
{
	const struct {
		uint32_t along, x, y, z, axes;
	} cases[] = {{1, 4, 3, 3, 1}, {3, 4, 4, 1, 2}, {6, 2, 4, 4, 2}, {7, 4, 4, 4, 3}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t bytes = UINT64_C(3) << 30;
		uint64_t whole = 1, sent = 0;
		struct job job;
		assert_int_equal(torus_job(&job, cases[i].along, cases[i].x, cases[i].y, cases[i].z,
					   COLLECTIVE_REDUCE_SCATTER, bytes),
				 0);
		const struct group *group = &job.groups[0];
		assert_int_equal(group->bucket_count, cases[i].axes);
		for (uint32_t j = 0; j < group->bucket_count; j++) {
			const struct bucket *bucket = &job.buckets[group->bucket_first + j];
			assert_int_equal(bucket->kind, COLLECTIVE_REDUCE_SCATTER);
			sent += bucket->bytes / 4 * 3; // (n - 1) / n
			whole *= 4;
		}
		uint64_t share = bytes / whole * (whole - 1) / (2 * cases[i].axes);
		assert_true(labs((long)sent - (long)share) < 100);
	}
}

static void an_all_reduce_goes_back_the_way_it_came(void **)
{
	struct job job;
	assert_int_equal(torus_job(&job, 3, 4, 8, 1, COLLECTIVE_ALL_REDUCE, 1 << 20), 0);
	const struct bucket *x = &job.buckets[job.groups[0].bucket_first];
	const struct bucket *y = &job.buckets[job.groups[job.group_count - 1].bucket_first];
	const uint64_t first = (1 << 20) / 4;
	assert_int_equal(job.groups[0].bucket_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(x[i].kind,
				 i < 2 ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_GATHER);
		bool is_first = i == 0 || i == 3; // then what the other axis has scattered
		assert_int_equal(x[i].bytes, is_first ? first : first / 8);
		assert_int_equal(y[i].bytes, is_first ? first : first / 4);
	}
	assert_string_equal(y[1].label, "y phase 1");
	assert_int_equal(torus_job(&job, 2, 4, 8, 1, COLLECTIVE_ALL_GATHER, 1 << 20), 0);
	assert_int_equal(job.bucket_count, job.group_count);
}

static void a_torus_without_rings_is_refused(void **)
{
	struct job job;
	assert_int_equal(torus_job(&job, 4, 4, 4, 2, COLLECTIVE_ALL_REDUCE, 1 << 20), -EINVAL);
	assert_non_null(strstr(refusal.text, "need 3 routers, not 2"));
	assert_int_equal(torus_job(&job, 1, 2048, 2048, 3, COLLECTIVE_ALL_REDUCE, 1 << 20),
			 -ENOMEM);
}
