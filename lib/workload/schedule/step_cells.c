// SPDX-License-Identifier: Apache-2.0
// The cells of a schedule: their times, their buckets, and where in a cell's forward and backward a
// bucket is wanted or ready.
// Assumed: of a layer's forward, attention takes 30 %, the matrices before and behind the
// activation 45 % and 25 %; of its backward, from the end, 30 %, 45 % and 24 %. From the sizes of
// the products.

#include <weft/core/check.h>

#include "step_cells.h"

#define FORWARD_ATTENTION 300000u
#define FORWARD_FC1 450000u
#define FORWARD_FC2 250000u
#define BACKWARD_FC2 300000u
#define BACKWARD_FC1 450000u
#define BACKWARD_ATTENTION 240000u

// Shares of a cell in 10^-6.
struct shares {
	uint64_t forward, backward;
};

// Of one part; parts of experts share those of a layer without.
static struct shares shares_of(const struct plan *plan, const struct part *part, uint32_t layers)
{
	uint64_t copies = layers;
	if (part->is_expert)
		copies *= plan->architecture->experts / plan->parallel.ep;
	const char *name = part->name;
	if (name[0] == 'q')
		return (struct shares){FORWARD_ATTENTION / copies, BACKWARD_ATTENTION / copies};
	if (name == layer_part_name(PART_FC1))
		return (struct shares){FORWARD_FC1 / copies, BACKWARD_FC1 / copies};
	if (name == layer_part_name(PART_FC2))
		return (struct shares){FORWARD_FC2 / copies, BACKWARD_FC2 / copies};
	return (struct shares){0, 0};
}

// What parts `low` to `high` - 1 of one kind take together.
static struct shares shares_between(const struct plan *plan, uint32_t stage, uint32_t chunk,
				    uint32_t low, uint32_t high)
{
	struct shares sum = {0, 0};
	for (uint32_t i = low; i < high; i++) {
		struct part part;
		check(plan_part(plan, stage, chunk, i, &part));
		struct shares one = shares_of(plan, &part, plan_layers(plan, stage, chunk));
		sum.forward += one.forward;
		sum.backward += one.backward;
	}
	return sum;
}

uint32_t step_ready_ppm(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t low)
{
	if (low == 0)
		return 1000000;
	uint32_t count = plan_part_count(plan, stage, chunk);
	return (uint32_t)shares_between(plan, stage, chunk, low, count).backward;
}

uint32_t step_forward_ppm(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t low)
{
	return (uint32_t)shares_between(plan, stage, chunk, 0, low).forward;
}

// Shares end where the next unit's begin, and the last one has what is left.
struct step_bucket *step_unit(const struct step_cells *cells, const struct step_cell *cell,
			      bool is_backward, uint32_t at, uint32_t *ret_ppm)
{
	uint32_t last = cell->bucket_count - 1, before = 0;
	struct step_bucket *list = cells->buckets + cell->bucket_first;
	struct step_bucket *unit = &list[is_backward ? at : last - at];
	if (is_backward) {
		before = at > 0 ? list[at - 1].ready_ppm : 0;
		*ret_ppm = (at == last ? 1000000 : unit->ready_ppm) - before;
		return unit;
	}
	for (uint32_t i = last; at == last && i > 0; i--)
		before += list[i].forward_ppm;
	*ret_ppm = at == last ? 1000000 - before : unit->forward_ppm;
	return unit;
}

static void place_bucket(struct step_cells *cells, struct step_cell *cell,
			 const struct step_bucket *bucket)
{
	struct step_bucket *list = cells->buckets + cell->bucket_first;
	uint32_t at = cell->bucket_count++;
	for (; at > 0 && list[at - 1].part_last < bucket->part_last; at--)
		list[at] = list[at - 1];
	list[at] = *bucket;
}

