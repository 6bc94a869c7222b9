// SPDX-License-Identifier: Apache-2.0
// What the hosts have to say to each other: a model's gradient buckets, the ring collectives that
// carry them, simple patterns, imported traces. This room never meets a packet: it speaks of ranks,
// channels, slices and bytes.
//
//   plan.h        models and how jobs cut them     bucket.c      collectives of a pipeline stage
//   and when they are released   collective.c  one rank's part of a ring   job.c   the list of
//   collectives a rank works through   job_plan.c   such lists of a plan   pattern.c   permutation,
//   incast, flow lists   sample.c   what part of a job is run packet by packet, and the rest
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>
#include <weft/core/time.h>
#include <weft/workload/workload_flow.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------- buckets

struct plan; // plan.h

enum collective_kind {
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_KIND_COUNT
};

// "reduce_scatter", ...
const char *collective_kind_name(enum collective_kind kind);

// One collective of a job: `bytes` is the whole buffer S (RS: input of each rank; AG: output of
// each rank; AR: both).
struct bucket {
	enum collective_kind kind;
	uint64_t bytes;
	ps_t release_ps; // not before this time
	uint32_t stage, chunk;
	uint32_t siblings; // equal buckets (kind, bytes) of the job that this one stands for,
			   // itself included (sample.c)
	char label[32];
};

// The buckets of stage `stage` over one step, in the order in which they go, gathers first: those
// of dense parameters, or of experts. As many bytes as travel, padding included. Fills up to `max`;
// returns how many there are.
uint32_t bucket_list(const struct plan *plan, uint32_t stage, bool is_expert, struct bucket *ret,
		     uint32_t max);

// ---------------------------------------------------------------- collectives

enum ring_form {
	RING_PIPELINED, // chunks, slices and credits as NCCL's Simple protocol sends them
	RING_BARRIER,	// one chunk a step; the next step starts at the sender's completion of the
			// last (closed forms)
};

struct ring_config {
	uint32_t ranks;		  // N
	uint32_t channels;	  // parallel rings
	uint64_t chunk_bytes_max; // NCCL: 2 MiB
	uint32_t slices;	  // per chunk, NCCL: 2
	uint32_t credits;	  // slices in flight per channel and connection, NCCL: 4; 1..32
	enum ring_form form;
	uint32_t steps_max; // sample: steps run per loop; 0 = all N - 1
};

// One rank's part of one channel.
struct ring_channel {
	uint64_t slices_total; // slices to send (and to receive) in this collective
	uint64_t sent_next;    // next slice to send
	uint64_t sent_done;    // slices whose send has completed
	uint64_t received;     // slices received
	uint64_t consumed;     // slices taken out of the receive buffer
	uint64_t granted;      // slices the upstream neighbour may send: credit writes sent
	uint64_t credits;      // slices I may send: credit writes received
};

// What a rank wants its host to do.
enum ring_action_kind {
	RING_NOTHING, // wait
	RING_SEND,    // send slice `slice` of `bytes` to the next rank of `channel`
	RING_GRANT,   // tell the previous rank of `channel` that it may send slice `slice`
	RING_DONE,    // this rank's part is complete (returned once)
};

struct ring_action {
	enum ring_action_kind kind;
	uint32_t channel;
	uint64_t slice; // running number within this connection, over all collectives of the job
	uint64_t step, bytes; // send: the step is of the collective, counted over loops from 0
};

struct ring; // one rank's ring state, reused by every collective of the job

// Draws the state of one rank. -EINVAL with a reason, -ENOMEM.
int ring_create(struct ring **ret, struct arena *arena, const struct ring_config *config,
		struct refusal *refusal);

// Starts a collective of `bytes`; the ring must be idle (done, or new). Messages of a neighbour
// that is already in a later collective are allowed: slices and credits are numbered through the
// whole job.
void ring_start(struct ring *ring, enum collective_kind kind, uint64_t bytes);

