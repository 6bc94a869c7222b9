// SPDX-License-Identifier: Apache-2.0
// Two drivers, one truth, through DPDK's ring ports: the cases of truth.h with one lane and, on a
// machine with two CPUs, with two; over as many ports as there are, over a few queues, and with
// more cables than queues. DPDK can be started once in a process, so all of it is one program.

#include <sched.h>

#include "truth.h"

#define LANES_MAX 2

// Memory for the largest of these worlds: the first one starts DPDK.
static const char *const words[] = {"-m", "256"};

static uint32_t cpus; // DPDK binds this thread to one of them when it starts

static void count_cpus(void)
{
	cpu_set_t set;
	cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

// Ring ports for runs of `lanes` lanes.
static struct sim_options ring_options(uint32_t lanes)
{
	return (struct sim_options){.lanes = lanes,
				    .ports = {.kind = PORTS_RING,
					      .dpdk = {.words = words,
						       .word_count = 2,
						       .lanes = cpus < LANES_MAX ? 1 : LANES_MAX}}};
}

static void ring_ports_change_nothing(void **state)
{
	struct sim_options options = ring_options(1);
	truth_hold_all(&options, NULL);
}

static void ring_ports_and_two_clocks_change_nothing(void **state)
{
	struct truth_clock clock = {.step_ns = 100};
	struct sim_options options = ring_options(1);
	options.pace = (struct pace_options){.is_on = true,
					     .dilation_milli = 1000,
					     .clock = truth_clock_read,
					     .clock_context = &clock};
	truth_hold_all(&options, &clock);
	options.pace.clock = dpdk_clock_ns;
	options.pace.dilation_milli = 10000;
	truth_hold_all(&options, NULL);
}

static void two_lanes_change_nothing(void **state)
{
	struct sim_options options = ring_options(2);
	if (cpus < 2) {
		printf("one CPU: skipped\n");
		skip();
	}
	truth_hold_all(&options, NULL);
	options.pace = (struct pace_options){
		.is_on = true, .dilation_milli = 10000, .clock = dpdk_clock_ns};
	truth_hold_all(&options, NULL);
}

// ---------------------------------------------------------------- ports and queues

// Runs `test` over `ports` ports and holds it to the truth.
static void hold_over_ports(const struct truth_case *test, uint32_t ports, uint32_t lanes,
			    struct run *ret)
{
	static struct rig truth, rig;
	struct sim_options options = ring_options(lanes);
	options.ports.port_count = ports;
	truth_sim(test, &truth);
	rig_run_with(&rig, test->yaml, NULL, &options);
	truth_same(test->name, &rig, &truth);
	truth_frames(test->name, &rig);
	printf("%s: %u ports, %u queues, up to %u cables share one, %llu frames\n", test->name,
	       rig.run.ports.ports, rig.run.ports.queues, rig.run.ports.cables_per_queue_max,
	       (unsigned long long)rig.run.ports.sent);
	*ret = rig.run;
	world_instance_free(&truth.world_instance);
	world_instance_free(&rig.world_instance);
}

static void any_number_of_ports_gives_the_same(void **state)
{
	static const uint32_t counts[] = {1, 2, 7, 32};
	struct run run;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		hold_over_ports(&truth_cases[3], counts[i], 1, &run);
		assert_int_equal(run.ports.ports, counts[i]);
		assert_true(run.ports.queues <= counts[i] * ports_ring_queues());
	}
}

static void cables_may_share_queues(void **state)
{
	// 64 NICs with 4 ports each and their trunks: 768 cables for at most 512 queues.
	static const struct truth_case wide = {
		"768 cables",
		"name: wide\nfabric: {nics: 64, nics_per_t0: 8, t1_count: 4, planes: 4, link_rate: "
		"100Gb/s}\ntransport: {evs: 32, rto: 80us}\n"
		"traffic: {kind: permutation, bytes: 100kB}\n" TRUTH_LOSS
		"limits: {packets: 20000, memory: 256MiB}\n",
		shows_loss, RUN_DONE};
	struct run run;
	hold_over_ports(&wide, 0, 1, &run);
	assert_int_equal(run.ports.cables_per_queue_max, 2);
	hold_over_ports(&wide, 1, 1, &run);
	assert_int_equal(run.ports.cables_per_queue_max, 48);
	if (cpus >= 2)
		hold_over_ports(&wide, 4, 2, &run);
}

static void more_ports_or_lanes_than_there_are_are_refused(void **state)
{
	static struct rig rig;
	struct sim_options options = ring_options(1);
	options.ports.port_count = ports_ring_max() + 1;
	assert_true(rig_build_with(&rig, truth_cases[0].yaml, NULL, &options) < 0);
	printf("%s\n", rig.refusal.text);
	options = ring_options(1);
	options.ports.dpdk.lanes = options.lanes = LANES_MAX + 1;
	assert_true(rig_build_with(&rig, truth_cases[0].yaml, NULL, &options) < 0);
	printf("%s\n", rig.refusal.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_ports_change_nothing),
		cmocka_unit_test(ring_ports_and_two_clocks_change_nothing),
		cmocka_unit_test(two_lanes_change_nothing),
		cmocka_unit_test(any_number_of_ports_gives_the_same),
		cmocka_unit_test(cables_may_share_queues),
		cmocka_unit_test(more_ports_or_lanes_than_there_are_are_refused),
	};
	count_cpus();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	dpdk_stop();
	return failed;
}
