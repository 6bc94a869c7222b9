// SPDX-License-Identifier: Apache-2.0
// The parts of a layer on one tensor rank, as the gradient buckets see them.
#pragma once

#include <weft/workload.h>

// Parameters of one layer's parts on one tensor rank. The two norms are whole on each rank; they
// are fused into the matrices that follow them (qkv, fc1).
struct model_parts {
	uint64_t qkv, proj, fc1, fc2;
};

struct model_parts model_parts(const struct model *model);

// Slots of one (stage, chunk) cell: layers, the embedding and the loss count as one each.
uint32_t model_cell_slots(const struct model *model);

// Transformer layers of one cell.
uint32_t model_cell_layers(const struct model *model, uint32_t stage, uint32_t chunk);
