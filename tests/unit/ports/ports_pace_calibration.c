// SPDX-License-Identifier: Apache-2.0
// The dilation that follows from a trial: machines that are even, machines that have bursts, and
// machines that stall.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <weft/core/rng.h>

#include <weft/ports/pace.h>

#define WINDOW_PS (350 * PS_PER_NS)

// The dilation for `windows` windows that cost `k_milli` thousandths of their time, each with a
// frame.
static uint64_t even(uint32_t windows, int64_t k_milli)
{
	struct pace_calibration *calibration = pace_calibration_create();
	assert_non_null(calibration);
	for (uint32_t i = 1; i <= windows; i++)
		pace_calibration_add(calibration, i * WINDOW_PS, 350 * k_milli / 1000, 1);
	uint64_t dilation = pace_calibration_dilation(calibration);
	pace_calibration_free(calibration);
	return dilation;
}

static void no_calibration_is_real_time(void **state)
{
	assert_int_equal(even(0, 0), 1000);
}

static void a_machine_that_keeps_up_runs_in_real_time(void **state)
{
	assert_int_equal(even(100000, 0), 1000);
	assert_int_equal(even(100000, 500), 1000);
	assert_int_equal(even(100000, 980), 1000);
}

static void a_machine_that_takes_k_times_as_long_gets_k_and_a_quarter(void **state)
{
	static const int64_t ks[] = {2000, 3000, 10000, 77000, 1000000};
	for (size_t i = 0; i < sizeof(ks) / sizeof(*ks); i++) {
		uint64_t dilation = even(1000000, ks[i]); // 350 ms of virtual time
		printf("k %lld: %llu\n", (long long)ks[i], (unsigned long long)dilation);
		// A millisecond may be lost over all of it, and the search stops at a thousandth.
		assert_in_range(dilation, (uint64_t)ks[i] * 1225 / 1000,
				(uint64_t)ks[i] * 1255 / 1000);
	}
}

static void a_short_calibration_may_be_a_millisecond_late(void **state)
{
	// 100 windows are 35 us; at 20 times their time they are done 0.7 ms after it.
	assert_int_equal(even(100, 20000), 1000);
	assert_true(even(100, 40000) > 1000);
}

static void a_slower_machine_never_gets_less(void **state)
{
	uint64_t last = 0;
	for (int64_t k = 100; k < 1000000; k += k / 7) {
		uint64_t dilation = even(20000, k);
		assert_true(dilation >= last);
		last = dilation;
	}
	assert_true(last > 500000);
}

// ---------------------------------------------------------------- bursts

struct burst {
	ps_t at, end;
	int64_t cost_ns; // of a window in it
	uint64_t frames; // that it lets go
};

// The dilation of 200 ms in windows of 1 us with a frame each, for nothing but in the burst.
static uint64_t with_burst(const struct burst *burst)
{
	struct pace_calibration *calibration = pace_calibration_create();
	assert_non_null(calibration);
	for (ps_t at = PS_PER_US; at <= 200000 * PS_PER_US; at += PS_PER_US) {
		bool is_in = at > burst->at && at <= burst->end;
		pace_calibration_add(calibration, at, is_in ? burst->cost_ns : 0,
				     is_in ? burst->frames : 1);
	}
	uint64_t dilation = pace_calibration_dilation(calibration);
	pace_calibration_free(calibration);
	return dilation;
}

static void a_burst_with_few_frames_counts_for_nothing(void **state)
{
	// 1 ms of 200 takes 2 ms: a millisecond late at most.
	struct burst burst = {50000 * PS_PER_US, 51000 * PS_PER_US, 2000, 1};
	assert_int_equal(with_burst(&burst), 1000);
	// 1 ms takes 2.5 ms, and is caught up with at once: under one in a hundred frames is late.
	burst.cost_ns = 2500;
	assert_int_equal(with_burst(&burst), 1000);
}

static void a_burst_with_many_frames_counts(void **state)
{
	struct burst burst = {50000 * PS_PER_US, 51000 * PS_PER_US, 20000, 1000};
	uint64_t many = with_burst(&burst); // 1 ms takes 20 ms, and has most of the frames
	// Of it 1 ms may be late: 19 ms in 1 ms, and a quarter more.
	assert_in_range(many, 22000, 25100);
	burst.frames = 1;
	assert_true(with_burst(&burst) < many);
}

static void a_stall_counts_once_and_is_caught_up_with(void **state)
{
	// One window that takes 50 ms: at real time all frames of the next 49 ms are late, a
	// quarter.
	struct burst burst = {100000 * PS_PER_US, 100001 * PS_PER_US, 50000000, 1};
	uint64_t dilation = with_burst(&burst);
	// 49 ms must go by while 2 of 200 ms pass: 25 times slower, and a quarter more.
	printf("after a stall of 50 ms: %llu\n", (unsigned long long)dilation);
	assert_in_range(dilation, 25000, 35000);
}

static void a_clock_that_goes_back_costs_nothing(void **state)
{
	struct burst burst = {50000 * PS_PER_US, 60000 * PS_PER_US, -1000000, 1};
	assert_int_equal(with_burst(&burst), 1000);
}

// ---------------------------------------------------------------- long trials

static void a_long_calibration_says_the_same_as_a_short_one(void **state)
{
	// 4096 slices of 1 us are 4 ms; this is 35 s, so slices double 14 times. Windows are short
	// beside a slice, as they are in runs: one that lies across two counts for the latter.
	struct pace_calibration *calibration = pace_calibration_create();
	assert_non_null(calibration);
	for (int64_t i = 1; i <= 700000; i++)
		pace_calibration_add(calibration, i * 50 * PS_PER_US, 250000, 10);
	assert_in_range(pace_calibration_dilation(calibration), 5000 * 1225 / 1000,
			5000 * 1255 / 1000);
	pace_calibration_free(calibration);
}

static void random_trials_give_what_holds_in_them(void **state)
{
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 4);
		struct pace_calibration *trials[2] = {pace_calibration_create(),
						      pace_calibration_create()};
		uint32_t windows = 1 + rng_below(&rng, 20000), mean_ns = 1 + rng_below(&rng, 9000);
		ps_t at = 0;
		for (uint32_t i = 0; i < windows; i++) {
			int64_t cost_ns = rng_below(&rng, 2 * mean_ns);
			uint64_t frames = rng_below(&rng, 50);
			at += WINDOW_PS * (1 + rng_below(&rng, 20)); // idle windows are jumped
			pace_calibration_add(trials[0], at, cost_ns, frames);
			pace_calibration_add(trials[1], at, 2 * cost_ns, frames);
		}
		uint64_t once = pace_calibration_dilation(trials[0]);
		uint64_t twice = pace_calibration_dilation(trials[1]);
		assert_true(once >= 1000 && twice >= once);
		assert_int_equal(pace_calibration_dilation(trials[0]),
				 once); // asking changes nothing
		// Real time and what all windows cost together, and a quarter more, is enough.
		assert_true(once <= 1250 +
				    1250 * (uint64_t)windows * 2 * mean_ns /
					    ((uint64_t)at / PS_PER_NS) * 2);
		pace_calibration_free(trials[0]);
		pace_calibration_free(trials[1]);
	}
}
