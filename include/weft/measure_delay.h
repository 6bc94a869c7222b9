// SPDX-License-Identifier: Apache-2.0
// What is measured of single packets when a scenario says `watch.delays`: how long they took, in
// what order they came, from how many at once. Histograms only, so what is in them does not depend
// on who adds it up.
#pragma once

#include <stdint.h>

#include <weft/measure_add.h>

#define DELAY_EVS_MAX 64u // EVs with a histogram of their own; those beyond share one more
#define DELAY_PATHS_MAX (DELAY_EVS_MAX + PLANES_MAX)
#define DELAY_PAIRS_MAX 16384u // pairs of NICs that can be told apart

// Ways of one class over one path, between delays_settle(): their cells are in both histograms,
// their number, sum and extremes are here. A value is usual when it is no new extreme, and so large
// that its cells follow from each other.
struct way_sum {
	uint64_t usual, usual_count;
	struct hist_sum of;
	uint64_t *class_cells, *path_cells; // with usual_count
};

#define DELAY_NEAR_MAX 64u   // places behind that are counted one by one: nearly all
#define DELAY_CLASS_BITS 10u // log2 of the cells of a bucket: three digits
#define DELAY_PART_BITS 7u   // of those of planes and EVs: two digits

struct delays {
	struct way_sum ways[PAIR_CLASS_COUNT][DELAY_PATHS_MAX];
	uint32_t planes, evs; // histograms that were drawn: of planes, of EVs
	// One way: from a data packet's departure at its sender to its arrival, by the clock of the
	// run. Repeats count from their own departure.
	struct hist one_way_ns[PAIR_CLASS_COUNT];
	// By the EV's number in its QP's profile below DELAY_EVS_MAX, and from there on, or where
	// it is not known, by plane: a packet is in one of them. What follows of planes and EVs,
	// delays_sum() says.
	struct hist one_way_path_ns[DELAY_PATHS_MAX];
	struct hist one_way_plane_ns[PLANES_MAX];
	struct hist one_way_evs_ns; // of EVs from DELAY_EVS_MAX on, or those that are not known
	// The number of an EV is what these bits of its value say; 0: they do not say it.
	uint32_t ev_mask;
	// Round trips as congestion control takes them: a data packet out, its answer back.
	struct hist rtt_plane_ns[PLANES_MAX];
	struct hist rtt_ev_ns[DELAY_EVS_MAX + 1]; // by the EV's number in its QP's profile
	// How many packets of its QP with a higher PSN were here before a packet that was new and
	// sent once.
	struct hist order_packets;
	uint64_t near[DELAY_NEAR_MAX]; // those behind so few, by how many, between delays_settle()
	// How many connections were in the middle of a message at a NIC when one more began one,
	// itself included.
	struct hist incast;
};

#ifdef __cplusplus
extern "C" {
#endif

// Draws histograms for `planes` planes and `evs` EVs of a QP. -ENOMEM.
int delays_init(struct delays *delays, struct arena *arena, uint32_t planes, uint32_t evs);

// Takes all values out.
void delays_empty(struct delays *delays);

// A data packet took so long, in nanoseconds, from its departure to its arrival; `path` is
// delays_path().
void delays_add_far_way(struct delays *delays, enum pair_class pair, uint32_t path, int64_t ns);

// The cell for paths of a value that is usual, by the one for classes: three of its bits fewer.
static inline uint64_t delay_part_cell(uint64_t cell)
{
	const uint64_t bits = DELAY_CLASS_BITS - DELAY_PART_BITS;
	return (cell >> bits) + (bits << DELAY_PART_BITS);
}

static inline void delays_add_way(struct delays *delays, enum pair_class pair, uint32_t path,
				  int64_t ns)
{
	struct way_sum *way = &delays->ways[pair][path];
	if (__builtin_expect((uint64_t)ns - way->usual >= way->usual_count, 0)) {
		delays_add_far_way(delays, pair, path, ns);
		return;
	}
	uint64_t cell = hist_cell_in(DELAY_CLASS_BITS, (uint64_t)ns);
	way->class_cells[cell]++;
	way->path_cells[delay_part_cell(cell)]++;
	way->of.total++;
	way->of.sum += (uint64_t)ns; // below 2^37 each: 2^27 of them do not fill it
}

// A packet that was new and sent once came behind so many with a higher PSN.
static inline void delays_add_order(struct delays *delays, uint32_t packets)
{
	if (__builtin_expect(packets < DELAY_NEAR_MAX, 1))
		delays->near[packets]++;
	else
		hist_note(&delays->order_packets, packets);
}

// Puts all one-way times and all of the order where they are read: before a histogram is.
void delays_settle(struct delays *delays);

// Adds all values of `from`, which must have the same planes and EVs (a bug else).
void delays_merge(struct delays *into, const struct delays *from);

// One way by plane, and by EV beyond those that are told apart, anew from one_way_path_ns.
void delays_sum(struct delays *delays);

// Which of one_way_path_ns a packet belongs to.
static inline uint32_t delays_path(const struct delays *delays, uint32_t ev, uint32_t plane)
{
	uint32_t index = ev & delays->ev_mask;
	bool is_told = delays->ev_mask != 0 && index < DELAY_EVS_MAX;
	return is_told ? index : DELAY_EVS_MAX + plane;
}

// Calls `visit` for each histogram that is written while a run goes on, always in the same order.
void delays_visit(struct delays *delays, void (*visit)(void *context, struct hist *hist),
		  void *context);

// A round trip over EV number `ev`, or one that is beyond all profiles, by its plane.
void delays_add_rtt(struct delays *delays, uint32_t plane, uint32_t ev, ps_t rtt_ps);

#ifdef __cplusplus
}
#endif
