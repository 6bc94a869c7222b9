// SPDX-License-Identifier: Apache-2.0
// The schedule of a step against closed forms, and against an independent model of the Azure step
// (a Python script with its own pipeline and collectives, whose figures stand below).

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/workload/plan_edit.h>
#include <weft/workload/step.h>

#include "../../shipped_plans.h"

static _Alignas(64) uint8_t memory[1 << 24];
static struct refusal refusal;

static struct step *made(const struct plan *plan)
{
	struct arena arena;
	struct step *step;
	memset(memory, 0, sizeof(memory));
	assert_true(step_bytes(plan) <= sizeof(memory));
	arena_init(&arena, memory, step_bytes(plan)); // no more than it says
	if (step_create(&step, &arena, plan, &refusal) < 0)
		fail_msg("%s", refusal.text);
	return step;
}

// Two NICs of 100 GB/s a rack, 128 racks.
static struct step_setup setup_of(uint32_t ranks, uint64_t network_Bps)
{
	struct step_setup setup = {
		.dense = {.ranks = ranks,
			  .ranks_per_domain = 2,
			  .channels = 4,
			  .network_Bps = network_Bps,
			  .domain_Bps = UINT64_C(400000000000),
			  .network_ps = 9 * PS_PER_US,
			  .domain_ps = 3 * PS_PER_US,
			  .chunk_bytes = 2 << 20},
		.send_ps = 50 * PS_PER_US,
		.loss_ppb = 550000000,
		.replicas = 1,
	};
	setup.experts = setup.dense;
	return setup;
}

// us, rounded
static int64_t us(ps_t time)
{
	return (time + PS_PER_US / 2) / PS_PER_US;
}

// head and tail in 10 us: the model's two decimals of a millisecond
static void expect(const char *name, uint32_t ranks, uint64_t network_Bps, int head, int tail,
		   int all)
{
	struct step_setup setup = setup_of(ranks, network_Bps);
	struct step_exposed exposed;
	struct step *step = made(plan_find(name));
	step_expose(step, &setup, &exposed, NULL);
	ps_t cost = exposed.with.step_ps - exposed.without.step_ps;
	assert_int_equal(cost, exposed.head_ps + exposed.tail_ps);
	if (us(exposed.head_ps / 10) != head || us(exposed.tail_ps / 10) != tail ||
	    us(cost / 10) != all)
		fail_msg("%s, %u ranks, %llu B/s: head %lld, tail %lld, exposed %lld", name, ranks,
			 (unsigned long long)network_Bps, (long long)us(exposed.head_ps / 10),
			 (long long)us(exposed.tail_ps / 10), (long long)us(cost / 10));
}

static void the_azure_step_is_that_of_the_independent_model(void **)
{
	const char *hook = "llama-3.1-405b-azure-hook";
	const uint64_t GBps = 1000000000;
	expect(hook, 256, 200 * GBps, 1318, 1095, 2413);
	expect(hook, 224, 200 * GBps, 1317, 1094, 2411);
	expect(hook, 256, 190 * GBps, 1401, 1179, 2580);
	expect(hook, 256, 180 * GBps, 1494, 1272, 2766);
	expect(hook, 256, 187500000000, 1424, 1201, 2625); // one plane of one NIC, split adapts
	expect(hook, 256, 175 * GBps, 1544, 1322, 2866);   // both rings throttled
	expect(hook, 256, 100 * GBps, 2905, 2683, 5588);
	expect(hook, 160, 100 * GBps, 2898, 2675, 5573);
	expect("llama-3.1-405b-azure-fp32-gradients", 256, 200 * GBps, 1318, 2683, 4001);
	expect("llama-3.1-405b-azure", 256, 200 * GBps, 1318, 1399, 2717); // the model: 13.9, 27
}

static void each_stage_ends_its_reduces_as_in_the_model(void **)
{
	// 10 us; the last two stages are left out: the model aligns all but stage 0, chunk 0
	static const int ends[] = {1058, 1095, 115, -865, -1845, -2825};
	struct step_setup setup = setup_of(256, UINT64_C(200000000000));
	struct step_stage stages[8];
	struct step_times times;
	step_run(made(plan_find("llama-3.1-405b-azure-hook")), &setup, &times, stages);
	for (int i = 0; i < 6; i++) {
		ps_t late = (stages[i].reduce_ps - times.backward_ps) / 10;
		int64_t rounded = late < 0 ? -us(-late) : us(late);
		assert_int_equal(rounded, ends[i]);
	}
}

