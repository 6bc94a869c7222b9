// SPDX-License-Identifier: Apache-2.0
// Ways to share parameters among replicas: buckets as PyTorch and DeepSpeed make them, memory, and
// what each exposes, by closed forms of its schedule.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/rng.h>
#include <weft/workload/plan_edit.h>
#include <weft/workload/plan_memory.h>
#include <weft/workload/step.h>

static _Alignas(64) uint8_t memory[1 << 24];
static struct arena arena;
static struct refusal refusal;
static struct plan_edit draft;

#define LAYERS 12
#define UNITS (LAYERS + 2)
#define RANKS 8
#define RATES 10

static struct plan *make(enum sharding sharding, uint32_t micro_batches)
{
	plan_begin(&draft, NULL);
	draft.architecture = (struct architecture){.name = "a",
						   .layers = LAYERS,
						   .hidden = 512,
						   .vocab = 4096,
						   .heads = 8,
						   .kv_heads = 8,
						   .head_dim = 64,
						   .ffn = 1024,
						   .is_gated = true,
						   .norm_vectors = 1};
	struct parallel *cut = &draft.plan.parallel;
	cut->dp = RANKS;
	cut->micro_batches = micro_batches;
	cut->sequence = 128;
	cut->sharding = sharding;
	cut->is_aligned = false;
	cut->has_distributed_optimizer = sharding != SHARDING_DDP;
	cut->is_reduced_each = sharding == SHARDING_FSDP || sharding == SHARDING_ZERO2;
	cut->is_resharded = true;
	cut->first_bucket_bytes = 1 << 20;
	cut->bucket_bytes = 25 << 20;
	draft.plan.timing = (struct timing){.forward_ps = 12 * PS_PER_MS,
					    .backward_ps = 24 * PS_PER_MS,
					    .other_ps = 0,
					    .origin = "made up",
					    .rests_on = INPUT_ASSUMED};
	assert_int_equal(plan_check(&draft.plan, &refusal), 0);
	arena_init(&arena, memory, sizeof(memory));
	memset(memory, 0, sizeof(memory));
	return &draft.plan;
}

static struct step_setup setup_of(uint64_t network_Bps)
{
	struct ring_time ring = {.ranks = RANKS,
				 .ranks_per_domain = 1,
				 .channels = 1,
				 .network_Bps = network_Bps,
				 .domain_Bps = network_Bps,
				 .chunk_bytes = 1 << 20};
	return (struct step_setup){
		.dense = ring, .experts = ring, .slow_stage = UINT32_MAX, .replicas = 1};
}

// Collectives of a pass in the order of backward, and when the gradients of each are there.
struct units {
	uint32_t count;
	ps_t gather_ps[UNITS], reduce_ps[UNITS], ready_ps[UNITS];
	uint32_t forward_ppm[UNITS];
	ps_t gathers_ps, reduces_ps;
};

static struct units units_of(struct step *step, const struct step_setup *setup,
			     const struct plan *plan)
{
	struct units units = {0};
	struct step_gradient unit;
	for (; step_gradient(step, setup, 0, 0, units.count, &unit); units.count++) {
		const struct step_collective reduce = {.bytes = unit.reduce_bytes,
						       .is_all = unit.gather_bytes == 0};
		units.gather_ps[units.count] = unit.gather_ps;
		units.forward_ppm[units.count] = unit.forward_ppm;
		units.reduce_ps[units.count] = step_collective_ps(setup, &reduce);
		units.ready_ps[units.count] = plan->timing.backward_ps * unit.ready_ppm / 1000000;
		units.gathers_ps += units.gather_ps[units.count];
		units.reduces_ps += units.reduce_ps[units.count];
	}
	units.ready_ps[units.count - 1] = plan->timing.backward_ps;
	return units;
}

// The last reduce of a queue ends so long behind the last backward: whichever bucket the queue has
// not stood still since.
static ps_t tail_of(const struct units *units, ps_t backward_ps)
{
	ps_t most = 0, behind = 0;
	for (uint32_t i = units->count; i > 0; i--) {
		behind += units->reduce_ps[i - 1];
		most = ps_max(most, units->ready_ps[i - 1] + behind - backward_ps);
	}
	return most;
}

