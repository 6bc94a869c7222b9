// SPDX-License-Identifier: Apache-2.0
// Work that the CPU does in place of waiting, in units as long as they were measured to take.
#pragma once

#include <weft/gpu/gpu_generator.h>

struct gpu_host_load {
	enum gpu_load kind;
	float *memory; // NULL: GPU_LOAD_SPIN
	int64_t unit_ns;
	uint64_t units;
};

// Measures a unit where nothing else is done. -ENOMEM.
int gpu_host_load_init(struct gpu_host_load *load, enum gpu_load kind);
void gpu_host_load_unit(struct gpu_host_load *load);
void gpu_host_load_tell(const struct gpu_host_load *load, struct gpu_link_figures *figures);
void gpu_host_load_free(struct gpu_host_load *load);
