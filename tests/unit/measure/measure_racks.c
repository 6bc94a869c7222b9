// SPDX-License-Identifier: Apache-2.0
// Tests of latency by racks: which pair a message belongs to, racks that are put together, sums.

#include <weft/measure/measure_racks.h>

#include "measure_rig.h"

#define NICS 4u // of a rack

static _Alignas(64) uint8_t memory[(size_t)4 << 20];

static struct racks fresh(uint32_t hosts)
{
	struct racks racks;
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(racks_init(&racks, &arena, hosts, NICS, 100), 0);
	return racks;
}

static const struct hist *pair(const struct racks *racks, uint32_t from, uint32_t to)
{
	return &racks->of[from * racks->groups + to];
}

static void a_message_is_of_its_two_racks(void **)
{
	struct racks racks = fresh(3);
	assert_int_equal(racks.groups, 3);
	assert_int_equal(racks.hosts_per_group, 1);
	racks_add(&racks, 0, 2 * NICS, 7);
	racks_add(&racks, 3 * NICS - 1, NICS - 1, 9);
	racks_add(&racks, 2 * NICS, 0, 11);
	assert_int_equal(pair(&racks, 0, 2)->total, 1);
	assert_int_equal(pair(&racks, 0, 2)->max, 7);
	assert_int_equal(pair(&racks, 2, 0)->total, 2);
	assert_int_equal(pair(&racks, 2, 0)->max, 11);
	assert_int_equal(pair(&racks, 0, 1)->total, 0);
}

static void racks_are_put_together_evenly(void **)
{
	static const uint32_t cases[][3] = {{1, 1, 1},	 {16, 16, 1}, {17, 9, 2},
					    {32, 16, 2}, {33, 11, 3}, {8192, 16, 512}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct racks racks = fresh(cases[i][0]);
		assert_int_equal(racks.groups, cases[i][1]);
		assert_int_equal(racks.hosts_per_group, cases[i][2]);
		racks_add(&racks, cases[i][0] * NICS - 1, 0, 1); // the last one has a place
		assert_int_equal(pair(&racks, racks.groups - 1, 0)->total, 1);
	}
}

static void several_add_up_and_are_emptied(void **)
{
	struct racks one = fresh(2), other;
	assert_int_equal(racks_init(&other, &arena, 2, NICS, 100), 0);
	racks_add(&one, 0, NICS, 5);
	racks_add(&other, 0, NICS, 6);
	racks_add(&other, NICS, NICS, 8);
	racks_merge(&one, &other);
	assert_int_equal(pair(&one, 0, 1)->total, 2);
	assert_int_equal(pair(&one, 0, 1)->max, 6);
	assert_int_equal(pair(&one, 1, 1)->total, 1);
	racks_empty(&one);
	assert_int_equal(pair(&one, 0, 1)->total, 0);
	racks_empty(&(struct racks){0}); // where they are not watched
	racks_merge(&(struct racks){0}, &(struct racks){0});
}

static void too_little_memory_is_refused(void **)
{
	struct racks racks;
	assert_int_equal(racks_init(&racks, &arena, RACK_GROUPS_MAX, NICS, UINT64_C(1) << 60),
			 -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_of_its_two_racks),
		cmocka_unit_test(racks_are_put_together_evenly),
		cmocka_unit_test(several_add_up_and_are_emptied),
		cmocka_unit_test(too_little_memory_is_refused),
	};
	return cmocka_run_group_tests(tests, rig_open, rig_close);
}
