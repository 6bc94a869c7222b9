// SPDX-License-Identifier: Apache-2.0
// A device's clock that goes with ours, and those that do not: which stand, go back, step, drift or
// cannot be read, before a run and while it goes. The device's clock is made here.
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <weft/ports/device_clock.h>

#define READINGS 16u
#define BOUND_NS 1000
#define STEP_NS 2000000 // between two readings before a run
#define LOOK_NS 100000000
#define START_NS INT64_C(4000000000000)

// One that shows `ticks` at START_NS and so many more each ns.
static struct made {
	uint64_t ticks;
	double rate;
	int64_t stepped_ns; // added, from now on
} made;

static uint64_t shows(int64_t ns)
{
	double since = (double)(ns - START_NS + made.stepped_ns) * made.rate;
	return made.ticks + (uint64_t)(int64_t)since;
}

// Read somewhere between the two looks at our clock.
static struct clock_reading read_at(int64_t ns, int64_t width_ns)
{
	int64_t within = width_ns > 0 ? rand() % width_ns : 0;
	return (struct clock_reading){ns, ns + width_ns, shows(ns + within)};
}

static bool fit(struct device_clock *ret, int64_t width_ns)
{
	struct clock_reading readings[READINGS];
	for (uint32_t i = 0; i < READINGS; i++)
		readings[i] = read_at(START_NS + i * (int64_t)STEP_NS, width_ns);
	return device_clock_fit(ret, readings, READINGS, BOUND_NS);
}

static void assert_said(const struct device_clock *clock, const char *words)
{
	char said[128];
	device_clock_describe(clock, said, sizeof(said));
	assert_string_equal(said, words);
}

// Ticks of 1 GHz, of 156.25 MHz, and a counter that runs over.
static void one_that_is_steady_is_known_everywhere(void **)
{
	static const struct made kinds[] = {
		{UINT64_C(1) << 60, 1, 0}, {17, 0.15625, 0}, {UINT64_MAX - 1000000, 1.00002, 0}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct device_clock clock;
		made = kinds[i];
		srand(1);
		assert_true(fit(&clock, 200));
		assert_int_equal(clock.readings, READINGS);
		for (int64_t ms = 0; ms < 200; ms += 7) {
			int64_t ns = START_NS + (READINGS - 1) * (int64_t)STEP_NS + ms * 1000000;
			int64_t off = (int64_t)(device_clock_at(&clock, ns) - shows(ns));
			assert_in_range(llabs(off), 0, (uint64_t)(2000 * made.rate));
		}
	}
}

static void one_that_drifts_a_little_is_followed(void **)
{
	struct device_clock clock;
	made = (struct made){0, 1, 0};
	assert_true(fit(&clock, 100));
	for (int i = 1; i <= 100; i++) { // 5 ppm faster than it was
		int64_t ns = START_NS + 30000000 + i * (int64_t)LOOK_NS;
		made.stepped_ns += LOOK_NS / 1000000 * 5;
		const struct clock_reading reading = read_at(ns, 100);
		assert_true(device_clock_check(&clock, &reading));
		assert_in_range(llabs((int64_t)(device_clock_at(&clock, ns) - shows(ns))), 0, 200);
	}
	assert_in_range(clock.drift_ppm * 10, 35, 90);
	assert_int_equal(clock.readings, READINGS + 100);
	assert_int_equal(clock.state, DEVICE_CLOCK_AGREES);
}

static void one_that_steps_is_given_up(void **)
{
	static const int64_t steps[] = {5000000, -37000000000, 60000};
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct device_clock clock;
		made = (struct made){UINT64_C(1) << 62, 1, 0};
		assert_true(fit(&clock, 0));
		struct clock_reading reading = read_at(START_NS + LOOK_NS, 0);
		assert_true(device_clock_check(&clock, &reading));
		made.stepped_ns = steps[i];
		reading = read_at(START_NS + 2 * LOOK_NS, 0);
		assert_false(device_clock_check(&clock, &reading));
		assert_int_equal(clock.state, DEVICE_CLOCK_STEPPED);
		assert_int_equal(clock.off_ns, steps[i]);
		made.stepped_ns = 0; // back again: it is not trusted
		reading = read_at(START_NS + 3 * LOOK_NS, 0);
		assert_false(device_clock_check(&clock, &reading));
	}
	struct device_clock clock;
	made = (struct made){0, 1, 0};
	assert_true(fit(&clock, 0));
	made.stepped_ns = 5000000;
	const struct clock_reading reading = read_at(START_NS + LOOK_NS, 0);
	device_clock_check(&clock, &reading);
	assert_said(&clock, "stepped by 5000000 ns");
}

static void one_that_drifts_too_fast_is_given_up(void **)
{
	struct device_clock clock;
	made = (struct made){0, 1, 0};
	assert_true(fit(&clock, 0));
	made.stepped_ns = 7000; // in 70 ms since the last one: 100 ppm
	const struct clock_reading reading = read_at(START_NS + 30000000 + 70000000, 0);
	assert_false(device_clock_check(&clock, &reading));
	assert_int_equal(clock.state, DEVICE_CLOCK_DRIFTS);
	assert_said(&clock, "drifts: off by 7000 ns since it was read last");
}

static void one_that_is_unsteady_or_stands_is_not_taken(void **)
{
	struct device_clock clock;
	struct clock_reading readings[READINGS];
	made = (struct made){0, 1, 0};
	for (uint32_t i = 0; i < READINGS; i++) {
		made.stepped_ns = i >= READINGS / 2 ? 40000 : 0;
		readings[i] = read_at(START_NS + i * (int64_t)STEP_NS, 0);
	}
	assert_false(device_clock_fit(&clock, readings, READINGS, BOUND_NS));
	assert_int_equal(clock.state, DEVICE_CLOCK_UNSTEADY);
	made = (struct made){99, 0, 0};
	assert_false(fit(&clock, 0));
	assert_said(&clock, "stands, or goes back");
	made = (struct made){UINT64_C(1) << 50, -1, 0};
	assert_false(fit(&clock, 0));
	assert_said(&clock, "stands, or goes back");
}

// A reading that was interrupted says nothing, be the clock where it may.
static void wide_readings_say_nothing(void **)
{
	struct device_clock clock;
	made = (struct made){0, 1, 0};
	assert_false(fit(&clock, BOUND_NS + 1));
	assert_said(&clock, "cannot be read within 1000 ns");
	assert_true(fit(&clock, BOUND_NS));
	made.stepped_ns = 90000;
	struct clock_reading reading = read_at(START_NS + LOOK_NS, 80000);
	assert_true(device_clock_check(&clock, &reading));
	assert_int_equal(clock.readings, READINGS);
	reading = read_at(START_NS + 2 * LOOK_NS, 100);
	assert_false(device_clock_check(&clock, &reading));
}
