// SPDX-License-Identifier: Apache-2.0
// The only floor with clocks, memory from the system, threads and devices. sim.c runs a world in
// virtual time, window by window.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/world.h>

// How a run ended.
enum run_end {
	RUN_DONE,	 // the workload is complete
	RUN_TIME,	 // limits.time was reached first
	RUN_INTERRUPTED, // the caller asked to stop
	RUN_LIMIT,	 // a pool ran dry: see limit_option
	RUN_STALLED,	 // nothing left to do, but the workload is not complete
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
	uint64_t held;			     // packets still out at the end (pool)
	uint64_t data_delivered;	     // of these, packets with payload
	uint64_t data_packets;		     // data packets put on cables by NICs
	uint64_t hops;			     // cable traversals, all packets
	uint64_t data_hops;
	uint64_t windows;     // windows run (idle ones are jumped)
	uint64_t visits;      // machine calls
	double cpu_s, wall_s; // of the run alone
};

// Told now and then during a run (at most ten times a second); returning false asks the run to
// stop.
typedef bool run_progress_fn(void *context, const struct world *world, const struct run *so_far);

struct sim_options {
	run_progress_fn *progress; // or NULL
	void *progress_context;
	const volatile sig_atomic_t *stop; // set to non-zero by a signal handler, or NULL
};

#ifdef __cplusplus
extern "C" {
#endif

// Memory for an arena of at most `bytes`: reserved, zeroed, touched only as drawn. NULL when the
// system refuses.
void *memory_reserve(size_t bytes);
void memory_release(void *base, size_t bytes);

struct sim; // the driver's own state, drawn from the world's arena while the world is built

// Draws the driver's cables and active set. To be called by the app between world_build()'s drawing
// and arena_seal(): world_build leaves the arena open, sim_create seals it. -ENOMEM with a reason.
int sim_create(struct sim **ret, struct world *world, const struct sim_options *options,
	       struct refusal *refusal);

// Runs to the end of the workload, of the time limit, or until asked to stop. Nothing allocates in
// here.
void sim_run(struct sim *sim, struct run *ret);

// ---------------------------------------------------------------- files and stages, for apps

// Reads a file of at most `bytes_max` bytes whole; the caller frees *ret_text, which ends with a
// NUL beyond its bytes. -errno with a reason that names the file.
int file_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
	      struct refusal *refusal);

// The file of a scenario: `name` itself when it is a path (has a slash or ends in .yaml), else
// name.yaml among the shipped ones (beside a build's source tree, or in share/weft/scenarios).
// -ENOENT with the list of what there is.
int shelf_find(const char *name, char *ret_path, size_t path_bytes, struct refusal *refusal);

// The folders that shelf_find() looks in, one after the other; NULL after the last.
const char *shelf_folder(unsigned index);

// A world with its memory and its driver: what an app runs.
struct stage {
	struct arena arena;
	void *memory;
	size_t memory_bytes;
	struct world world;
	struct sim *sim;
};

// Reserves memory, builds the world of `scenario` (which must outlive the stage) and seals it.
// `trace_text` as in world_build(). On refusal nothing is held.
int stage_build(struct stage *ret, const struct scenario *scenario, const char *trace_text,
		size_t trace_bytes, const struct sim_options *options, struct refusal *refusal);

// Gives the memory back.
void stage_free(struct stage *stage);

// Most memory this process had resident, in bytes.
uint64_t memory_peak_bytes(void);

#ifdef __cplusplus
}
#endif
