// SPDX-License-Identifier: Apache-2.0
// What a schedule knows of the cells of a plan.
#pragma once

#include <weft/workload/step.h>

struct step_bucket {
	uint64_t reduce_bytes, gather_bytes; // gather: 0 when there is none
	uint64_t across_bytes; // of its all-reduce among those that hold the same shard; 0: none
	uint32_t part_last;
	uint32_t forward_ppm; // of the cell's forward, between this gather and the next
	uint32_t ready_ppm;   // of the cell's last backward, when its gradients are there
	bool is_expert;
	// of the running step
	ps_t gathered_at, released_at, reduce_begin, reduced_at;
	uint32_t gather_op, ready_op; // as operations of the rank in hand: see step_program.c
};

struct step_cell {
	uint32_t bucket_first, bucket_count; // in the order of backward
	uint32_t layers, slots;
	bool is_gathered; // gathers were sent
	ps_t joined_at;	  // all replicas have come to these gathers
	ps_t reached_at;  // the last of those that ran has
};

struct step_cells {
	uint32_t chunks;
	struct step_cell *cells; // [stages * chunks]
	uint32_t bucket_max;
	struct step_bucket *buckets;
};

static inline struct step_cell *step_cell(const struct step_cells *cells, uint32_t stage,
					  uint32_t chunk)
{
	return &cells->cells[stage * cells->chunks + chunk];
}

// Buckets of all cells, counted from above.
uint32_t step_bucket_count(const struct plan *plan);

// Share of a cell's last backward after which the gradients of its parts from `low` on are there,
// in 10^-6.
uint32_t step_ready_ppm(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t low);

// Share of a cell's forward before its parts from `low` on, in 10^-6.
uint32_t step_forward_ppm(const struct plan *plan, uint32_t stage, uint32_t chunk, uint32_t low);

// Unit `at` of a forward or a backward that has its collectives between the computations of units,
// and its share of the cell's time.
struct step_bucket *step_unit(const struct step_cells *cells, const struct step_cell *cell,
			      bool is_backward, uint32_t at, uint32_t *ret_ppm);

// Fills cells and buckets that have been drawn.
void step_cells_fill(struct step_cells *cells, const struct plan *plan);

// What a bucket's gather, or its reduce, takes: nothing when silent, else as it was measured or in
// closed form.
ps_t step_bucket_ps(const struct step_setup *setup, const struct step_bucket *bucket,
		    bool is_gather);

// What goes among those that hold the same shard, behind the bucket's reduce.
ps_t step_across_ps(const struct step_setup *setup, const struct step_bucket *bucket);

// The collectives of all cells, see step_collectives().
uint32_t step_cells_collectives(const struct step_cells *cells, uint32_t cell_count,
				const struct plan *plan, struct step_collective *ret, uint32_t max);
