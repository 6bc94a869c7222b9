// SPDX-License-Identifier: Apache-2.0
// The link between a run that sends gradients and the generator that makes them: a file that both
// map, so that flags, times and data are seen without a copy or a call. The run makes it and says
// what is to be computed; a generator takes ranks of it, computes, and says what has ended. The
// layout is that of gpu_link_layout.h.
//
// Each end holds a lock on a byte of the file of its own, which the system takes away when its
// process ends, however it ends: so the other end knows. Who still lives but no longer moves shows
// by an old heartbeat.
//
// Neither end trusts what the other wrote. What is to be computed is copied once and the copy is
// checked; flags, states and figures are checked where they are read. When the file is cut short,
// private memory of zeros takes its place, so that nobody is killed by it, and the link says that
// it is damaged.
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/gpu/gpu_link_layout.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_LINK_PATH_BYTES 256

// What a run makes a link for.
struct gpu_link_shape {
	uint32_t rank_count, op_count;
	uint64_t stretch_bytes, bucket_bytes, slice_bytes, block_bytes;
	uint32_t element_bytes;
	uint64_t seed, dilation_milli;
	uint32_t group_ranks; // 0: all are in the link, and number i is rank i of it
	uint32_t limit_s;     // 0: GPU_LIMIT_S_MAX
	bool has_barrier;
};

// One end. Header, ops and numbers are copies of its own; the run's end fills in ops and numbers
// before gpu_link_offer().
struct gpu_link {
	struct gpu_link_header *header; // NULL: closed
	struct gpu_link_op *ops;
	uint32_t *numbers;		  // [ranks] in their group
	struct gpu_link_figures *figures; // [ranks] as this end reported them with gpu_link_tell()
	struct gpu_link_header *shared;	  // in the file: state, start and heartbeat change
	struct gpu_link_rank *ranks;	  // in the file
	struct gpu_link_flag *asked, *done; // in the file: gpu_link_flag_of()
	uint8_t *seen;	  // [2 ranks ops] asked, done: flags that were up; none goes down again
	uint32_t *states; // [ranks + 1] steps of ranks, and the state of the run: none goes back
	uint8_t *base;
	size_t bytes;
	int64_t opened_ns;
	int fd, guard;
	bool is_host;
	char path[GPU_LINK_PATH_BYTES]; // empty: it has no name
};

enum gpu_peer {
	GPU_PEER_HERE,
	GPU_PEER_GONE,	 // its process ended
	GPU_PEER_SILENT, // it lives, but did not move for GPU_SILENT_NS
	GPU_PEER_WRONG	 // it wrote what cannot be
};

#define GPU_SILENT_NS INT64_C(5000000000)
#define GPU_AHEAD_NS INT64_C(1000000000) // that a time may be ahead: clocks of devices have errors

int64_t gpu_clock_ns(void);

// What is wrong with a shape, or with a header of a file of `file_bytes`: NULL, or why. Pure.
const char *gpu_link_shape_wrong(const struct gpu_link_shape *shape);
const char *gpu_link_header_wrong(const struct gpu_link_header *header, uint64_t file_bytes);

// What is wrong with the computations [op_count], with the numbers of ranks, and with what a
// generator measured: NULL, or why; `ret_at` says of which computation. Pure.
const char *gpu_link_ops_wrong(const struct gpu_link_header *header, const struct gpu_link_op *ops,
			       uint32_t *ret_at);
const char *gpu_link_numbers_wrong(const struct gpu_link_header *header, const uint32_t *numbers);
const char *gpu_link_figures_wrong(const struct gpu_link_header *header,
				   const struct gpu_link_figures *figures);

// The layout of a shape. Pure.
void gpu_link_lay_out(struct gpu_link_header *ret, const struct gpu_link_shape *shape);

// The run's end: makes the file, in place of one of this user that a run left behind; to fill in
// `ops`, then gpu_link_offer(). Without a path it is memory without a name, for gpu_link_join().
// -EBUSY when another run holds it, -EEXIST when there is a file that is no link, -EINVAL, -errno
// of the system; with a reason.
int gpu_link_create(struct gpu_link *ret, const char *path, const struct gpu_link_shape *shape,
		    struct refusal *refusal);

// Writes what is to be computed and says that generators may come. -EINVAL with a reason.
int gpu_link_offer(struct gpu_link *link, struct refusal *refusal);

