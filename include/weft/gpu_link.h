// SPDX-License-Identifier: Apache-2.0
// The link between a run that sends gradients and the generator that makes them: a file that both
// map, so that flags, times and data are seen without a copy or a call. The run makes it and says
// what is to be computed; a generator takes ranks of it, computes, and says what has ended. This
// header is the layout: whoever keeps it can take either end.
//
//	header | ops[op_count] | ranks[rank_count] | asked[ranks][ops] | done[ranks][ops] | buffers
//
// Every flag has one writer and is set once; what was written before it is seen by who reads it
// (store with release, load with acquire, for a device of the whole system). Times are nanoseconds
// of the system's monotonic clock.
//
// Each end holds a lock on a byte of the file of its own, which the system takes away when its
// process ends, however it ends: so the other end knows. Who still lives but no longer moves shows
// by an old heartbeat.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/refusal.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_LINK_MAGIC UINT64_C(0x316b6e696c757067) // "gpulink1"
#define GPU_LINK_VERSION 2u
#define GPU_NAME_BYTES 64
#define GPU_LINK_PATH_BYTES 256
#define GPU_RANKS_MAX 4096u
#define GPU_OPS_MAX (1u << 24)

// What a generator does for a computation; see gradients.h. GPU_COMPUTE has no data: a forward or
// backward of which nothing is released.
enum gpu_work { GPU_GATE, GPU_FILL, GPU_REDUCE, GPU_UPDATE, GPU_COMPUTE, GPU_WORK_COUNT };

// One computation. All ranks have the same list; sums run beside the others, which follow each
// other.
struct gpu_link_op {
	uint32_t work;		 // enum gpu_work
	uint32_t needs_messages; // may begin when asked[] is set; others when the one before ended
	uint32_t step, bucket, slice;
	uint32_t reserved;
	uint64_t offset, bytes; // in the stretch
	int64_t compute_ns;	// as long as it takes on the clock of both
};

struct gpu_link_flag {
	uint32_t is_set; // atomic, last
	uint32_t reserved;
	int64_t at_ns;
};

enum gpu_host_state { GPU_HOST_WAITS = 1, GPU_HOST_RUNS, GPU_HOST_DONE, GPU_HOST_FAILED };
enum gpu_rank_state { GPU_RANK_FREE, GPU_RANK_READY, GPU_RANK_DONE, GPU_RANK_FAILED };

// What a generator measured of a rank: good when its state is DONE.
struct gpu_link_figures {
	uint64_t releases;			       // slices
	int64_t late_p50_ns, late_p99_ns, late_max_ns; // after they were due
	int64_t gates_ns, update_wait_ns; // waited at gates, and for the last sums of steps
	int64_t compute_wait_ns;	  // and for what other stages compute
	int64_t barrier_ns;		  // and for ranks that came later to a step
	uint64_t elements, wrong;	  // that were checked, and were not what they should be
	int64_t clock_error_ns;	    // of the device's clock against the system's; 0: it is that
	int64_t clock_offset_ns;    // that less this
	int64_t fill_ns, reduce_ns; // at work
	uint64_t fill_bytes, reduce_bytes;
	int64_t run_ns; // from the start to the end of the last gate
	int64_t step_min_ns, step_p50_ns, step_mean_ns, step_max_ns; // from update to update
	uint64_t load_bytes, load_flops; // copied, and multiplied and added, while it computed
};

struct gpu_link_rank {
	uint32_t state; // enum gpu_rank_state, atomic; the generator's
	uint32_t pid;
	int64_t beat_ns; // atomic
	uint64_t buffer; // offset in the file of its buffer
	uint32_t number; // of the group: what its values and its blocks follow from
	uint32_t step;	 // atomic: that it has ended, counted from 1
	char device[GPU_NAME_BYTES];
	struct gpu_link_figures figures;
};

struct gpu_link_header {
	uint64_t magic; // atomic, last
	uint32_t version, header_bytes;
	uint64_t file_bytes;
	uint32_t rank_count, op_count;
	uint64_t ops, ranks, asked, done, buffers; // offsets in the file
	uint64_t buffer_bytes;			   // of a rank: three stretches, and up to a page
	uint64_t stretch_bytes, bucket_bytes, slice_bytes, block_bytes;
	uint32_t element_bytes; // 2: BF16, 4: FP32
	uint32_t host_pid;
	uint64_t seed;		 // of the pattern
	uint64_t dilation_milli; // time here over time of the fabric
	uint32_t state;		 // enum gpu_host_state, atomic; the run's
	uint32_t group_ranks;	 // whose gradients are summed; those beyond rank_count are played
	uint32_t has_barrier;	 // ranks of the link begin each step together
	uint32_t reserved;
	int64_t start_ns; // of the fabric's time; good when it runs
	int64_t beat_ns;  // atomic
};