static void expose(const struct plan *plan, uint64_t Bps, struct step_exposed *ret,
		   struct units *units)
{
	struct step *step;
	struct step_setup setup = setup_of(Bps);
	arena_init(&arena, memory, sizeof(memory));
	if (step_create(&step, &arena, plan, &refusal) < 0)
		fail_msg("%s", refusal.text);
	step_expose(step, &setup, ret, NULL);
	*units = units_of(step, &setup, plan);
	assert_int_equal(ret->without.step_ps,
			 plan->parallel.micro_batches *
				 (plan->timing.forward_ps + plan->timing.backward_ps));
}

// Rates from 64 GB/s down to 125 MB/s.
static uint64_t rate(int i)
{
	return UINT64_C(64000000000) >> i;
}

static void ddp_exposes_what_its_queue_of_buckets_does(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int i = 0; i < RATES; i++) {
		const struct plan *plan = make(SHARDING_DDP, 3);
		expose(plan, rate(i), &exposed, &units);
		assert_int_equal(exposed.head_ps, 0);
		assert_int_equal(exposed.tail_ps, tail_of(&units, plan->timing.backward_ps));
		assert_true(exposed.tail_ps >= units.reduce_ps[units.count - 1]);
	}
}

static void zero_1_waits_for_all_parameters(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_ZERO1, 2);
		plan->parallel.bucket_params = 3000000;
		expose(plan, rate(i), &exposed, &units);
		assert_true(units.count > 3);
		assert_int_equal(exposed.head_ps, units.gathers_ps);
		assert_int_equal(exposed.tail_ps, tail_of(&units, plan->timing.backward_ps));
	}
}

// With one micro-batch it is ZeRO-1; with more, the reduces of one hide behind the next or wait.
static void zero_2_reduces_each_micro_batch(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_ZERO2, 1);
		plan->parallel.bucket_params = 3000000;
		expose(plan, rate(i), &exposed, &units);
		assert_int_equal(exposed.head_ps, units.gathers_ps);
		assert_int_equal(exposed.tail_ps, tail_of(&units, plan->timing.backward_ps));
	}
	for (int i = 0; i < RATES;
	     i++) { // one bucket: it is free again, or the queue is never idle
		struct plan *plan = make(SHARDING_ZERO2, 4);
		expose(plan, rate(i), &exposed, &units);
		ps_t each = plan->timing.forward_ps + plan->timing.backward_ps;
		assert_int_equal(units.count, 1);
		assert_int_equal(exposed.head_ps, units.gathers_ps);
		assert_int_equal(exposed.tail_ps,
				 ps_max(units.reduces_ps, 4 * units.reduces_ps - 3 * each));
	}
}

static void fsdp_without_prefetch_hides_nothing(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int is_resharded = 0; is_resharded < 2; is_resharded++) {
		for (int i = 0; i < RATES; i++) {
			struct plan *plan = make(SHARDING_FSDP, 3);
			plan->parallel.is_resharded = is_resharded != 0;
			expose(plan, rate(i), &exposed, &units);
			assert_int_equal(units.count, UNITS);
			// without gathers a backward hides its reduces behind the next unit's
			ps_t all = 3 * ((1 + is_resharded) * units.gathers_ps + units.reduces_ps);
			ps_t sum = exposed.with.step_ps - exposed.without.step_ps;
			if (is_resharded)
				assert_int_equal(sum, all);
			else
				assert_true(sum <= all && sum >= 3 * units.gathers_ps);
		}
	}
}

// The first unit has nothing to hide behind, and the last reduce neither; between passes the first
// gather waits for the last reduce.
static void fsdp_with_prefetch_exposes_only_ends_while_the_network_is_fast(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int i = 0; i < 4; i++) {
		struct plan *plan = make(SHARDING_FSDP, 2);
		plan->parallel.prefetch = 2;
		expose(plan, rate(i), &exposed, &units);
		ps_t first = units.gather_ps[UNITS - 1], last = units.gather_ps[0];
		ps_t least = units.reduce_ps[UNITS - 1] + first + last;
		ps_t all = 2 * (2 * units.gathers_ps + units.reduces_ps);
		ps_t sum = exposed.with.step_ps - exposed.without.step_ps;
		assert_true(sum >= least && sum < all / 2);
	}
	for (int i = 4; i < RATES; i++) { // never more than without, never less than the network's
		struct plan *plan = make(SHARDING_FSDP, 2);
		plan->parallel.prefetch = 1;
		expose(plan, rate(i), &exposed, &units);
		ps_t all = 2 * (2 * units.gathers_ps + units.reduces_ps);
		assert_true(exposed.with.step_ps >= all);
		assert_true(exposed.with.step_ps - exposed.without.step_ps <= all);
	}
}

