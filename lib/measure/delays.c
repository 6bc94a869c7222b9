// SPDX-License-Identifier: Apache-2.0
// The histograms of packets, in one place. Those that many share a run's memory with (planes, EVs)
// have two digits, those of classes three.

#include <weft/measure_delay.h>

#include <errno.h>
#include <string.h>

#include <weft/check.h>
#include <weft/measure_add.h>

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

// EVs that are told apart.
static uint32_t told_of(const struct delays *delays)
{
	return delays->evs < DELAY_EVS_MAX ? delays->evs : DELAY_EVS_MAX;
}

int delays_init(struct delays *delays, struct arena *arena, uint32_t planes, uint32_t evs)
{
	check(planes <= PLANES_MAX);
	evs = evs <= DELAY_EVS_MAX ? evs : DELAY_EVS_MAX + 1;
	*delays = (struct delays){.planes = planes, .evs = evs};
	int rc = draw(delays->one_way_ns, PAIR_CLASS_COUNT, arena, CLASS_DIGITS, NS_MAX);
	rc |= draw(delays->one_way_path_ns, told_of(delays), arena, PART_DIGITS, NS_MAX);
	rc |= draw(delays->one_way_path_ns + DELAY_EVS_MAX, planes, arena, PART_DIGITS, NS_MAX);
	rc |= draw(delays->one_way_plane_ns, planes, arena, PART_DIGITS, NS_MAX);
	rc |= draw(&delays->one_way_evs_ns, 1, arena, PART_DIGITS, NS_MAX);
	rc |= draw(delays->rtt_plane_ns, planes, arena, PART_DIGITS, NS_MAX);
	rc |= draw(delays->rtt_ev_ns, evs, arena, PART_DIGITS, NS_MAX);
	rc |= draw(&delays->order_packets, 1, arena, COUNT_DIGITS, PACKETS_MAX);
	rc |= draw(&delays->incast, 1, arena, COUNT_DIGITS, PACKETS_MAX);
	check(rc < 0 ||
	      (delays->one_way_ns[0].half_bits == DELAY_CLASS_BITS &&
	       (planes == 0 || delays->one_way_plane_ns[0].half_bits == DELAY_PART_BITS)));
	return rc == 0 ? 0 : -ENOMEM;
}

void delays_visit(struct delays *delays, void (*visit)(void *context, struct hist *hist),
		  void *context)
{
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		visit(context, &delays->one_way_ns[i]);
	for (uint32_t i = 0; i < delays->planes; i++) {
		visit(context, &delays->one_way_path_ns[DELAY_EVS_MAX + i]);
		visit(context, &delays->rtt_plane_ns[i]);
	}
	for (uint32_t i = 0; i < told_of(delays); i++)
		visit(context, &delays->one_way_path_ns[i]);
	for (uint32_t i = 0; i < delays->evs; i++)
		visit(context, &delays->rtt_ev_ns[i]);
	visit(context, &delays->order_packets);
	visit(context, &delays->incast);
}

static void empty_one(void *context, struct hist *hist)
{
	(void)context;
	hist_empty(hist);
}

void delays_empty(struct delays *delays)
{
	delays_visit(delays, empty_one, NULL);
	memset(delays->ways, 0, sizeof(delays->ways));
	memset(delays->near, 0, sizeof(delays->near));
}

void delays_add_far_way(struct delays *delays, enum pair_class pair, uint32_t path, int64_t ns)
{
	struct way_sum *way = &delays->ways[pair][path];
	struct hist_sum *of = &way->of;
	check(delays->one_way_path_ns[path].counts != NULL);
	hist_add(&delays->one_way_ns[pair], ns);
	hist_add(&delays->one_way_path_ns[path], ns);
	if ((uint64_t)ns < UINT64_C(1) << DELAY_CLASS_BITS || (uint64_t)ns > NS_MAX)
		return;
	of->min = way->usual_count == 0 || ns < of->min ? ns : of->min;
	of->max = way->usual_count == 0 || ns > of->max ? ns : of->max;
	way->class_cells = delays->one_way_ns[pair].counts;
	way->path_cells = delays->one_way_path_ns[path].counts;
	way->usual = (uint64_t)of->min;
	way->usual_count = (uint64_t)(of->max - of->min) + 1;
}

