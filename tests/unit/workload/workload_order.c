// SPDX-License-Identifier: Apache-2.0
// Rank orders: who sits where, which groups leave their rack, and what is refused.

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/workload/order.h>
#include <weft/workload/workload.h>

#include "../../shipped_plans.h"

static const struct gpu_layout racks = {64, 4}, servers = {8, 8};
static struct refusal refusal;

static struct spread spread_of(const char *name, const char *text, enum group_kind kind,
			       const struct gpu_layout *gpu_layout)
{
	struct order order;
	struct spread spread;
	const struct plan *plan = plan_find(name);
	assert_non_null(plan);
	assert_int_equal(
		order_parse(&order, text == NULL ? plan->parallel.order : text, plan, &refusal), 0);
	order_spread(&spread, &order, plan, kind, gpu_layout);
	assert_int_equal((uint64_t)spread.groups * spread.ranks, plan_ranks(plan));
	return spread;
}

static void a_rank_has_a_seat(void **)
{
	struct gpu_location gpu_location = gpu_location_of(&racks, 64 * 3 + 4 * 5 + 2);
	assert_int_equal(gpu_location.domain, 3);
	assert_int_equal(gpu_location.tray, 5);
	assert_int_equal(gpu_location.rail, 2);
	assert_int_equal(gpu_location.nic, 214);
}

static void one_replica_of_azure_is_one_rack(void **)
{
	const char *name = "llama-3.1-405b-azure";
	static const enum group_kind inside[] = {GROUP_TP, GROUP_CP, GROUP_PP};
	for (size_t i = 0; i < 3; i++) {
		struct spread spread = spread_of(name, NULL, inside[i], &racks);
		assert_int_equal(spread.domains_max, 1);
		assert_int_equal(spread.hops_out, 0);
	}
	struct spread data = spread_of(name, NULL, GROUP_DP, &racks);
	assert_int_equal(data.ranks, 256);
	assert_int_equal(data.groups, 32);
	assert_int_equal(data.domains_max, 128);
	assert_int_equal(data.per_domain_min, 2);
	assert_int_equal(data.per_domain_max, 2);
	assert_int_equal(data.hops_out, 32 * 128); // half of the hops
	assert_int_equal(data.hops, 32 * 256);
	assert_int_equal(data.hops_rail, 0); // cp 0 and cp 1 sit on the same rail
	// 25.5 GB (255/256) / 2 NICs: 12.70 GB each way
	uint64_t bytes = order_nic_bytes(&data, MESSAGE_DP_REDUCE, UINT64_C(25502416896), false);
	assert_int_equal(bytes, UINT64_C(25502416896) * 255 / 512);
	assert_int_equal((bytes + 5000000) / 10000000, 1270);
}

// Rank = ((replica * 8 + stage) * 2 + context) * 4 + tensor, by hand.
static void groups_are_those_of_the_job_that_runs(void **)
{
	static _Alignas(64) uint8_t memory[1 << 20];
	const struct ring_config ring = {.channels = 4,
					 .chunk_bytes_max = 2 << 20,
					 .slices = 2,
					 .credits = 4,
					 .form = RING_PIPELINED};
	const struct plan *plan = plan_find("llama-3.1-405b-azure");
	struct arena arena;
	struct order order;
	struct job job;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(job_from_plan(&job, &arena, plan, 64, &ring, &refusal), 0);
	assert_int_equal(order_parse(&order, plan->parallel.order, plan, &refusal), 0);
	for (uint32_t rank = 0; rank < 8192; rank++)
		assert_int_equal(order_stage(&order, plan, rank), rank / 8 % 8);
	for (uint32_t group = 0; group < job.group_count; group++)
		for (uint32_t at = 0; at < job.groups[group].ranks; at++)
			assert_int_equal(job.groups[group].gpus[at],
					 at / 2 * 64 + group / 4 * 8 + at % 2 * 4 + group % 4);
}

static void stages_of_deepseek_lie_in_other_racks(void **)
{
	const char *name = "deepseek-v3-gb300-8192";
	struct spread experts = spread_of(name, NULL, GROUP_EP, &racks);
	assert_int_equal(experts.ranks, 32);
	assert_int_equal(experts.domains_max, 1);
	struct spread same = spread_of(name, NULL, GROUP_EDP, &racks);
	assert_int_equal(same.ranks, 64);
	assert_int_equal(same.domains_max, 32); // two a rack
	assert_int_equal(same.per_domain_min, 2);
	struct spread stages = spread_of(name, NULL, GROUP_PP, &racks);
	assert_int_equal(stages.hops, 8192);
	assert_int_equal(stages.hops_out, 8192);
	assert_int_equal(stages.hops_rail, 0);
}

