// SPDX-License-Identifier: Apache-2.0
// See fired.h.

#include <weft/wall/fired.h>

#include <errno.h>

#include <weft/host/host.h>
#include <weft/world/world_signal.h>

#include "loop.h"

bool fired_put(struct fired_list *list, const struct signal *signal)
{
	if (list->count == list->capacity)
		return false;
	list->list[list->count] = *signal;
	__atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELEASE);
	return true;
}

bool fired_take(struct fired_list *list, struct signal *ret)
{
	if (list->taken == __atomic_load_n(&list->count, __ATOMIC_ACQUIRE))
		return false;
	*ret = list->list[list->taken++];
	return true;
}

bool fired_fits(const struct fired *fired, const struct signal *signal, uint32_t from)
{
	return from < fired->hosts && signal->from == from && signal->trigger > 0 &&
		signal->trigger <= fired->triggers && signal->flow <= fired->flows;
}

// ---------------------------------------------------------------- of the loop

static int draw(struct fired_list *list, struct world *world, uint64_t capacity)
{
	list->capacity = (uint32_t)capacity;
	list->list = arena_draw(world->arena, ARENA_DRIVE, capacity, sizeof(*list->list));
	return list->list == NULL ? -ENOMEM : 0;
}

int fired_init(struct wall *wall)
{
	struct world *world = wall->world;
	struct fired *fired = &wall->fired;
	*fired = (struct fired){.hosts = world->topology.hosts,
				.triggers = world->trigger_count,
				.flows = world->flow_count};
	if (world_signals_total(world) == 0)
		return 0;
	wall->out.signal_capacity = world_signals_max(world);
	wall->out.signals = arena_draw(world->arena, ARENA_DRIVE, wall->out.signal_capacity,
				       sizeof(*wall->out.signals));
	return wall->out.signals == NULL ||
			draw(&fired->out, world, world_signals_max(world)) < 0 ||
			draw(&fired->in, world, world_signals_total(world)) < 0
		? -ENOMEM
		: 0;
}

void fired_tell(struct wall *wall)
{
	struct fired *fired = &wall->fired;
	for (uint32_t i = 0; i < wall->out.signal_count; i++)
		check(fired_put(&fired->out, &wall->out.signals[i]));
	wall->counts.triggers_told += wall->out.signal_count;
	wall->out.signal_count = 0;
	if (fired->ring != NULL && !__atomic_exchange_n(&fired->is_rung, true, __ATOMIC_ACQ_REL))
		fired->ring(fired->context);
}

// Other hosts of the world are not run here.
static void wake(void *context, uint32_t machine, ps_t at)
{
	struct wall *wall = context;
	if (machine == wall->options.host)
		wall->next = ps_min(wall->next, at);
}

// Its way took as long as it took; what the scenario says of it is on top, by this host's clock.
void fired_hear(struct wall *wall, ps_t at)
{
	const struct world *world = wall->world;
	struct signal signal;
	while (fired_take(&wall->fired.in, &signal)) {
		signal.at = at + world_signal_delay(world);
		wall->counts.triggers_heard++;
		world_hear(world, world->shard_of[wall->options.host], &signal, wake, wall);
	}
}

struct fired *wall_fired(struct wall *wall)
{
	return wall->fired.in.list != NULL ? &wall->fired : NULL;
}
