// SPDX-License-Identifier: Apache-2.0
// What one rank of a run met: when its computations could begin, so that it can be played again
// without the others. A text file:
//
//	weft-record 1
//	rank 0 ranks 4 buckets 4 slices 2 steps 2 bucket_bytes 262144 element_bytes 2 seed 1
//	gate 0 0 0 20000 0
//	...
//
// A line for each computation of the rank, in the order of gradients.h: its work, step, bucket,
// slice, how long it takes, and how long messages held it up behind the computation before it (of a
// sum: behind its fill), in nanoseconds.
#pragma once

#include <weft/gpu_generator.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_record_part {
	uint32_t work; // enum gpu_work
	uint32_t step, bucket, slice;
	int64_t compute_ns, wait_ns;
};

struct gpu_record {
	uint32_t rank, ranks, buckets, slices, steps, element_bytes;
	uint64_t bucket_bytes, seed;
	uint32_t part_count;
	struct gpu_record_part *parts; // [part_count]
};

// Reads a file; to be freed. -EINVAL with line and reason, -errno of the system.
int gpu_record_read(struct gpu_record *ret, const char *path, struct refusal *refusal);
void gpu_record_free(struct gpu_record *record);

// Makes a link for the ranks of a record, whose computations are its. As gpu_link_create().
int gpu_record_link(struct gpu_link *ret, const char *path, const struct gpu_record *record,
		    struct refusal *refusal);

// Plays the run's end of such a link in a thread of its own until the rank has done everything:
// what the others would have sent is there, made by the pattern, as late as it was recorded. Both
// ends are in this process.
struct gpu_player;

// Damage on purpose to what the others sent, which the generator must find.
enum gpu_damage {
	GPU_DAMAGE_NONE,
	GPU_DAMAGE_BIT,	 // one bit of the first part that lands
	GPU_DAMAGE_SWAP, // two slices of the first bucket's sums change places
};

int gpu_player_start(struct gpu_player **ret, struct gpu_link *link,
		     const struct gpu_record *record, enum gpu_damage damage,
		     struct refusal *refusal);

// Ends the thread, before its time where the generator failed. Returns how late it was with what it
// sent, at most.
int64_t gpu_player_end(struct gpu_player *player);

#ifdef __cplusplus
}
#endif