static void racks_hardly_change_a_step(void **)
{
	struct step_setup small = setup_of(224, UINT64_C(200000000000));
	struct step_setup large = setup_of(256, UINT64_C(200000000000));
	struct step_times with_112, with_128;
	struct step *step = made(plan_find("llama-3.1-405b-azure"));
	step_run(step, &small, &with_112, NULL);
	step_run(step, &large, &with_128, NULL);
	assert_in_range(with_128.step_ps, with_112.step_ps,
			with_112.step_ps + with_112.step_ps / 1000); // 0.1 %
}

// ---------------------------------------------------------------- closed forms

static struct plan_edit even(uint32_t pp, uint32_t vpp, uint32_t micro_batches)
{
	struct plan_edit draft;
	static const char *const sets[] = {"hidden=64", "vocab=128",   "heads=4",      "kv_heads=4",
					   "ffn=256",	"head_dim=16", "sequence=128", "dp=4"};
	plan_begin(&draft, NULL);
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
		assert_int_equal(plan_set(&draft, sets[i], &refusal), 0);
	draft.architecture.layers = pp * vpp;
	draft.plan.architecture = &draft.architecture;
	draft.plan.parallel.pp = pp;
	draft.plan.parallel.vpp = vpp;
	draft.plan.parallel.micro_batches = micro_batches;
	draft.plan.timing = (struct timing){.forward_ps = 5 * PS_PER_MS,
					    .backward_ps = 9 * PS_PER_MS,
					    .other_ps = PS_PER_MS,
					    .origin = "a test",
					    .rests_on = INPUT_ASSUMED};
	return draft;
}

static void an_even_pipeline_has_its_closed_form(void **)
{
	static const uint32_t shapes[][3] = {{1, 1, 1},	 {1, 1, 7}, {4, 1, 4},	{4, 1, 1},
					     {4, 1, 11}, {2, 2, 2}, {4, 3, 8},	{8, 8, 8},
					     {8, 8, 24}, {3, 5, 9}, {16, 2, 32}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct plan_edit draft = even(shapes[i][0], shapes[i][1], shapes[i][2]);
		draft.plan.architecture = &draft.architecture;
		struct step_setup setup = setup_of(4, UINT64_C(200000000000));
		struct step_times times;
		setup.send_ps = 0;
		setup.loss_ppb = 0;
		setup.is_silent = true;
		step_run(made(&draft.plan), &setup, &times, NULL);
		assert_int_equal(times.backward_ps, step_pipeline_ps(&draft.plan));
		assert_int_equal(times.step_ps, times.backward_ps + PS_PER_MS);
	}
}

// m (f + b) + (p - 1) (f + b - 2 w), where w takes no longer than a forward or the rest of a
// backward; a third of 1F1B's gap where the three are equal. Gradients of weights of later stages
// end earlier by b - 2 w each, and no time is lost or made.
static void zb_h1_has_its_closed_form(void **)
{
	static const uint32_t shapes[][3] = {{2, 2, 500000000},	 {4, 4, 500000000},
					     {4, 11, 500000000}, {8, 8, 333333333},
					     {8, 64, 400000000}, {16, 40, 100000000}};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		struct plan_edit draft = even(shapes[i][0], 1, shapes[i][1]);
		draft.plan.architecture = &draft.architecture;
		draft.plan.parallel.late_ppb = shapes[i][2];
		struct step_setup setup = setup_of(4, UINT64_C(200000000000));
		struct step_stage stages[16];
		struct step_times times;
		setup.send_ps = setup.loss_ppb = 0;
		setup.is_silent = true;
		step_run(made(&draft.plan), &setup, &times, stages);
		ps_t forward = draft.plan.timing.forward_ps,
		     backward = draft.plan.timing.backward_ps;
		ps_t late = step_late_ps(&draft.plan, backward);
		ps_t ideal = shapes[i][1] * (forward + backward) +
			(shapes[i][0] - 1) * (forward + backward - 2 * late);
		assert_int_equal(step_pipeline_ps(&draft.plan), ideal);
		assert_int_equal(times.backward_ps, ideal);
		for (uint32_t r = 0; r < shapes[i][0]; r++)
			assert_int_equal(stages[r].backward_ps, ideal - r * (backward - 2 * late));
	}
}

static void one_replica_reduces_after_its_last_backward(void **)
{
	struct plan_edit draft = even(1, 1, 3);
	draft.plan.architecture = &draft.architecture;
	draft.plan.parallel.bucket_params = 1000000000; // one bucket
	struct step_setup setup = setup_of(4, UINT64_C(1000000000));
	struct step_exposed exposed;
	setup.loss_ppb = 0;
	step_expose(made(&draft.plan), &setup, &exposed, NULL);
	uint64_t params = architecture_params(&draft.architecture);
	params = (params + 127) / 128 * 128;
	// nothing hides the gather before the first forward, and nothing the reduce
	assert_int_equal(exposed.head_ps, ring_time_ps(&setup.dense, 2 * params));
	assert_int_equal(exposed.tail_ps, exposed.head_ps);
	draft.plan.parallel.has_distributed_optimizer = false;
	step_expose(made(&draft.plan), &setup, &exposed, NULL);
	assert_int_equal(exposed.head_ps, 0); // an all-reduce is both
	assert_int_equal(
		exposed.tail_ps,
		2 * ring_time_ps(&setup.dense, 2 * architecture_params(&draft.architecture)));
}

