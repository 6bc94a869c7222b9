// SPDX-License-Identifier: Apache-2.0
// What a shard of a world measured, as pieces of plain memory: for drivers whose shards are run by
// processes, which build the same world and bring together what each one measured.
#pragma once

#include <weft/world/world.h>

// One piece: `bytes` at `memory`, to be read, or to be written as the same piece of the same shard
// was read in another process.
typedef void world_piece_fn(void *context, void *memory, size_t bytes);

#ifdef __cplusplus
extern "C" {
#endif

// Visits all pieces of `shard`, always in the same order: counters of its machines, its record, and
// of what is listed by flow or NIC the places that are its own. What they hold is all that
// world_collect(), world_is_done() and reports read of machines. `own` is the shard that this
// process ran: what others counted at a switch that all have is added to it.
void world_pieces(struct world *world, uint32_t shard, uint32_t own, world_piece_fn *visit,
		  void *context);

// All times of `shard` are later by so much: its clock began to run after that of the others. Bins
// of series stay.
void world_move_times(struct world *world, uint32_t shard, ps_t by_ps);

#ifdef __cplusplus
}
#endif
