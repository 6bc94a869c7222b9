// SPDX-License-Identifier: Apache-2.0
// Latency of messages by the racks of their two ends. There are pairs of racks by the million, so
// racks next to each other are put together until there are few: memory is bounded.
#pragma once

#include <weft/measure/measure.h>

#define RACK_GROUPS_MAX 16u // groups of racks that are counted apart
#define RACK_DIGITS 2u	    // a value is within one part in 100

// A rack is a host of a world: a scale-up domain.
struct racks {
	struct hist *of; // [groups * groups] ns, by source and then by target; NULL: not watched
	uint32_t groups, hosts_per_group, nics_per_host;
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws the histograms for values 0..value_max of `hosts` racks of `nics_per_host` NICs each, both
// at least one. -ENOMEM.
int racks_init(struct racks *racks, struct arena *arena, uint32_t hosts, uint32_t nics_per_host,
	       uint64_t value_max);

// Takes all values out; nothing where it is not watched.
void racks_empty(struct racks *racks);

// A message from NIC `from` to NIC `to` of the world took `took_ns`.
void racks_add(struct racks *racks, uint32_t from, uint32_t to, int64_t took_ns);

// Adds all values of `from`, of as many racks (a bug else); nothing where it is not watched.
void racks_merge(struct racks *into, const struct racks *from);

#ifdef __cplusplus
}
#endif
