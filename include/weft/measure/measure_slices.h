// SPDX-License-Identifier: Apache-2.0
// The slices of one rank's rings, one by one, as they were posted and as they came: what a time
// line shows of them. In fixed memory: of each channel the first ones are kept, the others counted.
// A slice has the same number at both ends, so what its sender wrote down explains what came.
#pragma once

#include <weft/measure/measure.h>

// A slice that the rank posted.
struct slice_sent {
	ps_t at;	 // PS_NEVER: not yet
	uint32_t bucket; // of the group
	uint32_t step;	 // of the collective, over all loops
	uint32_t bytes;
};

// A rank's part of one collective.
struct slice_part {
	ps_t begin_ps, end_ps; // PS_NEVER: not yet
};

struct slices {
	uint32_t channels, max, buckets;
	struct slice_sent *sent;  // [channels][max] by number
	ps_t *came;		  // [channels][max] by number; PS_NEVER: not yet
	uint64_t *came_count;	  // [channels]
	struct slice_part *parts; // [buckets]
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws room for the first `max` slices of each channel. -ENOMEM.
int slices_init(struct slices *slices, struct arena *arena, uint32_t channels, uint32_t max,
		uint32_t buckets);

// The rank posted slice `number` of a channel; the next slice of a channel came. Slices beyond
// `max` are passed over.
void slices_sent(struct slices *slices, uint32_t channel, uint64_t number,
		 const struct slice_sent *sent);
void slices_came(struct slices *slices, uint32_t channel, ps_t now);

// The rank's part of a collective began, or is done.
void slices_began(struct slices *slices, uint32_t bucket, ps_t now);
void slices_ended(struct slices *slices, uint32_t bucket, ps_t now);

// Slices that came and of which no time was kept.
uint64_t slices_missed(const struct slices *slices);

#ifdef __cplusplus
}
#endif
