// SPDX-License-Identifier: Apache-2.0
// Tests of what is measured of packets and queues over time: which histogram a value goes to, and
// that series which halve hold the same as sums and maxima over the raw values.

#define RIG_ARENA_BYTES ((size_t)24 << 20)
#include "measure_rig.h"

#include <weft/core/order.h>
#include <weft/core/rng.h>
#include <weft/measure/measure_delay.h>
#include <weft/measure/measure_link.h>

#define VALUES 20000u

static const struct hist *read_path(const struct paths *paths, uint32_t path)
{
	static struct hist hist;
	static uint64_t counts[1 << 13];
	paths_shape(paths, &hist);
	assert_true(hist.cells <= sizeof(counts) / sizeof(*counts));
	memset(counts, 0, sizeof(counts));
	hist.counts = counts;
	assert_true(paths_read(paths, path, &hist));
	return &hist;
}

static void a_round_trip_goes_to_its_plane_and_its_ev(void **)
{
	struct delays delays;
	assert_int_equal(delays_init(&delays, &arena, 2, 4, 0), 0);
	delays_add_rtt(&delays, 3, 5 * PS_PER_US);
	delays_add_rtt(&delays, 2, 7 * PS_PER_US);
	delays_settle(&delays);
	assert_int_equal(delays.rtt_plane_ns[1].max, 5000);
	assert_int_equal(delays.rtt_paths_ns.sums[3].max, 5000);
	assert_int_equal(delays.rtt_plane_ns[0].max, 7000);
	assert_int_equal(delays.rtt_paths_ns.sums[2].total, 1);
	assert_int_equal(hist_quantile(read_path(&delays.rtt_paths_ns, 2), 500000), 7000);
	assert_int_equal(delays.rtt_paths_ns.sums[0].total + delays.rtt_paths_ns.sums[1].total, 0);
}

static void holds_the_same(const struct hist *a, const struct hist *b)
{
	assert_int_equal(a->total, b->total);
	assert_int_equal(a->over, b->over);
	assert_int_equal(a->sum, b->sum);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	assert_memory_equal(a->counts, b->counts, a->cells * sizeof(*a->counts));
}

// Few paths, which have two digits, and many, which have one. A bucket's cells, log2 of them.
#define EVS_FEW 4u
#define EVS_MANY (2 * PATHS_FINE_MAX)

// Of any size, most of them usual: now and then they are settled, which changes nothing when it is
// done twice.
static void add_ways(struct delays *delays, struct hist *pairs, struct hist *planes,
		     struct hist *paths, uint32_t evs)
{
	struct rng rng = rng_of(13, RNG_TEST, 3);
	for (uint32_t i = 0; i < VALUES; i++) {
		uint32_t pair = (uint32_t)rng_below(&rng, PAIR_CLASS_COUNT);
		uint32_t ev = (uint32_t)rng_below(&rng, EVS_FEW);
		uint32_t path = ev % 2 == 0 ? ev : evs - EVS_FEW + ev; // some at each end
		uint64_t bits = 26 + rng_below(&rng, 38);
		int64_t ns = (int64_t)(rng_next(&rng) >> bits);
		delays_add_one_way(delays, (enum pair_class)pair,
				   delays_path(delays, 0xab000 * evs + path, path % 2), ns);
		hist_add(&pairs[pair], ns);
		hist_add(&planes[path % 2], ns);
		hist_add(&paths[ev], ns);
		if (i % 1000 == 0)
			delays_settle(delays);
	}
	delays_settle(delays);
	delays_settle(delays);
}

