// SPDX-License-Identifier: Apache-2.0
// What frames cost in DPDK's memory: their bytes, what DPDK keeps beside each, and no more. What
// the pool took beyond that was missing to rings and ports, for some numbers of frames.

#include <rte_malloc.h>

#include "../rig.h"

#define BESIDE 1024 // bytes beside a frame's own, at most: descriptor, headroom, alignment
#define RINGS ((size_t)16 << 20)

static const char world[] =
	"name: memory\nfabric: {nics: 4, planes: 1, nics_per_t0: 2, t1_count: 2}\n"
	"traffic: {kind: permutation, bytes: 64KiB}\nlimits: {packets: 20000, memory: 256MiB}\n";

static size_t taken_of_dpdk(void)
{
	struct rte_malloc_socket_stats stats;
	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.heap_allocsz_bytes;
}

// Frames below a page, a little above one, and of many.
static void a_frame_costs_its_bytes(void **state)
{
	static const char *const sets[][2] = {{"transport.payload=9000B", NULL},
					      {"transport.payload=1024B", NULL},
					      {"transport.payload=4096B", NULL}};
	static const struct sim_options options = {.lanes = 1, .ports = {.kind = PORTS_RING}};
	static struct rig rig;
	size_t before = 0;
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		rig_run_with(&rig, world, sets[i], &options);
		assert_int_equal(rig.run.end, RUN_DONE);
		size_t taken = taken_of_dpdk();
		size_t frames = rig.run.ports.frames, bytes = rig.run.ports.frame_bytes_max;
		printf("%s: %zu frames of %zu bytes take %zu\n", sets[i][0], frames, bytes, taken);
		assert_true(taken > frames * bytes);
		assert_true(taken < frames * (bytes + BESIDE) + RINGS);
		world_instance_free(&rig.world_instance);
		size_t left = taken_of_dpdk();
		assert_true(left < RINGS); // all of it came back
		assert_true(before == 0 || left <= before + ((size_t)1 << 20));
		before = left;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_frame_costs_its_bytes)};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	dpdk_stop();
	return failed;
}