// A generator's end: waits so long for a run to offer it, or until *stop is not 0 (or NULL).
// -ETIMEDOUT, -EINTR, -EPROTO (damaged, or no link), -EINVAL (no regular file), -EPERM (not this
// user's), -errno of the system; with a reason.
int gpu_link_open(struct gpu_link *ret, const char *path, int64_t timeout_ns,
		  const volatile sig_atomic_t *stop, struct refusal *refusal);

// A generator's end of a link that this process made. As gpu_link_open().
int gpu_link_join(struct gpu_link *ret, const struct gpu_link *run, struct refusal *refusal);

// Takes the file's name away, where it still is this file's; both ends keep the memory.
void gpu_link_unname(struct gpu_link *link);

// What is wrong with an open link: NULL, or that its file was cut or written over, also by what it
// held before: then both ends would wait for each other, and live.
const char *gpu_link_wrong(const struct gpu_link *link);

// This end has seen a flag of the link up; or raises it itself.
void gpu_link_note(const struct gpu_link *link, const struct gpu_link_flag *flag);
void gpu_link_raise_own(const struct gpu_link *link, struct gpu_link_flag *flag, int64_t at_ns);

// Takes rank `rank`, to be computed by `device`. -EINVAL: there is none, -EBUSY: it is taken.
int gpu_link_claim(struct gpu_link *link, uint32_t rank, const char *device,
		   struct refusal *refusal);

// States; what is no state reads as FAILED.
void gpu_link_set_rank(struct gpu_link *link, uint32_t rank, enum gpu_rank_state state);
enum gpu_rank_state gpu_link_rank_state(const struct gpu_link *link, uint32_t rank);

// The name of a rank's device, of printable ASCII.
void gpu_link_device(const struct gpu_link *link, uint32_t rank, char ret[GPU_NAME_BYTES]);

// What was measured of a rank, to the run. Then its state is DONE.
void gpu_link_tell(struct gpu_link *link, uint32_t rank, const struct gpu_link_figures *figures);

// The run goes on: waits, runs (from `start_ns` on), is done, or has failed.
void gpu_link_set_host(struct gpu_link *link, enum gpu_host_state state, int64_t start_ns);
enum gpu_host_state gpu_link_host_state(const struct gpu_link *link);

// A generator's end takes the start from a run that runs, into its header. -EPROTO: it cannot be.
int gpu_link_take_start(struct gpu_link *link, struct refusal *refusal);

// Heartbeats of one's own end, and whether the other is there. Cheap enough for every 50 ms.
void gpu_link_beat_host(struct gpu_link *link, int64_t now_ns);
void gpu_link_beat_rank(struct gpu_link *link, uint32_t rank, int64_t now_ns);
enum gpu_peer gpu_link_host_is(const struct gpu_link *link, int64_t now_ns);
enum gpu_peer gpu_link_rank_is(const struct gpu_link *link, uint32_t rank, int64_t now_ns);

// Gives it up; the run's end takes the file away, a generator's when the run is gone.
void gpu_link_close(struct gpu_link *link);

static inline struct gpu_link_flag *gpu_link_flag_of(const struct gpu_link *link,
						     struct gpu_link_flag *flags, uint32_t rank,
						     uint32_t op)
{
	return &flags[(uint64_t)rank * link->header->op_count + op];
}

static inline uint8_t *gpu_link_buffer(const struct gpu_link *link, uint32_t rank)
{
	return link->base + link->header->buffers + rank * link->header->buffer_bytes;
}

// How long steps took, by the flags of a rank that has done everything. -ENOMEM, -EPROTO (times
// that cannot be); with a reason.
int gpu_link_measure_steps(const struct gpu_link *link, uint32_t rank,
			   struct gpu_link_figures *figures, struct refusal *refusal);

// Whether all ranks of the link have ended `steps` steps.
bool gpu_link_have_ended(const struct gpu_link *link, uint32_t steps);

void gpu_link_raise(struct gpu_link_flag *flag, int64_t at_ns);
bool gpu_link_is_raised(const struct gpu_link_flag *flag);

// Reads a flag of the other end, once. Its time is not before 0 and not further ahead than
// GPU_AHEAD_NS, else it is wrong.
enum gpu_look { GPU_LOOK_DOWN, GPU_LOOK_UP, GPU_LOOK_WRONG };
enum gpu_look gpu_link_look(const struct gpu_link_flag *flag, int64_t *ret_at_ns);

#ifdef __cplusplus
}
#endif