static void a_large_ring_is_bandwidth_and_a_small_one_latency(void **)
{
	struct ring_time ring = setup_of(256, UINT64_C(200000000000)).dense;
	ps_t large = ring_time_ps(&ring, UINT64_C(3187802112));
	// S (N - 1) / N / B: 15.88 ms
	assert_in_range(large, 15870 * PS_PER_US, 15890 * PS_PER_US);
	ps_t small = ring_time_ps(&ring, 256 * 4 * 2);
	ps_t hops = 128 * 9 * PS_PER_US + 127 * 3 * PS_PER_US;
	assert_in_range(small, hops, hops + PS_PER_US);
	ring.ranks = 1;
	assert_int_equal(ring_time_ps(&ring, 1 << 20), 0);
	ring = setup_of(256, UINT64_C(200000000000)).dense;
	assert_int_equal(ring_time_check(&ring, &refusal), 0);
	ring.network_Bps = 0;
	assert_int_equal(ring_time_check(&ring, &refusal), -EINVAL);
	ring = setup_of(255, UINT64_C(200000000000)).dense;
	assert_int_equal(ring_time_check(&ring, &refusal), -EINVAL);
}

// 2,048 ranks, 64 in a domain: 31 of 32 hops are short, but each of the 2,047 chunks passes the
// long one, and no more than four slices in the time of one there and a credit back.
static void few_credits_make_the_longest_hop_the_narrowest(void **)
{
	struct ring_time ring = {.ranks = 2048,
				 .ranks_per_domain = 64,
				 .channels = 32,
				 .network_Bps = UINT64_C(3200000000000),
				 .domain_Bps = UINT64_C(900000000000),
				 .network_ps = 4 * PS_PER_US,
				 .domain_ps = 3 * PS_PER_US,
				 .chunk_bytes = 2 << 20,
				 .credit_ps = 4 * PS_PER_US};
	const uint64_t bytes = UINT64_C(2048) * 32 * 20000; // slices of 10 kB: 0.1 us
	ps_t enough = ring_time_ps(&ring, bytes);
	assert_in_range(enough, 2016 * 3 * PS_PER_US, 7 * PS_PER_MS);
	ring.credits = 4;
	assert_int_equal(ring_time_check(&ring, &refusal), 0);
	assert_int_equal(ring_time_ps(&ring, bytes), 2047 * (8100 * PS_PER_NS) / 2);
	ring.credits = 8; // half of that is less than the way round
	assert_int_equal(ring_time_ps(&ring, bytes), enough);
	ring.credits = 4;
	ring.ranks = 64; // nothing leaves the domain
	assert_true(ring_time_ps(&ring, bytes) < enough);
	ring.credit_ps = -1;
	assert_int_equal(ring_time_check(&ring, &refusal), -EINVAL);
}

// Four ranks, two in a domain. Large slices: what it streams, and once there and back. Small ones:
// of a round of four hops the two that stay, a chunk, and there and back; with four credits the
// fifth of six slices waits for one turn. Packets of such a ring at 23.9 GB/s take 547.0, 31.1 and
// 38.6 us.
static void the_filling_of_a_ring_is_counted_where_it_is_asked_for(void **)
{
	struct ring_time ring = {.ranks = 4,
				 .ranks_per_domain = 2,
				 .channels = 8,
				 .network_Bps = UINT64_C(23900000000),
				 .domain_Bps = UINT64_C(450000000000),
				 .network_ps = 8850 * PS_PER_NS,
				 .domain_ps = PS_PER_US,
				 .chunk_bytes = 2 << 20,
				 .credits = 8,
				 .credit_ps = 8850 * PS_PER_NS,
				 .is_filled = true};
	assert_int_equal(us(ring_time_ps(&ring, 16 << 20)), 544);
	assert_int_equal(us(ring_time_ps(&ring, 1 << 18)), 32);
	ring.credits = 4;
	assert_int_equal(us(ring_time_ps(&ring, 1 << 18)), 40);
	ps_t once = ring_time_ps(&ring, 16 << 20), both = ring_time_all_ps(&ring, 16 << 20);
	assert_int_equal(2 * once - both, 2 * ring.network_ps); // it ends once, not twice
	ring.is_filled = false;
	assert_true(ring_time_ps(&ring, 16 << 20) < once);
	assert_int_equal(ring_time_all_ps(&ring, 16 << 20), 2 * ring_time_ps(&ring, 16 << 20));
}

