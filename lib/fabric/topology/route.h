// SPDX-License-Identifier: Apache-2.0
// Where a packet leaves a switch: down by arithmetic, up and across a bundle by a hash of the
// packet's entropy value. A pure function of the route and the packet; it reads no queue, so the
// order in which packets ask cannot matter. The rule "hash(flow, EV, salt of the switch) over the
// up ports at every upward hop" is the one htsim and the MRC deployments use for spraying. A switch
// of a graph looks its ports up instead and takes one by the same hash.
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weft/core/packet.h>
#include <weft/core/rng.h>
#include <weft/fabric/fabric.h>

#define ROUTE_NONE UINT32_MAX
#define ROUTE_GROUP_SHIFT 48

// Ports of equal cost, in ascending order, in route_table.ports.
struct port_set {
	uint32_t first, count;
};

// The ways from one switch of a graph to all others, for all planes: they are copies of each other,
// port by port. Sets are kept once, for many targets share them.
struct route_table {
	const uint16_t *nic_switch; // [nics] shared by all tables
	const uint16_t *nic_port;   // [nics] at that switch; shared
	uint32_t nics, own;	    // own: this switch
	const uint16_t *set_of;	    // [switches of a plane]
	const struct port_set *sets;
	const uint16_t *ports;
	uint32_t set_count, port_count; // of a table that switches_reroute() made
};

// Routes of a switch from a time on, for what arrives later than that.
struct route_epoch {
	ps_t at;
	struct route_epoch *next;
	struct route route;
};

// Sets the fields that are derived: the division by `span` and the salt of switch `id`.
void route_init(struct route *route, uint64_t seed, uint32_t id);

// value / span without a division: exact for every 32-bit value and every span up to 2^31, see
// route.c.
static inline uint32_t route_quotient(uint32_t value, uint64_t magic)
{
	return (uint32_t)(((unsigned __int128)value * magic) >> 63);
}

static_assert(offsetof(struct packet, source) == offsetof(struct packet, target) + 4 &&
		      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "both ends are one word");

// 32 bits that depend on every bit of the flow, the EV and the switch.
static inline uint32_t route_hash(const struct route *route, const struct packet *packet)
{
	uint64_t flow; // source << 32 | target
	memcpy(&flow, &packet->target, sizeof(flow));
	uint64_t entropy = (packet->ev + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(rng_mix(flow ^ entropy ^ route->salt) >> 32);
}

// Maps a hash to [0, count) by multiply and shift.
static inline uint32_t route_member(uint32_t hash, uint32_t count)
{
	return (uint32_t)(((uint64_t)hash * count) >> 32);
}

// The same for what is below a plain route: see route.c.
static inline uint32_t route_group(uint32_t into, uint64_t magic)
{
	return (uint32_t)((into * magic) >> ROUTE_GROUP_SHIFT);
}

// The out-port that a table gives, or ROUTE_NONE when no switch or port leads to the target.
static inline uint32_t route_look_up(const struct route *route, const struct packet *packet)
{
	const struct route_table *table = route->table;
	uint32_t target = packet->target;
	if (target >= table->nics)
		return ROUTE_NONE;
	if (table->nic_switch[target] == table->own)
		return table->nic_port[target];
	const struct port_set *set = &table->sets[table->set_of[table->nic_switch[target]]];
	if (set->count == 0)
		return ROUTE_NONE;
	uint32_t member = set->count == 1 ? 0 : route_member(route_hash(route, packet), set->count);
	return table->ports[set->first + member];
}

// The up port whose uSID the source route of `packet` has first, or ROUTE_NONE: there is no static
// route to that uSID.
static inline uint32_t route_usid(const struct route *route, const struct packet *packet)
{
	uint32_t trunk = packet->ev >> (32 - USID_TRUNK_BITS);
	return trunk < route->up_count ? route->up_first + trunk : ROUTE_NONE;
}

// The out-port of `packet`, or ROUTE_NONE when the target is not below and there is no way up.
static inline uint32_t route_port(const struct route *route, const struct packet *packet)
{
	uint32_t target = packet->target;
	if (target >= route->low && target < route->high) {
		uint32_t group = route_quotient(target - route->low, route->span_magic);
		uint32_t links = route->down_links;
		uint32_t member = links == 1 ? 0 : route_member(route_hash(route, packet), links);
		return group * links + member;
	}
	if (route->up_count == 0)
		return route->table == NULL ? ROUTE_NONE : route_look_up(route, packet);
	if (__builtin_expect(route->is_static, 0))
		return route_usid(route, packet);
	return route->up_first + route_member(route_hash(route, packet), route->up_count);
}

// The same for a route that is plain: `none` when there is no way.
static inline uint32_t route_port_plain(const struct route *route, const struct packet *packet,
					uint32_t none)
{
	uint32_t into = packet->target - route->low;
	if (into < route->width)
		return route_group(into, route->group_magic);
	if (route->up_count == 0)
		return none;
	return route->up_first + route_member(route_hash(route, packet), route->up_count);
}