static void ways_are_in_all_histograms_as_if_each_were_added(void **)
{
	static struct delays delays;
	struct hist pairs[PAIR_CLASS_COUNT], planes[2], paths[EVS_FEW];
	for (uint32_t evs = EVS_FEW; evs <= EVS_MANY; evs *= EVS_MANY / EVS_FEW) {
		unsigned digits = evs == EVS_FEW ? 2 : 1;
		assert_int_equal(delays_init(&delays, &arena, 2, evs, evs - 1), 0);
		for (int i = 0; i < PAIR_CLASS_COUNT; i++)
			assert_int_equal(hist_init(&pairs[i], &arena, 3, UINT64_C(1) << 36), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(hist_init(&planes[i], &arena, 2, UINT64_C(1) << 36), 0);
		for (uint32_t i = 0; i < EVS_FEW; i++)
			assert_int_equal(hist_init(&paths[i], &arena, digits, UINT64_C(1) << 36),
					 0);
		add_ways(&delays, pairs, planes, paths, evs);
		for (int i = 0; i < PAIR_CLASS_COUNT; i++)
			holds_the_same(&delays.one_way_ns[i], &pairs[i]);
		for (int i = 0; i < 2; i++)
			holds_the_same(&delays.one_way_plane_ns[i], &planes[i]);
		for (uint32_t ev = 0; ev < EVS_FEW; ev++)
			holds_the_same(read_path(&delays.one_way_paths_ns,
						 ev % 2 == 0 ? ev : evs - EVS_FEW + ev),
				       &paths[ev]);
		assert_true(pairs[0].over > 0 && planes[0].min < 1 << DELAY_CLASS_BITS);
	}
}

// The same of round trips and of places behind others.
static void order_and_round_trips_are_as_if_each_were_added(void **)
{
	static struct delays delays;
	struct hist order, rtt;
	struct rng rng = rng_of(13, RNG_TEST, 4);
	assert_int_equal(delays_init(&delays, &arena, 1, 1, 0), 0);
	assert_int_equal(hist_init(&order, &arena, 3, UINT64_C(1) << 16), 0);
	assert_int_equal(hist_init(&rtt, &arena, 2, UINT64_C(1) << 36), 0);
	for (uint32_t i = 0; i < VALUES; i++) {
		uint32_t behind = (uint32_t)rng_below(&rng, 2 * DELAY_NEAR_MAX);
		uint64_t bits = 17 + rng_below(&rng, 30);
		ps_t rtt_ps = (ps_t)(rng_next(&rng) >> bits);
		delays_add_order(&delays, behind);
		delays_add_rtt(&delays, 0, rtt_ps);
		hist_add(&order, behind);
		hist_add(&rtt, rtt_ps / PS_PER_NS);
		if (i % 1000 == 0)
			delays_settle(&delays);
	}
	delays_settle(&delays);
	delays_settle(&delays);
	holds_the_same(&delays.order_packets, &order);
	holds_the_same(&delays.rtt_plane_ns[0], &rtt);
	holds_the_same(read_path(&delays.rtt_paths_ns, 0), &rtt);
	assert_true(rtt.over > 0 && rtt.min < 1 << DELAY_PART_BITS);
	assert_true(order.min < DELAY_NEAR_MAX && order.max > DELAY_NEAR_MAX);
}

static uint32_t seen;

static void count_one(void *, struct hist *hist)
{
	assert_non_null(hist->counts);
	seen++;
}

static void several_add_up_and_are_emptied(void **)
{
	static struct delays one, other;
	assert_int_equal(delays_init(&one, &arena, 1, 1, 0), 0);
	assert_int_equal(delays_init(&other, &arena, 1, 1, 0), 0);
	delays_add_rtt(&one, 0, 5 * PS_PER_US);
	delays_add_rtt(&other, 0, 9 * PS_PER_US);
	delays_settle(&one);
	delays_settle(&other);
	hist_add(&other.one_way_ns[PAIR_ACROSS_T1], 12);
	hist_add(&other.order_packets, 3);
	hist_add(&other.incast, 4);
	delays_merge(&one, &other);
	assert_int_equal(one.rtt_plane_ns[0].total, 2);
	assert_int_equal(one.rtt_paths_ns.sums[0].max, 9000);
	assert_int_equal(read_path(&one.rtt_paths_ns, 0)->total, 2);
	assert_int_equal(one.one_way_ns[PAIR_ACROSS_T1].max, 12);
	assert_int_equal(one.order_packets.max, 3);
	assert_int_equal(one.incast.max, 4);
	seen = 0;
	delays_visit(&one, count_one, NULL);
	assert_int_equal(seen, PAIR_CLASS_COUNT + 2 + 2);
	delays_empty(&one);
	assert_int_equal(one.rtt_plane_ns[0].total + one.order_packets.total, 0);
	assert_int_equal(read_path(&one.rtt_paths_ns, 0)->total, 0);
}

// What a receiver cannot tell counts for its plane alone.
static void a_path_is_a_number_or_a_plane(void **)
{
	static struct delays delays;
	assert_int_equal(delays_init(&delays, &arena, 3, 6, 0), 0);
	assert_int_equal(delays_path(&delays, 5, 2), 2);
	assert_int_equal(delays_init(&delays, &arena, 3, 6, 7), 0);
	assert_int_equal(delays_path(&delays, 0xab00 + 5, 0), 5);
	assert_int_equal(delays.one_way_paths_ns.count, 8);
	delays_add_one_way(&delays, PAIR_SAME_T0, 5, 700);
	delays_add_one_way(&delays, PAIR_SAME_T0, 2, 9000);
	delays_add_one_way(&delays, PAIR_ACROSS_T1, 3, 4000);
	delays_settle(&delays);
	assert_int_equal(delays.one_way_plane_ns[2].total, 2);
	assert_int_equal(delays.one_way_plane_ns[2].min, 700);
	assert_int_equal(delays.one_way_plane_ns[0].max, 4000);
	assert_int_equal(delays.one_way_plane_ns[1].total, 0);
}

// Cells are small: one that has counted past its end is not read as if it had not.
static void a_cell_that_is_full_does_not_tell(void **)
{
	struct paths paths;
	struct hist hist;
	static uint64_t counts[1 << 13];
	assert_int_equal(paths_init(&paths, &arena, 2, UINT64_C(1) << 36), 0);
	const struct hist_sum many = {.total = UINT64_C(1) << 32, .sum = 1, .min = 9, .max = 9};
	paths_add_sum(&paths, 1, &many); // its cell is back at 0
	paths_shape(&paths, &hist);
	hist.counts = counts;
	assert_false(paths_read(&paths, 1, &hist));
	assert_int_equal(hist.total, 0);
	assert_true(paths_read(&paths, 0, &hist));
}

static void more_than_memory_is_refused(void **)
{
	struct delays delays;
	assert_int_equal(delays_init(&delays, &arena, PLANES_MAX, 1000, 1023), -ENOMEM);
}

// Times that lie close at first and far apart later.
static void draw_times(ps_t *times, uint32_t count, struct rng *rng)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bits = 24 + rng_below(rng, 20);
		times[i] = (ps_t)(rng_next(rng) >> bits);
	}
	qsort(times, count, sizeof(*times), order_int64);
}

