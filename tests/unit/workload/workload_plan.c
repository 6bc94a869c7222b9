// SPDX-License-Identifier: Apache-2.0
// Sizes of published models and of what lies on a rank. Expected values are from the models'
// papers and model cards, or worked out by hand from their dimensions.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/order.h>
#include <weft/workload/plan_edit.h>
#include <weft/workload/plan_memory.h>
#include <weft/workload/workload.h>

#include "../../shipped_plans.h"

static struct refusal refusal;

static const struct plan *plan_of(const char *name)
{
	const struct plan *plan = plan_find(name);
	assert_non_null(plan);
	return plan;
}

static void every_published_plan_fits_itself(void **)
{
	for (const struct plan *const *at = plan_all(); *at != NULL; at++) {
		assert_int_equal(plan_check(*at, &refusal), 0);
	}
	assert_int_equal(plan_ranks(plan_of("llama-3.1-405b-azure")), 8192);
	assert_int_equal(plan_ranks(plan_of("llama-3.1-405b-gb200-5120")), 5120);
	assert_int_equal(plan_ranks(plan_of("llama-3.1-405b-gb200-2560")), 2560);
	assert_int_equal(plan_ranks(plan_of("deepseek-v3-gb300-8192")), 8192);
	assert_int_equal(plan_ranks(plan_of("gpt-oss-20b-gb300-512")), 512);
	assert_int_equal(plan_ranks(plan_of("gpt-3-175b-h100-11616")), 11616);
}

static void a_cell_counts_its_parts(void **)
{
	for (const struct plan *const *at = plan_all(); *at != NULL; at++)
		for (uint32_t cell = 0; cell < (*at)->parallel.pp * (*at)->parallel.vpp; cell++) {
			uint32_t stage = cell % (*at)->parallel.pp,
				 chunk = cell / (*at)->parallel.pp;
			struct part part;
			uint32_t count = 0;
			while (plan_part(*at, stage, chunk, count, &part))
				count++;
			assert_int_equal(plan_part_count(*at, stage, chunk), count);
		}
}

static void models_have_their_published_sizes(void **)
{
	static const struct {
		const char *plan;
		uint64_t params;
	} sizes[] = {
		{"llama-3.1-405b-azure", UINT64_C(405853388800)},
		{"deepseek-v3-gb300-8192", UINT64_C(671026404352)},
		{"gpt-oss-20b-gb300-512", UINT64_C(20914757184)},
		{"gpt-3-175b-h100-8192",
		 UINT64_C(96) * (UINT64_C(12) * 12288 * 12288 + 13 * 12288) +
			 UINT64_C(12288) * (50257 + 2048 + 2)},
		{"bert-large-a100-4096", UINT64_C(336226108)},
	};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const struct architecture *model = plan_find(sizes[i].plan)->architecture;
		if (architecture_params(model) != sizes[i].params)
			fail_msg("%s: %llu, not %llu", sizes[i].plan,
				 (unsigned long long)architecture_params(model),
				 (unsigned long long)sizes[i].params);
	}
}

static void llama_on_a_rank_is_as_published(void **)
{
	const struct plan *plan = plan_of("llama-3.1-405b-azure");
	const uint64_t layer = 796950528, embedding = 525336576;
	static const uint64_t parts[] = {75513856, 67108864, 0, 0, 436224000, 218103808};
	uint64_t sum = 0;
	for (uint32_t i = 0; i < PART_COUNT; i++) {
		uint64_t params = layer_part_params(plan->architecture, (enum layer_part)i, 4, 1,
						    false);
		assert_int_equal(params, parts[i]);
		sum += params;
	}
	assert_int_equal(sum, layer);
	assert_int_equal(plan_cell_params(plan, 0, 0, false), layer + embedding);
	assert_int_equal(plan_cell_params(plan, 3, 4, false), 2 * layer);
	assert_int_equal(plan_cell_params(plan, 7, 7, false), layer + embedding + 16384);
	for (uint32_t stage = 1; stage < 7; stage++) // 12.751 B, 25.50 GB
		assert_int_equal(plan_stage_params(plan, stage, false), 16 * layer);
	assert_int_equal(plan_stage_params(plan, 0, false), 15 * layer + embedding);
	assert_int_equal(plan_cell_params(plan, 3, 4, true), 0);
	assert_int_equal(plan_dense_ranks(plan), 256);
}