// Units of one size: the embedding and the output have as many parameters as a layer.
static struct plan *make_even(uint32_t micro_batches)
{
	struct plan *plan = make(SHARDING_FSDP, micro_batches);
	draft.architecture.vocab = 5121;
	draft.architecture.extra_first_params = 512;
	return plan;
}

// PyTorch's prefetch of one unit. With L layers that take c forward and d backward, an embedding
// that takes e backward, gathers of g and reduces of r, in one queue: a forward takes 2 g +
// L max(g, c), a backward 2 g + L max(g + r, d) + max(r, e) + r, and the next forward's first
// gather waits for the last reduce. Where parameters are kept a backward takes L max(r, d) +
// max(r, e) + r; hybrid sharding's all-reduce of a shard goes behind each scatter.
static void fsdp_as_it_is_has_its_closed_form(void **)
{
	for (int kept = 0; kept < 2; kept++)
		for (uint32_t shard = 0; shard <= 2; shard += 2)
			for (int i = 0; i < RATES; i++) {
				struct plan *plan = make_even(3);
				struct step_setup setup = setup_of(rate(i));
				struct step *step;
				struct step_exposed exposed;
				struct step_collective of[3];
				ps_t g = 0, r = 0, c = plan->timing.forward_ps / LAYERS;
				ps_t d = plan->timing.backward_ps * 99 / 100 / LAYERS;
				plan->parallel.prefetch = 1;
				plan->parallel.is_resharded = kept == 0;
				plan->parallel.shard_ranks = shard;
				setup.dense.ranks = shard > 0 ? shard : RANKS;
				setup.experts.ranks = RANKS / 2;
				assert_int_equal(step_create(&step, &arena, plan, &refusal), 0);
				step_expose(step, &setup, &exposed, NULL);
				uint32_t count = step_collectives(step, of, 3); // one size each
				assert_int_equal(count, shard > 0 ? 3 : 2);
				for (uint32_t j = 0; j < count; j++)
					*(of[j].is_gather ? &g : &r) += step_collective_ps(&setup,
											   &of[j]);
				ps_t e = plan->timing.backward_ps / 100, rest = r + ps_max(r, e);
				ps_t forward = 2 * g + LAYERS * ps_max(g, c);
				ps_t backward = kept != 0
					? rest + LAYERS * ps_max(r, d)
					: 2 * g + rest + LAYERS * ps_max(g + r, d);
				ps_t off = exposed.with.step_ps - 3 * (forward + backward);
				if (off < -PS_PER_US || off > PS_PER_US) // shares are in 10^-6
					fail_msg("kept %d, shards of %u, rate %d: %lld ps off",
						 kept, shard, i, (long long)off);
			}
}

// Megatron-LM's: gathers queue before the first forward, which goes from bucket to bucket, and the
// queue of reduces as DDP's. Without a distributed optimizer nothing is gathered.
static void megatron_exposes_its_two_queues(void **)
{
	for (int has_gathers = 0; has_gathers < 2; has_gathers++)
		for (int i = 0; i < RATES; i++) {
			struct step_exposed exposed;
			struct units units;
			struct plan *plan = make(SHARDING_MEGATRON, 3);
			plan->parallel.bucket_params = 3000000;
			plan->parallel.has_distributed_optimizer = has_gathers != 0;
			expose(plan, rate(i), &exposed, &units);
			ps_t head = 0, gathered = 0, used = 0;
			for (uint32_t j = units.count; j > 0; j--) {
				gathered += units.gather_ps[j - 1];
				head = ps_max(head, gathered - used);
				used += plan->timing.forward_ps * units.forward_ppm[j - 1] /
					1000000;
			}
			assert_true(units.count > 3);
			assert_int_equal(exposed.head_ps, has_gathers != 0 ? head : 0);
			assert_int_equal(exposed.tail_ps,
					 tail_of(&units, plan->timing.backward_ps));
		}
}

