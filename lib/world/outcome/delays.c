// SPDX-License-Identifier: Apache-2.0
// Histograms of packets and messages, with watch.delays. Those of packets belong to shards and are
// added up; those of pairs of NICs belong to the sender, whose shard alone writes them.

#include <weft/host/host_delays.h>

#include <errno.h>

#include <weft/core/packet_stamp.h>
#include <weft/measure/measure_add.h>
#include <weft/world/world_delays.h>

#include "build/build.h"
#include <weft/host/host.h>
#include <weft/host/tail.h>

#define PAIR_DIGITS 1u
#define PAIR_NS_MAX (UINT64_C(1) << 32) // 4.3 s

// ---------------------------------------------------------------- building

// Where QP `qpn` of a NIC sends messages to; false when it sends none.
static bool target_of(const struct world *world, const struct world_host *host, uint32_t nic,
		      const struct nic_peer *peer, uint32_t *ret_to)
{
	const struct rank *rank;
	switch ((enum nic_role)peer->role) {
	case NIC_ROLE_RING_SEND:
		rank = &host->ranks[peer->owner];
		*ret_to = rank->group->gpus[group_next(rank->group, peer->channel, rank->at)];
		return true;
	case NIC_ROLE_FLOW:
		*ret_to = world->flows[peer->owner].to;
		return world->flows[peer->owner].from == nic;
	case NIC_ROLE_LINE_SEND:
		*ret_to = world->lines[peer->owner].to_nic;
		return true;
	default:
		return false;
	}
}

// Numbers the pairs of a NIC from `count` + 1 on and returns how many there are then. `numbers` has
// those of its targets, 0 for others, before and after.
static uint64_t number_pairs(const struct world *world, const struct world_host *host,
			     struct nic *nic, uint64_t *numbers, uint64_t count)
{
	uint32_t index = host->first_nic + (uint32_t)(nic - host->nics), to;
	for (uint32_t qp = 0; qp < nic->qp_count; qp++) {
		if (!target_of(world, host, index, &nic->peers[qp], &to))
			continue;
		if (numbers[to] == 0)
			numbers[to] = ++count;
		nic->delays->pair_of[qp] = (uint32_t)numbers[to];
	}
	for (uint32_t qp = 0; qp < nic->qp_count; qp++)
		if (target_of(world, host, index, &nic->peers[qp], &to))
			numbers[to] = 0;
	return count;
}

static int draw_nic(struct world *world, struct nic *nic)
{
	nic->delays = arena_draw(world->arena, ARENA_MEASURE, 1,
				 sizeof(*nic->delays) + nic->qp_count * sizeof(uint16_t));
	if (nic->delays == NULL)
		return -ENOMEM;
	nic->delays->pair_of = arena_draw(world->arena, ARENA_MEASURE, nic->qp_count,
					  sizeof(*nic->delays->pair_of));
	bool has_gaps = world->scenario->watch.has_gaps && qp_pool_count(world->coll_stream) == 0;
	if (has_gaps)
		nic->delays->came = arena_draw(world->arena, ARENA_MEASURE, nic->qp_count,
					       sizeof(*nic->delays->came));
	if (has_gaps && nic->delays->came == NULL)
		return -ENOMEM;
	if (nic->bin == NULL) {
		nic->bin = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*nic->bin));
		if (nic->bin == NULL)
			return -ENOMEM;
		nic->bin->until_ps = PS_NEVER;
	}
	return nic->delays->pair_of == NULL ? -ENOMEM : 0;
}

// The NICs of a host, whose packets are timed from here on.
static int time_host(struct world *world, uint32_t index, uint64_t *numbers)
{
	struct world_host *host = world->hosts[index];
	host->delays = world->delays->of[world->shard_of[index]];
	host->tail = world->delays->tails[world->shard_of[index]];
	host->late_ps = host->tail != NULL ? host->tail->late_ps : TAIL_NEVER;
	for (uint32_t i = 0; i < host->nic_count; i++) {
		struct nic *nic = &host->nics[i];
		if (!nic->has_qps)
			continue;
		if (draw_nic(world, nic) < 0)
			return -ENOMEM;
		if (world->delays->incasts != NULL)
			nic->delays->incast = &world->delays->incasts[host->first_nic + i];
		if (nic->endpoint != NULL)
			endpoint_time(nic->endpoint, host->delays);
		world->delays->has_qp_pool |= qp_pool_count(world->coll_stream) > 0;
		world->delays->pairs_all = number_pairs(world, host, nic, numbers,
							world->delays->pairs_all);
	}
	return 0;
}

