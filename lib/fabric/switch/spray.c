// SPDX-License-Identifier: Apache-2.0
// See spray.h. Round robin as htsim has it: a round visits each up port once, in an order that is
// shuffled anew for every round; packets under 128 bytes are hashed. The shortest queue: of all
// classes, in steps of a packet, and of equal ones any. Compared to the byte, flows that send in
// step would each find the same port free every time: they would stay on it as if by a hash.
#include "spray.h"

#include <errno.h>

#define SPRAY_STEP_BYTES 4096u

int spray_init(struct spray *spray, struct arena *arena, enum fabric_spray kind,
	       const struct route *route, struct rng rng)
{
	*spray = (struct spray){.kind = kind,
				.at = route->up_count,
				.up_first = route->up_first,
				.up_count = route->up_count,
				.rng = rng};
	if (kind == FABRIC_SPRAY_FLOWLET && route->up_count > 1) {
		spray->flowlets = arena_draw(arena, ARENA_FABRIC, SPRAY_FLOWLETS,
					     sizeof(*spray->flowlets));
		return spray->flowlets == NULL ? -ENOMEM : 0;
	}
	if (kind != FABRIC_SPRAY_ROUND_ROBIN || route->up_count == 0)
		return 0;
	spray->order = arena_draw(arena, ARENA_FABRIC, route->up_count, sizeof(*spray->order));
	if (spray->order == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < route->up_count; i++)
		spray->order[i] = (uint16_t)i;
	return 0;
}

static void shuffle(struct spray *spray, uint32_t count)
{
	for (uint32_t left = count; left > 1; left--) {
		uint32_t pick = rng_below(&spray->rng, left);
		uint16_t port = spray->order[pick];
		spray->order[pick] = spray->order[left - 1];
		spray->order[left - 1] = port;
	}
	spray->at = 0;
}

// The up ports that a packet may take, by their places among all; NULL: all of them.
struct choice {
	const uint16_t *ports;
	uint32_t count, up_first;
};

static uint32_t member_of(const struct choice *choice, uint32_t index)
{
	return choice->ports == NULL ? index : choice->ports[index] - choice->up_first;
}

static bool has_member(const struct choice *choice, uint32_t member)
{
	for (uint32_t i = 0; choice->ports != NULL && i < choice->count; i++)
		if (member_of(choice, i) == member)
			return true;
	return choice->ports == NULL;
}

// The next port in turn that the packet may take.
static uint32_t in_turn(struct spray *spray, const struct choice *choice)
{
	for (;;) {
		if (spray->at == spray->up_count)
			shuffle(spray, spray->up_count);
		uint32_t member = spray->order[spray->at++];
		if (has_member(choice, member))
			return member;
	}
}

// The up port of a flow's flowlet: any one, when it has paused (E. Vanini and others, "Let It
// Flow", NSDI 2017), or when its own is not to be used any more.
static uint32_t of_flowlet(struct spray *spray, const struct choice *choice, uint32_t hash,
			   ps_t now)
{
	struct spray_flowlet *flowlet = &spray->flowlets[hash % SPRAY_FLOWLETS];
	if (now >= flowlet->next_at || !has_member(choice, flowlet->member))
		flowlet->member = (uint16_t)member_of(choice,
						      rng_below(&spray->rng, choice->count));
	flowlet->next_at = now + spray->gap_ps;
	return flowlet->member;
}

// How long the queue of a port is, in steps of about a packet.
static uint32_t steps_of(const struct port *port)
{
	return (port->queued_bytes[PACKET_CLASS_CONTROL] + port->queued_bytes[PACKET_CLASS_DATA]) /
		SPRAY_STEP_BYTES;
}

// One of the ports that have the shortest queue: dice say which.
static uint32_t shortest(struct spray *spray, const struct choice *choice, struct port *first,
			 ps_t now, struct outbox *out, struct fabric_counters *counters)
{
	uint32_t count = choice->count, start = rng_below(&spray->rng, count);
	uint32_t best = 0, least = UINT32_MAX;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = start + i < count ? start + i : start + i - count;
		uint32_t member = member_of(choice, index);
		if (!spray->is_ordered)
			port_advance(&first[member], out, counters, now);
		uint32_t steps = steps_of(&first[member]);
		if (steps < least) {
			least = steps;
			best = member;
		}
	}
	return best;
}

// The up ports that `packet` may take: those of a table, when routes have changed.
static struct choice choice_of(const struct spray *spray, const struct route *route,
			       const struct packet *packet)
{
	const struct route_table *table = route->table;
	if (table == NULL)
		return (struct choice){NULL, route->up_count, route->up_first};
	const struct port_set *set = &table->sets[table->set_of[table->nic_switch[packet->target]]];
	return (struct choice){table->ports + set->first, set->count, spray->up_first};
}

uint32_t spray_port(struct spray *spray, const struct route *route, struct port *ports,
		    const struct packet *packet, ps_t now, struct outbox *out,
		    struct fabric_counters *counters)
{
	uint32_t hashed = route_port(route, packet), first = spray->up_first;
	if (spray->kind == FABRIC_SPRAY_HASH)
		return hashed;
	bool goes_up = hashed != ROUTE_NONE && spray->up_count > 1 && hashed >= first;
	if (!goes_up || packet->wire_bytes < SPRAY_BYTES_MIN)
		return hashed;
	struct choice choice = choice_of(spray, route, packet);
	if (spray->kind == FABRIC_SPRAY_FLOWLET)
		return first + of_flowlet(spray, &choice, route_hash(route, packet), now);
	if (spray->kind == FABRIC_SPRAY_ROUND_ROBIN)
		return first + in_turn(spray, &choice);
	return first + shortest(spray, &choice, &ports[first], now, out, counters);
}
