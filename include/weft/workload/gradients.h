// SPDX-License-Identifier: Apache-2.0
// The gradients of a training step, as a device makes them and as they travel: a bucket is released
// slice by slice while the backward pass goes on, each slice is scattered to the ranks that sum it,
// and what they make of it is gathered by all before the next step's forward pass may begin. Each
// rank's computations are a list; between them lie messages whose bytes have a place in its buffer,
// so that a device may do the computing and its data can be checked.
//
//	gate    what all ranks made of a bucket in the step before is here; the forward pass goes on
//	fill    the backward pass made one slice of a bucket: every rank gets its block of it
//	reduce  all ranks' parts of this rank's block of a slice are here, and are summed
//	update  all blocks of a step are summed: they go to all ranks
//
// A rank's buffer has three stretches of buckets * bucket_bytes: gradients; what lands, where block
// q of a slice is rank q's part of this rank's block; and parameters, the sums.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/core/time.h>
#include <weft/workload/program.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gradients_config {
	uint32_t ranks;		  // 2 or more
	uint32_t buckets;	  // of a step, in the order of the backward pass
	uint32_t slices;	  // of a bucket: released one after the other
	uint32_t steps;		  // of training
	uint64_t bucket_bytes;	  // whole elements for each rank in each slice
	uint32_t element_bytes;	  // 2 or 4
	ps_t forward_ps;	  // of the forward pass, behind each gate
	ps_t backward_ps;	  // of the backward pass for a bucket
	ps_t update_ps;		  // from the last sum to what is gathered
	bool is_external_compute; // computations end when a device says so: OP_EXTERNAL_COMPUTE_PS
};

enum gradients_work {
	GRADIENTS_GATE,
	GRADIENTS_FILL,
	GRADIENTS_REDUCE,
	GRADIENTS_UPDATE,
	GRADIENTS_WORK_COUNT
};

// "gate", "fill", "reduce", "update".
const char *gradients_work_name(enum gradients_work work);

// One computation: the same list for every rank.
struct gradients_part {
	enum gradients_work work;
	bool needs_messages;	      // it waits for others, not only for computations of its rank
	uint32_t step, bucket, slice; // gates of step `steps` end the run
	uint64_t offset, bytes;	      // of a stretch: the bucket's, the slice's, or all of it
	ps_t compute_ps;	      // what it takes
};

// -EINVAL with a reason.
int gradients_check(const struct gradients_config *config, struct refusal *refusal);

// Computations of a rank, and number `index` of them in the order in which it does them; sums go
// beside, as their messages come.
uint32_t gradients_parts(const struct gradients_config *config);
void gradients_part(const struct gradients_config *config, uint32_t index,
		    struct gradients_part *ret);

// Operation of the program that is part `index` of a rank.
static inline uint32_t gradients_op(const struct gradients_config *config, uint32_t rank,
				    uint32_t index)
{
	return rank * gradients_parts(config) + index;
}

// Bytes of one stretch of a rank's buffer, which has three of them.
static inline uint64_t gradients_stretch_bytes(const struct gradients_config *config)
{
	return config->buckets * config->bucket_bytes;
}

// Bytes of a block: what one rank sums of a slice.
static inline uint64_t gradients_block_bytes(const struct gradients_config *config)
{
	return config->bucket_bytes / config->slices / config->ranks;
}

// A sealed program of it. -EINVAL with a reason, -ENOMEM.
int gradients_program(struct program **ret, struct arena *arena,
		      const struct gradients_config *config, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
