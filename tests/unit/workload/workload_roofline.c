// SPDX-License-Identifier: Apache-2.0
// Times from a device's rates, and memory, against sums made by hand here.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weft/workload/plan_edit.h>
#include <weft/workload/plan_memory.h>

static struct plan_edit edit;
static struct refusal refusal;

// A device whose rates are easy to count with: so many operations and bytes a second.
static struct accelerator device = {.name = "counted", .domain = 8, .domain_Bps = 1000000000};

#define LAYERS UINT64_C(4)
#define HIDDEN UINT64_C(256)
#define FFN UINT64_C(512)
#define VOCAB UINT64_C(1024)
#define TOKENS UINT64_C(128)
#define MATRICES (4 * HIDDEN * HIDDEN + 3 * HIDDEN * FFN)
#define PAIRS (TOKENS * TOKENS / 2)

static struct plan *make(uint64_t flops, uint64_t memory_Bps)
{
	device.flops[PRECISION_BF16] = flops;
	device.flops[PRECISION_FP8] = 2 * flops;
	device.memory_Bps = memory_Bps;
	plan_begin(&edit, NULL);
	edit.architecture = (struct architecture){.name = "a",
						  .layers = LAYERS,
						  .hidden = HIDDEN,
						  .vocab = VOCAB,
						  .heads = 4,
						  .kv_heads = 4,
						  .head_dim = HIDDEN / 4,
						  .ffn = FFN,
						  .is_gated = true,
						  .norm_vectors = 1};
	edit.plan.parallel.sequence = TOKENS;
	edit.plan.site = (struct site){.device = &device,
				       .efficiency_ppb = 500000000,
				       .domain = 8,
				       .domain_Bps = device.domain_Bps};
	return &edit.plan;
}

static void near(ps_t found, double expected)
{
	assert_true(found > 0.9999 * expected && found < 1.0001 * expected);
}

// Memory of no time: two operations a parameter and token, four a pair of tokens and width; norms
// are counted as parameters of their product.
static void a_fast_memory_leaves_the_operations(void **)
{
	struct plan *plan = make(1000000000000, UINT64_C(1) << 60);
	double norms = 2.0 * 2 * HIDDEN * TOKENS;
	double forward = LAYERS * (2.0 * MATRICES * TOKENS + norms + 4.0 * HIDDEN * PAIRS);
	double backward = LAYERS * (4.0 * MATRICES * TOKENS + 2 * norms + 10.0 * HIDDEN * PAIRS);
	assert_int_equal(plan_check(plan, &refusal), 0);
	plan_roofline(plan);
	near(plan->timing.forward_ps, forward / 0.5); // of 10^12 a second half is reached
	near(plan->timing.backward_ps, backward / 0.5);
	assert_int_equal(plan_operations(plan), (uint64_t)forward);
	near(plan_loss_ppb(plan), 2.0 * VOCAB * HIDDEN * TOKENS * 1e9 / forward);
	plan->parallel.is_recomputed = true;
	plan_roofline(plan);
	near(plan->timing.backward_ps, (forward + backward) / 0.5);
}

// Half the precision: products of matrices take half as long, attention as long as before.
static void precision_is_of_matrices_alone(void **)
{
	struct plan *plan = make(1000000000000, UINT64_C(1) << 60);
	plan->site.precision = PRECISION_FP8;
	plan_roofline(plan);
	double norms = 2.0 * 2 * HIDDEN * TOKENS;
	near(plan->timing.forward_ps,
	     LAYERS * (MATRICES * TOKENS * 1.0 + norms / 2 + 4.0 * HIDDEN * PAIRS) / 0.5);
}

// Operations of no time: each matrix is read once, each row between them written and read.
static void a_fast_device_leaves_the_bytes(void **)
{
	struct plan *plan = make(UINT64_C(1) << 60, 1000000000000);
	uint64_t rows = (HIDDEN + 3 * HIDDEN) + 2 * HIDDEN + (HIDDEN + 2 * FFN) + (FFN + HIDDEN) +
		4 * HIDDEN + 10 * HIDDEN + 3 * FFN;
	double bytes = LAYERS * 2.0 * (MATRICES + 2 * HIDDEN + rows * TOKENS);
	plan_roofline(plan);
	near(plan->timing.forward_ps, bytes / 0.5);
	near(plan->timing.backward_ps, 2 * bytes / 0.5);
}

// Two tensor ranks: half of all products, and ten gathers or scatters of a layer at the domain's
// rate, of which four are of the forward.
static void tensor_ranks_in_a_domain_wait_for_it(void **)
{
	struct plan *plan = make(UINT64_C(1) << 60, UINT64_C(1) << 60);
	plan->parallel.tp = 2;
	plan_roofline(plan);
	double message = TOKENS * HIDDEN * 2.0 / 2; // a ring of two sends half of it
	near(plan->timing.forward_ps, LAYERS * 4 * message * 1e12 / 1e9);
	near(plan->timing.backward_ps, LAYERS * 6 * message * 1e12 / 1e9);
	plan->site.domain = 1; // they leave it: the fabric's time is the schedule's
	plan_roofline(plan);
	assert_true(plan->timing.forward_ps < PS_PER_US);
}

static void memory_is_what_each_part_holds(void **)
{
	struct plan *plan = make(1, 1);
	struct plan_memory held;
	uint64_t params = LAYERS * (MATRICES + 2 * HIDDEN) + 2 * VOCAB * HIDDEN + HIDDEN;
	uint64_t layer = 4 * HIDDEN + 4 * HIDDEN + 3 * FFN;
	plan->parallel.dp = 8;
	plan_memory(plan, 0, &held);
	assert_int_equal(held.params, 2 * params);
	assert_int_equal(held.grads, 2 * params);
	assert_int_equal(held.optimizer, (12 * params + 7) / 8);
	assert_int_equal(held.gathered, 0);
	assert_int_equal(held.activations, TOKENS * (LAYERS * layer * 2 + VOCAB * (2 + 4)));
	plan->parallel.is_recomputed = true;
	plan_memory(plan, 0, &held);
	assert_int_equal(held.activations,
			 TOKENS * ((LAYERS * HIDDEN + layer) * 2 + VOCAB * (2 + 4)));
	plan->parallel.sharding = SHARDING_FSDP;
	plan->parallel.is_resharded = true;
	plan->parallel.prefetch = 1;
	plan_memory_most(plan, &held);
	assert_int_equal(held.params, 2 * params / 8);
	// the largest unit is a layer; two of parameters, one of gradients
	assert_int_equal(held.gathered, (2 + 1) * 2 * (MATRICES + 2 * HIDDEN));
	assert_int_equal(plan_memory_sum(&held),
			 held.params + held.grads + held.optimizer + held.gathered +
				 held.activations);
}

// The first stage holds the micro-batches that are on their way.
static void a_stage_holds_what_is_in_flight(void **)
{
	struct plan *plan = make(1, 1);
	struct plan_memory first, last;
	uint64_t layer = 4 * HIDDEN + 4 * HIDDEN + 3 * FFN;
	plan->parallel.pp = 4;
	plan->parallel.micro_batches = 8;
	plan_memory(plan, 0, &first);
	plan_memory(plan, 3, &last);
	assert_int_equal(first.activations, 4 * TOKENS * layer * 2);
	assert_int_equal(last.activations, TOKENS * (layer * 2 + VOCAB * (2 + 4)));
}
