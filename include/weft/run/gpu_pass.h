// SPDX-License-Identifier: Apache-2.0
// What passes over a link between a run and the generators of its gradients: the part that is the
// same in paced time and in wall time; then what a paced run has besides.
#pragma once

#include <weft/core/time.h>
#include <weft/engine/engine.h>
#include <weft/gpu/gpu_lateness.h>
#include <weft/gpu/gpu_link.h>
#include <weft/ports/payload_store.h>
#include <weft/result/report.h>
#include <weft/result/report_gpu.h>
#include <weft/workload/gradients.h>
#include <weft/world/world.h>

struct gpu_rank_seen {
	uint32_t first_open; // computations before have ended
	ps_t end_ps;	     // of the last one, sums apart
	ps_t exposed_ps;     // that it was kept waiting since
};

struct gpu_call {
	struct gpu_link link;
	struct payload_store *payload_store;
	struct gradients_config config;
	uint32_t first, here;		  // ranks of the group that the link has
	struct gradients_part *parts;	  // of a rank
	struct gpu_rank_seen *ranks;	  // [here]
	uint8_t *reported;		  // [ranks][parts] what was said of each
	struct gpu_lateness heard;	  // releases: after they were raised, in virtual time (ps)
	struct gpu_seen *seen, *modelled; // [ranks][parts]
	struct gpu_reported *times;	  // [ranks][parts]
	struct report_gpu_span *spans;
	int64_t beat_ns;
	ps_t model_end_ps; // of the run with the scenario's own times
	uint32_t lost_rank;
	enum gpu_peer lost;	     // GPU_PEER_HERE: nobody
	const char *lost_why;	     // of GPU_PEER_WRONG
	char device[GPU_NAME_BYTES]; // of rank 0
	struct report_gpu report;
};

// The shape of a link for these gradients; ranks, time and limits are the caller's to set.
struct gpu_link_shape gpu_shape(const struct gradients_config *config, uint64_t seed);

enum gpu_news {
	GPU_QUIET,
	GPU_ENDED, // a computation has
	GPU_LOST,  // who computes is gone
};

// Who runs the world, and how its time and the system's clock stand to each other.
struct gpu_driver {
	const struct world *world;
	void *context;
	int64_t (*due_ns)(void *context, ps_t at);
	ps_t (*time)(void *context, int64_t at_ns);
	// Operation `op` ended at `at_ns`. Returns how much later that is for the world.
	ps_t (*end)(void *context, uint32_t op, int64_t at_ns);
};

// Between two steps of the world: says which computations may begin, and which have ended.
enum gpu_news gpu_pass(struct gpu_call *gpu, const struct gpu_driver *driver);

// For gpu->config and the ranks of the link, gpu->first and gpu->here: tables and a payload store.
// -ENODEV with a reason.
int gpu_draw(struct gpu_call *gpu, struct refusal *refusal);

// A stretch of the clock here as the fabric's time.
ps_t gpu_fabric_time(const struct gpu_call *gpu, int64_t ns);

// Writes what is to be computed into an open link.
void gpu_write_ops(struct gpu_call *gpu, uint64_t dilation_milli);

// Waits until all ranks of the link have a generator, for `timeout_s`, as `option` says.
// -ECONNRESET, -EINTR with a reason.
int gpu_await(struct gpu_call *gpu, uint32_t timeout_s, const char *option,
	      struct refusal *refusal);

// Behind a run, which has come to its end or not: takes what generators measured to gpu->report.
void gpu_take_leave(struct gpu_call *gpu, bool is_done);

// Whether a generator was lost; says who.
bool gpu_tell_lost(const struct gpu_call *gpu, const char *program);

// What gpu_draw() drew, and the link.
void gpu_drop(struct gpu_call *gpu);

// A run whose gradients are made by generators (weft gpu): the link to them, and what passes over
// it. A scenario without --gpu computes them by its own times.

struct call;

// Before the world is built: refuses what cannot be, runs the scenario by its own times once, makes
// the link, and has the world wait for it. -errno with a reason.
int gpu_open(struct call *call, struct sim_options *options);

// The world is built: its data lie in the link. Waits for generators. -errno with a reason.
int gpu_attach(struct call *call);

// The run has ended: takes leave of the generators and what they measured.
void gpu_finish(struct call *call, enum run_end end);

// Whether a generator was lost, in the run or before it reported what it measured; says who.
bool gpu_say_lost(const struct call *call);

void gpu_close(struct call *call);

// Computations of a run with generators on one time line: when they were on the device, as the
// hosts saw it, and with the scenario's times alone.

struct gpu_seen { // of a computation; PS_NEVER: not seen
	ps_t begun, ended;
};

struct gpu_reported { // of a computation, by the system's clock; -1: not reported
	int64_t asked_ns, done_ns;
};

// Room for all of them. -ENOMEM.
int gpu_spans_draw(struct call *call);

// Behind the run with the scenario's own times, whose world is still there.
void gpu_spans_model(struct call *call);

// Behind the run: all spans, for the report.
void gpu_spans_finish(struct call *call);
void gpu_spans_free(struct call *call);