// The next thing to do; call until RING_NOTHING after each event.
struct ring_action ring_next(struct ring *ring);

// Events: a slice from the previous rank is here; a send has completed; the next rank granted one
// more slice.
void ring_on_received(struct ring *ring, uint32_t channel);
void ring_on_sent(struct ring *ring, uint32_t channel);
void ring_on_credit(struct ring *ring, uint32_t channel);

// Whether a collective is under way.
bool ring_is_busy(const struct ring *ring);

// Steps of the running (or last) collective that `channel` has received whole, counted over loops:
// 0 .. loops * steps.
uint64_t ring_steps_received(const struct ring *ring, uint32_t channel);

// Slices, loops, and bytes of each slice of a collective: what ring_next() will say. Used for
// planning and by tests.
struct ring_plan {
	uint64_t loops;
	uint64_t steps_per_loop;     // run (steps_max applied)
	uint64_t steps_per_loop_all; // N - 1, or 2 (N - 1) for all-reduce
	uint64_t slices_per_channel; // run, over all loops
	uint64_t bytes_per_channel;  // sent per rank and channel, run
	uint64_t bytes_per_channel_all;
};
void ring_plan(struct ring_plan *ret, const struct ring_config *config, enum collective_kind kind,
	       uint64_t bytes);

// Data packets of at most `payload_bytes` that a rank sends on that channel, over all loops, in the
// steps that are run.
uint64_t ring_plan_packets(const struct ring_config *config, enum collective_kind kind,
			   uint64_t bytes, uint32_t channel, uint64_t payload_bytes);

// ---------------------------------------------------------------- job

// Ranks that run the same collectives, listed host by host (scale-up domain by domain).
struct group {
	uint32_t ranks;
	uint32_t *gpus;			     // [ranks] GPU = NIC index, ascending host
	uint32_t ranks_per_host;	     // equal on every host
	uint32_t bucket_first, bucket_count; // in job.buckets
	uint32_t stage, index;		     // for the report
	bool is_chosen;			     // of a sample: this group is run
};

// The rank that follows position `at` of channel `channel`: hosts in order, the members of a host
// rotated by the channel, so that every member's NIC carries its share (workloads.md 2.4).
// Positions are indices into group.gpus.
uint32_t group_next(const struct group *group, uint32_t channel, uint32_t at);
uint32_t group_previous(const struct group *group, uint32_t channel, uint32_t at);

struct job {
	uint32_t group_count;
	struct group *groups;
	uint32_t bucket_count;
	struct bucket *buckets;
	struct ring_config ring;
	uint32_t leaves; // of a plan: a bit for each enum message_kind that goes between hosts and
			 // is not run
};

#define SAMPLE_PICKS_MAX 24

// A collective that is to be run: any bucket of this kind and size.
struct sample_pick {
	enum collective_kind kind;
	uint64_t bytes;
	ps_t room_ps; // no other pick begins while it has had less
};

// What part of a job runs packet by packet.
struct sample {
	uint32_t groups;  // groups run; 0 = all
	uint32_t steps;	  // ring steps per loop measured after the fill; 0 = all
	uint32_t fill;	  // ring steps per loop run before measuring starts
	uint32_t buckets; // distinct buckets run per group, largest share of the time first; 0 =
			  // all, none merged
	uint64_t packets_max; // at most so many data packets; the planner lowers steps, then
			      // buckets, then groups to fit
	bool is_on;	     // false: everything is run
	bool is_unthinned;   // the load of groups that are left out is not put back
	uint32_t pick_count; // 0 = as groups and buckets say; else these collectives and no others
	struct sample_pick picks[SAMPLE_PICKS_MAX];
};

// Parses "groups=k,steps=s,buckets=b", "packets=N" (K, M, G allowed) or "off" into `ret`. -EINVAL
// with a reason.
int sample_parse(struct sample *ret, const char *text, struct refusal *refusal);

