// SPDX-License-Identifier: Apache-2.0
// What a stage of a plan sends, and when.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/plan.h>
#include <weft/workload/workload.h>

#include "../../shipped_plans.h"

#define LIST_MAX 512u

static const struct plan *azure(void)
{
	const struct plan *plan = plan_find("llama-3.1-405b-azure");
	assert_non_null(plan);
	return plan;
}

// The bytes of a direction must be those of the stage, but for padding, whatever the buckets.
static void expect_bytes(const struct plan *plan, uint32_t stage, bool is_expert,
			 const struct bucket *list, uint32_t count)
{
	uint64_t params = plan_stage_params(plan, stage, is_expert), gathered = 0, reduced = 0;
	uint64_t ranks = is_expert ? plan_expert_ranks(plan) : plan_dense_ranks(plan);
	uint64_t spare = plan->parallel.has_distributed_optimizer ? count * ranks * 128 : 0;
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(list[i].stage, stage);
		assert_int_equal(list[i].siblings, 1);
		if (i > 0)
			assert_true(list[i].release_ps >= list[i - 1].release_ps);
		if (list[i].kind == COLLECTIVE_ALL_GATHER)
			gathered += list[i].bytes / plan->parallel.param_bytes;
		else
			reduced += list[i].bytes / plan->parallel.grad_bytes;
	}
	params *= plan_reduces(plan);
	assert_true(reduced >= params && reduced <= params + spare);
	assert_int_equal(gathered * plan_reduces(plan), reduced * plan_gathers(plan));
}

static void every_stage_sends_all_of_its_parameters_both_ways(void **)
{
	struct bucket list[LIST_MAX];
	for (const struct plan *const *at = plan_all(); *at != NULL; at++) {
		bool is_llama = strstr((*at)->name, "llama-3.1-405b-azure") != NULL;
		for (uint32_t stage = 0; stage < (*at)->parallel.pp; stage++) {
			for (int is_expert = 0; is_expert < 2; is_expert++) {
				uint32_t count = bucket_list(*at, stage, is_expert != 0, list,
							     LIST_MAX);
				assert_true(count <= LIST_MAX);
				if (is_llama)
					assert_int_equal(count,
							 is_expert	      ? 0
								 : stage == 0 ? 22
									      : 16);
				expect_bytes(*at, stage, is_expert != 0, list, count);
			}
		}
	}
}

static void the_first_cell_alone_is_cut_into_four(void **)
{
	struct bucket list[LIST_MAX];
	uint32_t count = bucket_list(azure(), 0, false, list, LIST_MAX);
	static const uint64_t params[] = {218103808, 436224000, 142622720, 525336576};
	for (uint32_t i = 0; i < 4; i++) { // gathered forwards, reduced backwards
		assert_int_equal(list[3 - i].bytes, 2 * params[i]);
		assert_int_equal(list[count - 4 + i].bytes, 2 * params[i]);
	}
	assert_string_equal(list[0].label, "chunk 0 part 1");
	assert_string_equal(list[count - 5].label, "chunk 1");
	assert_int_equal(list[4].bytes, UINT64_C(2) * 1593901056);
}

static ps_t release(const struct plan *plan, enum collective_kind kind, uint32_t stage,
		    uint32_t chunk)
{
	struct bucket list[LIST_MAX];
	uint32_t count = bucket_list(plan, stage, false, list, LIST_MAX);
	for (uint32_t i = 0; i < count; i++)
		if (list[i].kind == kind && list[i].chunk == chunk)
			return list[i].release_ps;
	fail();
	return 0;
}

static void aligned_stages_reduce_together_but_for_the_first_chunk(void **)
{
	const struct plan *plan = azure();
	const ps_t b = 9750 * PS_PER_US, whole = 71 * 15050 * PS_PER_US;
	for (uint32_t stage = 0; stage < 8; stage++) {
		for (uint32_t chunk = 1; chunk < 8; chunk++)
			assert_int_equal(release(plan, COLLECTIVE_REDUCE_SCATTER, stage, chunk),
					 whole - 8 * (ps_t)chunk * b);
		assert_int_equal(release(plan, COLLECTIVE_REDUCE_SCATTER, stage, 0),
				 whole - (ps_t)stage * b);
	}
}

static void parameters_are_gathered_one_chunk_ahead(void **)
{
	const struct plan *plan = azure();
	const ps_t f = 5300 * PS_PER_US;
	for (uint32_t stage = 0; stage < 8; stage++)
		for (uint32_t chunk = 0; chunk < 8; chunk++)
			assert_int_equal(release(plan, COLLECTIVE_ALL_GATHER, stage, chunk),
					 chunk < 2 ? 0 : (stage + (ps_t)(chunk - 1) * 8) * f);
}

static void hooked_buckets_leave_inside_the_last_backward(void **)
{
	struct bucket list[LIST_MAX];
	const struct plan *plan = plan_find("llama-3.1-405b-azure-hook");
	uint32_t count = bucket_list(plan, 0, false, list, LIST_MAX);
	const ps_t end = 71 * 15050 * PS_PER_US;
	for (uint32_t i = count - 4; i < count - 1; i++) {
		assert_true(list[i].release_ps >= end - 5 * PS_PER_MS);
		assert_true(list[i].release_ps < list[i + 1].release_ps);
	}
	assert_int_equal(list[count - 1].release_ps, end);
	assert_int_equal(release(plan, COLLECTIVE_REDUCE_SCATTER, 3, 2),
			 end - (3 + 2 * 8) * 9750 * PS_PER_US);
}

static void a_list_too_short_is_filled_and_counted(void **)
{
	struct bucket list[3] = {0};
	assert_int_equal(bucket_list(azure(), 2, false, list, 2), 16);
	assert_int_equal(list[1].chunk, 1);
	assert_int_equal(list[2].bytes, 0);
	assert_int_equal(bucket_list(azure(), 2, false, NULL, 0), 16);
}
