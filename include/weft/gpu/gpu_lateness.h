// SPDX-License-Identifier: Apache-2.0
// How late things were: all of them kept, and quantiles at the end.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_lateness {
	int64_t *late_ns;
	uint32_t count, room;
};

// -ENOMEM.
int gpu_lateness_init(struct gpu_lateness *lateness, uint32_t room);
void gpu_lateness_add(struct gpu_lateness *lateness, int64_t late_ns);

// Sorts them. 0 where there are none; permille 1000 is the most.
int64_t gpu_lateness_quantile(struct gpu_lateness *lateness, uint32_t permille);
void gpu_lateness_free(struct gpu_lateness *lateness);

#ifdef __cplusplus
}
#endif
