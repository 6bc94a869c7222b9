// SPDX-License-Identifier: Apache-2.0
// The order of a batch: by time, and at equal time as it was, for short and long lists.

#include "fabric_rig.h"

#include "switch/port.h"

#define COUNT_MAX 700u

// `packet` is the place before sorting, so that a stable order can be told.
static void assert_sorted(const struct arrival *arrivals, uint32_t count)
{
	bool seen[COUNT_MAX] = {false};
	for (uint32_t i = 0; i < count; i++) {
		assert_in_range(arrivals[i].packet, 0, count - 1);
		assert_false(seen[arrivals[i].packet]);
		seen[arrivals[i].packet] = true;
		if (i == 0)
			continue;
		assert_true(arrivals[i - 1].at <= arrivals[i].at);
		if (arrivals[i - 1].at == arrivals[i].at)
			assert_true(arrivals[i - 1].packet < arrivals[i].packet);
	}
}

static void sort_with_ties(uint32_t count, uint32_t times, uint64_t seed)
{
	static struct arrival arrivals[COUNT_MAX], spare[COUNT_MAX];
	struct rng rng = rng_of(seed, RNG_TEST, count);
	for (uint32_t i = 0; i < count; i++)
		arrivals[i] = (struct arrival){rng_below(&rng, times), i, 0};
	batch_sort(&(struct batch){arrivals, spare, count});
	assert_sorted(arrivals, count);
}

static void every_length_is_sorted_and_stable(void **)
{
	for (uint32_t count = 0; count <= COUNT_MAX; count++) {
		sort_with_ties(count, 1000000, 1);
		sort_with_ties(count, 7, 2);
	}
}

// As a switch sees them: one ascending run per in-port, one behind the other.
static void runs_of_in_ports_are_merged(void **)
{
	static struct arrival arrivals[COUNT_MAX], spare[COUNT_MAX];
	for (uint32_t i = 0; i < COUNT_MAX; i++)
		arrivals[i] = (struct arrival){i % 50 * 1000 + i / 50 % 3, i, i / 50};
	batch_sort(&(struct batch){arrivals, spare, COUNT_MAX});
	assert_sorted(arrivals, COUNT_MAX);
	assert_int_equal(arrivals[0].packet, 0);
	assert_int_equal(arrivals[1].packet, 150);
}