static void a_queue_over_time_keeps_the_deepest_of_each_bin(void **)
{
	static ps_t times[VALUES];
	static uint32_t bytes[VALUES], most[DEPTH_BINS];
	struct rng rng = rng_of(11, RNG_TEST, 1);
	struct hist hist;
	assert_int_equal(hist_init(&hist, &arena, 2, 1 << 20), 0);
	for (uint32_t count = 1; count <= VALUES; count = count * 5 + 3) {
		struct depth_series series;
		struct depth_watch watch = {&hist, &series};
		depth_series_init(&series);
		draw_times(times, count, &rng);
		memset(most, 0, sizeof(most));
		for (uint32_t i = 0; i < count; i++) {
			bytes[i] = (uint32_t)rng_below(&rng, 1 << 20);
			depth_note(&watch, times[i], bytes[i]);
		}
		assert_true(times[count - 1] / series.bin_ps < DEPTH_BINS);
		assert_true(series.bin_ps == DEPTH_BIN_PS ||
			    times[count - 1] / (series.bin_ps / 2) >= DEPTH_BINS);
		for (uint32_t i = 0; i < count; i++) {
			uint32_t bin = (uint32_t)(times[i] / series.bin_ps);
			most[bin] = bytes[i] > most[bin] ? bytes[i] : most[bin];
		}
		assert_memory_equal(series.most_bytes, most, sizeof(most));
		assert_int_equal(series.at, times[count - 1] / series.bin_ps);
	}
}

