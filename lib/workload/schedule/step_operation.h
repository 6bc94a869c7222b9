// SPDX-License-Identifier: Apache-2.0
// The forwards and backwards of a stage, in order, and how long each takes: the same for the closed
// schedule (step.c) and for programs of it (step_program.c).
#pragma once

#include "step_cells.h"

struct operation {
	bool is_backward;
	uint32_t chunk, micro_batch;
	bool is_late; // of a backward that is split, the gradients of weights
};

// Whether backwards are split (ZB-H1): one stage alone has no gap to fill.
bool step_is_split(const struct parallel *cut);

// Whether gradients of weights are there behind it.
static inline bool step_has_gradients(const struct parallel *cut, struct operation operation)
{
	return operation.is_backward && operation.is_late == step_is_split(cut);
}

// Which forward or backward: of a replica's stage, counted from 0.
struct step_place {
	uint32_t replica, stage, index;
};

// Forwards and backwards of a stage in all.
uint32_t step_operations(const struct parallel *cut);

struct operation step_operation(const struct parallel *cut, uint32_t stage, uint32_t index);

// What a forward or backward has between its units, where a plan's collectives are interleaved.
struct step_traffic {
	bool is_gathered, is_reduced;
	uint32_t prefetch;     // units
	bool is_all_awaited;   // by the first unit
	bool is_end_of_reduce; // units are reduced behind the last one, not each behind itself
};
struct step_traffic step_traffic(const struct plan *plan, const struct operation *operation);

// When an operation of a stage begins in an ideal pipeline; with chunks roughly: its cool-down is
// all backward and it has no gap but behind its warm-up.
ps_t step_ideal_ps(const struct plan *plan, uint32_t stage, uint32_t index);

// What one takes to compute; the dice depend on place and seed alone.
ps_t step_compute_ps(const struct plan *plan, const struct step_cell *cell,
		     const struct step_setup *setup, const struct step_place *place);

// `part` of `whole` of a time.
static inline ps_t step_share(ps_t time, uint64_t part, uint64_t whole)
{
	return (ps_t)((unsigned __int128)time * part / whole);
}

#define STEP_PPM 1000000
#define STEP_PPB INT64_C(1000000000)
