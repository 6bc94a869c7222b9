// SPDX-License-Identifier: Apache-2.0
// What a rank holds through a step, and what its computation takes on a device: from a plan alone.
#pragma once

#include <weft/workload/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PLAN_OPTIMIZER_BYTES 12 // of a parameter

// Bytes of a rank. The optimizer is Adam: a copy of 4 bytes, two moments.
struct plan_memory {
	uint64_t params, grads, optimizer;
	uint64_t gathered;    // of units whose parameters and gradients are whole at once
	uint64_t activations; // of the micro-batches in flight
};
void plan_memory(const struct plan *plan, uint32_t stage, struct plan_memory *ret);
uint64_t plan_memory_sum(const struct plan_memory *memory);

// Of the stage that holds most.
void plan_memory_most(const struct plan *plan, struct plan_memory *ret);

// Operations of one forward of a cell in the middle on a rank, a multiplication and a sum two.
uint64_t plan_operations(const struct plan *plan);

// Whether times of computation come from the device that the plan names.
bool plan_has_roofline(const struct plan *plan);

// Works them out, if so: each product of a layer takes as long as its operations or its bytes do,
// whichever is more, and activations of dimensions that stay inside a domain travel at its rate;
// the optimizer goes once over what the rank holds of its state.
void plan_roofline(struct plan *plan);

// What the last cell does beside its layers, of a cell's time: its output matrix, or 1.1 layers; 0
// where it was measured.
uint32_t plan_loss_ppb(const struct plan *plan);

#ifdef __cplusplus
}
#endif
