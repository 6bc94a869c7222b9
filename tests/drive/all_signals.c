// SPDX-License-Identifier: Apache-2.0
// Signals between hosts give one run, whoever passes them on: one process or several, in windows of
// any length. The delay is the lookahead.

#include "thread_ranks.h"
#include "truth.h"

#define MATRIX \
	TRUTH_PLANES "transport: {evs: 32, rto: 80us}\ntraffic: {kind: matrix, matrix: rig}\n"

static struct rig truth, rigs[THREAD_RANKS_MAX];

static void signals_cross_ranks(void **state)
{
	rig_run(&truth, MATRIX, NULL);
	assert_int_equal(truth.run.end, RUN_DONE);
	for (uint32_t count = 2; count <= 5; count += 3) {
		thread_ranks_run(rigs, MATRIX, NULL, count);
		truth_same("wait for others", &rigs[0], &truth);
		for (uint32_t i = 0; i < truth.world_instance.world.flow_count; i++)
			assert_int_equal(rigs[0].world_instance.world.flows[i].start_ps,
					 truth.world_instance.world.flows[i].start_ps);
		thread_ranks_free(rigs, count);
	}
	world_instance_free(&truth.world_instance);
}

static void the_delay_bounds_the_window_and_its_length_changes_nothing(void **state)
{
	static const char *const lengths[] = {"limits.window=100ns", "limits.window=99ns",
					      "limits.window=33ns", "limits.window=7ns"};
	rig_run(&truth, MATRIX, NULL);
	assert_int_equal(truth.world_instance.world.window_ps, 100000);
	uint64_t digest = truth.run.digest;
	world_instance_free(&truth.world_instance);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		rig_run(&truth, MATRIX, (const char *const[]){lengths[i], NULL});
		assert_int_equal(truth.run.digest, digest);
		world_instance_free(&truth.world_instance);
	}
	// longer than all cables: these are the lookahead again
	rig_run(&truth, MATRIX, (const char *const[]){"traffic.signal_delay=2us", NULL});
	assert_int_equal(truth.world_instance.world.window_ps, 350000);
	assert_int_not_equal(truth.run.digest, digest);
	world_instance_free(&truth.world_instance);
}
