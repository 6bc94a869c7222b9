// SPDX-License-Identifier: Apache-2.0
// What each plane may hold of a QP's window, with PLANE_SHARE_MARKS. A free line asks for a packet
// whatever its plane carries, so a plane that lost capacity gets as many packets as the others, its
// queues fill, and the window that the others could use waits in them. Here a plane has a weight:
// a mark takes a sixteenth of it, an unmarked SACK gives back a 128th of the whole. A QP leaves a
// line idle whose plane holds twice its share by weight, so that shares hold back what is far off,
// and not what dice did. Those of the open planes come to more than the window: where that has
// room, so has one of them.
#pragma once

#include "endpoint/qp.h"
#include "path.h"

#define LOAD_FULL 65536u	    // a plane without marks
#define LOAD_LEAST (LOAD_FULL / 16) // goes on to be used, so that it is known when it is well
#define LOAD_GAIN (LOAD_FULL / 128) // by an unmarked SACK
#define LOAD_LOSS_SHIFT 4	    // by a mark: that part of it
#define LOAD_SLACK 2u		    // shares that a plane may hold
#define LOAD_PACKETS 2u		    // may always be out: small windows have no shares
#define LOAD_SLOW 4u // a plane below one in so many of the mean weight is to blame for its queues

struct load_plane {
	uint32_t flying; // wire bytes of data in flight, by PSNs as qp.inflight
	uint32_t weight; // LOAD_LEAST to LOAD_FULL
};

struct load {
	uint32_t weights; // sum of all planes
	struct load_plane planes[];
};

// Bytes that the shares of a QP take; 0 without them.
uint64_t load_bytes(const struct path_shape *shape);

// Starts them in `memory` of so many bytes, zeroed.
struct load *load_init(const struct path_shape *shape, void *memory);

// Feedback of a packet that took this EV number.
void load_weigh(struct path_set *set, uint32_t index, bool is_marked);

// Whether a plane that is open holds its share and more.
bool load_is_above(const struct qp *qp, uint32_t plane);

// Whether marks have taken most of its share from the plane of this EV number, and not from the
// others. What is late or trimmed there is answered by the share: a window that answered it, too,
// would go as slowly as that plane.
static inline bool load_is_slow(const struct path_set *set, uint32_t index)
{
	const struct load *load = set->load;
	if (__builtin_expect(load == NULL, 0))
		return false;
	uint32_t planes = set->shape->planes;
	return LOAD_SLOW * planes * load->planes[index % planes].weight < load->weights;
}

// Data leave by a plane, or are no longer held in flight.
static inline void load_add(struct path_set *set, uint32_t plane, uint32_t bytes)
{
	if (__builtin_expect(set->load != NULL, 0))
		set->load->planes[plane].flying += bytes;
}

static inline void load_take(struct path_set *set, uint32_t index, uint32_t bytes)
{
	if (__builtin_expect(set->load != NULL, 0))
		set->load->planes[index % set->shape->planes].flying -= bytes;
}

// Whether the QP leaves the line of `plane` to others, or idle.
static inline bool load_is_full(const struct qp *qp, uint32_t plane)
{
	return __builtin_expect(qp->path.load != NULL, 0) && load_is_above(qp, plane);
}
