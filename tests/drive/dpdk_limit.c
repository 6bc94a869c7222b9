// SPDX-License-Identifier: Apache-2.0
// Pools that run dry under ring ports: a limit that ends the run and is named, never a check. DPDK
// keeps more frames than the world has packets, and packets go back to their pool when they become
// frames, so more is on cables here than virtual time would ever let there be.

#include "../rig.h"

#define NICS 320
#define WORLD \
	"name: limit\nfabric: {nics: 320, nics_per_t0: 16, t1_count: 16, planes: 1, link_rate: " \
	"400Gb/s}\ntransport: {completion: sack}\ntraffic: {kind: permutation, bytes: 16KiB}\n" \
	"limits: {packets: 64, memory: 256MiB}\n"
#define ONE_PACKET_EACH "cc: {algorithm: fixed, window: 4258B}\n"

static struct run run_with_rings(const char *yaml)
{
	static const struct sim_options options = {.lanes = 1, .ports = {.kind = PORTS_RING}};
	static struct rig rig;
	rig_run_with(&rig, yaml, NULL, &options);
	assert_int_equal(rig.world_instance.world.packets.capacity, 64);
	struct run run = rig.run;
	world_instance_free(&rig.world_instance);
	return run;
}

// A frame on each of 320 cables at once: as many lists with entries, five times the packets.
static void more_lists_than_packets_are_held(void **state)
{
	struct run run = run_with_rings(WORLD ONE_PACKET_EACH);
	assert_int_equal(run.end, RUN_DONE);
	assert_true(run.is_drained);
	assert_int_equal(run.held, 0);
	assert_int_equal(run.payload_bytes_good, NICS * 16384);
	assert_int_equal(run.payload_bytes_wrong, 0);
}

static void frames_that_run_out_are_a_limit(void **state)
{
	struct run run = run_with_rings(WORLD "cc: {algorithm: fixed, window: 17032B}\n");
	assert_int_equal(run.end, RUN_LIMIT);
	assert_string_equal(run.limit_option, "limits.packets");
	assert_true(run.held > 64); // all of it on cables and in queues, and accounted for
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_lists_than_packets_are_held),
		cmocka_unit_test(frames_that_run_out_are_a_limit),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	dpdk_stop();
	return failed;
}