// Accumulation that sums in each micro-batch (DDP without no_sync): one queue over all of them.
static void ddp_in_each_micro_batch_is_one_queue(void **)
{
	for (int i = 0; i < RATES; i++) {
		struct step_exposed exposed;
		struct units units;
		struct plan *plan = make(SHARDING_DDP, 3);
		plan->parallel.is_reduced_each = true;
		expose(plan, rate(i), &exposed, &units);
		ps_t each = plan->timing.forward_ps + plan->timing.backward_ps, most = 0;
		ps_t backward = plan->timing.backward_ps;
		for (int m = 0; m < 3; m++) { // of those behind it, all of m's own rest
			ps_t behind = tail_of(&units, backward) + m * (units.reduces_ps - each);
			most = ps_max(most, behind);
		}
		assert_int_equal(exposed.head_ps, 0);
		assert_in_range(exposed.tail_ps, most - 64, most + 64);
	}
}

static void prefetching_more_never_takes_longer(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int i = 0; i < RATES; i++) {
		ps_t before = INT64_MAX;
		for (uint32_t prefetch = 0; prefetch < 2; prefetch++) {
			struct plan *plan = make(SHARDING_FSDP, 1);
			plan->parallel.prefetch = prefetch;
			expose(plan, rate(i), &exposed, &units);
			assert_true(exposed.with.step_ps <= before);
			before = exposed.with.step_ps;
		}
	}
}

static void buckets_of_ddp_close_at_their_bytes(void **)
{
	struct plan *plan = make(SHARDING_DDP, 1);
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, 0, 0), count = 0;
	uint64_t params = 0;
	while (plan_bucket_next(plan, 0, 0, false, &left, &bucket)) {
		uint64_t bytes = bucket.params * plan->parallel.grad_bytes;
		struct part first;
		plan_part(plan, 0, 0, left, &first);
		uint64_t limit = count == 0 ? 1 << 20 : 25 << 20;
		assert_true(bytes >= limit || left == 0);
		assert_true(bytes - first.params * plan->parallel.grad_bytes < limit);
		assert_int_equal(bucket.padded, bucket.params);
		params += bucket.params;
		count++;
	}
	assert_int_equal(params, architecture_params(&draft.architecture));
	assert_true(count > 2);
}

static void units_of_fsdp_are_layers(void **)
{
	struct plan *plan = make(SHARDING_FSDP, 1);
	struct plan_bucket unit;
	uint32_t left = plan_part_count(plan, 0, 0), count = 0;
	uint64_t layer = 4 * 512 * 512 + 3 * 512 * 1024 + 2 * 512;
	while (plan_bucket_next(plan, 0, 0, false, &left, &unit)) {
		uint64_t params = count == 0 ? 4096 * 512 + 512
			: count == UNITS - 1 ? 4096 * 512
					     : layer;
		assert_int_equal(unit.params, params);
		count++;
	}
	assert_int_equal(count, UNITS);
}

static void memory_is_cut_as_the_stage_of_zero_says(void **)
{
	static const struct {
		enum sharding sharding;
		uint64_t params, grads, optimizer; // cut by
	} ways[] = {{SHARDING_DDP, 1, 1, 1},
		    {SHARDING_MEGATRON, 1, 1, RANKS},
		    {SHARDING_ZERO1, 1, 1, RANKS},
		    {SHARDING_ZERO2, 1, RANKS, RANKS},
		    {SHARDING_FSDP, RANKS, RANKS, RANKS}};
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct plan *plan = make(ways[i].sharding, 1);
		uint64_t params = architecture_params(&draft.architecture);
		struct plan_memory held;
		plan_memory(plan, 0, &held);
		assert_int_equal(held.params, params * 2 / ways[i].params);
		assert_int_equal(held.grads, params * 2 / ways[i].grads);
		assert_int_equal(held.optimizer, params * 12 / ways[i].optimizer);
	}
}

