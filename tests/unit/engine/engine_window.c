// SPDX-License-Identifier: Apache-2.0
// The active set against a plain list: every mark is met in its window, no window without one is,
// and far machines take one place each however often they are marked.

#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/core/bitmap.h>
#include <weft/core/rng.h>

#include "window.h"

#define MACHINES 70
#define LENGTH_PS 1000
#define SPAN_PS 20000

static _Alignas(64) uint8_t memory[1 << 20];
static ps_t wanted[MACHINES]; // earliest time each machine wants to run, PS_NEVER = none

// Goes to the next window that has a machine in it. False when there is none.
static bool next(struct window_set *set)
{
	int64_t index = window_peek(set);
	if (index == INT64_MAX)
		return false;
	window_go(set, index);
	return true;
}

static void open_set(struct window_set *set)
{
	struct arena arena;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(window_set_init(set, &arena, MACHINES, LENGTH_PS, SPAN_PS), 0);
	for (uint32_t m = 0; m < MACHINES; m++)
		wanted[m] = PS_NEVER;
}

static void want(struct window_set *set, uint32_t machine, ps_t at)
{
	window_mark(set, machine, at);
	wanted[machine] = ps_min(wanted[machine], at);
}

static ps_t first_wanted(void)
{
	ps_t first = PS_NEVER;
	for (uint32_t m = 0; m < MACHINES; m++)
		first = ps_min(first, wanted[m]);
	return first;
}

static void every_mark_is_met_in_its_window(void **state)
{
	struct window_set set;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct rng rng = rng_of(seed, RNG_TEST, 0);
		open_set(&set);
		want(&set, 3, 0);
		for (int step = 0; step < 2000 && first_wanted() != PS_NEVER; step++) {
			assert_true(next(&set));
			assert_true(first_wanted() / LENGTH_PS >= set.index);
			uint64_t *bits = window_bits(&set);
			ps_t end = (set.index + 1) * LENGTH_PS;
			for (uint32_t m = 0; m < MACHINES; m++) {
				bool is_due = wanted[m] < end;
				assert_true(!is_due || bitmap_get(bits, m));
				if (!bitmap_get(bits, m))
					continue;
				bitmap_clear(bits, m);
				if (is_due)
					wanted[m] = PS_NEVER;
				else if (wanted[m] != PS_NEVER)
					window_mark(&set, m, wanted[m]); // as a run says it again
				for (uint32_t n = rng_below(&rng, 4); n > 0 && step < 1500; n--) {
					ps_t ahead = rng_below(&rng, 3) ? rng_below(&rng, 30000)
									: rng_below(&rng, 5000000);
					want(&set, rng_below(&rng, MACHINES), end + ahead);
				}
			}
		}
		while (next(&set)) // stale marks cost a visit, and end
			memset(window_bits(&set), 0, set.words * sizeof(uint64_t));
		assert_int_equal(first_wanted() == PS_NEVER, 1);
	}
}

static void a_far_machine_takes_one_place(void **state)
{
	struct window_set set;
	open_set(&set);
	for (int i = 0; i < 100000; i++)
		window_mark(&set, (uint32_t)i % MACHINES, 1000000000 - i);
	assert_int_equal(set.sleep_heap.count, MACHINES);
	assert_true(next(&set));
	assert_int_equal(set.index, (1000000000 - 99999) / LENGTH_PS);
}
