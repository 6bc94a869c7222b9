// SPDX-License-Identifier: Apache-2.0
// A plan for programs: all cells, groups and messages of the table, none left out; bytes and
// parameters as whole numbers.

#include <weft/core/check.h>
#include <weft/result/figures.h>
#include <weft/result/put.h>

#include "plan.h"

static void put_cut(json_t *root, const struct call *call)
{
	const struct plan *plan = &call->edit.plan;
	const struct parallel *cut = &plan->parallel;
	json_t *to = json_object(), *order = json_array();
	put_count(to, "tp", cut->tp);
	put_count(to, "cp", cut->cp);
	put_count(to, "ep", cut->ep);
	put_count(to, "etp", plan_expert_tensor_ranks(plan));
	put_count(to, "pp", cut->pp);
	put_count(to, "vpp", cut->vpp);
	put_count(to, "dp", cut->dp);
	put(to, "schedule", json_string(cut->late_ppb > 0 ? "zb-h1" : "1f1b"));
	put_count(to, "micro_batches", cut->micro_batches);
	put_count(to, "samples", cut->samples);
	put_count(to, "sequence", cut->sequence);
	put_count(to, "grad_bytes", cut->grad_bytes);
	put_count(to, "param_bytes", cut->param_bytes);
	for (uint32_t i = 0; i < call->order.count; i++)
		check(json_array_append_new(
			      order,
			      json_string(dimension_name((enum dimension)call->order.at[i]))) == 0);
	put(to, "order", order);
	put_count(to, "gpus_per_domain", call->gpu_layout.gpus_per_domain);
	put_count(to, "gpus_per_tray", call->gpu_layout.gpus_per_tray);
	put(root, "cut", to);
}

static void put_buckets(json_t *list, const struct plan *plan, uint32_t stage, uint32_t chunk,
			bool is_expert)
{
	struct plan_bucket bucket;
	uint32_t left = plan_part_count(plan, stage, chunk);
	while (plan_bucket_next(plan, stage, chunk, is_expert, &left, &bucket)) {
		json_t *to = row_in(list);
		put(to, "kind", json_string(is_expert ? "experts" : "dense"));
		put_count(to, "parameters", bucket.params);
		put_count(to, "padded", bucket.padded);
		put_count(to, "grad_bytes", bucket.padded * plan->parallel.grad_bytes);
	}
}

// One stage, with the buckets of each of its cells in the order in which they are sent.
static void put_stage(json_t *to, const struct plan *plan, uint32_t stage)
{
	json_t *cells = json_array();
	struct plan_memory held;
	put_count(to, "dense_parameters", plan_stage_params(plan, stage, false));
	put_count(to, "expert_parameters", plan_stage_params(plan, stage, true));
	plan_memory(plan, stage, &held);
	put_count(to, "held_parameter_bytes", held.params);
	put_count(to, "held_gradient_bytes", held.grads);
	put_count(to, "held_optimizer_bytes", held.optimizer);
	put_count(to, "held_gathered_bytes", held.gathered);
	put_count(to, "held_activation_bytes", held.activations);
	for (uint32_t chunk = 0; chunk < plan->parallel.vpp; chunk++) {
		json_t *cell = row_in(cells), *buckets = json_array();
		put_count(cell, "layers", plan_layers(plan, stage, chunk));
		put_buckets(buckets, plan, stage, chunk, false);
		put_buckets(buckets, plan, stage, chunk, true);
		put(cell, "buckets", buckets);
	}
	put(to, "cells", cells);
}

static void put_groups(json_t *root, const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t kind = 0; kind < GROUP_KIND_COUNT; kind++) {
		struct spread spread;
		if (!plan_has_group(call, (enum group_kind)kind, &spread))
			continue;
		json_t *to = row_in(list);
		put(to, "kind", json_string(group_kind_name((enum group_kind)kind)));
		put_count(to, "groups", spread.groups);
		put_count(to, "ranks", spread.ranks);
		put_count(to, "domains", spread.domains_max);
		put_count(to, "per_domain_min", spread.per_domain_min);
		put_count(to, "per_domain_max", spread.per_domain_max);
		put_count(to, "hops", spread.hops);
		put_count(to, "hops_out", spread.hops_out);
		put_count(to, "hops_rail", spread.hops_rail);
	}
	put(root, "groups", list);
}