static void the_first_cell_alone_is_cut(void **)
{
	static const uint64_t sizes[] = {218103808, 436224000, 142622720, 525336576};
	const struct plan *plan = plan_of("llama-3.1-405b-azure");
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, 0, 0), count = 0;
	while (plan_bucket_next(plan, 0, 0, false, &left, &bucket))
		assert_int_equal(bucket.params, sizes[count++]);
	assert_int_equal(count, 4);
	left = plan_part_count(plan, 1, 0);
	assert_true(plan_bucket_next(plan, 1, 0, false, &left, &bucket));
	assert_int_equal(bucket.params, 1593901056);
	assert_int_equal(bucket.padded, 1593901056); // 3,187.8 MB divide by 256 ranks
	assert_int_equal(left, 0);
	assert_false(plan_bucket_next(plan, 1, 0, false, &left, &bucket));
}

static void the_rule_for_the_bucket_size_grows_with_the_ranks(void **)
{
	assert_int_equal(plan_bucket_params(plan_of("llama-3.1-405b-azure"), false), 134217728);
	assert_int_equal(plan_bucket_params(plan_of("gpt-3-175b-h100-11616"), false), 484000000);
	struct plan_edit draft;
	plan_begin(&draft, plan_find("gpt-3-175b-h100-11616"));
	assert_int_equal(plan_set(&draft, "dp=8", &refusal), 0);
	assert_int_equal(plan_bucket_params(&draft.plan, false), 40000000);
}

static void experts_have_groups_and_buckets_of_their_own(void **)
{
	const struct plan *plan = plan_of("deepseek-v3-gb300-8192");
	const uint64_t expert = UINT64_C(3) * 7168 * 2048; // 256 of a layer: 11.27 B
	uint64_t all = 0, dense = 0, each = 0;
	assert_int_equal(plan_expert_ranks(plan), 64);
	assert_int_equal(plan_dense_ranks(plan), 2048);
	for (uint32_t stage = 0; stage < 4; stage++) {
		all += plan_stage_params(plan, stage, true) * plan->parallel.ep;
		dense += plan_stage_params(plan, stage, false);
	}
	assert_int_equal(256 * expert, UINT64_C(11274289152));
	assert_int_equal(all, 58 * 256 * expert); // 653.9 B
	assert_int_equal(all + dense, architecture_params(plan->architecture));
	// the first cell: three layers without experts and one with 8 on a rank, 16 matrices in
	// buckets that close at 134 M parameters
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, 0, 0), count = 0;
	while (plan_bucket_next(plan, 0, 0, true, &left, &bucket)) {
		each += bucket.params;
		count++;
	}
	assert_int_equal(each, 8 * expert);
	assert_int_equal(count, 3);
}

// Each rank has a part of its experts; tokens go to all that cut one and back, and those who share
// an expert's gradients are fewer by as many.
static void expert_tensor_ranks_cut_experts(void **)
{
	struct plan plan = *plan_of("deepseek-v3-gb300-8192"), whole = plan;
	struct message_sum sums[MESSAGE_COUNT], before[MESSAGE_COUNT];
	plan.parallel.etp = 2;
	assert_int_equal(plan_check(&plan, &refusal), 0);
	assert_int_equal(2 * plan_stage_params(&plan, 1, true), plan_stage_params(&whole, 1, true));
	assert_int_equal(plan_stage_params(&plan, 1, false), plan_stage_params(&whole, 1, false));
	assert_int_equal(2 * plan_expert_ranks(&plan), plan_expert_ranks(&whole));
	plan_messages(&plan, 1, sums);
	plan_messages(&whole, 1, before);
	assert_int_equal(before[MESSAGE_ETP].count, 0);
	assert_int_equal(sums[MESSAGE_ETP].bytes, 2 * before[MESSAGE_EP].bytes);
	assert_int_equal(sums[MESSAGE_ETP].count, before[MESSAGE_EP].count);
	assert_int_equal(sums[MESSAGE_EP].total_bytes, before[MESSAGE_EP].total_bytes);
	struct order order;
	assert_int_equal(order_parse(&order, "tp-cp-ep-dp-pp", &plan, &refusal), 0);
	assert_int_equal(order_rank(&order, &plan, GROUP_ETP, 0, 1), 1);
	assert_int_equal(order_rank(&order, &plan, GROUP_EP, 0, 1), 2);
	assert_int_equal(order_rank(&order, &plan, GROUP_EDP, 0, 1), 2 * plan.parallel.ep);
}