// What lasts counts in each bin that it reaches into.
static void a_level_over_time_is_in_every_bin_that_it_lasts_for(void **)
{
	static ps_t times[VALUES];
	static uint32_t levels[VALUES], most[DEPTH_BINS];
	struct rng rng = rng_of(14, RNG_TEST, 5);
	for (uint32_t count = 2; count <= VALUES / 4; count = count * 3 + 1) {
		struct depth_series series;
		depth_series_init(&series);
		draw_times(times, count, &rng);
		memset(most, 0, sizeof(most));
		for (uint32_t i = 0; i < count; i++) {
			levels[i] = (uint32_t)rng_below(&rng, 1000);
			depth_series_hold(&series, times[i], i > 0 ? levels[i - 1] : 0);
			depth_series_note(&series, times[i], levels[i]);
		}
		for (uint32_t i = 0; i < count; i++) {
			ps_t end = i + 1 < count ? times[i + 1] : times[i] + 1;
			uint32_t first = (uint32_t)(times[i] / series.bin_ps);
			uint32_t last = end > times[i] ? (uint32_t)((end - 1) / series.bin_ps)
						       : first;
			for (uint32_t bin = first; bin <= last; bin++)
				most[bin] = levels[i] > most[bin] ? levels[i] : most[bin];
		}
		assert_memory_equal(series.most_bytes, most, sizeof(most));
	}
}

static struct series halving(uint32_t bins)
{
	struct series series;
	assert_int_equal(series_init(&series, &arena, bins, PS_PER_US), 0);
	series.halves = true;
	return series;
}

// Dealt out to three that then add up, it holds what one alone does, and that is the raw sums.
static void counts_over_time_are_the_raw_sums_at_any_width(void **)
{
	enum { BINS = 24, PARTS = 3 };
	static ps_t times[VALUES];
	struct rng rng = rng_of(12, RNG_TEST, 2);
	for (uint32_t round = 0; round < 20; round++) {
		struct series whole = halving(BINS), sum = halving(BINS), parts[PARTS];
		uint64_t raw[BINS] = {0};
		uint32_t count = 1 + (uint32_t)rng_below(&rng, VALUES / 10);
		draw_times(times, count, &rng);
		for (int i = 0; i < PARTS; i++)
			parts[i] = halving(BINS);
		for (uint32_t i = 0; i < count; i++) {
			series_add(&whole, SERIES_PLACED, times[i], i);
			series_add(&parts[rng_below(&rng, PARTS)], SERIES_PLACED, times[i], i);
		}
		for (int i = 0; i < PARTS; i++)
			series_merge(&sum, &parts[i]);
		for (uint32_t i = 0; i < count; i++)
			raw[times[i] / whole.bin_ps] += i;
		assert_int_equal(sum.bin_ps, whole.bin_ps);
		assert_memory_equal(sum.bins, whole.bins, BINS * sizeof(*sum.bins));
		for (uint32_t i = 0; i < BINS; i++)
			assert_int_equal(whole.bins[i][SERIES_PLACED], raw[i]);
		assert_int_equal(whole.after[SERIES_PLACED], 0);
		assert_true(times[count - 1] / whole.bin_ps < BINS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_round_trip_goes_to_its_plane_and_its_ev, rig_open,
						rig_close),
		cmocka_unit_test_setup_teardown(ways_are_in_all_histograms_as_if_each_were_added,
						rig_open, rig_close),
		cmocka_unit_test_setup_teardown(order_and_round_trips_are_as_if_each_were_added,
						rig_open, rig_close),
		cmocka_unit_test_setup_teardown(several_add_up_and_are_emptied, rig_open,
						rig_close),
		cmocka_unit_test_setup_teardown(a_path_is_a_number_or_a_plane, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(a_cell_that_is_full_does_not_tell, rig_open,
						rig_close),
		cmocka_unit_test_setup_teardown(more_than_memory_is_refused, rig_open, rig_close),
		cmocka_unit_test_setup_teardown(a_queue_over_time_keeps_the_deepest_of_each_bin,
						rig_open, rig_close),
		cmocka_unit_test_setup_teardown(a_level_over_time_is_in_every_bin_that_it_lasts_for,
						rig_open, rig_close),
		cmocka_unit_test_setup_teardown(counts_over_time_are_the_raw_sums_at_any_width,
						rig_open, rig_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
