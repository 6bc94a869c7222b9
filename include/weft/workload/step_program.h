// SPDX-License-Identifier: Apache-2.0
// The schedule of a step (step.h) as a program (program.h): every rank's forwards and backwards,
// what stages send each other, rings of the groups that share parameters, slice by slice and credit
// by credit, and the optimizer behind the last. Run by packets, the step waits for what really
// arrives.
#pragma once

#include <weft/workload/order.h>
#include <weft/workload/program.h>
#include <weft/workload/step.h>
#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

// Streams of a step's computations.
enum step_stream {
	STEP_STREAM_COMPUTE, // forwards and backwards
	STEP_STREAM_GATHER,  // marks of no length: a gather has begun, or ended; exchanges
	STEP_STREAM_REDUCE,  // the same of reduces
	STEP_STREAM_OTHER,   // optimizer, norms, ...
	STEP_STREAM_LOSS,    // the last stage turns round: as long as a send inside a domain
	STEP_STREAM_COUNT
};

struct step_program {
	const struct plan *plan;
	const struct step_setup *setup; // loss, slow, jitter, seed, and the turn of the last stage
	const struct job *job;		// of the plan, whole: members of groups, and how rings run
	const struct order *order;
	struct gpu_layout gpu_layout;
	uint32_t payload_bytes; // of a packet
};

// What the program would come to.
struct step_program_size {
	uint64_t ops, edges;
	uint64_t packets; // of data over the fabric
};

// Counts. -EINVAL with a reason when the plan has no schedule; -E2BIG without one when there are
// more than a program can hold: the size is then about right.
int step_program_size(struct step_program_size *ret, const struct step_program *of,
		      struct arena *scratch, struct refusal *refusal);

// Draws the program and seals it. -EINVAL with a reason, -ENOMEM. Activations inside a domain are
// part of the computations' times and no messages, but for those between stages.
int step_program_create(struct program **ret, struct arena *arena, const struct step_program *of,
			struct refusal *refusal);

#ifdef __cplusplus
}
#endif
