// SPDX-License-Identifier: Apache-2.0
// The cables of a world, and what the faults of a cable do to a packet.

#include "cable.h"

#include <errno.h>

#include <weft/core/bitmap.h>

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
	if (arena_has_failed(arena) || draw_waiting(set, world, arena) < 0)
		return -ENOMEM;
	set->cables = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(struct cable));
	set->out = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(uint32_t));
	set->plan = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(uint32_t));
	set->reorder_queue = arena_draw(arena, ARENA_DRIVE, set->count,
					sizeof(struct reorder_queue *));
	set->stalled = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(struct stalled *));
	set->is_bad = arena_draw(arena, ARENA_DRIVE, world->cable_fault_count + 1, sizeof(uint8_t));
	set->digests = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(uint64_t));
	set->rng = arena_draw(arena, ARENA_DRIVE, set->count, sizeof(struct rng));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static bool has_fault(const struct world *world, const struct cable_plan *plan,
		      enum fault_kind kind)
{
	for (uint32_t i = 0; i < plan->fault_count; i++)
		if (world->cable_faults[plan->fault_first + i].kind == kind)
			return true;
	return false;
}

// What stands beside the list of a cable.
static int draw_beside(struct cable_set *set, const struct world *world, uint32_t at,
		       struct arena *arena)
{
	const struct cable *cable = &set->cables[at];
	const struct cable_fault *faults = world->cable_faults + cable->fault_first;
	set->reorder_queue[at] = arena_draw(arena, ARENA_DRIVE, 1, sizeof(struct reorder_queue));
	if (set->reorder_queue[at] == NULL)
		return -ENOMEM;
	if (!world->machines[cable->to_machine].is_host ||
	    !has_fault(world, &world->cables[set->plan[at]], FAULT_STALL))
		return 0;
	set->stalled[at] = arena_draw(arena, ARENA_DRIVE, 1, sizeof(struct stalled));
	if (set->stalled[at] == NULL)
		return -ENOMEM;
	stalled_init(set->stalled[at], faults, cable->fault_count);
	return 0;
}

int cable_set_init(struct cable_set *set, const struct world *world, uint8_t unit_shift,
		   struct arena *arena)
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
			.fault_count = (uint16_t)plan->fault_count,
			.has_reorder_queue = has_fault(world, plan, FAULT_DUPLICATE) ||
				has_fault(world, plan, FAULT_REORDER) ||
				(has_fault(world, plan, FAULT_STALL) &&
				 world->machines[plan->to_machine].is_host),
			.is_slow = has_fault(world, plan, FAULT_SLOW),
			.is_special = plan->fault_count > 0 || plan->head_bytes > 0,
			.unit_shift = unit_shift,
			.head_bytes = plan->head_bytes,
		};
		set->rng[at] = rng_of(world->scenario->seed, RNG_CABLE, i);
		set->plan[at] = i;
		if (set->cables[at].has_reorder_queue && draw_beside(set, world, at, arena) < 0)
			return -ENOMEM;
		set->out[set->base[plan->from_machine] + plan->from_port] = at;
	}
	return 0;
}

