// SPDX-License-Identifier: Apache-2.0
// How a world is dealt out to threads or processes, each of which runs its own machines of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/transport/transport.h>

#define WORLD_SHARDS_MAX 16    // threads or processes that one world can be run by
#define WORLD_RECORDS_MAX 1024 // the same where each host of it is a process

// Who runs a world: threads, all in one memory, or processes that have it once each.
struct world_shards {
	uint32_t count;
	bool are_processes;
	uint32_t index; // of processes: which one builds it
	bool are_hosts; // of processes: each has one host of the world, the first one its switches
};

// A switch that all processes have: each runs the out-ports that lead to machines of its own. So a
// packet for a NIC from `low` to `high` - 1 goes where the neighbour that leads to it is.
struct shared_switch {
	uint32_t low, high;
	uint32_t span, groups; // NICs below each neighbour, the last may have fewer; neighbours
	uint8_t *shards;       // [groups] NULL: one process has the switch
};

// Added up over NICs whose endpoints other processes have.
struct world_others {
	struct transport_counters transport;
	uint64_t plane_bytes_nic_max[PLANES_MAX];
};

struct world;

#ifdef __cplusplus
extern "C" {
#endif

// Of a switch that all processes have, what it is to them; else NULL.
const struct shared_switch *world_shared(const struct world *world, uint32_t machine);

// Whether shard `shard` runs a machine, or some ports of it.
bool world_is_in(const struct world *world, uint32_t machine, uint32_t shard);

// Whether this process has all that a machine is: of hosts that others run it has the outside only,
// no endpoints, events and rings.
bool world_has(const struct world *world, uint32_t machine);

// The shard that lays packets on a cable of world->cables.
uint32_t world_sender_of(const struct world *world, uint32_t cable);

#ifdef __cplusplus
}
#endif