// Two stages of FSDP as PyTorch runs them: units are gathered in a stage's first forward and kept,
// and go out behind its last backward. Without prefetch both stages' gathers stand before the
// pipeline; behind it the first stage's reduces do, or the second's, which began a backward
// earlier.
static void stages_of_fsdp_gather_first_and_reduce_last(void **)
{
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_FSDP, 4);
		struct step_setup setup = setup_of(rate(i));
		struct step *step;
		struct step_exposed exposed;
		struct units stages[2] = {{0}};
		plan->parallel.pp = 2;
		plan->parallel.is_resharded = plan->parallel.is_reduced_each = false;
		assert_int_equal(step_create(&step, &arena, plan, &refusal), 0);
		step_expose(step, &setup, &exposed, NULL);
		ps_t slot_ps = plan->timing.forward_ps + plan->timing.backward_ps;
		assert_int_equal(exposed.without.step_ps, (4 + 2 - 1) * slot_ps);
		for (uint32_t stage = 0; stage < 2; stage++) {
			struct step_gradient unit;
			for (uint32_t j = 0; step_gradient(step, &setup, stage, 0, j, &unit); j++) {
				const struct step_collective reduce = {.bytes = unit.reduce_bytes};
				stages[stage].gathers_ps += unit.gather_ps;
				stages[stage].reduces_ps += step_collective_ps(&setup, &reduce);
			}
		}
		ps_t tail = ps_max(stages[0].reduces_ps,
				   stages[1].reduces_ps - plan->timing.backward_ps);
		assert_int_equal(exposed.head_ps, stages[0].gathers_ps + stages[1].gathers_ps);
		assert_int_equal(exposed.tail_ps, tail);
		assert_int_equal(plan_gathers(plan), 1);
		assert_int_equal(plan_reduces(plan), 1);
	}
}

// Resharded behind each forward, and with chunks: each pass gathers, and no stage waits for ever.
static void stages_that_reshard_gather_in_each_pass(void **)
{
	ps_t before = 0;
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_FSDP, 4);
		struct step_setup setup = setup_of(rate(i));
		struct step *step;
		struct step_exposed exposed;
		plan->parallel.pp = plan->parallel.vpp = 2;
		assert_int_equal(step_create(&step, &arena, plan, &refusal), 0);
		step_expose(step, &setup, &exposed, NULL);
		assert_int_equal(plan_gathers(plan), 8);
		assert_int_equal(exposed.without.step_ps, step_pipeline_ps(plan));
		ps_t adds = exposed.with.step_ps - exposed.without.step_ps;
		assert_true(adds > before);
		before = adds;
	}
}

// What a stage holds of parameters and gradients while it keeps what it gathered.
static void stages_hold_whole_what_they_keep(void **)
{
	struct plan *plan = make(SHARDING_FSDP, 4);
	struct plan_memory kept, cut;
	plan->parallel.pp = 2;
	plan_memory(plan, 1, &cut);
	plan->parallel.is_resharded = plan->parallel.is_reduced_each = false;
	plan_memory(plan, 1, &kept);
	uint64_t params = plan_stage_params(plan, 1, false);
	assert_int_equal(kept.grads, params * 2);
	assert_int_equal(cut.grads, params * 2 / RANKS);
	assert_true(kept.gathered >= params * 2 && cut.gathered < params * 2);
	assert_int_equal(kept.params, cut.params);
}

// DeepSpeed's pipelines take no ZeRO beyond 1; all others go with stages.
static void a_pipeline_goes_with_all_but_zero_2_and_3(void **)
{
	for (int i = 1; i < SHARDING_COUNT; i++) {
		struct plan *plan = make((enum sharding)i, 4);
		const char *size;
		plan->parallel.pp = 2;
		assert_int_equal(plan_check_size(plan, &size, &refusal), 0);
		plan->parallel.has_one_stage = true;
		assert_true(plan_check_size(plan, &size, &refusal) < 0);
		assert_string_equal(size, "pp");
	}
}

// An outer step of local ones: one all-reduce of all, behind the last backward.
static void an_outer_step_exposes_one_all_reduce(void **)
{
	struct step_exposed exposed;
	struct units units;
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_DDP, 3);
		plan->parallel.outer_steps = 16;
		plan->parallel.is_aligned = true;
		expose(plan, rate(i), &exposed, &units);
		assert_int_equal(units.count, 1);
		assert_int_equal(exposed.head_ps, 0);
		assert_int_equal(exposed.tail_ps, units.reduces_ps);
	}
}

