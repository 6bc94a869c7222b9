// SPDX-License-Identifier: Apache-2.0
// Times of a cell from measured ones of its layers: a cell in the middle has its share of all
// layers, the first one has the embedding besides, the last one the output and the loss.

#include <weft/workload/plan.h>

const char *timed_part_name(enum timed_part part)
{
	static const char *const names[] = {"embedding", "layer", "expert_layer", "output"};
	return names[part];
}

static ps_t cell_ps(const struct plan *plan, ps_t layer_ps, ps_t expert_layer_ps)
{
	const struct architecture *of = plan->architecture;
	uint32_t moe = 0;
	for (uint32_t layer = 0; layer < of->layers; layer++)
		moe += layer_is_moe(of, layer);
	__int128 all = (__int128)layer_ps * (of->layers - moe) + (__int128)expert_layer_ps * moe;
	return (ps_t)(all * plan_slots(plan) / of->layers);
}

void plan_measured(struct plan *plan)
{
	struct timing *timing = &plan->timing;
	const struct timed *layer = &timing->parts[TIMED_LAYER];
	const struct timed *expert_layer = &timing->parts[TIMED_EXPERT_LAYER];
	if (!timing->has_parts)
		return;
	timing->forward_ps = cell_ps(plan, layer->forward_ps, expert_layer->forward_ps);
	timing->backward_ps = cell_ps(plan, layer->backward_ps, expert_layer->backward_ps);
}

ps_t plan_ends_ps(const struct plan *plan, uint32_t stage, uint32_t chunk, bool is_backward)
{
	const struct parallel *cut = &plan->parallel;
	const struct timing *timing = &plan->timing;
	const struct timed *first = &timing->parts[TIMED_EMBEDDING];
	const struct timed *last = &timing->parts[TIMED_OUTPUT];
	ps_t time = 0;
	if (!timing->has_parts)
		return 0;
	if (stage == 0 && chunk == 0)
		time += is_backward ? first->backward_ps : first->forward_ps;
	if (stage + 1 == cut->pp && chunk + 1 == cut->vpp)
		time += is_backward ? last->backward_ps : last->forward_ps;
	return time;
}
