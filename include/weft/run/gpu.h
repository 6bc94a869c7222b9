// SPDX-License-Identifier: Apache-2.0
// A run whose gradients are made by generators (weft gpu): the link to them, and what passes over
// it. A scenario without --gpu computes them by its own times.
#pragma once

#include <weft/engine/engine.h>
#include <weft/gpu/gpu_lateness.h>
#include <weft/gpu/gpu_link.h>
#include <weft/ports/ledger.h>
#include <weft/result/report.h>
#include <weft/workload/gradients.h>

#include <weft/run/gpu_spans.h>

struct gpu_rank_seen {
	uint32_t first_open; // computations before have ended
	ps_t end_ps;	     // of the last one, sums apart
	ps_t exposed_ps;     // that it was kept waiting since
};

struct gpu_call {
	struct gpu_link link;
	struct ledger *ledger;
	struct gradients_config config;
	struct gradients_part *parts;	  // of a rank
	struct gpu_rank_seen *ranks;	  // [config.ranks]
	uint8_t *told;			  // [ranks][parts] what was said of each
	struct gpu_lateness heard;	  // releases: after they were raised, in virtual time (ps)
	struct gpu_seen *seen, *modelled; // [ranks][parts]
	struct gpu_told *times;		  // [ranks][parts]
	struct report_gpu_span *spans;
	int64_t beat_ns;
	ps_t model_end_ps; // of the run with the scenario's own times
	uint32_t lost_rank;
	enum gpu_peer lost;	     // GPU_PEER_HERE: nobody
	const char *lost_why;	     // of GPU_PEER_WRONG
	char device[GPU_NAME_BYTES]; // of rank 0
	struct report_gpu report;
};

struct call;

// Before the world is built: refuses what cannot be, runs the scenario by its own times once, makes
// the link, and has the world wait for it. -errno with a reason.
int gpu_open(struct call *call, struct sim_options *options);

// The world is built: its data lie in the link. Waits for generators. -errno with a reason.
int gpu_attach(struct call *call);

// The run has ended: takes leave of the generators and what they measured.
void gpu_finish(struct call *call, enum run_end end);

// Whether a generator was lost, in the run or before it told what it measured; says who.
bool gpu_say_lost(const struct call *call);

// A stretch of the clock here as the fabric's time.
ps_t gpu_fabric_time(const struct gpu_call *gpu, int64_t ns);

void gpu_close(struct call *call);