static void messages_have_the_sizes_of_the_published_jobs(void **)
{
	struct message_sum sums[MESSAGE_COUNT];
	plan_messages(plan_of("deepseek-v3-gb300-8192"), 1, sums);
	assert_int_equal(sums[MESSAGE_EP].bytes, 469762048); // 470 MB
	assert_int_equal(sums[MESSAGE_PP].bytes, 58720256);  // 58.7 MB
	assert_int_equal(sums[MESSAGE_TP].count, 0);
	plan_messages(plan_of("gpt-oss-20b-gb300-512"), 0, sums);
	assert_int_equal(sums[MESSAGE_EP].bytes, 23592960); // 23.6 MB
	assert_int_equal(sums[MESSAGE_PP].count, 0);
	plan_messages(plan_of("llama-3.1-405b-azure"), 3, sums);
	assert_int_equal(sums[MESSAGE_DP_REDUCE].count, 8);
	assert_int_equal(sums[MESSAGE_DP_REDUCE].total_bytes, UINT64_C(25502416896));
	assert_int_equal(sums[MESSAGE_DP_GATHER].total_bytes, UINT64_C(25502416896));
	plan_messages(plan_of("llama-3.1-405b-azure-fp32-gradients"), 0, sums);
	assert_int_equal(sums[MESSAGE_DP_REDUCE].count, 11);
	assert_int_equal(sums[MESSAGE_DP_REDUCE].total_bytes,
			 2 * sums[MESSAGE_DP_GATHER].total_bytes);
	plan_messages(plan_of("bert-large-a100-4096"), 0, sums);
	assert_int_equal(sums[MESSAGE_DP_GATHER].count, 0); // one all-reduce, no gather
	assert_int_equal(sums[MESSAGE_DP_REDUCE].total_bytes, UINT64_C(2) * 336226108);
}

static void custom(struct plan_edit *draft, const char *const *sets)
{
	plan_begin(draft, NULL);
	for (; *sets != NULL; sets++)
		assert_int_equal(plan_set(draft, *sets, &refusal), 0);
}

#define SMALL \
	"layers=4", "hidden=64", "vocab=100", "heads=4", "kv_heads=2", "head_dim=16", \
		"sequence=128", "ffn=256"

static void a_model_of_ones_own_is_made_from_its_dimensions(void **)
{
	struct plan_edit draft;
	custom(&draft, (const char *const[]){SMALL, "tp=2", "dp=4", "pp=2", NULL});
	assert_int_equal(plan_check(&draft.plan, &refusal), 0);
	// qkv 64 x 128, proj 64 x 64, 3 x 64 x 256 of the feed-forward, two norms
	const uint64_t layer = 64 * 128 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
	assert_int_equal(architecture_params(&draft.architecture), 4 * layer + 2 * 6400 + 64);
	assert_int_equal(plan_cell_params(&draft.plan, 0, 0, false),
			 2 * ((layer - 128) / 2 + 128) + 3200);
	custom(&draft,
	       (const char *const[]){SMALL, "experts=8", "experts_per_token=2", "expert_ffn=32",
				     "ep=4", "dp=8", NULL});
	assert_int_equal(plan_check(&draft.plan, &refusal), 0);
	assert_int_equal(plan_stage_params(&draft.plan, 0, true), 4 * 2 * 3 * 64 * 32);
}

