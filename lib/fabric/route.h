// SPDX-License-Identifier: Apache-2.0
// Where a packet leaves a switch: down by arithmetic, up and across a bundle by a hash of the
// packet's entropy value. A pure function of the route and the packet; it reads no queue, so the
// order in which packets ask cannot matter. The rule "hash(flow, EV, salt of the switch) over the
// up ports at every upward hop" is the one htsim and the MRC deployments use for spraying.
#pragma once

#include <stdint.h>

#include <weft/fabric.h>
#include <weft/packet.h>
#include <weft/rng.h>

#define ROUTE_NONE UINT32_MAX

// Sets the fields that are derived: the division by `span` and the salt of switch `id`.
void route_init(struct route *route, uint64_t seed, uint32_t id);

// value / span without a division: exact for every 32-bit value and every span up to 2^31, see
// route.c.
static inline uint32_t route_quotient(uint32_t value, uint64_t magic)
{
	return (uint32_t)(((unsigned __int128)value * magic) >> 63);
}

// 32 bits that depend on every bit of the flow, the EV and the switch.
static inline uint32_t route_hash(const struct route *route, const struct packet *packet)
{
	uint64_t flow = (uint64_t)packet->source << 32 | packet->target;
	uint64_t entropy = (packet->ev + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(rng_mix(flow ^ entropy ^ route->salt) >> 32);
}

// Maps a hash to [0, count) by multiply and shift.
static inline uint32_t route_member(uint32_t hash, uint32_t count)
{
	return (uint32_t)(((uint64_t)hash * count) >> 32);
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
		return ROUTE_NONE;
	return route->up_first + route_member(route_hash(route, packet), route->up_count);
}
