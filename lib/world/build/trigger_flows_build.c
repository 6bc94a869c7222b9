// SPDX-License-Identifier: Apache-2.0
// The starters of a world: which flows wait for which trigger at which host, and signals between
// hosts. See trigger_flows.h and world_signal.h.
#include <errno.h>

#include <weft/host/host.h>
#include <weft/world/world_signal.h>

#include "build.h"

static uint32_t host_of(const struct world *world, uint32_t nic)
{
	return nic / world->fabric.nics_per_host;
}

// Gives the flows of trigger `index` to starters, one for each host. `newest` of a host is the
// starter that it had last, index + 1.
static void split(struct world *world, uint32_t index, uint32_t *newest)
{
	struct starters *starters = world->starters;
	uint32_t begun = starters->count, at = world->triggers[index].first, next;
	for (; at > 0; at = next) {
		struct flow *flow = &world->flows[at - 1];
		uint32_t host = host_of(world, flow->from);
		next = flow->next;
		if (newest[host] <= begun) {
			starters->list[starters->count++] = (struct trigger_flows){
				.host = host, .next = starters->first[index]};
			starters->first[index] = newest[host] = starters->count;
		}
		struct trigger_flows *starter = &starters->list[newest[host] - 1];
		flow->next = starter->first;
		starter->first = at;
	}
}

// Whether a multishot that is fired at `host` starts a flow at another one.
static bool leaves_host(const struct world *world, const struct trigger *multishot, uint32_t host)
{
	for (uint32_t at = multishot->first; at > 0; at = world->flows[at - 1].next)
		if (host_of(world, world->flows[at - 1].from) != host)
			return true;
	return false;
}

// Whether a trigger that is fired at `host` starts flows at another one.
static bool is_heard(const struct world *world, uint32_t trigger, uint32_t host)
{
	const struct starters *starters = world->starters;
	if (trigger == 0)
		return false;
	if (world->triggers[trigger - 1].kind == TRIGGER_MULTISHOT)
		return leaves_host(world, &world->triggers[trigger - 1], host);
	for (uint32_t at = starters->first[trigger - 1]; at > 0; at = starters->list[at - 1].next)
		if (starters->list[at - 1].host != host)
			return true;
	return false;
}

static void count_signal(struct world *world, uint32_t trigger, uint32_t host)
{
	struct starters *starters = world->starters;
	if (!is_heard(world, trigger, host))
		return;
	starters->signals_total++;
	if (++starters->signals[host] > starters->signals_max)
		starters->signals_max = starters->signals[host];
}

static void sort(struct world *world, uint32_t *newest)
{
	for (uint32_t i = 0; i < world->trigger_count; i++)
		if (world->triggers[i].kind != TRIGGER_MULTISHOT)
			split(world, i, newest);
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		count_signal(world, flow->on_sent, host_of(world, flow->from));
		count_signal(world, flow->on_received, host_of(world, flow->to));
	}
}

int trigger_flows_build(struct world *world, struct refusal *refusal)
{
	struct arena *arena = world->arena;
	uint32_t waiting = 0, hosts = world->topology.hosts;
	ps_t delay_ps = world->scenario->traffic.signal_delay_ps;
	for (uint32_t i = 0; i < world->flow_count; i++)
		waiting += world->flows[i].trigger > 0;
	struct starters *starters = arena_draw(arena, ARENA_WORLD, 1, sizeof(*starters));
	uint32_t *newest = arena_draw(arena, ARENA_WORLD, hosts, sizeof(*newest));
	if (arena_has_failed(arena))
		return build_no_memory(world, refusal);
	starters->list = arena_draw(arena, ARENA_WORLD, waiting, sizeof(*starters->list));
	starters->first = arena_draw(arena, ARENA_WORLD, world->trigger_count, sizeof(uint32_t));
	starters->signals = arena_draw(arena, ARENA_WORLD, hosts, sizeof(uint32_t));
	if (arena_has_failed(arena))
		return build_no_memory(world, refusal);
	starters->delay_ps = delay_ps > 0 ? delay_ps : SIGNAL_DELAY_PS;
	world->starters = starters;
	sort(world, newest);
	if (delay_ps > 0 && starters->signals_total == 0)
		return refuse(refusal, -EINVAL,
			      "traffic.signal_delay has no effect here: no trigger of this matrix "
			      "starts a connection at another host");
	return 0;
}

// ---------------------------------------------------------------- hearing

static bool is_in(const struct world *world, uint32_t host, uint32_t shard)
{
	return shard == WORLD_EVERY_SHARD || world->shard_of[host] == shard;
}

void world_hear(const struct world *world, uint32_t shard, const struct signal *signal,
		world_wake_fn *wake, void *context)
{
	const struct starters *starters = world->starters;
	if (signal->flow > 0) {
		uint32_t host = host_of(world, world->flows[signal->flow - 1].from);
		if (!is_in(world, host, shard))
			return;
		trigger_flows_start(world->hosts[host], signal->flow - 1, signal->at);
		wake(context, host, signal->at);
		return;
	}
	uint32_t needed = world->triggers[signal->trigger - 1].needed;
	for (uint32_t at = starters->first[signal->trigger - 1]; at > 0;
	     at = starters->list[at - 1].next) {
		struct trigger_flows *starter = &starters->list[at - 1];
		if (starter->host != signal->from && is_in(world, starter->host, shard) &&
		    trigger_flows_count(world->hosts[starter->host], starter, needed, signal->at))
			wake(context, starter->host, starter->at);
	}
}

uint32_t world_signals_max(const struct world *world)
{
	return world->starters->signals_max;
}

uint64_t world_signals_total(const struct world *world)
{
	return world->starters->signals_total;
}

ps_t world_signal_delay(const struct world *world)
{
	return world->starters->delay_ps;
}

bool world_gives_signals(const struct world *world, uint32_t machine)
{
	return machine < world->topology.hosts && world->starters->signals[machine] > 0;
}
