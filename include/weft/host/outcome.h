// SPDX-License-Identifier: Apache-2.0
// What a run measured: hosts write most of it down, a world adds up the rest.
#pragma once

#include <stdint.h>

#include <weft/fabric/fabric.h>
#include <weft/host/world_program.h>
#include <weft/measure/measure_batches.h>
#include <weft/measure/measure_racks.h>
#include <weft/transport/transport.h>

// One collective of the job, over all ranks of its group.
struct outcome_collective {
	uint32_t group, bucket; // in job
	ps_t start_ps, end_ps;	// run: first start, last end
	ps_t whole_ps;		// time of the whole collective: run, or extrapolated
	ps_t whole_error_ps;	// stated half-width; 0 when all was run
	ps_t window_ps; // the steps that stand for those left out begin here; PS_NEVER: none do
	uint32_t fault_left_out;    // 1 + fault that begins or ends in what was left out; 0: none
	ps_t ideal_ps;		    // the least that it can take (world_ideal.h); 0 when all is run
	ps_t lines_ps;		    // of its payload on the busiest line (world_ideal.h)
	uint64_t steps_skipped;	    // of each loop, in the mean: jumped over
	uint64_t busbw_bytes_per_s; // nccl-tests: S / t * (n-1)/n (x 2 for all-reduce)
};

// What a run measured, before it becomes text.
struct outcome {
	struct transport_counters transport;	  // over all NICs
	struct fabric_counters fabric;		  // over all switches
	uint64_t dropped[DROP_REASON_COUNT];	  // over switches and cables
	struct hist message_ns[PAIR_CLASS_COUNT]; // over the fabric: post to completion at sender
	struct batches message_batches[PAIR_CLASS_COUNT]; // of a sample: by place in the ring
	struct hist flow_ns;				  // flows: completion time per flow (FCT)
	ps_t *flow_end_ps; // [flows] when the sender held the last acknowledgement; 0 = not yet
	uint64_t dropped_at_host[DROP_REASON_COUNT];
	uint64_t plane_bytes_nic_max[PLANES_MAX]; // most bytes any NIC sent on that plane
	uint32_t collective_count;
	struct outcome_collective *collectives;
	ps_t end_ps; // last completion
	uint64_t credits_sent;
	struct outcome_program program;
	// of a program: when the last computation of a stream ended; those beyond are not kept
	ps_t stream_end_ps[PROGRAM_STREAMS_MAX];
	struct outcome_job jobs[MIX_PARTS_MAX]; // of several jobs, as the scenario has them
	struct series series;			// no bins: none is kept
	struct racks racks;			// of message_ns; no groups: not watched
};
