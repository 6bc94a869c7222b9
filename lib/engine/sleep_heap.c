// SPDX-License-Identifier: Apache-2.0
// The heap of sleeping machines.

#include "window.h"

#include <errno.h>
#include <stdbool.h>

#include <weft/core/check.h>

int sleep_heap_init(struct sleep_heap_set *set, struct arena *arena, uint32_t machines)
{
	set->heap = arena_draw(arena, ARENA_DRIVE, machines, sizeof(uint32_t));
	set->place = arena_draw(arena, ARENA_DRIVE, machines, sizeof(uint32_t));
	set->at = arena_draw(arena, ARENA_DRIVE, machines, sizeof(ps_t));
	set->count = 0;
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static bool is_before(const struct sleep_heap_set *set, uint32_t a, uint32_t b)
{
	return set->at[a] < set->at[b] || (set->at[a] == set->at[b] && a < b);
}

static void put(struct sleep_heap_set *set, uint32_t place, uint32_t machine)
{
	set->heap[place] = machine;
	set->place[machine] = place + 1;
}

static void lift(struct sleep_heap_set *set, uint32_t place, uint32_t machine)
{
	while (place > 0 && is_before(set, machine, set->heap[(place - 1) / 2])) {
		put(set, place, set->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(set, place, machine);
}

static void sink(struct sleep_heap_set *set, uint32_t place, uint32_t machine)
{
	for (uint32_t child; (child = 2 * place + 1) < set->count; place = child) {
		if (child + 1 < set->count &&
		    is_before(set, set->heap[child + 1], set->heap[child]))
			child++;
		if (!is_before(set, set->heap[child], machine))
			break;
		put(set, place, set->heap[child]);
	}
	put(set, place, machine);
}

void sleep_heap_add(struct sleep_heap_set *set, uint32_t machine, ps_t at)
{
	uint32_t place = set->place[machine];
	if (place == 0) {
		set->at[machine] = at;
		lift(set, set->count++, machine);
	} else if (at < set->at[machine]) {
		set->at[machine] = at;
		lift(set, place - 1, machine);
	}
}

uint32_t sleep_heap_take(struct sleep_heap_set *set)
{
	check(set->count > 0);
	uint32_t first = set->heap[0], last = set->heap[--set->count];
	set->place[first] = 0;
	if (set->count > 0)
		sink(set, 0, last);
	return first;
}
