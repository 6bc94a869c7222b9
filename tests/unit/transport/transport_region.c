// SPDX-License-Identifier: Apache-2.0
// The table of memory regions: what may be registered, and what is found in it.
#include "transport_bench.h"

#include <errno.h>

static uint64_t memory[1 << 12];

static struct region_table table_of(uint32_t count_max)
{
	struct region_table table = {0};
	struct arena arena;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(region_init(&table, &arena, count_max), 0);
	assert_int_equal(arena.drawn_bytes[ARENA_TRANSPORT], region_bytes(count_max));
	return table;
}

static void each_key_is_found_and_no_other(void **state)
{
	(void)state;
	struct region_table table = table_of(8);
	const uint32_t keys[8] = {0, 1, 17, 33, 0x80000001, UINT32_MAX, 16, 0x10000};
	for (uint32_t i = 0; i < 8; i++) {
		assert_null(region_find(&table, keys[i]));
		assert_int_equal(region_add(&table, keys[i], 1000 * i, 100 + i), 0);
	}
	for (uint32_t i = 0; i < 8; i++) {
		const struct region *region = region_find(&table, keys[i]);
		assert_non_null(region);
		assert_int_equal(region->va, 1000 * i);
		assert_int_equal(region->bytes, 100 + i);
	}
	assert_null(region_find(&table, 2));
	assert_null(region_find(&table, 49));
}

static void a_key_is_given_once_and_a_full_table_says_so(void **state)
{
	(void)state;
	struct region_table table = table_of(2);
	assert_int_equal(region_add(&table, 5, 0, 1), 0);
	assert_int_equal(region_add(&table, 5, 100, 1), -EEXIST);
	assert_int_equal(region_add(&table, 9, 0, 1), 0);
	assert_int_equal(region_add(&table, 6, 0, 1), -ENOSPC);
	assert_int_equal(region_add(&table, 9, 0, 1), -EEXIST);
	assert_null(region_find(&table, 6));
	struct region_table none = table_of(0);
	assert_int_equal(region_add(&none, 1, 0, 1), -ENOSPC);
	assert_null(region_find(&none, 1));
}

static void a_region_is_neither_empty_nor_wraps(void **state)
{
	(void)state;
	struct region_table table = table_of(4);
	assert_int_equal(region_add(&table, 1, 7, 0), -EINVAL);
	assert_int_equal(region_add(&table, 1, 2, UINT64_MAX), -EINVAL);
	assert_int_equal(region_add(&table, 1, UINT64_MAX, 2), -EINVAL);
	assert_int_equal(region_add(&table, 1, UINT64_MAX, 1), 0);
	assert_int_equal(region_add(&table, 2, 1, UINT64_MAX), 0);
}

static void a_region_holds_what_lies_in_it_whole(void **state)
{
	(void)state;
	const struct region region = {.va = 1000, .bytes = 100};
	assert_true(region_holds(&region, 1000, 1));
	assert_true(region_holds(&region, 1000, 100));
	assert_true(region_holds(&region, 1099, 1));
	assert_false(region_holds(&region, 1000, 101));
	assert_false(region_holds(&region, 999, 1));
	assert_false(region_holds(&region, 999, 50));
	assert_false(region_holds(&region, 1099, 2));
	assert_false(region_holds(&region, 1100, 1));
	assert_false(region_holds(&region, UINT64_MAX, 1));
	assert_false(region_holds(&region, 1050, UINT64_MAX));
	const struct region top = {.va = UINT64_MAX - 99, .bytes = 100};
	assert_true(region_holds(&top, UINT64_MAX, 1));
	assert_false(region_holds(&top, UINT64_MAX, 2));
	assert_false(region_holds(&top, 0, 1));
}

// However keys meet in the table: those that stay are found, those that went are not.
static void what_is_removed_is_gone_and_the_others_stay(void **state)
{
	(void)state;
	struct region_table table = table_of(8);
	struct rng rng = rng_of(1, RNG_TEST, 0);
	bool is_there[24] = {false};
	uint32_t count = 0;
	assert_int_equal(region_remove(&table, 3), -ENOENT);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t number = rng_below(&rng, 24), rkey = number * 5 % 7 << 3 | number / 7;
		rkey = number % 3 == 0 ? number << 8 | 15 : rkey + (number << 16);
		if (is_there[number])
			assert_int_equal(region_remove(&table, rkey), 0);
		else if (count < 8)
			assert_int_equal(region_add(&table, rkey, number, 1 + number), 0);
		else
			assert_int_equal(region_add(&table, rkey, number, 1), -ENOSPC);
		if (is_there[number] || count < 8) {
			is_there[number] = !is_there[number];
			count += is_there[number] ? 1 : UINT32_MAX;
		}
		const struct region *region = region_find(&table, rkey);
		assert_int_equal(region != NULL, is_there[number]);
		for (uint32_t at = 0, seen = 0; at <= table.mask; at++) {
			seen += table.places[at].bytes != 0;
			assert_true(at < table.mask || seen == count);
			if (table.places[at].bytes != 0)
				assert_ptr_equal(region_find(&table, table.places[at].rkey),
						 &table.places[at]);
		}
	}
}
