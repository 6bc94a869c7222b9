// SPDX-License-Identifier: Apache-2.0
// The schedule of a step as a program: played with messages that take a fixed time, it ends when
// step.c says that it does, to the picosecond.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/heap.h>
#include <weft/core/rng.h>
#include <weft/workload/plan_edit.h>
#include <weft/workload/step_program.h>

static _Alignas(64) uint8_t memory[1 << 28];
static struct arena arena;
static struct refusal refusal;

// ---------------------------------------------------------------- playing a program

enum { ENDED, ARRIVED };

struct player {
	const struct program *program;
	struct program_run *run;
	struct heap events;
	ps_t now, stage_ps; // a message between stages takes so long; all others no time
	uint64_t bytes_between_stages;
	ps_t end_ps[STEP_STREAM_COUNT]; // latest end of a computation of the stream
};

static void later(struct player *player, int event, uint32_t op, ps_t at)
{
	heap_push(&player->events, at, (uint64_t)event << 32 | op);
}

static void go_on(struct player *player, uint32_t rank)
{
	const struct op *ops = player->program->ops;
	for (uint32_t i; (i = program_run_next(player->run, rank)) != OP_NONE;) {
		ps_t takes = ops[i].compute_ps;
		if (ops[i].kind == OP_SEND) {
			bool is_edge = ops[i].bytes == player->bytes_between_stages;
			takes = is_edge ? player->stage_ps : 0;
			later(player, ARRIVED, ops[i].twin, player->now + takes);
		}
		later(player, ENDED, i, player->now + takes);
	}
}

static ps_t play(struct player *player)
{
	const struct op *ops = player->program->ops;
	for (uint32_t rank = 0; rank < player->program->ranks; rank++)
		go_on(player, rank);
	while (heap_next_at(&player->events) != PS_NEVER) {
		struct heap_item item = heap_pop(&player->events);
		uint32_t index = (uint32_t)item.key;
		player->now = item.at;
		if (item.key >> 32 == ARRIVED)
			program_run_arrived(player->run, index);
		else
			program_run_ended(player->run, index);
		if (ops[index].kind == OP_COMPUTE)
			player->end_ps[ops[index].stream] = player->now;
		go_on(player, ops[index].rank);
	}
	for (uint32_t rank = 0; rank < player->program->ranks; rank++)
		assert_int_equal(program_run_left(player->run, rank), 0);
	return player->now;
}

// ---------------------------------------------------------------- a small job

struct small {
	struct plan_edit draft;
	struct order order;
	struct job job;
	struct step_setup setup;
	struct step_program of;
	uint64_t edge_bytes;
};

static void make(struct small *small, uint32_t pp, uint32_t vpp, uint32_t micro_batches,
		 uint32_t dp, uint32_t per_domain, const char *order)
{
	static const struct ring_config ring = {2, 2, 1 << 12, 2, 4, RING_PIPELINED, 0};
	*small = (struct small){0};
	plan_begin(&small->draft, NULL);
	struct plan *plan = &small->draft.plan;
	plan->architecture = &small->draft.architecture;
	small->draft.architecture = (struct architecture){.name = "small",
							  .layers = pp * vpp,
							  .hidden = 64,
							  .vocab = 256,
							  .heads = 4,
							  .kv_heads = 4,
							  .head_dim = 16,
							  .ffn = 128,
							  .norm_vectors = 1};
	plan->parallel = (struct parallel){.tp = 1,
					   .cp = 1,
					   .ep = 1,
					   .pp = pp,
					   .vpp = vpp,
					   .dp = dp,
					   .micro_batches = micro_batches,
					   .samples = 1,
					   .sequence = 128,
					   .vocab_grain = 1,
					   .grad_bytes = 2,
					   .param_bytes = 2,
					   .activation_bytes = 2,
					   .has_distributed_optimizer = true,
					   .bucket_params = 10000,
					   .is_aligned = true,
					   .order = order};
	plan->timing = (struct timing){.forward_ps = 1 * PS_PER_MS,
				       .backward_ps = 2 * PS_PER_MS,
				       .other_ps = 5 * PS_PER_MS,
				       .origin = "made up",
				       .rests_on = INPUT_ASSUMED};
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	if (order_parse(&small->order, order, plan, &refusal) < 0 ||
	    job_from_plan(&small->job, &arena, plan, per_domain, &ring, &refusal) < 0)
		fail_msg("%s", refusal.text);
	small->setup = (struct step_setup){.slow_stage = UINT32_MAX,
					   .loss_ppb = 550000000,
					   .send_ps = 50 * PS_PER_US,
					   .replicas = dp,
					   .seed = 5,
					   .is_silent = true};
	small->edge_bytes = 128 * 64 * 2;
}

