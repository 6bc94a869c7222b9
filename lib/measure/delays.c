// SPDX-License-Identifier: Apache-2.0
// The histograms of packets, in one place. Those that many share a run's memory with (planes, EVs)
// have two digits, those of classes three.

#include <weft/measure/measure_delay.h>

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/measure/measure_add.h>

#define NS_MAX (UINT64_C(1) << 36) // 68 s
#define CLASS_DIGITS 3u
#define PART_DIGITS 2u
#define PACKETS_MAX (UINT64_C(1) << 16) // a QP's window is no wider
#define COUNT_DIGITS 3u

static int draw(struct hist *hists, uint32_t count, struct arena *arena, unsigned digits,
		uint64_t most)
{
	for (uint32_t i = 0; i < count; i++)
		if (hist_init(&hists[i], arena, digits, most) < 0)
			return -ENOMEM;
	return 0;
}

static int draw_one_ways(struct path_delays **ret, struct arena *arena, uint32_t count)
{
	*ret = arena_draw(arena, ARENA_MEASURE, count, sizeof(**ret));
	return *ret == NULL ? -ENOMEM : 0;
}

static int draw_paths(struct delays *delays, struct arena *arena, uint32_t evs)
{
	uint32_t rows = delays->ev_mask != 0 ? delays->ev_mask + 1 : delays->planes;
	uint32_t trips = evs > delays->planes ? evs : delays->planes;
	int rc = paths_init(&delays->one_way_paths_ns, arena, rows, NS_MAX);
	rc |= paths_init(&delays->rtt_paths_ns, arena, trips, NS_MAX);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		rc |= draw_one_ways(&delays->ways[i], arena, rows);
	rc |= draw_one_ways(&delays->trips, arena, trips);
	delays->way_shift = DELAY_CLASS_BITS - delays->one_way_paths_ns.half_bits;
	delays->trip_shift = DELAY_CLASS_BITS - delays->rtt_paths_ns.half_bits;
	return rc;
}

int delays_init(struct delays *delays, struct arena *arena, uint32_t planes, uint32_t evs,
		uint32_t ev_mask)
{
	check(planes <= PLANES_MAX);
	*delays = (struct delays){
		.planes = planes, .ev_mask = ev_mask, .plane_mask = ev_mask != 0 ? 0 : UINT32_MAX};
	int rc = draw(delays->one_way_ns, PAIR_CLASS_COUNT, arena, CLASS_DIGITS, NS_MAX);
	rc |= draw(delays->one_way_plane_ns, planes, arena, PART_DIGITS, NS_MAX);
	rc |= draw(delays->rtt_plane_ns, planes, arena, PART_DIGITS, NS_MAX);
	rc |= draw_paths(delays, arena, evs);
	rc |= draw(&delays->order_packets, 1, arena, COUNT_DIGITS, PACKETS_MAX);
	rc |= draw(&delays->incast, 1, arena, COUNT_DIGITS, PACKETS_MAX);
	check(rc < 0 ||
	      (delays->one_way_ns[0].half_bits == DELAY_CLASS_BITS &&
	       (planes == 0 || delays->one_way_plane_ns[0].half_bits == DELAY_PART_BITS)));
	return rc == 0 ? 0 : -ENOMEM;
}

int delays_init_gaps(struct delays *delays, struct arena *arena)
{
	return draw(delays->gap_ns, PAIR_CLASS_COUNT, arena, CLASS_DIGITS, NS_MAX);
}

void delays_visit(struct delays *delays, void (*visit)(void *context, struct hist *hist),
		  void *context)
{
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		visit(context, &delays->one_way_ns[i]);
	for (uint32_t i = 0; i < delays->planes; i++) {
		visit(context, &delays->one_way_plane_ns[i]);
		visit(context, &delays->rtt_plane_ns[i]);
	}
	visit(context, &delays->order_packets);
	visit(context, &delays->incast);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT && delays->gap_ns[i].counts != NULL; i++)
		visit(context, &delays->gap_ns[i]);
}

static void empty_one(void *context, struct hist *hist)
{
	(void)context;
	hist_empty(hist);
}

void delays_empty(struct delays *delays)
{
	uint32_t ways = delays->one_way_paths_ns.count;
	delays_visit(delays, empty_one, NULL);
	paths_empty(&delays->one_way_paths_ns);
	paths_empty(&delays->rtt_paths_ns);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		memset(delays->ways[i], 0, ways * sizeof(**delays->ways));
	memset(delays->trips, 0, delays->rtt_paths_ns.count * sizeof(*delays->trips));
	memset(delays->near, 0, sizeof(delays->near));
}

// ---------------------------------------------------------------- adding

// How many cells a part's first bucket is ahead of where a class's cells, so many bits longer,
// lead.
static uint32_t ahead_of(uint32_t bits, uint32_t half_bits)
{
	return bits << half_bits;
}

// Makes a value that is in range usual from here on; false when it is not.
static bool widen(struct path_delays *path_delays, uint64_t ns)
{
	if (ns < UINT64_C(1) << DELAY_CLASS_BITS || ns > NS_MAX)
		return false;
	if (path_delays->usual_count == 0) {
		path_delays->usual = ns;
		path_delays->usual_count = 1;
	} else if (ns < path_delays->usual) {
		path_delays->usual_count += path_delays->usual - ns;
		path_delays->usual = ns;
	} else {
		path_delays->usual_count = ns - path_delays->usual + 1;
	}
	return true;
}