// ---------------------------------------------------------------- what delays a step

static ps_t step_of(const struct plan *plan, const struct step_setup *setup)
{
	struct step_times times;
	step_run(made(plan), setup, &times, NULL);
	return times.step_ps;
}

static void a_slow_stage_slows_an_even_pipeline_by_its_share(void **)
{
	struct plan_edit draft = even(8, 8, 8);
	draft.plan.architecture = &draft.architecture;
	struct step_setup setup = setup_of(4, UINT64_C(200000000000));
	setup.loss_ppb = 0;
	setup.send_ps = 0;
	setup.is_silent = true;
	ps_t before = step_of(&draft.plan, &setup);
	setup.slow_stage = 3;
	setup.slow_ppb = 20000000; // 2 %
	ps_t after = step_of(&draft.plan, &setup);
	// its 64 forwards and backwards, less those that the pipeline's fill of 7 hides
	ps_t busy = 64 * 14 * PS_PER_MS / 50;
	assert_in_range(after - before, busy * (64 - 7) / 64, busy);
	setup.slow_stage = UINT32_MAX; // nobody
	assert_int_equal(step_of(&draft.plan, &setup), before);
}

static void jitter_is_the_seed_s_and_more_replicas_are_slower(void **)
{
	const struct plan *plan = plan_find("llama-3.1-405b-azure");
	struct step_setup setup = setup_of(256, UINT64_C(200000000000));
	ps_t quiet = step_of(plan, &setup);
	setup.jitter_ppb = 20000000;
	setup.seed = 7;
	ps_t one = step_of(plan, &setup);
	assert_int_equal(step_of(plan, &setup), one);
	assert_int_not_equal(one, quiet);
	setup.replicas = 64;
	ps_t many = step_of(plan, &setup);
	assert_true(many >= one);
	setup.seed = 8;
	setup.replicas = 1;
	assert_int_not_equal(step_of(plan, &setup), one);
}

// With gathers that wait for the slowest, no replica is ahead of the others by more than a step.
static void replicas_wait_for_each_other_s_gathers(void **)
{
	struct plan_edit draft = even(2, 4, 4);
	draft.plan.architecture = &draft.architecture;
	struct step_setup setup = setup_of(4, UINT64_C(1000000));
	setup.jitter_ppb = 300000000;
	setup.replicas = 8;
	setup.seed = 3;
	struct step_times all;
	struct step *step = made(&draft.plan);
	step_run(step, &setup, &all, NULL);
	ps_t slowest = 0; // of the same replicas, each for itself
	for (uint32_t replica = 0; replica < 8; replica++) {
		struct step_setup alone = setup;
		struct step_times times;
		alone.replicas = replica + 1;
		step_run(step, &alone, &times, NULL);
		assert_true(times.step_ps >= slowest); // one more never helps
		slowest = times.step_ps;
	}
	assert_int_equal(all.step_ps, slowest);
	// us, as it came to once; it would be 1025330 if they did not wait
	assert_int_equal(us(all.step_ps), 1025704);
	struct step_setup silent = setup;
	silent.is_silent = true;
	step_run(step, &silent, &all, NULL);
	assert_true(all.step_ps <= slowest);
}

static void a_faster_network_never_makes_a_step_longer(void **)
{
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 60; i++) {
		uint32_t pp = 1 + rng_below(&rng, 6);
		uint32_t vpp = pp == 1 ? 1 : 1 + rng_below(&rng, 4);
		uint32_t rounds = 1 + rng_below(&rng, 4);
		struct plan_edit draft = even(pp, vpp, vpp > 1 ? pp * rounds : rounds);
		draft.plan.architecture = &draft.architecture;
		draft.plan.parallel.is_aligned = rng_below(&rng, 2) == 1;
		draft.plan.parallel.bucket_params = 1 + rng_below(&rng, 40000);
		struct step_setup setup = setup_of(4, 10000000 + rng_below(&rng, 100000000));
		ps_t slow = step_of(&draft.plan, &setup);
		setup.dense.network_Bps *= 2;
		setup.experts = setup.dense;
		ps_t fast = step_of(&draft.plan, &setup);
		setup.is_silent = true;
		assert_true(fast <= slow && step_of(&draft.plan, &setup) <= fast);
	}
}

static void a_plan_without_times_is_refused(void **)
{
	struct plan untimed = *plan_find("bert-large-a100-4096");
	untimed.timing = (struct timing){0};
	struct arena arena;
	struct step *step;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(step_create(&step, &arena, &untimed, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "no times of computation"));
	arena_init(&arena, memory, 4096);
	assert_int_equal(step_create(&step, &arena, plan_find("llama-3.1-405b-azure"), &refusal),
			 -ENOMEM);
}
