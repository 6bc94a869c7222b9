// SPDX-License-Identifier: Apache-2.0
// One training step as a schedule: the interleaved one-forward-one-backward pipeline of each stage,
// with the collectives of the data-parallel groups as part of it. Gathers gate the forward, reduces
// start when the gradients of a bucket are there, the optimizer waits for the last. Exposed
// communication is what the step takes longer than the same step with a network that takes no time.
//
// A collective's time is a closed form (ring_time_ps); no packet is sent. What runs packets is
// job.c.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/workload/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------- one collective

// A ring over domains, as NCCL's Simple protocol runs it: each channel sends its share in loops of
// one chunk; a step of a loop is over when the slowest of bandwidth and latency is.
struct ring_time {
	uint32_t ranks, ranks_per_domain, channels;
	uint64_t network_Bps;	    // payload, of all NICs that the group owns in a domain
	uint64_t domain_Bps;	    // inside a domain, of a GPU
	ps_t network_ps, domain_ps; // latency of a slice from rank to rank
	uint64_t chunk_bytes;
	uint32_t credits; // slices in flight from rank to rank; 0 = as many as it takes
	ps_t credit_ps; // until the next rank's word that a slice may go is here, over the network
	bool is_filled; // how it fills, and the end of its last slice, are counted: step_ring.c
};

// -EINVAL with a reason when a figure is none.
int ring_time_check(const struct ring_time *ring, struct refusal *refusal);

// Of one reduce-scatter or all-gather over `bytes`. 0 with one rank.
ps_t ring_time_ps(const struct ring_time *ring, uint64_t bytes);

// Of one all-reduce: twice round the ring, a reduce-scatter and a gather.
ps_t ring_time_all_ps(const struct ring_time *ring, uint64_t bytes);

// ---------------------------------------------------------------- a step

// A collective of the schedule, all equal ones together.
struct step_collective {
	bool is_gather, is_all; // an all-gather, an all-reduce; else a reduce-scatter
	bool is_expert;		// in the second kind of groups, see struct step_setup
	uint64_t bytes;
	uint32_t count; // over all stages and chunks
	ps_t time_ps;	// of one; where somebody measured it
};

enum jitter_kind {
	JITTER_UNIFORM,	  // jitter_ppb is the most, either way
	JITTER_NORMAL,	  // its standard deviation; never below no time
	JITTER_LOGNORMAL, // that of the logarithm; the mean is 1
	JITTER_LIST,	  // one of jitter_list, each as likely
};

#define JITTER_LIST_MAX 65536u

// One forward or backward of a stage, as it ran.
struct step_span {
	uint32_t chunk, micro_batch;
	bool is_backward, is_late; // late: gradients of weights alone
	ps_t begin, end;	   // a forward that waits for parameters has begun
	ps_t compute_ps;	   // without what it waits
};

typedef void step_watch(void *context, const struct step_span *span);

struct step_setup {
	// the groups of dense parameters, and of experts; with shards of some ranks (which no model
	// with experts has) those of a shard, and of all that hold the same one
	struct ring_time dense, experts;
	ps_t send_ps;	     // activations or gradients to the next stage
	ps_t silent_send_ps; // the same where the network takes no time; 0 = send_ps
	// what a cell in the middle waits for activations of other ranks, one micro-batch
	ps_t off_domain_forward_ps, off_domain_backward_ps;
	int64_t collective_ppb; // collectives take so much longer than their closed form, or less
	uint32_t loss_ppb;	// what the last cell does beside its layers, of a cell's time
	uint32_t slow_stage, slow_ppb; // one stage computes so much longer
	uint32_t slow_replica;	       // of this replica alone, counted from 1; 0 = of all
	enum jitter_kind jitter_kind;
	const uint64_t *jitter_list; // [jitter_count] so many 10^-9 of its time; the caller's
	uint32_t jitter_count;
	uint32_t jitter_ppb; // each forward and backward is longer or shorter, up to 50 %
	uint32_t replicas;   // that draw their own jitter; the slowest releases a bucket
	uint64_t seed;
	bool is_silent; // the network takes no time
	// called with what stage `watched` does, in its order; NULL: nobody
	step_watch *watch;
	void *watch_context;
	uint32_t watched;
	// these take so long, and collective_ppb is for the others; owned by the caller
	const struct step_collective *collectives; // [collective_count]
	uint32_t collective_count;
};

struct step_stage {
	ps_t gather_wait_ps; // forwards were ready but for their parameters
	ps_t backward_ps;    // end of its last backward
	ps_t reduce_ps;	     // end of its last reduce
};

struct step_times {
	ps_t step_ps;	  // all of it, `timing.other_ps` included
	ps_t backward_ps; // end of the last backward of any stage
	ps_t reduce_ps;	  // end of the last reduce
};

// What communication adds to a step, by comparison with a silent one.
struct step_exposed {
	struct step_times with, without;
	ps_t head_ps; // the last backward ends so much later
	ps_t tail_ps; // and the last reduce so much later than that
};

struct step; // one plan's schedule and its room

// Draws a schedule. -EINVAL when the plan has no times or too many micro-batches, -ENOMEM.
int step_create(struct step **ret, struct arena *arena, const struct plan *plan,
		struct refusal *refusal);

// Bytes that step_create() draws, roughly from above.
uint64_t step_bytes(const struct plan *plan);

// The collectives of a step, the largest first, reduces before gathers of their size. Fills up to
// `max`, without times; returns how many there are.
uint32_t step_collectives(const struct step *step, struct step_collective *ret, uint32_t max);

// What one takes in closed form.
ps_t step_collective_ps(const struct step_setup *setup, const struct step_collective *of);

// Runs one step. `stages` has room for each stage, or is NULL.
void step_run(struct step *step, const struct step_setup *setup, struct step_times *ret,
	      struct step_stage *stages);

// Runs it twice, and the second time silent.
void step_expose(struct step *step, const struct step_setup *setup, struct step_exposed *ret,
		 struct step_stage *stages);

// A bucket of a stage in the step that ran last, with one replica.
struct step_gradient {
	uint64_t reduce_bytes, gather_bytes; // gather: 0 when there is none
	uint32_t forward_ppm;		     // of the cell's forward, behind its gather
	uint32_t ready_ppm; // of the cell's last backward, when its gradients are there
	bool is_expert;
	ps_t gathered_at; // its parameters are there
	ps_t gather_ps;	  // what its gather takes
	ps_t reduce_begin, reduced_at;
};

// Bucket `index` of a cell in the order of backward; false when there are no more.
bool step_gradient(const struct step *step, const struct step_setup *setup, uint32_t stage,
		   uint32_t chunk, uint32_t index, struct step_gradient *ret);

// What of a backward comes later (ZB-H1).
ps_t step_late_ps(const struct plan *plan, ps_t backward_ps);

// The closed form of an ideal pipeline: (m v + p - 1) (forward + backward); ZB-H1's gap is shorter
// by twice what comes later: m (forward + backward) + (p - 1) (forward + backward - 2 late).
ps_t step_pipeline_ps(const struct plan *plan);

// Reads a list of measured ratios: one a line, time over the time that it should take; # begins a
// comment. Up to `count_max` of them go to `ret`. -EINVAL with line, column and reason.
int jitter_list_parse(uint64_t *ret, uint32_t count_max, const char *text, size_t bytes,
		      uint32_t *ret_count, struct refusal *refusal);

// Whether forwards and backwards have dice.
static inline bool step_has_jitter(const struct step_setup *setup)
{
	return setup->jitter_ppb > 0 || setup->jitter_count > 0;
}

#ifdef __cplusplus
}
#endif
