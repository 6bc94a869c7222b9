// SPDX-License-Identifier: Apache-2.0
// The only floor with clocks, memory from the system, threads and devices. sim.c runs a world in
// virtual time, window by window.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/drive_files.h>
#include <weft/drive_ranks.h>
#include <weft/wire.h>
#include <weft/world.h>

// ---------------------------------------------------------------- paced time

// Reads a clock: nanoseconds from anywhere, never going back.
typedef int64_t pace_clock_fn(void *context);

struct pace_trial; // what a run without waiting cost, window by window

// How virtual time is tied to a clock. The clock only paces: the result is that of virtual time.
struct pace_options {
	bool is_on;		 // false: virtual time, as fast as it goes
	uint64_t dilation_milli; // wall time per virtual time in thousandths; 0: never wait
	pace_clock_fn *clock;	 // NULL: the system's monotonic clock
	void *clock_context;
	struct pace_trial *trial; // written, or NULL
};

// Room for a trial; NULL when the system refuses. To be given back with pace_trial_free().
struct pace_trial *pace_trial_create(void);
void pace_trial_free(struct pace_trial *trial);

// The smallest dilation, in thousandths and at least 1000, at which 99 of 100 frames of the trial
// would have been less than a millisecond late, and a quarter more for what disturbs a machine.
uint64_t pace_trial_dilation(const struct pace_trial *trial);

// ---------------------------------------------------------------- DPDK

// How DPDK's environment is started, by the first run whose ports need it.
struct dpdk_options {
	const char *const *words; // arguments of the EAL beside, or in place of, our own: no huge
				  // pages, no PCI devices, one lcore for each lane
	uint32_t word_count;
	uint32_t lanes; // lcores
};

// Ends DPDK's environment, if it was started. It cannot be started again.
void dpdk_stop(void);

// A clock for pace_options: the CPU's time stamp counter. After the start.
int64_t dpdk_clock_ns(void *context);

// ---------------------------------------------------------------- ports

enum ports_kind {
	PORTS_NONE,   // packets lie on cables in memory; there are no bytes
	PORTS_MEMORY, // frames, in memory of the process
	PORTS_RING,   // frames, through DPDK's ring ports
};

struct ports_options {
	enum ports_kind kind;
	uint32_t port_count;	  // RING: ports to use; 0 = as many as there is need for
	struct dpdk_options dpdk; // RING
	// Called for each frame that a port takes, or NULL. One that changes bytes says so by
	// `watch_changes`: nothing covers marks and trims, so those that arrive need no switch.
	void (*watch)(void *context, const struct cable_plan *cable, ps_t at, uint8_t *bytes,
		      uint32_t length);
	void *watch_context;
	bool watch_changes;
	// Bytes of the caller's in the place of a pattern that is verified, or NULL: writes the
	// payload of a packet that a NIC sends (again), and keeps one that a NIC placed. One lane.
	void (*fill)(void *context, const struct place *where, uint8_t *ret);
	void (*store)(void *context, const struct place *where, const uint8_t *payload);
	// Told of a program's message inside a host (world_landing.h), or NULL. With `fill`.
	void (*move)(void *context, const struct place *where);
	void *payload_context;
};

// How many ports DPDK has here, and queues a ring port. 0 in a build without DPDK.
uint32_t ports_ring_max(void);
uint32_t ports_ring_queues(void);

// What ports did.
struct ports_figures {
	const char *name; // "memory", "net_ring"; NULL without ports
	uint32_t ports, queues;
	uint32_t cables_per_queue_max;
	uint32_t frames;	  // buffers
	uint32_t frame_bytes_max; // of one
	uint64_t sent, received;  // as the ports counted
	uint64_t missed;
};

// ---------------------------------------------------------------- what frames cost

#define RING_SLICES_MAX 200

// Where the time of a loop over ring ports goes.
enum ring_stage {
	RING_RX,
	RING_PARSE,    // headers
	RING_CHECK,    // ICRC of what came
	RING_ENDPOINT, // machines
	RING_VERIFY,   // payload against the pattern
	RING_BUFFERS,  // frames taken from and given to the pool
	RING_BUILD,    // headers
	RING_FILL,     // payload
	RING_SEAL,     // ICRC of what goes
	RING_TX,
	RING_STAGE_COUNT
};

enum ring_loop { RING_ENDPOINTS, RING_BARE, RING_LOOP_COUNT };

struct ring_bench_options {
	struct dpdk_options dpdk;
	// NICs 0, which sends data, and 1; port 0 each. They keep to their outbox's capacity.
	struct machine ends[2];
	struct packet_pool *packets; // of both
	struct fifo_pool *chunks;
	uint16_t payload_bytes;
	ps_t packet_ps;	  // virtual time that a data packet takes
	uint32_t backlog; // data frames that lie on a cable before they are looked at, 32 and up
	uint32_t shelf;	  // frames that are left alone before they are used again
	bool has_icrc;
	uint32_t slices; // of each loop, in turn
	uint32_t slice_ms;
};