void delays_settle(struct delays *delays)
{
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT * DELAY_PATHS_MAX; i++) {
		uint32_t pair = i / DELAY_PATHS_MAX, path = i % DELAY_PATHS_MAX;
		struct hist_sum *of = &delays->ways[pair][path].of;
		if (of->total == 0)
			continue;
		hist_add_sum(&delays->one_way_ns[pair], of);
		hist_add_sum(&delays->one_way_path_ns[path], of);
		of->total = of->sum = 0;
	}
	for (uint32_t i = 0; i < DELAY_NEAR_MAX; i++) {
		hist_add_many(&delays->order_packets, i, delays->near[i]);
		delays->near[i] = 0;
	}
}

void delays_merge(struct delays *into, const struct delays *from)
{
	check(into->planes == from->planes && into->evs == from->evs);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT * DELAY_PATHS_MAX; i++)
		check(from->ways[i / DELAY_PATHS_MAX][i % DELAY_PATHS_MAX].of.total == 0);
	for (uint32_t i = 0; i < DELAY_NEAR_MAX; i++)
		check(from->near[i] == 0);
	for (uint32_t i = 0; i < PAIR_CLASS_COUNT; i++)
		hist_merge(&into->one_way_ns[i], &from->one_way_ns[i]);
	for (uint32_t i = 0; i < into->planes; i++) {
		hist_merge(&into->one_way_path_ns[DELAY_EVS_MAX + i],
			   &from->one_way_path_ns[DELAY_EVS_MAX + i]);
		hist_merge(&into->rtt_plane_ns[i], &from->rtt_plane_ns[i]);
	}
	for (uint32_t i = 0; i < told_of(into); i++)
		hist_merge(&into->one_way_path_ns[i], &from->one_way_path_ns[i]);
	for (uint32_t i = 0; i < into->evs; i++)
		hist_merge(&into->rtt_ev_ns[i], &from->rtt_ev_ns[i]);
	hist_merge(&into->order_packets, &from->order_packets);
	hist_merge(&into->incast, &from->incast);
}

// EV number i of a profile is of plane i % planes.
void delays_sum(struct delays *delays)
{
	hist_empty(&delays->one_way_evs_ns);
	for (uint32_t plane = 0; plane < delays->planes; plane++) {
		const struct hist *rest = &delays->one_way_path_ns[DELAY_EVS_MAX + plane];
		hist_empty(&delays->one_way_plane_ns[plane]);
		hist_merge(&delays->one_way_plane_ns[plane], rest);
		hist_merge(&delays->one_way_evs_ns, rest);
	}
	for (uint32_t i = 0; i < told_of(delays); i++)
		if (delays->one_way_path_ns[i].total > 0)
			hist_merge(&delays->one_way_plane_ns[i % delays->planes],
				   &delays->one_way_path_ns[i]);
}

void delays_add_rtt(struct delays *delays, uint32_t plane, uint32_t ev, ps_t rtt_ps)
{
	uint32_t cell = ev < delays->evs ? ev : delays->evs - 1;
	struct hist *of_plane = &delays->rtt_plane_ns[plane], *of_ev = &delays->rtt_ev_ns[cell];
	uint64_t ns = (uint64_t)rtt_ps / PS_PER_NS;
	check(plane < delays->planes);
	if (!hist_is_usual(of_plane, ns) || !hist_is_usual(of_ev, ns)) {
		hist_note(of_plane, (int64_t)ns);
		hist_note(of_ev, (int64_t)ns);
		return;
	}
	uint64_t at = hist_cell_in(DELAY_PART_BITS, ns);
	of_plane->counts[at]++;
	of_plane->total++;
	of_plane->sum += ns; // below 2^37 each: 2^27 of them do not fill it
	of_ev->counts[at]++;
	of_ev->total++;
	of_ev->sum += ns;
}
