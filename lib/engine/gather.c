// SPDX-License-Identifier: Apache-2.0
// What each rank measured comes to rank 0: the counts of its run, the digests of the cables to its
// hosts, and the pieces of its shard of the world.

#include <weft/world/world_pieces.h>

#include "sim.h"

void sim_add(struct run *run, const struct run *more)
{
	run->sent += more->sent;
	run->delivered += more->delivered;
	run->data_delivered += more->data_delivered;
	run->hops += more->hops;
	run->damaged += more->damaged;
	run->doubled += more->doubled;
	run->held_back += more->held_back;
	run->reorder_queue_full += more->reorder_queue_full;
	run->visits += more->visits;
	run->payload_bytes_good += more->payload_bytes_good;
	run->payload_bytes_wrong += more->payload_bytes_wrong;
	run->held += more->held;
	run->held_unsent += more->held_unsent;
	run->cpu_s += more->cpu_s;
	run->cpu_waiting_s += more->cpu_waiting_s;
	if (more->cpu_busiest_s > run->cpu_busiest_s)
		run->cpu_busiest_s = more->cpu_busiest_s;
	for (int i = 0; i < DROP_REASON_COUNT; i++)
		run->dropped[i] += more->dropped[i];
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		run->bad_frames[i] += more->bad_frames[i];
}

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
	struct boundary *boundary = sim->lanes[0].boundary;
	uint32_t own = sim->options.ranks->index;
	sim->run.memory_bytes_other = memory_peak_bytes();
	boundary_write(boundary, &sim->run, sizeof(sim->run));
	visit_digests(sim, own, boundary_write, boundary);
	world_pieces(sim->world, own, own, boundary_write, boundary);
	boundary_written(boundary);
}

static void take(struct sim *sim, uint32_t rank)
{
	struct boundary *boundary = sim->lanes[0].boundary;
	struct run run; // its pointers mean nothing here: only counts are added
	boundary_read_from(boundary, rank);
	boundary_read(boundary, &run, sizeof(run));
	sim_add(&sim->run, &run);
	if (run.memory_bytes_other > sim->run.memory_bytes_other)
		sim->run.memory_bytes_other = run.memory_bytes_other;
	visit_digests(sim, rank, boundary_read, boundary);
	world_pieces(sim->world, rank, 0, boundary_read, boundary);
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
