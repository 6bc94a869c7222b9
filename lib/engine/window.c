// SPDX-License-Identifier: Apache-2.0
// The active set of the window engine.

#include "window.h"

#include <errno.h>

#include <weft/core/bitmap.h>
#include <weft/core/check.h>

#define SLOTS_MIN 64u
#define NEAR_STEPS 4u // windows

int window_set_init(struct window_set *set, struct arena *arena, uint32_t machines, ps_t length_ps,
		    ps_t span_ps)
{
	uint64_t slots = SLOTS_MIN;
	while (slots < (uint64_t)(span_ps / length_ps) + 2)
		slots *= 2;
	uint32_t words = BITMAP_WORDS(machines);
	*set = (struct window_set){.length_ps = length_ps,
				   .slot_mask = slots - 1,
				   .words = words,
				   .machines = machines};
	set->bits = arena_draw(arena, ARENA_DRIVE, slots * words, sizeof(uint64_t));
	set->used = arena_draw(arena, ARENA_DRIVE, slots / 64, sizeof(uint64_t));
	if (arena_has_failed(arena) || sleep_heap_init(&set->sleep_heap, arena, machines) < 0)
		return -ENOMEM;
	return 0;
}

static void mark_slot(struct window_set *set, uint32_t machine, int64_t index)
{
	uint64_t slot = (uint64_t)index & set->slot_mask;
	bitmap_set(set->bits + slot * set->words, machine);
	bitmap_set(set->used, (uint32_t)slot);
}

// The window that `at` is in, whose end comes as `ret_end`. Most are near: a division takes longer
// than a few steps.
static int64_t index_at(const struct window_set *set, ps_t at, ps_t *ret_end)
{
	int64_t index = set->index;
	ps_t end = set->start + set->length_ps;
	for (uint32_t step = 0; at >= end; step++) {
		if (step == NEAR_STEPS) {
			index = at / set->length_ps;
			end = (index + 1) * set->length_ps;
			break;
		}
		index++;
		end += set->length_ps;
	}
	*ret_end = end;
	return index;
}

ps_t window_mark(struct window_set *set, uint32_t machine, ps_t at)
{
	ps_t end;
	int64_t index = index_at(set, at, &end);
	check(at >= set->start); // time never goes back
	if (index - set->index <= (int64_t)set->slot_mask)
		mark_slot(set, machine, index);
	else
		sleep_heap_add(&set->sleep_heap, machine, at);
	return end;
}

// The first window from the running one on that the wheel has a machine in, or INT64_MAX.
static int64_t wheel_next(const struct window_set *set)
{
	uint32_t slots = (uint32_t)set->slot_mask + 1;
	uint32_t from = (uint32_t)((uint64_t)set->index & set->slot_mask);
	uint32_t slot = bitmap_next(set->used, slots, from);
	if (slot < slots)
		return set->index + (slot - from);
	slot = bitmap_next(set->used, from, 0);
	return slot < from ? set->index + (slots - from) + slot : INT64_MAX;
}

int64_t window_peek(const struct window_set *set)
{
	int64_t near = wheel_next(set);
	ps_t sleep_until = sleep_heap_first_at(&set->sleep_heap);
	int64_t sleep_heap = sleep_until == PS_NEVER ? INT64_MAX : sleep_until / set->length_ps;
	return near < sleep_heap ? near : sleep_heap;
}

void window_go(struct window_set *set, int64_t index)
{
	check(index >= set->index);
	set->index = index;
	set->start = index * set->length_ps;
	while (set->sleep_heap.count > 0 &&
	       sleep_heap_first_at(&set->sleep_heap) / set->length_ps <= index)
		mark_slot(set, sleep_heap_take(&set->sleep_heap), index);
	bitmap_clear(set->used, (uint32_t)((uint64_t)index & set->slot_mask));
}
