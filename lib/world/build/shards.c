// SPDX-License-Identifier: Apache-2.0
// Which machine is run by which thread. Nothing that is measured depends on it; the time of a run
// does: it is that of the shard with most to do.
//
// Hosts cost more per packet than switches, by a factor that depends on the workload. So both kinds
// are dealt out apart, each by the ports that have traffic: hosts in one row, as neighbours talk
// most; a switch to where the hosts in the middle of those below it are, unless that shard has its
// share already. What processes share (shared.c) is in all of them, and dealt to none.

#include "build.h"
#include "traffic_engine.h"

#define TIERS 3 // of switches, in the tallest topology

struct deal {
	uint64_t *below; // [nics + 1] ends of rings and flows on the NICs before this one
	uint64_t share;	 // of the switches' weight, for each shard
	uint64_t load[WORLD_SHARDS_MAX]; // switches' weight so far
};

// The first multiple of `align`, a power of two, at or behind `at`.
static size_t align_up(size_t at, size_t align)
{
	return (at + align - 1) & ~(align - 1);
}

void shards_fence(struct world *world, enum arena_room room, size_t bytes)
{
	size_t used = world->arena->used, end = align_up(used, bytes);
	// Where the arena would put a block that reaches up to `end`.
	size_t start = align_up(used, end - used >= 64 ? 64 : 16);
	if (world->shard_count > 1 && start < end)
		arena_draw(world->arena, room, 1, end - start); // full: the next draw will say so
}

// Counts the ends on each NIC, then adds them up from NIC to NIC.
static void count_ends(const struct world *world, struct deal *deal)
{
	uint64_t *after = deal->below + 1; // [nics] with this one
	for (uint32_t i = 0; i < world->job.group_count; i++)
		for (uint32_t at = 0; at < world->job.groups[i].ranks; at++)
			after[world->job.groups[i].gpus[at]]++;
	for (uint32_t i = 0; i < world->flow_count; i++) {
		after[world->flows[i].from]++;
		after[world->flows[i].to]++;
	}
	const struct traffic_engine *engine = traffic_engine_of(world);
	if (engine != NULL)
		engine->count_ends(world, after);
	for (uint32_t nic = 0; nic < world->topology.nics; nic++)
		after[nic] += deal->below[nic];
}

// The shard at `at` when `whole` is cut into equal parts.
static uint32_t part_of(const struct world *world, uint64_t at, uint64_t whole)
{
	uint64_t part = whole == 0 ? 0 : at * world->shard_count / whole;
	return part < world->shard_count ? (uint32_t)part : world->shard_count - 1;
}

// A host is where its middle is in the row.
static void deal_hosts(struct world *world, const struct deal *deal)
{
	uint32_t per_host = world->topology.nics_per_host;
	for (uint32_t host = 0; host < world->topology.hosts; host++) {
		const uint64_t *first = &deal->below[(size_t)host * per_host];
		world->shard_of[host] = part_of(world, first[0] + first[per_host],
						2 * deal->below[world->topology.nics]);
	}
}

// The ports of a switch, less those that wait for NICs without work: a sample leaves many.
static uint64_t switch_weight(const struct switch_plan *plan, const struct deal *deal)
{
	uint32_t first = plan->nics_first, count = plan->nics_count;
	uint64_t ends = deal->below[first + count] - deal->below[first];
	return 1 + plan->port_count * ends * 256 / count;
}

static uint32_t lightest(const struct world *world, const struct deal *deal)
{
	uint32_t best = 0;
	for (uint32_t shard = 1; shard < world->shard_count; shard++)
		if (deal->load[shard] < deal->load[best])
			best = shard;
	return best;
}

static void deal_tier(struct world *world, struct deal *deal, uint32_t tier)
{
	const struct topology *topology = &world->topology;
	for (uint32_t i = 0; i < topology->switch_count; i++) {
		const struct switch_plan *plan = &topology->switches[i];
		if (plan->tier != tier || world_shared(world, topology->hosts + i) != NULL)
			continue;
		uint64_t weight = switch_weight(plan, deal);
		uint32_t middle = plan->nics_first + plan->nics_count / 2;
		uint32_t shard = world->shard_of[middle / topology->nics_per_host];
		if (deal->load[shard] + weight > deal->share)
			shard = lightest(world, deal);
		deal->load[shard] += weight;
		world->shard_of[topology->hosts + i] = shard;
	}
}

// The lowest tier first: only there most of what comes in is from few hosts.
static void deal_switches(struct world *world, struct deal *deal)
{
	const struct topology *topology = &world->topology;
	uint64_t whole = 0;
	for (uint32_t i = 0; i < topology->switch_count; i++)
		if (world_shared(world, topology->hosts + i) == NULL)
			whole += switch_weight(&topology->switches[i], deal);
	deal->share = whole / world->shard_count + 1;
	for (uint32_t tier = 0; tier < TIERS; tier++)
		deal_tier(world, deal, tier);
}

int shards_build(struct world *world, struct refusal *refusal)
{
	const struct topology *topology = &world->topology;
	struct deal deal = {0};
	world->shard_of = arena_draw(world->arena, ARENA_WORLD, world->machine_count,
				     sizeof(*world->shard_of));
	if (world->shard_of == NULL)
		return build_no_memory(world, refusal);
	if (world->shard_count == 1)
		return 0; // all in shard 0
	if (world->has_host_shards) {
		for (uint32_t host = 0; host < topology->hosts; host++)
			world->shard_of[host] = host;
		return 0;
	}
	deal.below = arena_draw(world->arena, ARENA_WORLD, topology->nics + (size_t)1,
				sizeof(*deal.below));
	if (deal.below == NULL)
		return build_no_memory(world, refusal);
	count_ends(world, &deal);
	deal_hosts(world, &deal);
	deal_switches(world, &deal);
	shared_build(world);
	return 0;
}
