// SPDX-License-Identifier: Apache-2.0
// What runs on hosts beside flows and rings: operations of a program, or a collective stream whose
// messages are made as it goes. Who builds and audits a world asks its engine by this row alone.
#pragma once

#include <weft/host/host_engine.h>
#include <weft/world/world.h>

struct builder;

// A verb that is NULL has nothing to say.
struct traffic_engine {
	const struct host_engine *host; // of its hosts
	// Its lines, and what can be said against it. Before QPs are counted. -EINVAL with a
	// reason, -ENOMEM.
	int (*build)(struct world *world, struct refusal *refusal);
	// Takes the ranks of rings, which are part of it.
	void (*join_rings)(struct world *world, const struct builder *builder);
	// Lets all ranks begin at time 0, and adds what is to be done to the world's work. After
	// the hosts.
	void (*plan)(struct world *world);

	uint32_t (*ranks)(const struct world *world);
	uint32_t (*nic_of)(const struct world *world, uint32_t rank);
	uint64_t (*data_bytes)(const struct world *world, uint32_t rank); // written into its memory
	// Adds to each NIC the ends of what it has to do.
	void (*count_ends)(const struct world *world, uint64_t *of_nic);
	// Local events that host `host` may have under way at once, and its part of the work.
	uint64_t (*events)(const struct world *world, uint32_t host);
	uint64_t (*work_of)(const struct world *world, uint32_t host);

	// What has not ended, over the ranks of a shard; bytes and messages over the fabric.
	uint64_t (*left)(const struct world *world, uint32_t shard);
	uint64_t (*fabric_bytes)(const struct world *world);
	uint64_t (*fabric_messages)(const struct world *world);
};

extern const struct traffic_engine program_engine, coll_stream_engine;

// NULL: flows and rings alone.
static inline const struct traffic_engine *traffic_engine_of(const struct world *world)
{
	return world->program != NULL	     ? &program_engine
		: world->coll_stream != NULL ? &coll_stream_engine
					     : NULL;
}
