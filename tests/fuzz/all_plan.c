// SPDX-License-Identifier: Apache-2.0
// Fuzz: a rank order on the first line and sizes of a plan on the others. Whatever is accepted adds
// up, comes to an end, and has a schedule that does; what is refused has a reason.

#include <weft/workload/order.h>
#include <weft/workload/plan_edit.h>
#include <weft/workload/step.h>

#include "target.h"

#define RANKS_LOOKED_AT 4096
#define LAYERS_LOOKED_AT 64
#define MEMORY_BYTES (1u << 22)

#ifndef WITH_LIBFUZZER
#define SMALL \
	"layers=8\nhidden=64\nheads=4\nkv_heads=2\nhead_dim=16\nvocab=100\nffn=256\nsequence=" \
	"128\n"
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {
	"tp-cp-ep-pp-dp\n" SMALL "tp=2\npp=2\nvpp=2\nmicro_batches=4\ndp=4\n",
	"tp-cp-ep-dp-pp\n" SMALL "experts=8\nexperts_per_token=2\nexpert_ffn=32\nep=4\ndp=8\npp=2\n"
	"dense_layers=1\n",
	"dp-tp-pp-cp\n" SMALL "layers_first=1\nlayers_last=1\npp=2\nbucket_params=1000\n"
	"has_distributed_optimizer=0\nis_tied=1\ngrad_bytes=4\n",
	NULL};
#endif

static _Alignas(64) uint8_t memory[MEMORY_BYTES];

static void check_sizes(const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	uint64_t layers = 0;
	for (uint32_t stage = 0; stage < cut->pp; stage++) {
		for (uint32_t chunk = 0; chunk < cut->vpp; chunk++) {
			layers += plan_layers(plan, stage, chunk);
			for (int is_expert = 0; is_expert < 2; is_expert++) {
				struct plan_bucket bucket;
				uint64_t params = 0;
				uint32_t left = plan_part_count(plan, stage, chunk);
				while (plan_bucket_next(plan, stage, chunk, is_expert != 0, &left,
							&bucket)) {
					check(bucket.params > 0 && bucket.padded >= bucket.params);
					params += bucket.params;
				}
				check(params ==
				      plan_cell_params(plan, stage, chunk, is_expert != 0));
			}
		}
	}
	check(layers == plan->architecture->layers);
	check(architecture_params(plan->architecture) > 0);
}

static void check_order(const struct plan *plan, const char *text)
{
	const struct gpu_layout gpu_layout = {8, 4};
	struct refusal refusal = {0};
	struct order order;
	int rc = order_parse(&order, text, plan, &refusal);
	if (rc < 0) {
		fuzz_refused(rc, &refusal);
		return;
	}
	struct message_sum sums[MESSAGE_COUNT];
	plan_messages(plan, 0, sums);
	for (uint32_t kind = 0; kind < MESSAGE_COUNT; kind++) {
		struct spread spread;
		order_spread(&spread, &order, plan, message_group(plan, (enum message_kind)kind),
			     &gpu_layout);
		check((uint64_t)spread.ranks * spread.groups == plan_ranks(plan));
		check(spread.per_domain_min >= 1 && spread.per_domain_max <= 8);
		check(spread.hops_out <= spread.hops && spread.hops_rail <= spread.hops_out);
		check(sums[kind].bytes <= sums[kind].total_bytes || sums[kind].count == 0);
		order_nic_bytes(&spread, (enum message_kind)kind, sums[kind].total_bytes, true);
	}
}

static void check_schedule(struct plan *plan)
{
	struct refusal refusal = {0};
	struct step_exposed exposed;
	struct arena arena;
	struct step *step;
	struct step_setup setup = {.dense = {.ranks = 8,
					     .ranks_per_domain = 2,
					     .channels = 4,
					     .network_Bps = 1000000000,
					     .domain_Bps = 1000000000,
					     .network_ps = PS_PER_US,
					     .domain_ps = PS_PER_US,
					     .chunk_bytes = 1 << 20},
				   .send_ps = PS_PER_US,
				   .loss_ppb = 550000000,
				   .slow_stage = UINT32_MAX,
				   .replicas = 1};
	setup.experts = setup.dense;
	plan->timing = (struct timing){.forward_ps = PS_PER_MS,
				       .backward_ps = 2 * PS_PER_MS,
				       .other_ps = PS_PER_MS,
				       .origin = "a test",
				       .rests_on = INPUT_ASSUMED};
	if (step_bytes(plan) > sizeof(memory))
		return;
	arena_init(&arena, memory, step_bytes(plan));
	check(step_create(&step, &arena, plan, &refusal) == 0);
	step_expose(step, &setup, &exposed, NULL);
	check(exposed.head_ps >= 0 && exposed.tail_ps >= 0);
	check(exposed.with.step_ps - exposed.without.step_ps == exposed.head_ps + exposed.tail_ps);
	check(exposed.without.backward_ps >= 0 &&
	      exposed.without.backward_ps >= 3 * PS_PER_MS * plan->parallel.micro_batches);
	memset(memory, 0, arena.used);
}

static void check_plan(struct plan *plan, const char *order)
{
	if (plan->architecture->layers > LAYERS_LOOKED_AT ||
	    plan->architecture->experts > LAYERS_LOOKED_AT || plan_ranks(plan) > RANKS_LOOKED_AT)
		return; // right, but slow
	check_sizes(plan);
	check_order(plan, order);
	check_schedule(plan);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static char text[FUZZ_BYTES_MAX + 1];
	struct plan_edit draft;
	struct refusal refusal = {0};
	char *rest = text;
	if (bytes > FUZZ_BYTES_MAX)
		return;
	memcpy(text, data, bytes);
	text[bytes] = '\0';
	plan_begin(&draft, NULL);
	const char *order = strsep(&rest, "\n");
	while (rest != NULL) {
		int rc = plan_set(&draft, strsep(&rest, "\n"), &refusal);
		if (rc < 0)
			fuzz_refused(rc, &refusal);
	}
	int rc = plan_check(&draft.plan, &refusal);
	if (rc < 0)
		fuzz_refused(rc, &refusal);
	else
		check_plan(&draft.plan, order);
}