// What the plan of a sample came to.
struct sample_plan {
	struct sample sample; // as run
	uint32_t groups_all, buckets_all;
	uint64_t packets; // data packets this will send over the fabric, estimated from the slices
	uint64_t packets_all; // of the whole job
	uint64_t bytes_run;   // buffers that the run stands for, siblings included
	uint64_t bytes_all;   // buffers of the whole job
};

// Cuts `job` down to what `want` allows (groups spread evenly over all, buckets merged into
// siblings, ring.steps_max set). `payload_bytes` is the path MTU. -EOVERFLOW with the reason when
// not even one step fits packets_max, -EINVAL when the job has no collective that was picked.
int sample_apply(struct job *job, const struct sample *want, uint64_t payload_bytes,
		 struct sample_plan *ret, struct refusal *refusal);

// The whole collective's time from a sample of its steps: run time + steps left out * mean step.
// step_ps[] holds the times of `count` steps in order; `ret_error_ps` is the half-width stated with
// the result, see sample_error.c.
ps_t sample_extrapolate(ps_t run_ps, const ps_t *step_ps, uint32_t count, uint64_t steps_left_out,
			ps_t *ret_error_ps);

// The same of steps that were found to repeat; the error is smaller.
ps_t sample_repeat(const ps_t *step_ps, uint32_t count, uint64_t steps_left_out,
		   ps_t *ret_error_ps);

// Builds the data-parallel groups of a plan, those of dense parameters and those of experts, with
// the buckets of each group's stage: rank r of the plan's order is GPU r. Groups of one rank have
// nothing to send and are left out. `leaves` of the job says which other messages would leave their
// hosts. -EINVAL with a reason, -ENOMEM.
int job_from_plan(struct job *ret, struct arena *arena, const struct plan *plan,
		  uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal);

// The same for their largest tensor message, a ring all-gather. -EINVAL where groups lie unevenly.
int job_from_tensors(struct job *ret, struct arena *arena, const struct plan *plan,
		     uint32_t gpus_per_host, const struct ring_config *ring,
		     struct refusal *refusal);

// The next kind of message of `leaves`, from bit *at on: its name, "pp", or NULL.
const char *job_leaving(const struct job *job, uint32_t *at);

// One group over GPUs 0 .. ranks-1 running one collective: rings for closed forms and benches.
int job_from_ring(struct job *ret, struct arena *arena, enum collective_kind kind, uint64_t bytes,
		  uint32_t gpus_per_host, const struct ring_config *ring, struct refusal *refusal);

// Rings of one size that share a fabric.
enum placement {
	PLACEMENT_PACKED, // the hosts of a job in a row
	PLACEMENT_SPREAD, // dealt out in turns
	PLACEMENT_RANDOM, // by chance
	PLACEMENT_LIST,	  // as a list says: mix.h
};

struct several {
	uint32_t jobs, gpus, gpus_per_host;
	enum placement placement;
	enum collective_kind kind;
	uint64_t bytes, seed;
};

// A job of `ring->ranks` ranks for each, on the first hosts that hold them all. -EINVAL with a
// reason, -ENOMEM.
int job_from_several(struct job *ret, struct arena *arena, const struct several *several,
		     const struct ring_config *ring, struct refusal *refusal);

// A collective over a torus of sizes[0] x sizes[1] x sizes[2] routers with a GPU each, GPUs along x
// first: rings along the axes in `along` (bit 0 = x) in place of one over all, both ways round each
// row. Ranks of other rows along other axes form groups of their own, each with a buffer of
// `bytes`. -EINVAL with a reason, -ENOMEM.
int job_from_axes(struct job *ret, struct arena *arena, uint32_t along, const uint32_t sizes[3],
		  enum collective_kind kind, uint64_t bytes, const struct ring_config *ring,
		  struct refusal *refusal);

#ifdef __cplusplus
}
#endif
