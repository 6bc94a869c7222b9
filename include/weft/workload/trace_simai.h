// SPDX-License-Identifier: Apache-2.0
// A training step as text of SimAI / ASTRA-sim 1.0 or of AICB, and its data-parallel collectives as
// a job.
#pragma once

#include <weft/workload/workload.h>

#ifdef __cplusplus
extern "C" {
#endif

enum trace_comm { // as in the file
	TRACE_NONE,
	TRACE_ALLREDUCE,
	TRACE_ALLGATHER,
	TRACE_REDUCESCATTER,
	TRACE_ALLTOALL,
	TRACE_BROADCAST,
	TRACE_COMM_COUNT
};

enum trace_group {
	TRACE_GROUP_TP,
	TRACE_GROUP_DP,
	TRACE_GROUP_EP,
	TRACE_GROUP_DP_EP,
	TRACE_GROUP_COUNT
};

// One communication of the file: which column (0 forward, 1 input gradient, 2 weight gradient),
// which line.
struct trace_entry {
	enum trace_comm comm;
	enum trace_group group;
	uint8_t column;
	uint32_t line, at; // of the file; of the layers, from 0
	uint64_t bytes;
	uint64_t compute_ns;
	char layer[32];
};

struct trace {
	uint32_t tp, ep, pp, vpp, ga;
	uint32_t gpus;	      // all_gpus; 0: AICB's text, which does not say it
	bool is_micro;	      // a list of single collectives
	uint64_t pp_bytes;    // pp_comm
	uint32_t layer_count; // as line 2 says and as found
	uint32_t line_count;  // of the file
	uint64_t compute_ns;  // of all layers, updates too
	uint32_t entry_count;
	struct trace_entry *entries; // communications only
	uint64_t (*layer_ns)[4];     // [layer_count] computation of each column, and update
};

// Parses SimAI / ASTRA-sim 1.0 text, also as AICB writes it: without the parallel sizes on line 1
// (ep, pp, vpp and ga are 1 then), or with MICRO there. `text` need not end with NUL. On damage:
// -EINVAL with line (and column) and reason.
int trace_simai_parse(struct trace *ret, struct arena *arena, const char *text, size_t bytes,
		      struct refusal *refusal);

// "ALLGATHER", "tp".
const char *trace_comm_name(enum trace_comm comm);
const char *trace_group_name(enum trace_group group);

// The data-parallel collectives of a trace as a job: groups over `gpus_per_host`, rank = pp * (gpus
// / pp) + dp * tp + tp index. What it cannot carry (tensor, expert, pipeline traffic) is left out
// and counted in the arrays by the caller from `trace`.
int job_from_trace(struct job *ret, struct arena *arena, const struct trace *trace,
		   uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
