// SPDX-License-Identifier: Apache-2.0
// The layout of a link between a run and its generators: a file that both map. Whoever keeps it can
// take either end.
//
//	header | ops[op_count] | ranks[rank_count] | asked[ranks][ops] | done[ranks][ops] | buffers
//
// Every flag has one writer and is set once; what was written before it is seen by who reads it
// (store with release, load with acquire, for a device of the whole system). Times are nanoseconds
// of the system's monotonic clock.
//
// The run writes the header, the computations, and offset and number of each rank before it sets
// the magic number. From then on they do not change, but for state, start and heartbeat. A
// generator copies them, checks the copy, and gives up a run that changes them.
#pragma once

#include <stdint.h>

#define GPU_LINK_MAGIC UINT64_C(0x316b6e696c757067)	  // "gpulink1"
#define GPU_LINK_ATOMIC_FILE UINT64_C(0x306b6e696c757067) // "gpulink0": not offered yet
#define GPU_LINK_VERSION 3u
#define GPU_NAME_BYTES 64
#define GPU_RANKS_MAX 4096u
#define GPU_OPS_MAX (1u << 24)
#define GPU_LIMIT_S_MAX 2592000u // 30 days

// What a generator does for a computation; see gradients.h. GPU_COMPUTE has no data: a forward or
// backward of which nothing is released.
enum gpu_work { GPU_GATE, GPU_FILL, GPU_REDUCE, GPU_UPDATE, GPU_COMPUTE, GPU_WORK_COUNT };

// One computation. All ranks have the same list. Sums (GPU_REDUCE) run beside the others, which
// follow each other. Steps are numbered from 0, each has the same list, and its last computation is
// its one update. A sum stands right behind the fill of its slice. Behind the last step there are
// gates alone.
struct gpu_link_op {
	uint32_t work;		 // enum gpu_work
	uint32_t needs_messages; // may begin when asked[] is set; others when the one before ended
	uint32_t step, bucket, slice;
	uint32_t reserved;
	uint64_t offset, bytes; // in the stretch, of whole slices; of a fill and a sum: one
	int64_t compute_ns;	// as long as it takes on the clock of both, at most the limit
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
	uint64_t buffer; // offset in the file of its buffer: `buffers` + row * `buffer_bytes`
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
	uint32_t limit_s;	 // a generator that has the link open for longer gives the run up
	int64_t start_ns;	 // of the fabric's time; good when it runs
	int64_t beat_ns;	 // atomic
};
