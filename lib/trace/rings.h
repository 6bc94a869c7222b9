// SPDX-License-Identifier: Apache-2.0
// The job of a trace's rings: each group of ranks, and in the order in which it runs them, its
// collectives. Counted while a set is gone through the first time, filled the second time.
#pragma once

#include <weft/workload/workload.h>

#include "expand.h"

struct rings_group {
	uint32_t trace_group,
		next; // in the set; of the groups with the same first rank, or UINT32_MAX
	uint32_t member_first, ranks, ranks_per_host;
	uint32_t bucket_count, filled;
};

struct rings {
	uint32_t *heads; // [ranks] groups whose first rank this is, or UINT32_MAX
	uint32_t group_count, group_max;
	struct rings_group *groups;
	uint32_t member_count, member_max;
	uint32_t *members; // ranks, group after group
	uint64_t bucket_count, cells;
};

// -ENOMEM. Needs rings_free() in any case.
int rings_init(struct rings *rings, uint32_t ranks);
void rings_free(struct rings *rings);

// Counts a collective of a group, with so many members on each host. -ENOMEM.
int rings_count(struct rings *rings, uint32_t trace_group, const struct instance *instance,
		uint32_t ranks_per_host);

// Bytes that rings_job() draws, and program_seal() for its collectives.
uint64_t rings_bytes(const struct rings *rings);

// The job, its buckets still empty. -ENOMEM.
int rings_job(struct job *ret, const struct rings *rings, struct arena *arena,
	      const struct ring_config *config);

// The group that runs a collective, and in *ret_bucket the next free one of its buckets.
uint32_t rings_take(struct rings *rings, uint32_t trace_group, uint32_t first_rank,
		    uint32_t *ret_bucket);
