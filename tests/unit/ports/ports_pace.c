// SPDX-License-Identifier: Apache-2.0
// Paced time on clocks of the test's own.

#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <weft/ports/pace.h>

// Goes on by a step at each reading; at reading number `jump_at` by a jump too.
struct clock {
	int64_t now_ns, step_ns, jump_ns;
	uint64_t reads, jump_at;
	volatile sig_atomic_t *stop; // set at reading number `stop_at`
	uint64_t stop_at;
};

static int64_t read_clock(void *context)
{
	struct clock *clock = context;
	clock->reads++;
	clock->now_ns += clock->step_ns;
	if (clock->reads == clock->jump_at)
		clock->now_ns += clock->jump_ns;
	if (clock->stop != NULL && clock->reads == clock->stop_at)
		*clock->stop = 1;
	return clock->now_ns;
}

static void start(struct pace *pace, struct clock *clock, uint64_t dilation_milli)
{
	static _Alignas(64) uint8_t memory[1 << 20];
	static struct arena arena;
	const struct pace_options options = {.is_on = true,
					     .dilation_milli = dilation_milli,
					     .clock = read_clock,
					     .clock_context = clock};
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = 0;
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(pace_init(pace, &arena, &options), 0);
	pace_start(pace, 0);
}

static void virtual_time_is_due_by_the_dilation(void **state)
{
	assert_int_equal(pace_due_ns(1000, 0), 0);
	assert_int_equal(pace_due_ns(1000, PS_PER_US), 1000);
	assert_int_equal(pace_due_ns(2500, PS_PER_US), 2500);
	assert_int_equal(pace_due_ns(1000, 1999), 1); // rounded down: never late by rounding up
	assert_int_equal(pace_due_ns(0, PS_PER_US), 0);
	// 100 s of virtual time, a million times slower: the product has 87 bits.
	assert_int_equal(pace_due_ns(1000000000, 100 * 1000000 * PS_PER_US),
			 100000000000 * INT64_C(1000000));
}

static void a_wait_ends_at_the_first_look_when_it_is_due(void **state)
{
	struct pace pace;
	struct clock clock = {.now_ns = -5000, .step_ns = 70};
	start(&pace, &clock, 1000);
	int64_t started = clock.now_ns;
	pace_wait(&pace, PS_PER_US, NULL);
	assert_true(clock.now_ns >= started + 1000 && clock.now_ns < started + 1070);
	uint64_t reads = clock.reads;
	pace_wait(&pace, PS_PER_US, NULL); // it is due
	assert_int_equal(clock.reads, reads + 1);
}

static void frames_are_late_by_what_the_clock_says_after_their_window(void **state)
{
	struct pace pace;
	struct clock clock = {.step_ns = 100, .jump_at = 12, .jump_ns = 50000000};
	start(&pace, &clock, 1000);
	pace_wait(&pace, PS_PER_US, NULL); // readings 2 to 11: the last at 1000 after the start
	pace_note(&pace, PS_PER_US, 3);
	assert_int_equal(pace.lateness_ns.total, 3);
	assert_int_equal(pace.lateness_ns.min, 50000100);
	assert_int_equal(pace.lateness_ns.max, 50000100);
	assert_int_equal(pace.gap_ns.max, 50000100);
	pace_note(&pace, 2 * PS_PER_US, 0);
	assert_int_equal(pace.lateness_ns.total, 3); // a window without frames says nothing
	pace_note(&pace, 100000 * PS_PER_US, 2);     // before it is due
	assert_int_equal(pace.lateness_ns.total, 5);
	assert_int_equal(pace.lateness_ns.min, 0);
}

static void a_driver_that_is_behind_does_not_wait(void **state)
{
	struct pace pace;
	struct clock clock = {.step_ns = 100, .jump_at = 2, .jump_ns = 50000};
	start(&pace, &clock, 1000);
	for (ps_t at = PS_PER_US; at <= 40 * PS_PER_US; at += PS_PER_US) {
		uint64_t reads = clock.reads;
		pace_wait(&pace, at, NULL);
		assert_int_equal(clock.reads, reads + 1);
	}
}

static void without_a_dilation_nothing_waits_and_nothing_is_late(void **state)
{
	struct pace pace;
	struct clock clock = {.step_ns = 100};
	start(&pace, &clock, 0);
	pace_wait(&pace, 1000 * PS_PER_US, NULL);
	pace_note(&pace, 1000 * PS_PER_US, 5);
	assert_int_equal(clock.reads, 3);
	assert_int_equal(pace.lateness_ns.total, 0);
	assert_int_equal(pace.gap_ns.total, 2);
}

static void a_stop_ends_a_wait(void **state)
{
	struct pace pace;
	volatile sig_atomic_t stop = 0;
	struct clock clock = {.step_ns = 1, .stop = &stop, .stop_at = 30};
	start(&pace, &clock, 1000);
	pace_wait(&pace, 1000000 * PS_PER_US, &stop);
	assert_int_equal(clock.reads, 30);
}

static void a_clock_that_stands_still_or_goes_back_leaves_no_gap(void **state)
{
	struct pace pace;
	struct clock clock = {.now_ns = 1000000, .step_ns = -10};
	start(&pace, &clock, 0);
	pace_wait(&pace, PS_PER_US, NULL);
	assert_int_equal(pace.gap_ns.total, 1);
	assert_int_equal(pace.gap_ns.max, 0);
}
