// SPDX-License-Identifier: Apache-2.0
// Which queue carries which cable.

#include <weft/ports/port.h>

#include <errno.h>

#include <weft/core/check.h>

#define PAIRS (PORT_LANES_MAX * PORT_LANES_MAX)

static uint32_t pair_of(const struct port_cable *cable)
{
	return cable->from_lane * PORT_LANES_MAX + cable->to_lane;
}

// How many cables go from each lane to each.
static uint32_t count_pairs(const struct port_cable *cables, uint32_t count, uint32_t *ret)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < PAIRS; i++)
		ret[i] = 0;
	for (uint32_t i = 0; i < count; i++) {
		check(cables[i].from_lane < PORT_LANES_MAX && cables[i].to_lane < PORT_LANES_MAX);
		used += ret[pair_of(&cables[i])]++ == 0;
	}
	return used;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

// Queues that all pairs of lanes need when `share` cables share one.
static uint32_t queues_for(const uint32_t *pairs, uint32_t share)
{
	uint32_t queues = 0;
	for (uint32_t i = 0; i < PAIRS; i++)
		queues += divide_up(pairs[i], share);
	return queues;
}

static int draw_tables(struct ports *ports, struct arena *arena, uint32_t cables)
{
	ports->queue_of = arena_draw(arena, ARENA_DRIVE, cables, sizeof(uint32_t));
	ports->queue_frames = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(uint32_t));
	ports->queue_to = arena_draw(arena, ARENA_DRIVE, ports->queue_count, sizeof(uint8_t));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

// Gives each pair of lanes a row of queues and deals its cables out over them.
static void lay(struct ports *ports, const struct port_cable *cables, uint32_t count,
		const uint32_t *pairs, uint32_t share)
{
	uint32_t first[PAIRS], dealt[PAIRS] = {0}, next = 0;
	for (uint32_t i = 0; i < PAIRS; i++) {
		first[i] = next;
		next += divide_up(pairs[i], share);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t pair = pair_of(&cables[i]);
		uint32_t queue = first[pair] + dealt[pair]++ / share;
		ports->queue_of[i] = queue;
		ports->queue_frames[queue] += cables[i].frames_max;
		ports->queue_to[queue] = cables[i].to_lane;
	}
}

int port_plan(struct ports *ports, struct arena *arena, const struct port_cable *cables,
	      uint32_t cable_count, uint32_t queues_max, struct refusal *refusal)
{
	uint32_t pairs[PAIRS], share = 1;
	count_pairs(cables, cable_count, pairs);
	while (share <= PORT_SHARE_MAX && queues_for(pairs, share) > queues_max)
		share++;
	if (share > PORT_SHARE_MAX)
		return refuse(
			refusal, -EINVAL,
			"the world has % cables; % queues with % cables each do not hold them",
			cable_count, queues_max, PORT_SHARE_MAX);
	ports->queue_count = queues_for(pairs, share);
	ports->cables_per_queue_max = share;
	if (draw_tables(ports, arena, cable_count) < 0)
		return refuse(refusal, -ENOMEM,
			      "the world does not fit into % MiB: raise limits.memory",
			      (int64_t)(arena->size >> 20));
	lay(ports, cables, cable_count, pairs, share);
	return 0;
}
