// SPDX-License-Identifier: Apache-2.0
// Deadlock of PFC: ports that wait for each other in a ring. Looked for in all switches at once,
// while they stand still.
//
// A port is stuck when its peer has asked it to pause and will never let it go on. At first all
// that are paused may be. One is not, when the peer could drain its packets down to xon without
// those that wait at stuck ports; that is repeated until nothing changes (the largest fixed point).
// Every port that is left has packets at its peer that wait at another one that is left: following
// these leads around a cycle.

#include <errno.h>
#include <string.h>

#include "switch.h"

int deadlock_room_init(struct deadlock_room *room, struct arena *arena,
		       const struct topology *topology)
{
	const struct switch_plan *last = &topology->switches[topology->switch_count - 1];
	size_t ports = (size_t)last->port_first + last->port_count;
	room->is_stuck = arena_draw(arena, ARENA_FABRIC, ports, sizeof(*room->is_stuck));
	room->held = arena_draw(arena, ARENA_FABRIC, MACHINE_PORTS_MAX, sizeof(*room->held));
	room->turn = arena_draw(arena, ARENA_FABRIC, ports, sizeof(*room->turn));
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

struct search {
	const struct topology *topology;
	struct switch_ *const *switches;
	const struct fifo_pool *chunks;
	struct deadlock_room *room;
};

// Where a port leads. False: to a host.
static bool peer_of(const struct topology *topology, struct switch_port from,
		    struct switch_port *ret)
{
	const struct switch_plan *plan = &topology->switches[from.at];
	const struct link_plan *link =
		&topology->links[topology->port_links[plan->port_first + from.port]];
	bool is_a = link->node_a == topology->hosts + from.at && link->port_a == from.port;
	uint32_t node = is_a ? link->node_b : link->node_a;
	if (node < topology->hosts)
		return false;
	*ret = (struct switch_port){node - topology->hosts, is_a ? link->port_b : link->port_a};
	return true;
}

static uint32_t place_of(const struct topology *topology, struct switch_port port)
{
	return topology->switches[port.at].port_first + port.port;
}

// Adds up what waits at the stuck ports of a switch, by the port where it came in. With `from` only
// says at which one something of that port waits: the lowest.
static uint32_t count_held(const struct search *search, uint32_t at, uint32_t from)
{
	const struct switch_ *self = search->switches[at];
	uint32_t *held = search->room->held;
	memset(held, 0, self->port_count * sizeof(*held));
	for (uint32_t i = 0; i < self->port_count; i++) {
		const struct fifo *data = &self->ports[i].queues[PACKET_CLASS_DATA];
		uint32_t at_entry = data->get;
		if (!search->room
			     ->is_stuck[place_of(search->topology, (struct switch_port){at, i})])
			continue;
		for (uint32_t n = 0; n < data->count; n++) {
			uint64_t entry = fifo_walk(search->chunks, &at_entry);
			if (entry_from(entry) == from)
				return i;
			held[entry_from(entry)] += entry_bytes(entry);
		}
	}
	return UINT32_MAX;
}

// What stays in the headroom when only `held` bytes are left: it empties first.
static uint32_t beyond_left(const struct pfc_port *in, uint32_t held)
{
	uint32_t left = in->held_bytes - held;
	return in->beyond_bytes > left ? in->beyond_bytes - left : 0;
}

// What stays in a shared buffer.
static uint64_t shared_left(const struct search *search, uint32_t at)
{
	const struct switch_ *self = search->switches[at];
	uint64_t used = 0;
	for (uint32_t i = 0; i < self->port_count; i++)
		used += search->room->held[i] -
			beyond_left(&self->ordered->pfc[i], search->room->held[i]);
	return used;
}

// Frees the ports whose packets the switch `at` can let go. True when there was one.
static bool free_peers(const struct search *search, uint32_t at)
{
	const struct switch_ *self = search->switches[at];
	struct shared_buffer rest = self->ordered->shared;
	struct shared_buffer *buffer = self->ordered->buffer == NULL ? NULL : &rest;
	uint32_t gap_bytes = self->ordered->gap_bytes;
	bool has_freed = false;
	count_held(search, at, UINT32_MAX);
	rest.used = shared_left(search, at);
	for (uint32_t i = 0; i < self->port_count; i++) {
		struct switch_port peer;
		if (!peer_of(search->topology, (struct switch_port){at, i}, &peer))
			continue;
		uint8_t *is_stuck = &search->room->is_stuck[place_of(search->topology, peer)];
		const struct pfc_port *in = &self->ordered->pfc[i];
		if (!*is_stuck)
			continue;
		if (!in->is_stopped ||
		    (beyond_left(in, search->room->held[i]) == 0 &&
		     search->room->held[i] <= pfc_xon(in, buffer, gap_bytes))) {
			*is_stuck = false;
			has_freed = true;
		}
	}
	return has_freed;
}

// Follows the waiting from `first` on until it comes to a port for the second time.
static uint32_t walk(const struct search *search, struct switch_port first, struct switch_port *ret,
		     uint32_t max)
{
	uint32_t *turn = search->room->turn, turns = 0, count = 0;
	struct switch_port at = first, peer;
	while (turn[place_of(search->topology, at)] == 0) {
		turn[place_of(search->topology, at)] = ++turns;
		check(peer_of(search->topology, at, &peer));
		at = (struct switch_port){peer.at, count_held(search, peer.at, peer.port)};
		check(at.port != UINT32_MAX);
	}
	struct switch_port start = at;
	do {
		if (count < max)
			ret[count] = at;
		count++;
		check(peer_of(search->topology, at, &peer));
		at = (struct switch_port){peer.at, count_held(search, peer.at, peer.port)};
	} while (at.at != start.at || at.port != start.port);
	return count;
}

uint32_t deadlock_find(const struct topology *topology, struct switch_ *const *switches,
		       const struct fifo_pool *chunks, struct deadlock_room *room,
		       struct switch_port *ret, uint32_t max)
{
	const struct search search = {topology, switches, chunks, room};
	const struct switch_plan *last = &topology->switches[topology->switch_count - 1];
	size_t ports = (size_t)last->port_first + last->port_count;
	memset(room->is_stuck, true, ports * sizeof(*room->is_stuck));
	memset(room->turn, 0, ports * sizeof(*room->turn));
	for (uint32_t at = 0; at < topology->switch_count; at++) // hosts always take what comes
		for (uint32_t i = 0; i < switches[at]->port_count; i++) {
			struct switch_port port = {at, i}, peer;
			if (!peer_of(topology, port, &peer))
				room->is_stuck[place_of(topology, port)] = false;
		}
	for (bool has_freed = true; has_freed;) {
		has_freed = false;
		for (uint32_t at = 0; at < topology->switch_count; at++)
			has_freed |= free_peers(&search, at);
	}
	for (uint32_t at = 0; at < topology->switch_count; at++)
		for (uint32_t i = 0; i < switches[at]->port_count; i++)
			if (room->is_stuck[place_of(topology, (struct switch_port){at, i})])
				return walk(&search, (struct switch_port){at, i}, ret, max);
	return 0;
}