static void put_messages(json_t *root, const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t kind = 0; kind < MESSAGE_COUNT; kind++) {
		struct message_load load;
		if (!plan_message(call, (enum message_kind)kind, &load))
			continue;
		json_t *to = row_in(list);
		put(to, "kind", json_string(message_name((enum message_kind)kind)));
		put_count(to, "count", load.sum.count);
		put_count(to, "largest_bytes", load.sum.bytes);
		put_count(to, "total_bytes", load.sum.total_bytes);
		put_count(to, "nic_bytes", load.nic_bytes);
	}
	put(root, "messages", list);
}

// ---------------------------------------------------------------- the answer

static void put_memory(json_t *root, const struct plan *plan)
{
	struct plan_memory memory;
	json_t *to = json_object();
	plan_memory_most(plan, &memory);
	put_count(to, "bytes", plan_memory_sum(&memory));
	if (plan->site.memory_bytes > 0) {
		put_count(to, "device_bytes", plan->site.memory_bytes);
		put(to, "fits", json_boolean(plan_memory_sum(&memory) <= plan->site.memory_bytes));
	}
	put(root, "memory", to);
}

// Nothing where no step can be worked out.
static void put_step(json_t *root, const struct call *call)
{
	static const char *const names[] = {"tp", "cp", "ep", "pp", "dp", "etp"};
	const struct plan *plan = &call->edit.plan;
	struct exposure exposure;
	json_t *to = json_object(), *by = json_object();
	exposure_find(&exposure, plan, plan->parallel.order, call->gpu_layout.gpus_per_domain);
	if (exposure.why_not.text[0] != '\0') {
		put(to, "why_not", json_string(exposure.why_not.text));
	} else {
		put_count(to, "step_ps", (uint64_t)exposure.times.with.step_ps);
		put_count(to, "exposed_ps", (uint64_t)exposure_ps(&exposure));
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			put(by, names[i], json_integer(exposure.by[i]));
	}
	put(to, "exposed_by_ps", by);
	put_origin(to, plan->timing.origin, plan->timing.rests_on);
	put_count(to, "forward_ps", (uint64_t)plan->timing.forward_ps);
	put_count(to, "backward_ps", (uint64_t)plan->timing.backward_ps);
	put(root, "step", to);
}

static void put_mappings(json_t *root, const struct call *call)
{
	struct mapping best[MAPPINGS_SHOWN];
	json_t *list = json_array();
	uint32_t count;
	mappings_find(call, best, &count);
	for (uint32_t i = 0; i < count; i++) {
		json_t *to = row_in(list);
		put_count(to, "tp", best[i].plan.parallel.tp);
		put_count(to, "pp", best[i].plan.parallel.pp);
		put_count(to, "dp", best[i].plan.parallel.dp);
		put(to, "order", json_string(best[i].order));
		put_count(to, "exposed_ps", (uint64_t)exposure_ps(&best[i].exposure));
		put_count(to, "step_ps", (uint64_t)best[i].exposure.times.with.step_ps);
		put_count(to, "memory_bytes", best[i].memory_bytes);
	}
	put(root, "mappings", list);
}

static void put_inputs(json_t *root, const struct plan *plan)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < plan->input_count; i++) {
		json_t *to = row_in(list);
		put(to, "of", json_string(plan->inputs[i].of));
		put(to, "origin", json_string(origin_name(plan->inputs[i].origin)));
		put(to, "text", json_string(plan->inputs[i].text));
	}
	put(root, "inputs", list);
}

void json_print(FILE *to, const struct call *call)
{
	const struct plan *plan = &call->edit.plan;
	json_t *root = json_object(), *stages = json_array();
	put(root, "schema", json_string("weft-plan-1"));
	put(root, "name", json_string(plan->name));
	put(root, "model", json_string(plan->architecture->name));
	put_count(root, "parameters", architecture_params(plan->architecture));
	put_count(root, "layers", plan->architecture->layers);
	put_count(root, "ranks", plan_ranks(plan));
	put_cut(root, call);
	for (uint32_t stage = 0; stage < plan->parallel.pp; stage++)
		put_stage(row_in(stages), plan, stage);
	put(root, "stages", stages);
	put_groups(root, call);
	put_messages(root, call);
	put_memory(root, plan);
	put_step(root, call);
	put_mappings(root, call);
	put_inputs(root, plan);
	json_dumpf(root, to,
		   JSON_ENSURE_ASCII |
			   JSON_INDENT(2)); // who called asks the file whether it was written
	fputc('\n', to);
	json_decref(root);
}
