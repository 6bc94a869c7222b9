// SPDX-License-Identifier: Apache-2.0
// See weft/gpu/gpu_lateness.h.

#include <weft/core/order.h>
#include <weft/gpu/gpu_lateness.h>

#include <errno.h>
#include <stdlib.h>

#include <weft/core/check.h>

int gpu_lateness_init(struct gpu_lateness *lateness, uint32_t room)
{
	*lateness = (struct gpu_lateness){.late_ns = calloc(room + 1u, sizeof(int64_t)),
					  .room = room};
	return lateness->late_ns == NULL ? -ENOMEM : 0;
}

void gpu_lateness_add(struct gpu_lateness *lateness, int64_t late_ns)
{
	check(lateness->count < lateness->room);
	lateness->late_ns[lateness->count++] = late_ns > 0 ? late_ns : 0;
}

// The smallest that so many of a thousand are at most.
int64_t gpu_lateness_quantile(struct gpu_lateness *lateness, uint32_t permille)
{
	if (lateness->count == 0)
		return 0;
	qsort(lateness->late_ns, lateness->count, sizeof(int64_t), order_int64);
	uint64_t rank = ((uint64_t)lateness->count * permille + 999) / 1000;
	return lateness->late_ns[rank > 0 ? rank - 1 : 0];
}

void gpu_lateness_free(struct gpu_lateness *lateness)
{
	free(lateness->late_ns);
	*lateness = (struct gpu_lateness){0};
}