// Where a way counts.
static void place(struct path_delays *path_delays, struct hist *plane, const struct paths *paths,
		  uint32_t path, uint32_t shift)
{
	const uint32_t bits = DELAY_CLASS_BITS - DELAY_PART_BITS;
	path_delays->plane_cells = plane->counts + ahead_of(bits, DELAY_PART_BITS);
	path_delays->path_cells = paths_cells(paths, path) + ahead_of(shift, paths->half_bits);
}

bool delays_widen_one_way(struct delays *delays, enum pair_class pair, uint32_t path, int64_t ns)
{
	struct path_delays *path_delays = &delays->ways[pair][path];
	struct paths *paths = &delays->one_way_paths_ns;
	struct hist *plane = &delays->one_way_plane_ns[path % delays->planes];
	check(path < paths->count);
	if (!widen(path_delays, (uint64_t)ns)) {
		hist_add(&delays->one_way_ns[pair], ns);
		hist_add(plane, ns);
		paths_add(paths, path, ns);
		return false;
	}
	path_delays->class_cells = delays->one_way_ns[pair].counts;
	place(path_delays, plane, paths, path, delays->way_shift);
	return true;
}

static __attribute__((noinline)) bool widen_trip(struct delays *delays, uint32_t path, int64_t ns)
{
	struct hist *plane = &delays->rtt_plane_ns[path % delays->planes];
	check(path < delays->rtt_paths_ns.count);
	if (!widen(&delays->trips[path], (uint64_t)ns)) {
		hist_add(plane, ns);
		paths_add(&delays->rtt_paths_ns, path, ns);
		return false;
	}
	place(&delays->trips[path], plane, &delays->rtt_paths_ns, path, delays->trip_shift);
	return true;
}

void delays_add_rtt(struct delays *delays, uint32_t path, ps_t rtt_ps)
{
	struct path_delays *path_delays = &delays->trips[path];
	uint64_t ns = (uint64_t)rtt_ps / PS_PER_NS;
	if (__builtin_expect(ns - path_delays->usual >= path_delays->usual_count, 0) &&
	    !widen_trip(delays, path, (int64_t)ns))
		return;
	delay_count(path_delays, hist_cell_in(DELAY_CLASS_BITS, ns), delays->trip_shift, ns);
}

// ---------------------------------------------------------------- reading

// Adds what a way counted to the histograms of its class, unless that is NULL, its plane and path.
static void settle_path(struct path_delays *path_delays, struct hist *class_ns, struct hist *plane,
			struct paths *paths, uint32_t path)
{
	const struct hist_sum sum = {
		.total = path_delays->total,
		.sum = path_delays->sum,
		.min = (int64_t)path_delays->usual,
		.max = (int64_t)(path_delays->usual + path_delays->usual_count) - 1};
	if (path_delays->total == 0)
		return;
	if (class_ns != NULL)
		hist_add_sum(class_ns, &sum);
	hist_add_sum(plane, &sum);
	paths_add_sum(paths, path, &sum);
	path_delays->total = path_delays->sum = 0;
}

void delays_settle(struct delays *delays)
{
	struct paths *paths = &delays->one_way_paths_ns;
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		for (uint32_t path = 0; path < paths->count; path++)
			settle_path(&delays->ways[i][path], &delays->one_way_ns[i],
				    &delays->one_way_plane_ns[path % delays->planes], paths, path);
	paths = &delays->rtt_paths_ns;
	for (uint32_t path = 0; path < paths->count; path++)
		settle_path(&delays->trips[path], NULL,
			    &delays->rtt_plane_ns[path % delays->planes], paths, path);
	for (uint32_t i = 0; i < DELAY_NEAR_MAX; i++) {
		hist_add_many(&delays->order_packets, i, delays->near[i]);
		delays->near[i] = 0;
	}
}

static void check_settled(const struct delays *delays)
{
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		for (uint32_t path = 0; path < delays->one_way_paths_ns.count; path++)
			check(delays->ways[i][path].total == 0);
	for (uint32_t path = 0; path < delays->rtt_paths_ns.count; path++)
		check(delays->trips[path].total == 0);
	for (uint32_t i = 0; i < DELAY_NEAR_MAX; i++)
		check(delays->near[i] == 0);
}

void delays_merge(struct delays *into, const struct delays *from)
{
	check(into->planes == from->planes && into->ev_mask == from->ev_mask);
	check_settled(from);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		hist_merge(&into->one_way_ns[i], &from->one_way_ns[i]);
	for (uint32_t i = 0; i < into->planes; i++) {
		hist_merge(&into->one_way_plane_ns[i], &from->one_way_plane_ns[i]);
		hist_merge(&into->rtt_plane_ns[i], &from->rtt_plane_ns[i]);
	}
	paths_merge(&into->one_way_paths_ns, &from->one_way_paths_ns);
	paths_merge(&into->rtt_paths_ns, &from->rtt_paths_ns);
	hist_merge(&into->order_packets, &from->order_packets);
	hist_merge(&into->incast, &from->incast);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT && into->gap_ns[i].counts != NULL; i++)
		hist_merge(&into->gap_ns[i], &from->gap_ns[i]);
}