struct ring_slice {
	uint64_t packets; // with payload, verified
	uint64_t ticks;
	uint64_t stage_ticks[RING_STAGE_COUNT]; // their sum is `ticks`
};

struct ring_bench_result {
	struct ring_slice slices[RING_LOOP_COUNT][RING_SLICES_MAX];
	uint64_t ticks_per_s;
	bool has_cycles;	 // ticks are the CPU's; else nanoseconds
	uint32_t frames;	 // in the pool
	uint32_t frame_bytes;	 // of a data frame
	uint64_t sent, received; // frames, as the ports counted
	uint64_t missed;
	uint64_t held;	     // frames that did not come back to the pool
	uint64_t bad_frames; // that did not parse, or whose ICRC was wrong
	uint64_t payload_bytes_good, payload_bytes_wrong;
};

// ---------------------------------------------------------------- captures

// What is written of the packets that pass the scenario's taps (every cable of a NIC if it has
// none).
struct tap_options {
	const char *pcap;    // pcapng file with frames, or NULL
	const char *log;     // text file with packets, one a line, or NULL; see docs/result.md
	const char *program; // what the capture says wrote it
};

struct tap_counts {
	uint64_t frames; // that passed, and found room
	uint64_t lost;	 // passed, but found no room in the buffers of a window
	uint64_t bytes;	 // of the files
	uint64_t pcap_left_out, log_left_out; // of `frames`: beyond capture.file_bytes
};

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
	uint64_t late_full;		     // not doubled or held back: too many were under way
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
	struct tap_counts taps;
	// Paced runs.
	uint32_t lanes;
	const struct hist
		*lateness_ns;	   // of frames against their window's end; NULL in virtual time
	const struct hist *gap_ns; // between two looks at the clock
};

// Told now and then during a run (at most ten times a second); returning false asks the run to
// stop.
typedef bool run_progress_fn(void *context, const struct world *world, const struct run *so_far);

enum outside_news {
	OUTSIDE_QUIET,
	OUTSIDE_ENDED, // a computation was told to have ended
	OUTSIDE_LOST,  // who computes is gone: the run ends
};

struct sim; // the driver's own state, drawn from the world's arena while the world is built

// Looks whether computations ended that end outside (world_outside.h), and tells sim_outside_end().
// Called between windows, and again and again while none is due. One lane, with a clock.
typedef enum outside_news outside_fn(void *context, struct sim *sim);

struct sim_options {
	run_progress_fn *progress; // or NULL
	void *progress_context;
	const volatile sig_atomic_t *stop; // set to non-zero by a signal handler, or NULL
	struct pace_options pace;
	struct ports_options ports;
	struct tap_options taps;
	uint32_t lanes;	     // threads that share the machines; 0 and 1: this one. More need DPDK's
	struct ranks *ranks; // processes that do, or NULL: then this one does all
	outside_fn *outside; // or NULL: the program has no computations that end outside
	void *outside_context;
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

// Of an outside_fn: when virtual time `at` is due on the clock; and the end of computation `op` at
// a time of the clock, or as soon after as a window is left. Returns how much later, in virtual
// time.
int64_t sim_outside_due_ns(const struct sim *sim, ps_t at);
ps_t sim_outside_time(const struct sim *sim, int64_t at_ns); // the reverse; 0 before the start
ps_t sim_outside_end(struct sim *sim, uint32_t op, int64_t at_ns);

// Ends captures, whose totals go to `run`, and gives ports back. Also for a run that never began.
// -EIO when a capture is not whole, with the file and the reason.
int sim_end(struct sim *sim, struct run *run, struct refusal *refusal);

// Lets the two machines exchange frames over ring ports, in turn with a loop that does only the
// same bytes' work. Starts DPDK if that was not done; draws from `arena`, which is not sealed.
int ring_bench_run(const struct ring_bench_options *options, struct arena *arena,
		   struct ring_bench_result *ret, struct refusal *refusal);

// ---------------------------------------------------------------- stages, for apps

// A world with its memory and its driver: what an app runs.
struct stage {
	struct arena arena;
	void *memory;
	size_t memory_bytes;
	struct world world;
	struct sim *sim;
};

// Reserves memory, builds the world of `scenario` (which must outlive the stage) and seals it.
// `trace_text` as in world_build(); options->lanes says how many threads will run it. On refusal
// nothing is held.
int stage_build(struct stage *ret, const struct scenario *scenario, const char *trace_text,
		size_t trace_bytes, const struct sim_options *options, struct refusal *refusal);

// Gives the memory back, and what sim_end() gives, if that was not called.
void stage_free(struct stage *stage);

#ifdef __cplusplus
}
#endif
