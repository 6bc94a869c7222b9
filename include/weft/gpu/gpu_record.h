// SPDX-License-Identifier: Apache-2.0
// What one rank of a run met: when its computations could begin, so that it can be played again
// without the others. A text file:
//
//	weft-record 2
//	rank 0 ranks 4 buckets 4 steps 2 parts 42 slice_bytes 131072 element_bytes 2 seed 1
//	gate 0 0 0 20000 0
//	...
//
// A line for each computation of the rank: its work, step, bucket, slice (of `compute`: chunk and
// micro-batch), how long it takes, and how long others held it up behind the computation before it
// (of a sum: behind its fill), in nanoseconds. Each step has a gate of each bucket, the slices of
// each bucket in turn with their sums, and one update at its end, in an order that is the same in
// all of them; gates of all buckets end the file.
#pragma once

#include <stdio.h>

#include <weft/gpu/gpu_generator.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_record_part {
	uint32_t work; // enum gpu_work
	uint32_t step, bucket, slice;
	int64_t compute_ns, wait_ns;
};

struct gpu_record {
	uint32_t rank, ranks, buckets, steps, element_bytes;
	uint64_t slice_bytes, seed;
	uint32_t part_count;
	struct gpu_record_part *parts; // [part_count]
	uint32_t *slices_before;       // [buckets + 1] slices of buckets with smaller numbers
};

// Names of works as in a file: "gate", ...; [GPU_WORK_COUNT].
extern const char *const gpu_work_names[];

// Reads the text of the file at `path`, which refusals name; to be freed. -EINVAL with line and
// reason, -ENOMEM. Numbers are whole, in decimal, without a sign or zeros before them; what does
// not fit is refused.
int gpu_record_read(struct gpu_record *ret, const char *path, const char *text, size_t bytes,
		    struct refusal *refusal);

// A record whose parts were made elsewhere: finds its buckets and holds it against what a file may
// say. -EINVAL with a reason and the line that it would be in a file, -ENOMEM.
int gpu_record_seal(struct gpu_record *record, struct refusal *refusal);
void gpu_record_free(struct gpu_record *record);

// Writes it as a file. -EIO.
int gpu_record_write(FILE *to, const struct gpu_record *record);

// Slices that are so much smaller, of whole elements for each rank.
void gpu_record_scale(struct gpu_record *record, uint32_t divisor);

// Makes a link for ranks of one run, whose computations are those of their records; the others of
// their group are not in it. With a barrier they begin each step together. Without a path it has no
// name: gpu_link_join() takes its other end. -EINVAL where records do not belong together; as
// gpu_link_create().
int gpu_record_link(struct gpu_link *ret, const char *path, const struct gpu_record *records,
		    uint32_t count, bool has_barrier, struct refusal *refusal);

// Plays the run's end of such a link in a thread of its own until its ranks have done everything.
// Between these, data go from buffer to buffer when they are there and as late as it was recorded;
// what the others would have sent is made by the pattern, as late as that. Both ends are in this
// process.
struct gpu_replay;

// Damage on purpose to what the others sent, which the generator must find.
enum gpu_damage {
	GPU_DAMAGE_NONE,
	GPU_DAMAGE_BIT,	 // one bit of the first part that lands
	GPU_DAMAGE_SWAP, // two slices of the first bucket's sums change places
};

int gpu_replay_start(struct gpu_replay **ret, struct gpu_link *link,
		     const struct gpu_record *records, enum gpu_damage damage,
		     struct refusal *refusal);

// Ends the thread, before its time where the generator failed. Returns how late it was with what it
// sent, at most.
int64_t gpu_replay_end(struct gpu_replay *replay);

#ifdef __cplusplus
}
#endif