line_t cable_slow_line(const struct cable *cable, const struct cable_fault *faults, ps_t start)
{
	uint32_t rate_ppb = SHARE_WHOLE;
	for (uint32_t i = 0; i < cable->fault_count; i++) {
		const struct cable_fault *fault = &faults[cable->fault_first + i];
		if (fault->kind == FAULT_SLOW && fault->rate_ppb < rate_ppb &&
		    start >= fault->from_ps && start < fault->until_ps)
			rate_ppb = fault->rate_ppb;
	}
	return line_slowed(cable->line, rate_ppb);
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

// When a flap that has its cable down at some time from `start` to `at` took it down.
static ps_t flapped_since(const struct cable_fault *fault, ps_t start)
{
	ps_t period = fault->down_ps + fault->up_ps;
	ps_t into = ps_max(start - fault->from_ps, 0), since = into - into % period;
	// sent while it was up, lost when it went down the next time
	if (into - since >= fault->down_ps)
		since += period;
	return fault->from_ps + since;
}

ps_t cable_down_since(const struct cable *cable, const struct cable_fault *faults, ps_t start,
		      ps_t at)
{
	for (uint32_t i = 0; i < cable->fault_count; i++) {
		const struct cable_fault *fault = &faults[cable->fault_first + i];
		if (fault->kind == FAULT_LINK_DOWN && start < fault->until_ps &&
		    at >= fault->from_ps)
			return fault->from_ps;
		if (fault->kind == FAULT_FLAP && is_flapped(fault, start, at))
			return flapped_since(fault, start);
	}
	check(false && "a cable that lost a packet was down");
	return 0;
}

// Whether the dice choose this packet.
static bool is_hit(const struct cable_fault *fault, struct rng *rng, ps_t start)
{
	return start >= fault->from_ps && start < fault->until_ps &&
		(uint32_t)(rng_next(rng) >> 32) < fault->threshold;
}

// From 1 to `delay_ps`, which is below 2^43.
static ps_t hold_back(ps_t delay_ps, struct rng *rng)
{
	uint64_t dice = rng_next(rng) >> 44; // 20 bits: steps of a millionth of it
	return 1 + (ps_t)((uint64_t)(delay_ps - 1) * dice >> 20);
}

// Whether dice of 32 bits fall below a threshold that may be none or all.
static bool is_below(uint32_t threshold, struct rng *rng)
{
	if (threshold == 0 || threshold == UINT32_MAX)
		return threshold != 0;
	return (uint32_t)(rng_next(rng) >> 32) < threshold;
}

// Whether a burst takes the packet: its state may change before each one.
static bool is_burst(const struct cable_fault *fault, uint8_t *is_bad, struct rng *rng, ps_t start)
{
	if (start < fault->from_ps || start >= fault->until_ps)
		return false;
	uint64_t chance = *is_bad ? fault->burst.leave : fault->burst.enter;
	*is_bad ^= rng_next(rng) <= chance && chance > 0;
	return is_below(*is_bad ? fault->bad_threshold : fault->good_threshold, rng);
}

// Why a fault takes the packet away. DROP_REASON_COUNT: it does not.
static enum drop_reason loss_of(const struct cable_fault *fault, uint8_t *is_bad, struct rng *rng,
				ps_t start, ps_t at)
{
	bool is_down = false;
	if (fault->kind == FAULT_LINK_DOWN) // whatever is on the cable while it is down is gone
		is_down = start < fault->until_ps && at >= fault->from_ps;
	else if (fault->kind == FAULT_FLAP)
		is_down = is_flapped(fault, start, at);
	else if (fault->kind == FAULT_LOSS && is_hit(fault, rng, start))
		return DROP_RANDOM_LOSS;
	else if (fault->kind == FAULT_BURST && is_burst(fault, is_bad, rng, start))
		return DROP_BURST_LOSS;
	return is_down ? DROP_LINK_DOWN : DROP_REASON_COUNT;
}

static void suffer(const struct cable_fault *fault, struct rng *rng, ps_t start,
		   struct cable_fate *fate)
{
	if (fault->kind < FAULT_CORRUPT || fault->kind > FAULT_REORDER ||
	    !is_hit(fault, rng, start))
		return;
	if (fault->kind == FAULT_CORRUPT) {
		fate->is_damaged = true;
		fate->place = rng_next(rng);
	} else if (fault->kind == FAULT_DUPLICATE) {
		fate->is_doubled = true;
	} else {
		fate->held_ps += hold_back(fault->delay_ps, rng);
	}
}

struct cable_fate cable_fate(const struct cable *cable, const struct cable_fault *faults,
			     uint8_t *is_bad, struct rng *rng, ps_t start, ps_t at)
{
	struct cable_fate fate = {.drop = DROP_REASON_COUNT};
	for (uint32_t i = 0; i < cable->fault_count; i++) {
		const struct cable_fault *fault = &faults[cable->fault_first + i];
		fate.drop = loss_of(fault, is_bad + cable->fault_first + i, rng, start, at);
		if (fate.drop != DROP_REASON_COUNT)
			break;
		suffer(fault, rng, start, &fate);
	}
	return fate;
}