// What a receiver can tell of a packet's EV: of those that each QP draws for itself the lower bits
// count, unless a fault gives a host others. Of a profile it knows its own alone, and RoCEv2's QPs
// have one path each.
static uint32_t ev_mask_of(const struct world *world)
{
	const struct transport_config *transport = &world->transport;
	bool is_known = transport->kind != TRANSPORT_RC && transport->ev_mode == EV_AUTO;
	for (uint32_t i = 0; i < world->scenario->fault_count; i++)
		is_known &= world->scenario->faults[i].kind != FAULT_EVS;
	return is_known ? ev_index_mask(ev_universe(transport)) : 0;
}

static int draw_incasts(struct world *world)
{
	uint32_t nics = world->topology.nics;
	if (nics > DEPTH_PORTS_MAX)
		return 0;
	struct nic_incast *incasts = arena_draw(world->arena, ARENA_MEASURE, nics,
						sizeof(*incasts));
	for (uint32_t i = 0; incasts != NULL && i < nics; i++)
		depth_series_init(&incasts[i].most);
	world->delays->incasts = incasts;
	return incasts == NULL ? -ENOMEM : 0;
}

static int draw_one(struct world *world, struct delays **ret)
{
	const struct transport_config *transport = &world->transport;
	bool is_rc = transport->kind == TRANSPORT_RC; // whose QPs have a path each, on any plane
	uint32_t evs = is_rc ? transport->planes : ev_universe(transport);
	*ret = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(**ret));
	if (*ret == NULL ||
	    delays_init(*ret, world->arena, transport->planes, evs, ev_mask_of(world)) < 0)
		return -ENOMEM;
	return world->scenario->watch.has_gaps ? delays_init_gaps(*ret, world->arena) : 0;
}

static int draw_shards(struct world *world)
{
	struct world_delays *delays = world->delays;
	for (uint32_t i = 0; i < world->shard_count; i++) {
		shards_fence(world, ARENA_MEASURE, SHARD_PAGE_BYTES);
		if (draw_one(world, &delays->of[i]) < 0)
			return -ENOMEM;
	}
	delays->whole = delays->of[0];
	return world->shard_count == 1 ? 0 : draw_one(world, &delays->whole);
}

// Names the pair of each QP, over all NICs of a host.
static void name_pairs(const struct world *world, struct world_host *host)
{
	uint32_t to;
	host->pairs = world->delays->pairs;
	for (uint32_t i = 0; i < host->nic_count; i++) {
		const struct nic *nic = &host->nics[i];
		for (uint32_t qp = 0; nic->delays != NULL && qp < nic->qp_count; qp++) {
			if (nic->delays->pair_of[qp] == 0 ||
			    !target_of(world, host, host->first_nic + i, &nic->peers[qp], &to))
				continue;
			struct pair_delay *pair = &host->pairs[nic->delays->pair_of[qp] - 1];
			pair->from_nic = host->first_nic + i;
			pair->to_nic = to;
			pair->pair = (enum pair_class)nic->peers[qp].pair;
		}
	}
}

static int draw_pairs(struct world *world)
{
	struct world_delays *delays = world->delays;
	if (delays->pairs_all > DELAY_PAIRS_MAX)
		return 0;
	delays->pair_count = (uint32_t)delays->pairs_all;
	delays->pairs = arena_draw(world->arena, ARENA_MEASURE, delays->pair_count,
				   sizeof(*delays->pairs));
	if (delays->pairs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < delays->pair_count; i++)
		if (hist_init(&delays->pairs[i].message_ns, world->arena, PAIR_DIGITS,
			      PAIR_NS_MAX) < 0)
			return -ENOMEM;
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		name_pairs(world, world->hosts[i]);
	return 0;
}

int delays_build(struct world *world, struct refusal *refusal)
{
	if (!world->scenario->watch.has_delays)
		return 0;
	world->delays = arena_draw(world->arena, ARENA_MEASURE, 1, sizeof(*world->delays));
	uint64_t *numbers = arena_draw(world->arena, ARENA_MEASURE, world->topology.nics,
				       sizeof(*numbers));
	if (arena_has_failed(world->arena) || draw_shards(world) < 0 || draw_incasts(world) < 0 ||
	    tail_build(world) < 0)
		return build_no_memory(world, refusal);
	for (uint32_t i = 0; i < world->topology.hosts; i++)
		if (time_host(world, i, numbers) < 0)
			return build_no_memory(world, refusal);
	return draw_pairs(world) < 0 ? build_no_memory(world, refusal) : 0;
}

void delays_gather(struct world *world)
{
	for (uint32_t i = 0; world->delays != NULL && i < world->shard_count; i++)
		delays_settle(world->delays->of[i]);
}

void delays_collect(struct world *world)
{
	struct world_delays *delays = world->delays;
	if (delays == NULL)
		return;
	tail_collect(world);
	if (world->shard_count == 1)
		return;
	delays_empty(delays->whole);
	for (uint32_t i = 0; i < world->shard_count; i++)
		delays_merge(delays->whole, delays->of[i]);
}
