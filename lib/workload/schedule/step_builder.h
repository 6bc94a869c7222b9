// SPDX-License-Identifier: Apache-2.0
// What is known while a step's program is made: step_program.c draws it, step_rank.c makes the
// operations of one rank.
#pragma once

#include "step_emit.h"

// Dimensions whose activations may leave their domain.
enum step_group { STEP_GROUP_TENSOR, STEP_GROUP_CONTEXT, STEP_GROUP_EXPERT, STEP_GROUP_COUNT };

// Ranks that exchange activations, along one dimension.
struct group_list {
	bool is_off_domain;
	uint32_t ranks;
	uint32_t *group_of, *at_of; // [ranks of the job]
};

struct builder {
	struct step_emit emit;
	const struct plan *plan;
	struct step_cells cells;
	struct group_list stages, group_lists[STEP_GROUP_COUNT];
	struct {
		uint32_t *group_of, *at_of; // [ranks of the job] group of the job; OP_NONE: none
	} rings[2];			    // dense, experts
	uint32_t *fire_at; // [chunks] operation behind which the stage in hand reduces one
	// of the rank in hand
	uint32_t stage, replica;
	uint32_t *turns;       // [micro-batches] on the last stage: ready to go backward
	uint32_t computed;     // its latest computation
	uint32_t communicated; // end of its latest collective
};

// The operations of a rank.
void step_rank(struct builder *builder, uint32_t rank);
