// SPDX-License-Identifier: Apache-2.0
// A plan for people.

#include <inttypes.h>

#include "plan.h"
#include <weft/result/figures.h>

#define STAGES_SHOWN 16
#define BUCKETS_SHOWN 24

static double giga(uint64_t value)
{
	return (double)value / 1e9;
}

static double mega(uint64_t value)
{
	return (double)value / 1e6;
}

static void print_head(FILE *to, const struct call *call)
{
	const struct plan *plan = &call->edit.plan;
	fprintf(to, "%s: %" PRIu32 " ranks\n", plan->name, plan_ranks(plan));
	fprintf(to, "  %s: %.3f B parameters in %" PRIu32 " layers\n", plan->architecture->name,
		giga(architecture_params(plan->architecture)), plan->architecture->layers);
	plan_print_cut(to, plan);
	fprintf(to, "\n  order");
	for (uint32_t i = 0; i < call->order.count; i++)
		fprintf(to, "%s%s", i == 0 ? " " : "-",
			dimension_name((enum dimension)call->order.at[i]));
	fprintf(to, "; domains of %" PRIu32 " GPUs, trays of %" PRIu32 "\n",
		call->gpu_layout.gpus_per_domain, call->gpu_layout.gpus_per_tray);
}

static void print_stages(FILE *to, const struct plan *plan)
{
	const struct parallel *cut = &plan->parallel;
	fprintf(to, "\nParameters on a rank\n  %5s %7s %16s %16s %12s\n", "stage", "layers",
		"dense", "of experts", "gradients");
	for (uint32_t stage = 0; stage < cut->pp && stage < STAGES_SHOWN; stage++) {
		uint64_t dense = plan_stage_params(plan, stage, false);
		uint64_t experts = plan_stage_params(plan, stage, true);
		uint32_t layers = 0;
		for (uint32_t chunk = 0; chunk < cut->vpp; chunk++)
			layers += plan_layers(plan, stage, chunk);
		fprintf(to, "  %5" PRIu32 " %7" PRIu32 " %16" PRIu64 " %16" PRIu64 " %9.3f GB\n",
			stage, layers, dense, experts, giga((dense + experts) * cut->grad_bytes));
	}
	if (cut->pp > STAGES_SHOWN)
		fprintf(to, "  ... of %" PRIu32 " stages\n", cut->pp);
}

static void print_cell(FILE *to, const struct plan *plan, uint32_t stage, uint32_t chunk,
		       bool is_expert)
{
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, stage, chunk), count = 0;
	while (plan_bucket_next(plan, stage, chunk, is_expert, &left, &bucket)) {
		if (count++ >= BUCKETS_SHOWN)
			continue;
		fprintf(to, "  %5" PRIu32 " %5" PRIu32 " %-7s %14" PRIu64 " %10.1f MB\n", stage,
			chunk, is_expert ? "experts" : "dense", bucket.padded,
			mega(bucket.padded * plan->parallel.grad_bytes));
	}
	if (count > BUCKETS_SHOWN)
		fprintf(to, "  ... of %" PRIu32 " buckets\n", count);
}

// Of the first two cells: the only one that is cut, and one of the others.
static void print_buckets(FILE *to, const struct plan *plan)
{
	uint32_t cells = plan->parallel.pp * plan->parallel.vpp;
	fprintf(to, "\nBuckets of gradients, padded, in the order in which they are sent\n");
	fprintf(to, "  %5s %5s %-7s %14s %13s\n", "stage", "chunk", "kind", "parameters", "bytes");
	for (uint32_t cell = 0; cell < cells && cell < 2; cell++) {
		uint32_t stage = cell % plan->parallel.pp, chunk = cell / plan->parallel.pp;
		print_cell(to, plan, stage, chunk, false);
		print_cell(to, plan, stage, chunk, true);
	}
	if (cells > 2 && plan->parallel.sharding == SHARDING_MEGATRON)
		fprintf(to, "  every other cell: one of each kind\n");
	else if (cells > 2)
		fprintf(to, "  other cells alike: of the first two of %" PRIu32 "\n", cells);
}

// Of the stage that holds most.
static void print_memory(FILE *to, const struct plan *plan)
{
	struct plan_memory most = {0}, held;
	for (uint32_t stage = 0; stage < plan->parallel.pp; stage++) {
		plan_memory(plan, stage, &held);
		if (held.params + held.grads + held.optimizer >
		    most.params + most.grads + most.optimizer)
			most = held;
	}
	fprintf(to,
		"\nHeld by a rank through a step, activations apart\n  parameters %.3f GB, "
		"gradients "
		"%.3f GB, optimizer %.3f GB: %.3f GB\n",
		giga(most.params), giga(most.grads), giga(most.optimizer),
		giga(most.params + most.grads + most.optimizer));
}

static void print_groups(FILE *to, const struct call *call)
{
	fprintf(to, "\nGroups\n  %-4s %7s %7s %8s %12s %14s %12s\n", "kind", "groups", "ranks",
		"domains", "in a domain", "hops out", "change rail");
	for (uint32_t kind = 0; kind < GROUP_KIND_COUNT; kind++) {
		struct spread spread;
		if (!plan_has_group(call, (enum group_kind)kind, &spread))
			continue;
		fprintf(to,
			"  %-4s %7" PRIu32 " %7" PRIu32 " %8" PRIu32 " %5" PRIu32 " to %3" PRIu32
			" %6" PRIu64 "/%-7" PRIu64 " %12" PRIu64 "\n",
			group_kind_name((enum group_kind)kind), spread.groups, spread.ranks,
			spread.domains_max, spread.per_domain_min, spread.per_domain_max,
			spread.hops_out, spread.hops, spread.hops_rail);
	}
}

static void print_message(FILE *to, const struct call *call, enum message_kind kind)
{
	struct message_load load;
	if (!plan_message(call, kind, &load))
		return;
	fprintf(to, "  %-10s %8" PRIu64 " %12.3f MB %12.3f GB ", message_name(kind), load.sum.count,
		mega(load.sum.bytes), giga(load.sum.total_bytes));
	if (load.nic_bytes == 0)
		fprintf(to, "%15s\n", "inside domains");
	else
		fprintf(to, "%12.3f GB%s\n", giga(load.nic_bytes),
			kind == MESSAGE_TP || kind == MESSAGE_CP || kind == MESSAGE_EP ||
					kind == MESSAGE_ETP
				? "  leaves its domain"
				: "");
}

static void print_messages(FILE *to, const struct call *call)
{
	fprintf(to, "\nMessages of a rank in a step, and what the busiest NIC sends of them\n");
	fprintf(to, "  %-10s %8s %15s %15s %15s\n", "kind", "count", "largest", "all", "by a NIC");
	for (uint32_t kind = 0; kind < MESSAGE_COUNT; kind++)
		print_message(to, call, (enum message_kind)kind);
}

static void print_inputs(FILE *to, const struct plan *plan)
{
	fprintf(to, "\nIt rests on\n");
	for (uint32_t i = 0; i < plan->input_count; i++)
		fprintf(to, "  %-10s %-24s %s\n", origin_name(plan->inputs[i].origin),
			plan->inputs[i].of, plan->inputs[i].text);
	if (plan->input_count == 0)
		fprintf(to, "  %-10s %-24s nothing that its file says\n", "assumed", "all");
}

void table_print(FILE *to, const struct call *call)
{
	print_head(to, call);
	print_stages(to, &call->edit.plan);
	print_buckets(to, &call->edit.plan);
	print_memory(to, &call->edit.plan);
	print_groups(to, call);
	print_messages(to, call);
	print_inputs(to, &call->edit.plan);
}
