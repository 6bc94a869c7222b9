// SPDX-License-Identifier: Apache-2.0
// The books of a world, held against each other when a run ends.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fifo_pool;
struct world;

// What a driver knows of a run that ended.
struct world_audit {
	uint64_t doubled; // packets that cables copied
	bool is_whole;	  // the workload is complete and nothing is under way
	bool is_forged;	  // somebody changed frames: what nothing covers may say anything
};

#ifdef __cplusplus
extern "C" {
#endif

// Holds the books of each machine against each other at the end of a run: stops at a bug. `chunks`
// of each shard; machines of a shard without are left out, for another process ran them.
void world_audit_machines(const struct world *world, struct fifo_pool *const *chunks,
			  bool is_whole);

// The same for what all machines measured together, after world_collect().
void world_audit(const struct world *world, const struct world_audit *of);

#ifdef __cplusplus
}
#endif
