// SPDX-License-Identifier: Apache-2.0
// What a route derives from its counts before the run. The per-packet part is inline in route.h.

#include "route.h"

#include <weft/core/check.h>

// Whether route_port_plain() finds the port. Its magic number has 48 bits, not 63, so that a
// product fits in 64: value < 2^24 and span <= 2^24 keep the quotient right, quotients below 2^14
// keep the product below 2^63.
static bool is_plain(const struct route *route)
{
	return route->down_links == 1 && !route->is_static && route->table == NULL &&
		route->width <= UINT32_C(1) << 24 && route->span <= UINT32_C(1) << 24 &&
		route->width / route->span < 1 << 14;
}

// Division by an invariant number, after Granlund and Montgomery, "Division by invariant integers
// using multiplication" (1994). With magic = floor(2^63 / span) + 1 the product is too large by
// value * e / (span * 2^63), where e = magic * span - 2^63 is in (0, span]. The quotient is right
// as long as value * e < 2^63, which holds for value < 2^32 and span <= 2^31. The 63 (not 64) lets
// span = 1 have a magic number that fits in 64 bits.
void route_init(struct route *route, uint64_t seed, uint32_t id)
{
	check(route->span > 0 && route->span <= UINT32_C(1) << 31);
	route->span_magic = (UINT64_C(1) << 63) / route->span + 1;
	route->width = route->high - route->low;
	route->is_plain = is_plain(route);
	route->group_magic = (UINT64_C(1) << ROUTE_GROUP_SHIFT) / route->span + 1;
	struct rng stream = rng_of(seed, RNG_SWITCH, id);
	route->salt = rng_next(&stream);
}
