// SPDX-License-Identifier: Apache-2.0
// Operations of ranks, and rings of them, counted first and then made by the same code: of a step's
// program, and of rings as messages (weft/workload/workload_ring.h).
#pragma once

#include <weft/workload/step_program.h>

#include "step_operation.h"

struct step_emit {
	const struct step_program *of; // of a step; else NULL
	const struct ring_config *ring;
	const struct gpu_layout *gpu_layout; // NULL: messages are all inside
	uint32_t payload_bytes;
	struct program *program; // NULL: they are counted
	struct step_program_size size;
	uint32_t rank; // in hand
	// scratch of one channel of one ring
	uint32_t *sends, *receives, *credits; // [slices]
	uint32_t slices_max;
};

// What identifies a message of a pair of ranks.
enum step_tag {
	STEP_TAG_FORWARD,
	STEP_TAG_BACKWARD,
	STEP_TAG_TENSOR,
	STEP_TAG_CONTEXT,
	STEP_TAG_EXPERT,
	STEP_TAG_SLICE = RING_TAG,	  // and channel; dense parameters
	STEP_TAG_CREDIT = 128,		  // and channel
	STEP_TAG_EXPERT_PARAMS = 1 << 12, // on top, of experts' parameters
};

uint32_t emit_compute(struct step_emit *emit, uint16_t stream, ps_t time);
// `offset`: of the rank's buffer, 0 where nobody looks at the data.
uint32_t emit_send(struct step_emit *emit, uint32_t to, uint32_t tag, uint64_t bytes,
		   uint64_t offset);
uint32_t emit_receive(struct step_emit *emit, uint32_t from, uint32_t tag, uint64_t bytes,
		      uint64_t offset, bool is_sum);
void emit_wait(struct step_emit *emit, uint32_t op, uint32_t before);

// A ring collective of `group`, in which the rank stands at `at`. It begins when `begin` has ended;
// returns the operation that ends with it.
struct step_ring {
	const struct group *group;
	uint32_t at;
	enum collective_kind kind;
	uint64_t bytes;
	uint32_t slice_tag, credit_tag; // of channel 0; others follow
	uint16_t stream;
	bool has_data; // messages say where their bytes lie: block after block of equal size
};
uint32_t emit_ring(struct step_emit *emit, const struct step_ring *ring, uint32_t begin);

// Slices of the longest channel of a ring.
uint64_t emit_ring_slices(const struct ring_config *config, const struct step_ring *ring);

// What is known while a step's program is made: step_program.c draws it, step_rank.c makes the
// operations of one rank.

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