static ps_t played(struct small *small, struct player *ret)
{
	struct program *program;
	small->of = (struct step_program){.plan = &small->draft.plan,
					  .setup = &small->setup,
					  .job = &small->job,
					  .order = &small->order,
					  .gpu_layout = {1, 1},
					  .payload_bytes = 4096};
	if (step_program_create(&program, &arena, &small->of, &refusal) < 0)
		fail_msg("%s", refusal.text);
	*ret = (struct player){.program = program,
			       .stage_ps = small->setup.send_ps,
			       .bytes_between_stages = small->edge_bytes};
	assert_int_equal(program_run_create(&ret->run, &arena, program), 0);
	assert_int_equal(heap_init(&ret->events, &arena, ARENA_WORKLOAD, 2 * program->op_count), 0);
	return play(ret);
}

static ps_t scheduled(const struct small *small, struct step_times *ret)
{
	struct step *step;
	if (step_create(&step, &arena, &small->draft.plan, &refusal) < 0)
		fail_msg("%s", refusal.text);
	step_run(step, &small->setup, ret, NULL);
	return ret->step_ps;
}

static void expect_same(struct small *small)
{
	struct player player;
	struct step_times times;
	ps_t found = played(small, &player), expected = scheduled(small, &times);
	assert_int_equal(found, expected);
	assert_int_equal(player.end_ps[STEP_STREAM_COMPUTE], times.backward_ps);
	assert_int_equal(player.end_ps[STEP_STREAM_OTHER], times.step_ps);
	if (small->draft.plan.parallel.dp > 1)
		assert_int_equal(player.end_ps[STEP_STREAM_REDUCE], times.reduce_ps);
}

// ---------------------------------------------------------------- tests

static void a_program_ends_when_the_schedule_does(void **)
{
	static struct small small;
	static const uint32_t cuts[][4] = {{1, 1, 1, 2}, {1, 1, 4, 3}, {2, 1, 4, 2}, {2, 2, 4, 2},
					   {4, 2, 4, 2}, {4, 3, 8, 2}, {8, 1, 3, 2}, {3, 2, 6, 4}};
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		make(&small, cuts[i][0], cuts[i][1], cuts[i][2], cuts[i][3], 1, "tp-cp-pp-dp");
		expect_same(&small);
	}
}

static void also_with_jitter_stragglers_and_other_orders(void **)
{
	static struct small small;
	struct rng rng = rng_of(1, RNG_TEST, 0);
	for (int i = 0; i < 40; i++) {
		uint32_t pp = 1 + rng_below(&rng, 4), vpp = pp == 1 ? 1 : 1 + rng_below(&rng, 3);
		uint32_t rounds = 1 + rng_below(&rng, 3), dp = 2 + rng_below(&rng, 3);
		bool is_inside = rng_below(&rng, 2) == 1;
		make(&small, pp, vpp, vpp > 1 ? pp * rounds : rounds, dp, 1,
		     is_inside ? "tp-cp-dp-pp" : "tp-cp-pp-dp");
		small.draft.plan.parallel.is_aligned = rng_below(&rng, 2) == 1;
		small.setup.jitter_kind = (enum jitter_kind)rng_below(&rng, 3);
		small.setup.jitter_ppb = 200000000;
		small.setup.seed = rng_below(&rng, 1000);
		small.setup.slow_stage = rng_below(&rng, pp);
		small.setup.slow_ppb = 300000000;
		small.setup.slow_replica = rng_below(&rng, dp + 1);
		expect_same(&small);
	}
}

static void every_byte_of_a_ring_is_sent(void **)
{
	static struct small small;
	struct player player;
	make(&small, 1, 1, 1, 4, 1, "tp-cp-pp-dp");
	played(&small, &player);
	uint64_t bytes = 0, expected = 0;
	for (uint32_t i = 0; i < player.program->op_count; i++) {
		const struct op *op = &player.program->ops[i];
		bytes += op->kind == OP_SEND && op->bytes != 64 ? op->bytes : 0;
	}
	for (uint32_t i = 0; i < small.job.bucket_count; i++) // three of four shards of each rank
		expected += (small.job.buckets[i].bytes + 3) / 4 * 3 * 4;
	assert_int_equal(bytes, expected);
}

// ---------------------------------------------------------------- ways to share parameters

