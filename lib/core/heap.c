// SPDX-License-Identifier: Apache-2.0
// A 4-ary heap of timers, ordered by (time, key).

#include <weft/core/heap.h>

#include <errno.h>

#include <weft/core/check.h>

#define HEAP_ARITY 4u

static int is_before(const struct heap_item *a, const struct heap_item *b)
{
	return a->at < b->at || (a->at == b->at && a->key < b->key);
}

int heap_init(struct heap *heap, struct arena *arena, enum arena_room room, uint32_t capacity)
{
	struct heap_item *items = arena_draw(arena, room, capacity, sizeof(*items));
	if (items == NULL)
		return -ENOMEM;
	*heap = (struct heap){items, 0, capacity};
	return 0;
}

// Moves `item` up from `place`, which is free, to where it belongs.
static void sift_up(struct heap *heap, uint32_t place, struct heap_item item)
{
	while (place > 0) {
		uint32_t parent = (place - 1) / HEAP_ARITY;
		if (!is_before(&item, &heap->items[parent]))
			break;
		heap->items[place] = heap->items[parent];
		place = parent;
	}
	heap->items[place] = item;
}

void heap_push(struct heap *heap, ps_t at, uint64_t key)
{
	check(heap->count < heap->capacity);
	sift_up(heap, heap->count++, (struct heap_item){at, key});
}

// Makes room for `item` at or below `place`, which is free, so that none below it is earlier.
// Returns where.
static uint32_t sift_down(struct heap *heap, uint32_t place, struct heap_item item)
{
	for (;;) {
		uint32_t first = place * HEAP_ARITY + 1;
		if (first >= heap->count)
			break;
		uint32_t end = first + HEAP_ARITY < heap->count ? first + HEAP_ARITY : heap->count;
		uint32_t best = first;
		for (uint32_t child = first + 1; child < end; child++)
			if (is_before(&heap->items[child], &heap->items[best]))
				best = child;
		if (!is_before(&heap->items[best], &item))
			break;
		heap->items[place] = heap->items[best];
		place = best;
	}
	return place;
}

struct heap_item heap_pop(struct heap *heap)
{
	check(heap->count > 0);
	struct heap_item top = heap->items[0];
	struct heap_item last = heap->items[--heap->count];
	if (heap->count > 0)
		heap->items[sift_down(heap, 0, last)] = last;
	return top;
}

void heap_remove(struct heap *heap, uint64_t key)
{
	uint32_t place = 0;
	while (place < heap->count && heap->items[place].key != key)
		place++;
	if (place == heap->count)
		return;
	struct heap_item last = heap->items[--heap->count];
	if (place < heap->count) // it may belong above or below the hole
		sift_up(heap, sift_down(heap, place, last), last);
}
