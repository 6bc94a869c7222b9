// SPDX-License-Identifier: Apache-2.0
// What each rank measured comes to rank 0: the counts of its run, the digests of the cables to its
// hosts, and the pieces of its shard of the world.

#include <weft/world/world_pieces.h>

#include "sim.h"

// The digests of the cables that lead to hosts of `shard`.
static void visit_digests(const struct sim *sim, uint32_t shard, world_piece_fn *visit,
			  void *context)
{
	const struct cable_set *cables = &sim->lanes[0].cables;
	for (uint32_t m = 0; m < sim->world->topology.hosts; m++)
		if (sim->world->shard_of[m] == shard)
			visit(context, &cables->digests[cables->base[m]],
			      (cables->base[m + 1] - cables->base[m]) * sizeof(*cables->digests));
}

static void give(struct sim *sim)
{
	struct border *border = sim->lanes[0].border;
	uint32_t own = sim->options.ranks->index;
	sim->run.memory_bytes_other = memory_peak_bytes();
	border_write(border, &sim->run, sizeof(sim->run));
	visit_digests(sim, own, border_write, border);
	world_pieces(sim->world, own, own, border_write, border);
	border_written(border);
}

static void take(struct sim *sim, uint32_t rank)
{
	struct border *border = sim->lanes[0].border;
	struct run run; // its pointers mean nothing here: only counts are added
	border_read_from(border, rank);
	border_read(border, &run, sizeof(run));
	sim_add(&sim->run, &run);
	if (run.memory_bytes_other > sim->run.memory_bytes_other)
		sim->run.memory_bytes_other = run.memory_bytes_other;
	visit_digests(sim, rank, border_read, border);
	world_pieces(sim->world, rank, 0, border_read, border);
}

void sim_gather(struct sim *sim)
{
	const struct ranks *ranks = sim->options.ranks;
	check(!sim->is_gathered);
	sim->is_gathered = true;
	if (ranks->index > 0)
		give(sim);
	for (uint32_t rank = 1; ranks->index == 0 && rank < ranks->count; rank++)
		take(sim, rank);
}
