// SPDX-License-Identifier: Apache-2.0
// weft host: what a host tells of itself behind a run.
#pragma once

#include <weft/transport/transport.h>

#include "host.h"

struct host_summary {
	uint32_t end; // enum wall_end
	ps_t end_ps;  // its last completion
	ps_t wall_ps; // of its loop
	ps_t lateness_ps, stalled_ps;
	uint64_t work_done, work_total, stalls;
	uint64_t payload_bytes_good, payload_bytes_wrong, frames_lost, frames_dropped;
	uint64_t frames_sent, frames_received;
	uint64_t frames_strange, frames_faulted, links_lost, links_back;
	uint64_t triggers_told, triggers_heard;	      // to others, of others
	uint64_t generated_elements, generated_wrong; // that generators checked
	uint64_t cpu_ns, memory_bytes;		      // of its process
	struct transport_counters transport;
};

void host_summary_of(struct host_summary *ret, const struct call *call,
		     const struct host_run *host_run);

// Of all together: sums, and the largest of end, lateness, time and memory.
void host_summary_add(struct host_summary *ret, const struct host_summary *all, uint32_t count);

uint64_t
host_summary_retransmitted(const struct host_summary *host_summary); // data packets sent again
struct json_t *host_summary_json(const struct host_summary *host_summary);