static void an_order_that_scatters_tensor_ranks_is_seen(void **)
{
	const char *name = "llama-3.1-405b-azure";
	struct spread good = spread_of(name, NULL, GROUP_TP, &racks);
	struct spread bad = spread_of(name, "dp-tp-cp-pp", GROUP_TP, &racks);
	assert_int_equal(order_nic_bytes(&good, MESSAGE_TP, 1000, false), 0);
	assert_int_equal(bad.domains_max, 4);
	assert_int_equal(bad.per_domain_max, 1);
	assert_int_equal(bad.hops_out, bad.hops);
	assert_int_equal(order_nic_bytes(&bad, MESSAGE_TP, 1000, false), 750);
	assert_int_equal(order_nic_bytes(&bad, MESSAGE_DP_REDUCE, 1000, true), 1500);
}

static void servers_of_eight_are_crossed_by_stages(void **)
{
	struct spread tensor = spread_of("gpt-3-175b-h100-11616", NULL, GROUP_TP, &servers);
	struct spread stages = spread_of("gpt-3-175b-h100-11616", NULL, GROUP_PP, &servers);
	assert_int_equal(tensor.hops_out, 0);
	assert_int_equal(stages.hops_out, stages.hops);
	assert_int_equal(order_nic_bytes(&stages, MESSAGE_PP, 77, false), 77);
}

static void experts_in_two_racks_send_to_both(void **)
{
	const struct gpu_layout small = {16, 4};
	struct spread experts = spread_of("deepseek-v3-gb300-8192", NULL, GROUP_EP, &small);
	assert_int_equal(experts.domains_max, 2);
	assert_int_equal(order_nic_bytes(&experts, MESSAGE_EP, 1024, false), 512);
}

static void every_rank_is_in_one_group_of_each_kind(void **)
{
	static uint8_t seen[1 << 14];
	for (const struct plan *const *at = plan_all(); *at != NULL; at++) {
		struct order order;
		assert_int_equal(order_parse(&order, (*at)->parallel.order, *at, &refusal), 0);
		for (uint32_t kind = 0; kind < GROUP_KIND_COUNT; kind++) {
			struct spread spread;
			order_spread(&spread, &order, *at, (enum group_kind)kind, &racks);
			memset(seen, 0, sizeof(seen));
			for (uint32_t group = 0; group < spread.groups; group++)
				for (uint32_t i = 0; i < spread.ranks; i++)
					seen[order_rank(&order, *at, (enum group_kind)kind, group,
							i)]++;
			for (uint32_t rank = 0; rank < plan_ranks(*at); rank++)
				assert_int_equal(seen[rank], 1);
		}
	}
}

static void a_bad_order_is_named(void **)
{
	static const struct {
		const char *plan, *text, *why;
		uint32_t column;
	} cases[] = {
		{"llama-3.1-405b-azure", "", "not ", 1},
		{"llama-3.1-405b-azure", "tp-xp-dp", "not xp", 4},
		{"llama-3.1-405b-azure", "tp-cp-", "not ", 7},
		{"llama-3.1-405b-azure", "tp--cp", "not ", 4},
		{"llama-3.1-405b-azure", "tp-cp-tp-dp-pp", "twice in the order: tp", 7},
		{"llama-3.1-405b-azure", "tp-cp-pp", "lacks a dimension that the plan cuts: dp", 9},
		{"llama-3.1-405b-azure", "tp cp", "not tp cp", 1},
		{"deepseek-v3-gb300-8192", "tp-cp-dp-pp", "cuts: ep", 12},
		{"deepseek-v3-gb300-8192", "tp-cp-ep-pp-dp", "put pp last", 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct order order;
		refusal = (struct refusal){0};
		assert_int_equal(
			order_parse(&order, cases[i].text, plan_find(cases[i].plan), &refusal),
			-EINVAL);
		assert_int_equal(refusal.column, cases[i].column);
		if (strstr(refusal.text, cases[i].why) == NULL)
			fail_msg("'%s' does not say '%s'", refusal.text, cases[i].why);
	}
}