static void add_buckets(struct step_cells *cells, const struct plan *plan, uint32_t stage,
			uint32_t chunk, bool is_expert)
{
	const struct parallel *cut = &plan->parallel;
	struct step_cell *cell = step_cell(cells, stage, chunk);
	struct plan_bucket found;
	uint32_t left = plan_part_count(plan, stage, chunk), count = left;
	while (plan_bucket_next(plan, stage, chunk, is_expert, &left, &found)) {
		struct step_bucket bucket = {
			.reduce_bytes = found.padded * cut->grad_bytes,
			.gather_bytes = cut->has_distributed_optimizer
				? found.padded * cut->param_bytes
				: 0,
			.across_bytes = plan_dense_ranks(plan) > plan_shard_ranks(plan)
				? found.padded * cut->grad_bytes / plan_shard_ranks(plan)
				: 0,
			.part_last = found.part_last,
			.is_expert = is_expert,
			// ready when the backward has come down to its first part
			.ready_ppm =
				(uint32_t)shares_between(plan, stage, chunk, left, count).backward,
		};
		check(cell->bucket_first + cell->bucket_count < cells->bucket_max);
		place_bucket(cells, cell, &bucket);
	}
}

// A forward walks from bucket to bucket: each takes the share of the parts up to the next one's.
static void share_forward(struct step_cells *cells, const struct plan *plan, uint32_t stage,
			  uint32_t chunk)
{
	struct step_cell *cell = step_cell(cells, stage, chunk);
	struct step_bucket *list = cells->buckets + cell->bucket_first;
	uint32_t low = 0;
	for (uint32_t i = cell->bucket_count; i > 0; i--) {
		uint32_t high = list[i - 1].part_last + 1;
		list[i - 1].forward_ppm =
			(uint32_t)shares_between(plan, stage, chunk, low, high).forward;
		low = high;
	}
}

// A bucket that is ready before one that goes ahead of it waits for that: buckets of experts may
// reach over dense ones, and units are walked in their order.
static void wait_for_others(struct step_cells *cells, const struct plan *plan, uint32_t stage,
			    uint32_t chunk)
{
	struct step_cell *cell = step_cell(cells, stage, chunk);
	struct step_bucket *list = cells->buckets + cell->bucket_first;
	for (uint32_t i = 1; i < cell->bucket_count && plan_is_interleaved(plan); i++)
		if (list[i].ready_ppm < list[i - 1].ready_ppm)
			list[i].ready_ppm = list[i - 1].ready_ppm;
}

// A bucket of its own in each cell for the dense part and the experts, and more on the first.
static uint32_t count_buckets(const struct plan *plan, uint32_t stage, uint32_t chunk)
{
	struct plan_bucket bucket;
	uint32_t count = 0;
	for (int is_expert = 0; is_expert < 2; is_expert++) {
		uint32_t left = plan_part_count(plan, stage, chunk);
		while (plan_bucket_next(plan, stage, chunk, is_expert != 0, &left, &bucket))
			count++;
	}
	return count;
}

uint32_t step_bucket_count(const struct plan *plan)
{
	uint32_t cells = plan->parallel.pp * plan->parallel.vpp, count = 0;
	if (plan->parallel.sharding == SHARDING_MEGATRON)
		return count_buckets(plan, 0, 0) + 2 * cells;
	for (uint32_t cell = 0; cell < cells; cell++)
		count += count_buckets(plan, cell % plan->parallel.pp, cell / plan->parallel.pp);
	return count;
}

void step_cells_fill(struct step_cells *cells, const struct plan *plan)
{
	uint32_t first = 0;
	cells->chunks = plan->parallel.vpp;
	for (uint32_t stage = 0; stage < plan->parallel.pp; stage++) {
		for (uint32_t chunk = 0; chunk < plan->parallel.vpp; chunk++) {
			struct step_cell *cell = step_cell(cells, stage, chunk);
			uint32_t layers = plan_layers(plan, stage, chunk);
			*cell = (struct step_cell){
				.bucket_first = first, .layers = layers, .slots = plan_slots(plan)};
			add_buckets(cells, plan, stage, chunk, false);
			add_buckets(cells, plan, stage, chunk, true);
			share_forward(cells, plan, stage, chunk);
			wait_for_others(cells, plan, stage, chunk);
			first += cell->bucket_count;
		}
	}
}