static void what_does_not_fit_is_named(void **)
{
	static const struct {
		const char *set, *why;
	} cases[] = {
		{"tp=3", "4 heads do not divide by 3"},
		{"tp=4", "2 heads of keys"},
		{"ep=2", "no experts"},
		{"ffn=0", "needs a feed-forward"},
		{"cp=3", "does not divide by 3 tensor and context"},
		{"pp=3", "4 layers do not divide by 3 cells"},
		{"vpp=2", "more than one stage"},
		{"layers_first=1", "one cell"},
		{"experts=8", "8 experts need their width"},
		{"dp=1048576", NULL},
		{"layers=4097", "at most 4096 layers"},
		{"grad_bytes=17", "16 bytes"},
		{"sequence=1048576", NULL},
		{"vocab_grain=1048576", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct plan_edit draft;
		custom(&draft, (const char *const[]){SMALL, cases[i].set, NULL});
		int rc = plan_check(&draft.plan, &refusal);
		assert_int_equal(rc, cases[i].why == NULL ? 0 : -EINVAL);
		if (cases[i].why != NULL && strstr(refusal.text, cases[i].why) == NULL)
			fail_msg("%s: '%s'", cases[i].set, refusal.text);
	}
	struct plan_edit draft;
	custom(&draft, (const char *const[]){SMALL, "pp=2", "vpp=2", "micro_batches=3", NULL});
	assert_int_equal(plan_check(&draft.plan, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "3 micro-batches must divide by 2 stages"));
	custom(&draft,
	       (const char *const[]){SMALL, "heads=1048576", "kv_rank=1048576", "value_dim=1048576",
				     NULL});
	assert_int_equal(plan_check(&draft.plan, &refusal), -EINVAL);
	assert_string_equal(refusal.text, "a model of this size is beyond counting");
	plan_begin(&draft, NULL);
	assert_int_equal(plan_check(&draft.plan, &refusal), -EINVAL);
	assert_string_equal(refusal.text, "a plan needs its layers");
}

// A step that ran on 512 GPUs; every size at once is more than 64 bits hold.
static void long_contexts_are_counted_and_no_sum_runs_over(void **)
{
	static const char *const llama[] = {
		"layers=126", "hidden=16384", "vocab=128256", "heads=128",
		"kv_heads=8", "head_dim=128", "ffn=53248",    "sequence=262144",
		"cp=8",	      "tp=8",	      "pp=9",	      "micro_batches=9",
		NULL};
	struct message_sum sums[MESSAGE_COUNT];
	struct plan_edit draft;
	custom(&draft, llama);
	assert_int_equal(plan_check(&draft.plan, &refusal), 0);
	plan_messages(&draft.plan, 1, sums);
	const uint64_t tokens = UINT64_C(32768) * 9 * 14; // of a rank, in its layers
	assert_int_equal(sums[MESSAGE_TP].total_bytes, 10 * tokens * 16384 * 2);
	assert_int_equal(sums[MESSAGE_CP].total_bytes, 3 * 7 * tokens * 1 * 256 * 2);
	for (uint32_t bits = 0; bits <= 20; bits++) {
		draft.plan.parallel.samples = 1u << bits;
		if (plan_check(&draft.plan, &refusal) < 0)
			break;
		unsigned __int128 all = (unsigned __int128)tokens << bits;
		plan_messages(&draft.plan, 1, sums);
		assert_true(sums[MESSAGE_TP].total_bytes == 10 * all * 16384 * 2);
		assert_true(plan_operations(&draft.plan) > all / 9 * 6 * 16384 * 53248 / 8);
	}
	assert_non_null(strstr(refusal.text, "beyond counting"));
	assert_true(draft.plan.parallel.samples > 32);
}

static void words_that_set_nothing_are_refused(void **)
{
	static const char *const words[] = {"",
					    "=",
					    "hidden",
					    "hidden=",
					    "hidden=-1",
					    "hidden=1.5",
					    "hidden=0",
					    "colour=1",
					    "hidden=1048577",
					    "is_gated=2",
					    "hidden=99999999999999999999",
					    "hidden=1 "};
	struct plan_edit draft;
	plan_begin(&draft, NULL);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_int_equal(plan_set(&draft, words[i], &refusal), -EINVAL);
}
