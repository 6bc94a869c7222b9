// SPDX-License-Identifier: Apache-2.0
// The only floor with clocks, memory from the system, threads and devices. sim.c runs a world in
// virtual time, window by window.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/engine/ranks.h>
#include <weft/files/files.h>
#include <weft/ports/pacing.h>
#include <weft/ports/ports.h>
#include <weft/ports/ring_bench.h>
#include <weft/ports/taps.h>
#include <weft/wire/wire.h>
#include <weft/world/world.h>

// How a run ended.
enum run_end {
	RUN_DONE,	 // the workload is complete
	RUN_TIME,	 // limits.time was reached first
	RUN_INTERRUPTED, // the caller asked to stop
	RUN_LIMIT,	 // a pool ran dry, or limits.hops was reached: see limit_option
	RUN_STALLED,	 // nothing left to do, but the workload is not complete
	RUN_LOST,	 // who computes outside is gone
};

const char *run_end_name(enum run_end end);

struct run {
	enum run_end end;
	bool is_drained;	  // nothing was left to do: every packet is back in the pool
	const char *limit_option; // RUN_LIMIT: the scenario key to raise
	ps_t now_ps;		  // virtual time reached
	uint64_t digest;	  // hash over all deliveries: names the behaviour of a run
	uint64_t sent;		  // packets made by NICs
	uint64_t delivered;	  // packets that reached a NIC
	uint64_t dropped[DROP_REASON_COUNT]; // on cables
	uint64_t damaged;		     // packets whose bits flipped on a cable
	uint64_t doubled;		     // packets that cables made: copies
	uint64_t held_back;		     // packets that a cable let others overtake
	uint64_t reorder_queue_full;	     // not doubled or held back: too many were under way
	uint64_t held;			     // packets still out at the end (pool)
	uint64_t held_unsent;		     // of these, made by NICs but not sent yet
	uint64_t data_delivered;	     // of these, packets with payload
	uint64_t data_packets;		     // data packets put on cables by NICs
	uint64_t hops;			     // cable traversals, all packets
	uint64_t data_hops;
	uint64_t windows;	     // windows run (idle ones are jumped)
	uint64_t visits;	     // machine calls
	double cpu_s, wall_s;	     // of the run alone; CPU time over all ranks
	double cpu_waiting_s;	     // of it, spent by ranks on waiting for others
	double cpu_busiest_s;	     // most of the rest that one rank had
	uint32_t ranks;		     // processes that ran it
	uint64_t memory_bytes_other; // most memory that one of the others had
	// Runs with frames.
	uint64_t bad_frames[WIRE_REASON_COUNT]; // dropped[DROP_BAD_FRAME], by reason
	uint64_t payload_bytes_good;		// placed, and what was sent
	uint64_t payload_bytes_wrong;		// placed, and not what was sent
	struct ports_figures ports;
	const struct seen *seen; // frames of hosts for each other; NULL: there were no frames
	struct tap_counts taps;
	// Paced runs.
	uint32_t lanes;
	const struct hist
		*lateness_ns;	   // of frames against their window's end; NULL in virtual time
	const struct hist *gap_ns; // between two looks at the clock
};

// Called now and then during a run (at most ten times a second); returning false asks the run to
// stop.
typedef bool run_progress_fn(void *context, const struct world *world, const struct run *so_far);

enum external_compute_news {
	EXTERNAL_COMPUTE_QUIET,
	EXTERNAL_COMPUTE_ENDED, // the end of a computation was reported
	EXTERNAL_COMPUTE_LOST,	// who computes is gone: the run ends
};

struct sim; // the driver's own state, drawn from the world's arena while the world is built

// Looks whether computations ended that end outside (world_external_compute.h), and tells
// sim_external_compute_end(). Called between windows, and again and again while none is due. One
// lane, with a clock.
typedef enum external_compute_news external_compute_fn(void *context, struct sim *sim);

struct sim_options {
	run_progress_fn *progress; // or NULL
	void *progress_context;
	const volatile sig_atomic_t *stop; // set to non-zero by a signal handler, or NULL
	struct pace_options pace;
	struct ports_options ports;
	struct tap_options taps;
	uint32_t lanes;	     // threads that share the machines; 0 and 1: this one. More need DPDK's
	struct ranks *ranks; // processes that do, or NULL: then this one does all
	external_compute_fn
		*external_compute; // or NULL: the program has no computations that end outside
	void *external_compute_context;
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws the driver's cables and active set. To be called by the app between world_build()'s drawing
// and arena_seal(): world_build leaves the arena open, sim_create seals it. -ENOMEM with a reason.
int sim_create(struct sim **ret, struct world *world, const struct sim_options *options,
	       struct refusal *refusal);

// Runs to the end of the workload, of the time limit, or until asked to stop. Nothing allocates in
// here.
void sim_run(struct sim *sim, struct run *ret);

// Of an external_compute_fn: when virtual time `at` is due on the clock; and the end of computation
// `op` at a time of the clock, or as soon after as a window is left. Returns how much later, in
// virtual time.
int64_t sim_external_compute_due_ns(const struct sim *sim, ps_t at);
ps_t sim_external_compute_time(const struct sim *sim,
			       int64_t at_ns); // the reverse; 0 before the start
ps_t sim_external_compute_end(struct sim *sim, uint32_t op, int64_t at_ns);

// Ends captures, whose totals go to `run`, and gives ports back. Also for a run that never began.
// -EIO when a capture is not whole, with the file and the reason.
int sim_end(struct sim *sim, struct run *run, struct refusal *refusal);

// ---------------------------------------------------------------- stages, for apps

// A world with its memory and its driver: what an app runs.
struct world_instance {
	struct arena arena;
	void *memory;
	size_t memory_bytes;
	struct world world;
	struct sim *sim;
};

// Reserves memory, builds the world of `scenario` (which must outlive the stage) and seals it.
// `trace_text` as in world_build(); options->lanes says how many threads will run it. On refusal
// nothing is held.
int world_instance_build(struct world_instance *ret, const struct scenario *scenario,
			 const char *trace_text, size_t trace_bytes,
			 const struct sim_options *options, struct refusal *refusal);

// Gives the memory back, and what sim_end() gives, if that was not called.
void world_instance_free(struct world_instance *world_instance);

#ifdef __cplusplus
}
#endif
