// SPDX-License-Identifier: Apache-2.0
// What a host saw of each other host. See peer.h.

#include "peer.h"

#include <errno.h>

#include <weft/host/host.h>

#include "loop.h"

#define PLACES_LEAST 64u
#define PLACES_MOST 4096u // of one way

int peer_init(struct wall *wall)
{
	const struct world *world = wall->world;
	uint32_t hosts = world->topology.hosts;
	uint64_t wanted = 4ull * world->transport.ev_count * world->fabric.planes;
	bool is_short = wall->codec.nic.entropy == WIRE_ENTROPY_PORT ||
		(wall->codec.nic.entropy == WIRE_ENTROPY_STEV && wall->codec.nic.ip_version == 4);
	wall->ev_mask = is_short ? UINT16_MAX : UINT32_MAX;
	for (wall->path_places = PLACES_LEAST;
	     wall->path_places < wanted && wall->path_places < PLACES_MOST;)
		wall->path_places *= 2;
	wall->peers = arena_draw(world->arena, ARENA_DRIVE, hosts, sizeof(*wall->peers));
	if (wall->peers == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * hosts; i++) {
		struct path_set *set = i % 2 == 0 ? &wall->peers[i / 2].left
						  : &wall->peers[i / 2].came;
		set->keys = arena_draw(world->arena, ARENA_DRIVE, wall->path_places,
				       sizeof(*set->keys));
		if (set->keys == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void add(const struct wall *wall, struct path_set *set, const struct packet *packet)
{
	uint64_t key = (packet->plane + UINT64_C(1)) << 32 | (packet->ev & wall->ev_mask);
	uint32_t mask = wall->path_places - 1;
	uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;
	for (; set->keys[at] != key; at = (at + 1) & mask) {
		if (set->keys[at] != 0)
			continue;
		set->is_more |= set->count == wall->path_places / 4 * 3;
		if (set->is_more)
			return;
		set->keys[at] = key;
		set->count++;
		return;
	}
}

void peer_note_left(struct wall *wall, const struct packet *packet)
{
	struct peer *peer = &wall->peers[packet->target / wall->world->topology.nics_per_host];
	peer->frames_left++;
	add(wall, &peer->left, packet);
}

void peer_note_came(struct wall *wall, const struct packet *packet, uint8_t hop_limit)
{
	struct peer *peer = &wall->peers[packet->source / wall->world->topology.nics_per_host];
	uint8_t hops = (uint8_t)(wall->codec.nic.hop_limit - hop_limit);
	if (peer->frames_came++ == 0)
		peer->hops_least = peer->hops_most = hops;
	peer->hops_least = hops < peer->hops_least ? hops : peer->hops_least;
	peer->hops_most = hops > peer->hops_most ? hops : peer->hops_most;
	add(wall, &peer->came, packet);
}

void wall_peer(const struct wall *wall, uint32_t host, struct wall_peer *ret)
{
	const struct peer *peer = &wall->peers[host];
	*ret = (struct wall_peer){.frames_left = peer->frames_left,
				  .frames_came = peer->frames_came,
				  .paths_left = peer->left.count,
				  .paths_came = peer->came.count,
				  .hops_least = peer->hops_least,
				  .hops_most = peer->hops_most,
				  .is_more = peer->left.is_more || peer->came.is_more};
}