// ZB-H1 with two stages: the second ends earlier by b - 2 w, and reduces from there on; each stage
// has one all-reduce behind its end, the longer way to the end is exposed.
static void zb_h1_exposes_the_later_of_two_stages(void **)
{
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_DDP, 4);
		struct step_setup setup = setup_of(rate(i));
		struct step *step;
		struct step_exposed exposed;
		ps_t reduces_ps[2] = {0};
		plan->parallel.pp = 2;
		plan->parallel.late_ppb = 300000000;
		plan->parallel.outer_steps = 16;
		plan->parallel.is_aligned = true;
		assert_int_equal(step_create(&step, &arena, plan, &refusal), 0);
		step_expose(step, &setup, &exposed, NULL);
		ps_t forward = plan->timing.forward_ps, backward = plan->timing.backward_ps;
		ps_t earlier = backward - 2 * step_late_ps(plan, backward);
		assert_int_equal(exposed.without.step_ps,
				 4 * (forward + backward) + forward + earlier);
		for (uint32_t stage = 0; stage < 2; stage++) {
			struct step_gradient unit;
			for (uint32_t j = 0; step_gradient(step, &setup, stage, 0, j, &unit); j++) {
				const struct step_collective reduce = {.bytes = unit.reduce_bytes,
								       .is_all = true};
				reduces_ps[stage] += step_collective_ps(&setup, &reduce);
			}
		}
		assert_int_equal(exposed.head_ps, 0);
		assert_int_equal(exposed.tail_ps, ps_max(reduces_ps[0], reduces_ps[1] - earlier));
	}
}

// Without prefetch nothing hides: each gather, each scatter, and each all-reduce of a shard.
static void hybrid_shards_without_prefetch_hide_nothing(void **)
{
	for (int i = 0; i < RATES; i++) {
		struct plan *plan = make(SHARDING_FSDP, 3);
		struct step_setup setup = setup_of(rate(i));
		struct step *step;
		struct step_exposed exposed;
		struct step_collective all[64];
		ps_t sum = 0;
		plan->parallel.shard_ranks = 2;
		setup.dense.ranks = 2;
		setup.experts.ranks = RANKS / 2;
		assert_int_equal(step_create(&step, &arena, plan, &refusal), 0);
		step_expose(step, &setup, &exposed, NULL);
		for (uint32_t j = step_collectives(step, all, 64); j > 0; j--)
			sum += all[j - 1].count * step_collective_ps(&setup, &all[j - 1]);
		assert_int_equal(exposed.with.step_ps - exposed.without.step_ps, sum);
	}
}

// A network of (nearly) no time exposes nothing, whoever shares how.
static void an_endless_network_exposes_nothing(void **)
{
	for (int i = 0; i < SHARDING_COUNT; i++) {
		struct step_exposed exposed;
		struct units units;
		const struct plan *plan = make((enum sharding)i, 2);
		expose(plan, UINT64_C(1) << 50, &exposed, &units);
		assert_true(exposed.with.step_ps - exposed.without.step_ps < PS_PER_US);
	}
}

// Hybrid sharding: a unit's gather and scatter take the time of a shard's ring, and behind each
// scatter the all-reduce of a shard takes that of the ring across.
static void shards_are_summed_across(void **)
{
	struct plan *plan = make(SHARDING_FSDP, 2);
	struct step_setup setup = setup_of(10000000000);
	struct step *step;
	struct step_collective all[64];
	plan->parallel.shard_ranks = 2;
	setup.dense.ranks = 2;
	setup.experts.ranks = RANKS / 2;
	assert_int_equal(plan_check(plan, &refusal), 0);
	assert_int_equal(step_create(&step, &arena, plan, &refusal), 0);
	uint32_t count = step_collectives(step, all, 64), across = 0;
	uint64_t summed = 0, scattered = 0;
	for (uint32_t i = 0; i < count; i++) {
		across += all[i].is_all;
		if (all[i].is_all)
			summed += all[i].bytes * all[i].count;
		else if (!all[i].is_gather)
			scattered += all[i].bytes * all[i].count;
		assert_int_equal(all[i].is_all, all[i].is_expert);
	}
	assert_true(across > 0);
	assert_int_equal(scattered, 2 * summed); // two ranks of a shard
	struct step_exposed with, without;
	step_expose(step, &setup, &with, NULL);
	setup.experts.network_Bps = setup.experts.domain_Bps = UINT64_C(1) << 50;
	step_expose(step, &setup, &without, NULL);
	assert_true(with.with.step_ps > without.with.step_ps);
	plan->parallel.shard_ranks = 3;
	assert_true(plan_check(plan, &refusal) < 0);
}