// What a run makes a link for.
struct gpu_link_shape {
	uint32_t rank_count, op_count;
	uint64_t stretch_bytes, bucket_bytes, slice_bytes, block_bytes;
	uint32_t element_bytes;
	uint64_t seed, dilation_milli;
	uint32_t group_ranks; // 0: all are in the link, and number i is rank i of it
	bool has_barrier;
};

// One end.
struct gpu_link {
	struct gpu_link_header *header; // NULL: closed
	struct gpu_link_op *ops;
	struct gpu_link_rank *ranks;
	struct gpu_link_flag *asked, *done; // gpu_link_flag_of()
	uint8_t *base;
	size_t bytes;
	int fd;
	bool is_host;
	char path[GPU_LINK_PATH_BYTES];
};

enum gpu_peer {
	GPU_PEER_HERE,
	GPU_PEER_GONE,	// its process ended
	GPU_PEER_SILENT // it lives, but did not move for GPU_SILENT_NS
};

#define GPU_SILENT_NS INT64_C(5000000000)

int64_t gpu_clock_ns(void);

// What is wrong with a shape, or with a header of a file of `file_bytes`: NULL, or why. Pure.
const char *gpu_link_shape_wrong(const struct gpu_link_shape *shape);
const char *gpu_link_header_wrong(const struct gpu_link_header *header, uint64_t file_bytes);

// The run's end: makes the file, in place of one that nobody holds; to fill in `ops`, then
// gpu_link_offer(). -EBUSY when another run holds it, -EINVAL, -errno of the system; with a reason.
int gpu_link_create(struct gpu_link *ret, const char *path, const struct gpu_link_shape *shape,
		    struct refusal *refusal);
void gpu_link_offer(struct gpu_link *link);

// A generator's end: waits so long for a run to offer it. -ETIMEDOUT, -EPROTO (not this layout),
// -errno of the system; with a reason.
int gpu_link_open(struct gpu_link *ret, const char *path, int64_t patience_ns,
		  struct refusal *refusal);

// Takes rank `rank`, to be computed by `device`. -EINVAL: there is none, -EBUSY: it is taken.
int gpu_link_claim(struct gpu_link *link, uint32_t rank, const char *device,
		   struct refusal *refusal);
void gpu_link_set_rank(struct gpu_link *link, uint32_t rank, enum gpu_rank_state state);
enum gpu_rank_state gpu_link_rank_state(const struct gpu_link *link, uint32_t rank);

// The run goes on: waits, runs (from `start_ns` on), is done, or has failed.
void gpu_link_set_host(struct gpu_link *link, enum gpu_host_state state, int64_t start_ns);
enum gpu_host_state gpu_link_host_state(const struct gpu_link *link);

// Heartbeats of one's own end, and whether the other is there. Cheap enough for every 50 ms.
void gpu_link_beat_host(struct gpu_link *link, int64_t now_ns);
void gpu_link_beat_rank(struct gpu_link *link, uint32_t rank, int64_t now_ns);
enum gpu_peer gpu_link_host_is(const struct gpu_link *link, int64_t now_ns);
enum gpu_peer gpu_link_rank_is(const struct gpu_link *link, uint32_t rank, int64_t now_ns);

// Gives it up; the run's end takes the file away.
void gpu_link_close(struct gpu_link *link);

static inline struct gpu_link_flag *gpu_link_flag_of(const struct gpu_link *link,
						     struct gpu_link_flag *flags, uint32_t rank,
						     uint32_t op)
{
	return &flags[(uint64_t)rank * link->header->op_count + op];
}

static inline uint8_t *gpu_link_buffer(const struct gpu_link *link, uint32_t rank)
{
	return link->base + link->ranks[rank].buffer;
}

// How long steps took, by the flags of a rank that has done everything. -ENOMEM.
int gpu_link_measure_steps(const struct gpu_link *link, uint32_t rank,
			   struct gpu_link_figures *figures);

// Whether all ranks of the link have ended `steps` steps.
bool gpu_link_have_ended(const struct gpu_link *link, uint32_t steps);

void gpu_link_raise(struct gpu_link_flag *flag, int64_t at_ns);
bool gpu_link_is_raised(const struct gpu_link_flag *flag);

#ifdef __cplusplus
}
#endif
