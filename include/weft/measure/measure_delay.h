// SPDX-License-Identifier: Apache-2.0
// What is measured of single packets when a scenario says `watch.delays`: how long they took, in
// what order they came, from how many at once. Histograms only, so what is in them does not depend
// on who adds it up.
#pragma once

#include <stdint.h>

#include <weft/measure/measure_paths.h>

#define DELAY_PAIRS_MAX 16384u // pairs of NICs that can have figures of their own

// Times over one path, of one class: between delays_settle() their cells are in the histograms of
// the class, the plane and the path, their number and sum are here. A value is usual when it is no
// new extreme, and so large that its cells follow from each other.
struct path_delays {
	uint64_t usual, usual_count;
	uint64_t total, sum;
	uint64_t *class_cells,
		*plane_cells; // with usual_count; from where delay_part_cell() counts
	uint32_t *path_cells;
};

#define DELAY_NEAR_MAX 64u   // places behind that are counted one by one: nearly all
#define DELAY_CLASS_BITS 10u // log2 of the cells of a bucket: three digits
#define DELAY_PART_BITS 7u   // of those of planes: two digits

struct delays {
	struct path_delays *ways[PAIR_CLASS_COUNT]; // [one_way_paths_ns.count], one way
	struct path_delays *trips;		    // [rtt_paths_ns.count], there and back
	uint32_t planes;
	// The path of a packet one way: the number of its EV in its QP's profile, which these bits
	// of the EV are; or its plane, where they say nothing (0).
	uint32_t ev_mask, plane_mask;
	uint32_t way_shift, trip_shift; // from the cell of a class to that of a path
	// One way: from a data packet's departure at its sender to its arrival, by the clock of the
	// run. Repeats count from their own departure.
	struct hist one_way_ns[PAIR_CLASS_COUNT];
	struct hist one_way_plane_ns[PLANES_MAX];
	struct paths one_way_paths_ns;
	// Round trips as congestion control takes them: a data packet out, its answer back. Paths
	// by number, or by plane where QPs have one each.
	struct hist rtt_plane_ns[PLANES_MAX];
	struct paths rtt_paths_ns;
	// How many packets of its QP with a higher PSN were here before a packet that was new and
	// sent once.
	struct hist order_packets;
	uint64_t near[DELAY_NEAR_MAX]; // those behind so few, by how many, between delays_settle()
	// How many connections were in the middle of a message at a NIC when one more began one,
	// itself included.
	struct hist incast;
	// Between two data packets of a connection at its receiver, with watch.gaps; else without
	// cells.
	struct hist gap_ns[PAIR_CLASS_COUNT];
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws histograms for `planes` planes and for EVs number 0..evs - 1 of a QP, number i of plane i %
// planes. `ev_mask` are the bits of an EV that say its number to a receiver; 0: none do. -ENOMEM.
int delays_init(struct delays *delays, struct arena *arena, uint32_t planes, uint32_t evs,
		uint32_t ev_mask);

// Draws those of gaps. -ENOMEM.
int delays_init_gaps(struct delays *delays, struct arena *arena);

// Takes all values out.
void delays_empty(struct delays *delays);

// Whether a time over a path one way, or there and back, is from here on usual; else it has been
// added.
bool delays_widen_one_way(struct delays *delays, enum pair_class pair, uint32_t path, int64_t ns);

static inline void delay_count(struct path_delays *path_delays, uint64_t cell, uint32_t shift,
			       uint64_t ns)
{
	path_delays->plane_cells[cell >> (DELAY_CLASS_BITS - DELAY_PART_BITS)]++;
	path_delays->path_cells[cell >> shift]++;
	path_delays->total++;
	path_delays->sum += ns; // below 2^37 each: 2^27 of them do not fill it
}

// A data packet took so long, in nanoseconds, from its departure to its arrival; `path` is
// delays_path().
static inline void delays_add_one_way(struct delays *delays, enum pair_class pair, uint32_t path,
				      int64_t ns)
{
	struct path_delays *path_delays = &delays->ways[pair][path];
	if (__builtin_expect((uint64_t)ns - path_delays->usual >= path_delays->usual_count, 0) &&
	    !delays_widen_one_way(delays, pair, path, ns))
		return;
	uint64_t cell = hist_cell_in(DELAY_CLASS_BITS, (uint64_t)ns);
	path_delays->class_cells[cell]++;
	delay_count(path_delays, cell, delays->way_shift, (uint64_t)ns);
}

// Which path a packet one way belongs to.
static inline uint32_t delays_path(const struct delays *delays, uint32_t ev, uint32_t plane)
{
	return (ev & delays->ev_mask) + (plane & delays->plane_mask);
}

// A round trip over EV number `path`, or over that plane where QPs have one path each.
void delays_add_rtt(struct delays *delays, uint32_t path, ps_t rtt_ps);

// A packet that was new and sent once came behind so many with a higher PSN.
static inline void delays_add_order(struct delays *delays, uint32_t packets)
{
	if (__builtin_expect(packets < DELAY_NEAR_MAX, 1))
		delays->near[packets]++;
	else
		hist_note(&delays->order_packets, packets);
}

// Puts all times and all of the order where they are read: before a histogram is.
void delays_settle(struct delays *delays);

// Adds all values of `from`, which must have the same planes and EVs (a bug else).
void delays_merge(struct delays *into, const struct delays *from);

// Calls `visit` for each histogram, but for those of paths, always in the same order.
void delays_visit(struct delays *delays, void (*visit)(void *context, struct hist *hist),
		  void *context);

#ifdef __cplusplus
}
#endif
