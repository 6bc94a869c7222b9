// SPDX-License-Identifier: Apache-2.0
// A bump allocator over memory that the driver gives. Nothing is ever given back: a world is built
// once.

#include <weft/core/arena.h>
#include <weft/core/check.h>

#include <assert.h>

void arena_init(struct arena *arena, void *base, size_t size)
{
	*arena = (struct arena){.base = base, .size = size};
}

void *arena_draw(struct arena *arena, enum arena_room room, size_t count, size_t bytes)
{
	check(!arena->is_sealed);
	check(room < ARENA_ROOM_COUNT);
	size_t wanted;
	bool is_huge = __builtin_mul_overflow(count, bytes, &wanted);
	size_t align = wanted >= 64 ? 64 : 16;
	size_t start = (arena->used + align - 1) & ~(align - 1);
	arena->has_failed |= is_huge || start > arena->size || wanted > arena->size - start;
	if (arena->has_failed)
		return NULL;
	arena->drawn_bytes[room] += start + wanted - arena->used;
	arena->used = start + wanted;
	return arena->base + start;
}

void arena_seal(struct arena *arena)
{
	arena->is_sealed = true;
}

const char *arena_room_name(enum arena_room room)
{
	static const char *const names[] = {"core",   "measure",  "cc",	   "transport",
					    "fabric", "workload", "world", "drive"};
	static_assert(sizeof(names) / sizeof(*names) == ARENA_ROOM_COUNT, "a name for each room");
	return room < ARENA_ROOM_COUNT ? names[room] : "unknown";
}
