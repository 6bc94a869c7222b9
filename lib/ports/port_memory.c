// SPDX-License-Identifier: Apache-2.0
// Ports in memory of the process: the same frames as through DPDK, without DPDK, where sanitisers
// see every byte. One lane.

#include <errno.h>

#include <weft/core/check.h>

#include <weft/ports/port.h>

#define ALIGN 64u

// What stands before a frame's bytes.
struct block {
	ps_t at;
	uint32_t cable;
	uint32_t length;
};

struct ring {
	void **owners; // [mask + 1]
	uint32_t mask;
	uint32_t head, tail;
};

struct memory {
	struct ring *rings; // [queues]
	void **free;	    // stack of blocks
	uint32_t free_count;
	struct port_counts counts;
};

static uint8_t *bytes_of(void *owner)
{
	return (uint8_t *)owner + ALIGN;
}

static void look(const struct ports *ports, void *owner, struct frame *ret)
{
	const struct block *block = owner;
	(void)ports;
	*ret = (struct frame){owner, bytes_of(owner), block->length, block->cable, block->at};
}

static bool take(struct ports *ports, struct frame *ret, uint32_t count)
{
	struct memory *memory = ports->own;
	if (memory->free_count < count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		void *owner = memory->free[--memory->free_count];
		ret[i] = (struct frame){.owner = owner, .bytes = bytes_of(owner)};
	}
	return true;
}

static void give(struct ports *ports, void *const *owners, uint32_t count)
{
	struct memory *memory = ports->own;
	check(memory->free_count + count <= ports->frames);
	for (uint32_t i = 0; i < count; i++)
		memory->free[memory->free_count++] = owners[i];
}

static uint32_t send_burst(struct ports *ports, uint32_t queue, const struct frame *frames,
			   uint32_t count)
{
	struct memory *memory = ports->own;
	struct ring *ring = &memory->rings[queue];
	uint32_t room = ring->mask + 1 - (ring->tail - ring->head);
	count = count < room ? count : room;
	for (uint32_t i = 0; i < count; i++) {
		*(struct block *)frames[i].owner = (struct block){frames[i].at, frames[i].cable,
								  frames[i].length};
		ring->owners[ring->tail++ & ring->mask] = frames[i].owner;
	}
	memory->counts.sent += count;
	return count;
}

static uint32_t receive_burst(struct ports *ports, uint32_t queue, struct frame *ret, uint32_t max)
{
	struct memory *memory = ports->own;
	struct ring *ring = &memory->rings[queue];
	uint32_t count = 0;
	while (count < max && ring->head != ring->tail) {
		look(ports, ring->owners[ring->head++ & ring->mask], &ret[count]);
		count++;
	}
	memory->counts.received += count;
	return count;
}

static void count_all(const struct ports *ports, struct port_counts *ret)
{
	const struct memory *memory = ports->own;
	*ret = memory->counts;
}

static uint32_t taken(const struct ports *ports)
{
	const struct memory *memory = ports->own;
	return ports->frames - memory->free_count;
}

static void close_none(struct ports *ports)
{
	(void)ports; // the arena has it all
}

static const struct ports_ops ops = {
	.name = "memory",
	.take = take,
	.give = give,
	.send = send_burst,
	.receive = receive_burst,
	.look = look,
	.count = count_all,
	.taken = taken,
	.close = close_none,
};

static int draw_rings(const struct ports *ports, struct memory *memory, struct arena *arena)
{
	memory->rings = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(struct ring));
	for (uint32_t i = 0; memory->rings != NULL && i < ports->queue_count; i++) {
		struct ring *ring = &memory->rings[i];
		uint32_t places = 2;
		while (places < ports->queue_frames[i])
			places *= 2;
		ring->mask = places - 1;
		ring->owners = arena_draw(arena, ARENA_DRIVE, places, sizeof(void *));
		if (ring->owners == NULL)
			return -ENOMEM;
	}
	return memory->rings == NULL ? -ENOMEM : 0;
}

// Frames in one piece; their pages are touched when they are used.
static int draw_frames(const struct ports *ports, struct memory *memory, struct arena *arena)
{
	size_t stride = ALIGN + ((ports->frame_bytes_max + ALIGN - 1) & ~(ALIGN - 1));
	uint8_t *blocks = arena_draw(arena, ARENA_DRIVE, ports->frames, stride);
	memory->free = arena_draw(arena, ARENA_DRIVE, ports->frames, sizeof(void *));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t i = ports->frames; i > 0; i--) // the first ones on top
		memory->free[memory->free_count++] = blocks + (i - 1) * stride;
	return 0;
}

int port_memory_open(struct ports *ports, struct arena *arena, struct refusal *refusal)
{
	struct memory *memory = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*memory));
	if (memory == NULL || draw_rings(ports, memory, arena) < 0 ||
	    draw_frames(ports, memory, arena) < 0)
		return refuse(
			refusal, -ENOMEM,
			"% frames of % bytes do not fit into % MiB: raise limits.memory, or lower "
			"limits.packets",
			ports->frames, ports->frame_bytes_max, (int64_t)(arena->size >> 20));
	ports->own = memory;
	ports->ops = &ops;
	ports->port_count = 1;
	return 0;
}
