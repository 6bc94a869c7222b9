// SPDX-License-Identifier: Apache-2.0
// The cables of a world, and what the faults of a cable do to a packet.

#include "cable.h"

#include <errno.h>

#include <weft/bitmap.h>

static int draw_waiting(struct cable_set *set, const struct world *world, struct arena *arena)
{
	uint32_t ports = 0;
	for (uint32_t m = 0; m < world->machine_count; m++) {
		uint32_t count = world->machines[m].port_count;
		set->base[m] = ports;
		ports += count;
		set->waiting[m] = arena_draw(arena, ARENA_DRIVE, BITMAP_WORDS(count) + 1,
					     sizeof(uint64_t));
		if (set->waiting[m] == NULL)
			return -ENOMEM;
	}
	set->base[world->machine_count] = set->count = ports;
	return 0;
}

static int draw(struct cable_set *set, const struct world *world, struct arena *arena)
{
	uint32_t machines = world->machine_count;
	set->base = arena_draw(arena, ARENA_DRIVE, machines + 1, sizeof(uint32_t));
	set->waiting = arena_draw(arena, ARENA_DRIVE, machines, sizeof(uint64_t *));
	if (set->base == NULL || set->waiting == NULL || draw_waiting(set, world, arena) < 0)
		return -ENOMEM;
	set->cables = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(struct cable));
	set->out = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(uint32_t));
	set->plan = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(uint32_t));
	set->digests = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(uint64_t));
	set->rng = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(struct rng));
	return set->cables == NULL || set->out == NULL || set->plan == NULL ||
			set->digests == NULL || set->rng == NULL
		? -ENOMEM
		: 0;
}

int cable_set_init(struct cable_set *set, const struct world *world, struct arena *arena)
{
	if (draw(set, world, arena) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < world->cable_count; i++) {
		const struct cable_plan *plan = &world->cables[i];
		uint32_t at = set->base[plan->to_machine] + plan->to_port;
		check(set->cables[at].line == 0); // one cable per in-port
		set->cables[at] = (struct cable){
			.line = plan->line,
			.delay_ps = plan->delay_ps,
			.to_machine = plan->to_machine,
			.to_port = plan->to_port,
			.fault_first = plan->fault_first,
			.fault_count = plan->fault_count,
		};
		set->rng[at] = rng_of(world->scenario->seed, RNG_CABLE, i);
		set->plan[at] = i;
		set->out[set->base[plan->from_machine] + plan->from_port] = at;
	}
	return 0;
}

// Whether a flap has its cable down at some time from `start` to `at`. Within from_ps to until_ps
// it goes down at from_ps, comes up down_ps later, and so on.
static bool is_flapped(const struct cable_fault *fault, ps_t start, ps_t at)
{
	start = ps_max(start, fault->from_ps);
	at = ps_min(at, fault->until_ps - 1);
	if (at < start)
		return false;
	ps_t period = fault->down_ps + fault->up_ps;
	ps_t into = (start - fault->from_ps) % period;
	return into < fault->down_ps || at - start >= period - into;
}

enum drop_reason cable_fate(const struct cable *cable, const struct cable_fault *faults,
			    struct rng *rng, ps_t start, ps_t at)
{
	for (uint32_t i = 0; i < cable->fault_count; i++) {
		const struct cable_fault *fault = &faults[cable->fault_first + i];
		switch (fault->kind) {
		case FAULT_LINK_DOWN: // whatever is on the cable while it is down is gone
			if (start < fault->until_ps && at >= fault->from_ps)
				return DROP_LINK_DOWN;
			break;
		case FAULT_FLAP:
			if (is_flapped(fault, start, at))
				return DROP_LINK_DOWN;
			break;
		case FAULT_LOSS:
			if (start >= fault->from_ps && start < fault->until_ps &&
			    (uint32_t)(rng_next(rng) >> 32) < fault->loss_threshold)
				return DROP_RANDOM_LOSS;
			break;
		}
	}
	return DROP_REASON_COUNT;
}
