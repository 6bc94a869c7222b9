// SPDX-License-Identifier: Apache-2.0
// The collectives of a schedule as a list in which each kind and size stands once.

#include "step_operation.h"

// Whether two are of one kind and size.
static bool step_collective_is(const struct step_collective *a, const struct step_collective *b)
{
	return a->bytes == b->bytes && a->is_gather == b->is_gather && a->is_expert == b->is_expert;
}

ps_t step_collective_ps(const struct step_setup *setup, const struct step_collective *of)
{
	const struct ring_time *ring = of->is_expert ? &setup->experts : &setup->dense;
	return of->is_all ? ring_time_all_ps(ring, of->bytes) : ring_time_ps(ring, of->bytes);
}

static ps_t time_of(const struct step_setup *setup, const struct step_collective *of)
{
	if (setup->is_silent)
		return 0;
	for (uint32_t i = 0; i < setup->collective_count; i++)
		if (step_collective_is(&setup->collectives[i], of))
			return setup->collectives[i].time_ps;
	ps_t time = step_collective_ps(setup, of);
	return time + (ps_t)((__int128)time * setup->collective_ppb / STEP_PPB);
}

ps_t step_bucket_ps(const struct step_setup *setup, const struct step_bucket *bucket,
		    bool is_gather)
{
	const struct step_collective of = {.is_gather = is_gather,
					   .is_all = bucket->gather_bytes == 0,
					   .is_expert = bucket->is_expert,
					   .bytes = is_gather ? bucket->gather_bytes
							      : bucket->reduce_bytes};
	return time_of(setup, &of);
}

ps_t step_across_ps(const struct step_setup *setup, const struct step_bucket *bucket)
{
	const struct step_collective of = {
		.is_all = true, .is_expert = true, .bytes = bucket->across_bytes};
	return time_of(setup, &of);
}

struct list {
	struct step_collective *to;
	uint32_t count, max;
};

static bool goes_before(const struct step_collective *a, const struct step_collective *b)
{
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	if (a->is_gather != b->is_gather)
		return b->is_gather;
	return b->is_expert && !a->is_expert;
}

// What finds no room is counted, but not kept.
static void add(struct list *list, struct step_collective of)
{
	uint32_t kept = list->count < list->max ? list->count : list->max, at;
	for (at = 0; at < kept; at++) {
		if (step_collective_is(&list->to[at], &of)) {
			list->to[at].count += of.count;
			return;
		}
	}
	list->count++;
	if (kept == list->max)
		return;
	for (; at > 0 && goes_before(&of, &list->to[at - 1]); at--)
		list->to[at] = list->to[at - 1];
	list->to[at] = of;
}

uint32_t step_cells_collectives(const struct step_cells *cells, uint32_t cell_count,
				const struct plan *plan, struct step_collective *ret, uint32_t max)
{
	struct list list = {.to = ret, .max = max};
	for (uint32_t i = 0; i < cell_count; i++) {
		const struct step_cell *cell = &cells->cells[i];
		for (uint32_t j = 0; j < cell->bucket_count; j++) {
			const struct step_bucket *bucket = &cells->buckets[cell->bucket_first + j];
			add(&list,
			    (struct step_collective){.count = plan_reduces(plan),
						     .is_all = bucket->gather_bytes == 0,
						     .is_expert = bucket->is_expert,
						     .bytes = bucket->reduce_bytes});
			if (bucket->across_bytes > 0)
				add(&list,
				    (struct step_collective){.count = plan_reduces(plan),
							     .is_all = true,
							     .is_expert = true,
							     .bytes = bucket->across_bytes});
			if (bucket->gather_bytes > 0)
				add(&list,
				    (struct step_collective){.count = plan_gathers(plan),
							     .is_gather = true,
							     .is_expert = bucket->is_expert,
							     .bytes = bucket->gather_bytes});
		}
	}
	return list.count;
}