// A job of a stage that shares as `sharding` says, by dice.
static void make_shared(struct small *small, struct rng *rng, enum sharding sharding)
{
	uint32_t dp = 2 + rng_below(rng, 7), micro_batches = 1 + rng_below(rng, 4);
	make(small, 1, 1, micro_batches, dp, 1, "tp-cp-dp-pp");
	struct parallel *cut = &small->draft.plan.parallel;
	small->draft.architecture.layers = 1 + rng_below(rng, 6);
	cut->sharding = sharding;
	cut->is_aligned = false;
	cut->has_distributed_optimizer = sharding != SHARDING_DDP;
	cut->is_reduced_each = rng_below(rng, 2) == 1;
	cut->is_resharded = rng_below(rng, 2) == 1;
	cut->prefetch = rng_below(rng, 4);
	cut->grad_bytes = 2 + 2 * rng_below(rng, 2);
	cut->first_bucket_bytes = 1 + rng_below(rng, 20000);
	cut->bucket_bytes = 1 + rng_below(rng, 100000);
	cut->bucket_params = 1 + rng_below(rng, 50000);
	small->setup.replicas = 1;
	struct job job = {.ring = small->job.ring};
	if (job_from_plan(&job, &arena, &small->draft.plan, 1, &job.ring, &refusal) < 0)
		fail_msg("%s", refusal.text);
	small->job = job;
}

static void a_program_of_each_sharding_ends_when_the_schedule_does(void **)
{
	static struct small small;
	struct rng rng = rng_of(2, RNG_TEST, 0);
	for (int i = 0; i < 100; i++) {
		make_shared(&small, &rng, (enum sharding)(1 + i % (SHARDING_COUNT - 1)));
		small.setup.slow_stage = 0;
		small.setup.slow_ppb = rng_below(&rng, 300000000);
		expect_same(&small);
	}
}

// What rank 0 sends of gradients and parameters in all: of `params` numbers, padded where the way
// pads, (N - 1) / N for each gather or scatter, twice that for an all-reduce.
static uint64_t closed_bytes(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	uint64_t ranks = cut->dp, sum = 0, reduces = cut->is_reduced_each ? cut->micro_batches : 1;
	uint64_t gathers = cut->sharding == SHARDING_DDP ? 0
		: cut->sharding == SHARDING_FSDP
		? (uint64_t)cut->micro_batches * (1 + cut->is_resharded)
		: 1;
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, 0, 0);
	while (plan_bucket_next(plan, 0, 0, false, &left, &bucket)) {
		assert_int_equal(bucket.padded % ranks, 0);
		uint64_t part = bucket.padded / ranks * (ranks - 1);
		sum += part * cut->grad_bytes * reduces * (cut->sharding == SHARDING_DDP ? 2 : 1) +
			part * cut->param_bytes * gathers;
	}
	return sum;
}

static void a_rank_sends_the_bytes_of_the_closed_forms(void **)
{
	static struct small small;
	struct rng rng = rng_of(3, RNG_TEST, 0);
	for (int i = 0; i < 100; i++) {
		struct player player;
		make_shared(&small, &rng, (enum sharding)(1 + i % (SHARDING_COUNT - 1)));
		struct plan *plan = &small.draft.plan;
		if (plan->parallel.sharding == SHARDING_DDP) // which does not pad
			plan->parallel.dp = 4;
		struct job job = {.ring = small.job.ring};
		assert_int_equal(job_from_plan(&job, &arena, plan, 1, &job.ring, &refusal), 0);
		small.job = job;
		played(&small, &player);
		uint64_t bytes = 0, listed = 0;
		for (uint32_t j = 0; j < player.program->op_count; j++) {
			const struct op *op = &player.program->ops[j];
			bytes += op->rank == 0 && op->kind == OP_SEND && (op->tag & 128) == 0
				? op->bytes
				: 0;
		}
		for (uint32_t j = 0; j < job.bucket_count; j++)
			listed += job.buckets[j].bytes / plan->parallel.dp *
				(plan->parallel.dp - 1) *
				(job.buckets[j].kind == COLLECTIVE_ALL_REDUCE ? 2 : 1);
		assert_int_equal(listed, closed_bytes(plan));
		assert_int_equal(bytes, closed_bytes(plan));
	}
}

static void a_plan_without_times_is_refused(void **)
{
	static struct small small;
	struct program *program;
	make(&small, 1, 1, 1, 2, 1, "tp-cp-pp-dp");
	small.draft.plan.timing = (struct timing){0};
	small.of = (struct step_program){.plan = &small.draft.plan,
					 .setup = &small.setup,
					 .job = &small.job,
					 .order = &small.order,
					 .gpu_layout = {1, 1},
					 .payload_bytes = 4096};
	assert_true(step_program_create(&program, &arena, &small.of, &refusal) < 0);
	assert_non_null(strstr(refusal.text, "no times of computation"));
}
