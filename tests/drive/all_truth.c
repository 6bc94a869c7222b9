// SPDX-License-Identifier: Apache-2.0
// Two drivers, one truth: a scenario gives the same digest, counters and histograms in virtual time
// and paced by a clock, as packets and as frames in memory. Stalls change nothing but the lateness,
// which says so. The same through DPDK is in dpdk_truth.c.

#include <time.h>

#include "truth.h"

#define STALL_NS INT64_C(50000000)

// ---------------------------------------------------------------- all cases

static void frames_change_nothing(void **state)
{
	static const struct sim_options options = {.ports.kind = PORTS_MEMORY};
	truth_hold_all(&options, NULL);
}

static void a_stepped_clock_changes_nothing(void **state)
{
	struct truth_clock clock = {.step_ns = 100};
	struct sim_options options = {.pace = {.is_on = true,
					       .dilation_milli = 1000,
					       .clock = truth_clock_read,
					       .clock_context = &clock}};
	truth_hold_all(&options, &clock);
	options.ports.kind = PORTS_MEMORY;
	truth_hold_all(&options, &clock);
}

static void the_real_clock_changes_nothing(void **state)
{
	struct sim_options options = {.pace = {.is_on = true, .dilation_milli = 10000}};
	truth_hold_all(&options, NULL);
	options.ports.kind = PORTS_MEMORY;
	truth_hold_all(&options, NULL);
}

// ---------------------------------------------------------------- lateness

// Traffic from the first window to the last.
static const struct truth_case busy = {
	"busy",
	"name: truth\nfabric: {nics: 16, nics_per_t0: 4, t1_count: 4, link_rate: 100Gb/s, "
	"nic_delay: "
	"350ns, trunk_delay: 700ns, switch_delay: 140ns}\ntransport: {evs: 32, path: rotate}\n"
	"traffic: {kind: permutation, bytes: 900kB}\n"
	"limits: {packets: 20000, memory: 256MiB, time: 70us, window: 200ns}\n",
	shows_spray, RUN_TIME};

// Runs that case, paced, with frames.
static void run_paced(const struct sim_options *options, struct rig *ret)
{
	static struct rig truth;
	truth_sim(&busy, &truth);
	rig_run_with(ret, busy.yaml, NULL, options);
	truth_same(busy.name, ret, &truth);
	assert_int_equal(ret->run.payload_bytes_wrong, 0);
	assert_int_equal(ret->run.lateness_ns->total, ret->run.hops);
	world_instance_free(&truth.world_instance);
}

// What lateness must say of stalls: a window that was still to come when one began is that much
// less late.
static void check_stalls(const struct rig *rig, uint64_t dilation_milli, int64_t median_ns)
{
	int64_t window_ns = rig->world_instance.world.window_ps * (int64_t)dilation_milli / 1000000;
	printf("lateness p50 %.3f ms, max %.3f ms; gap max %.3f ms; window %.3f ms\n",
	       (double)hist_quantile(rig->run.lateness_ns, 500000) / 1e6,
	       (double)rig->run.lateness_ns->max / 1e6, (double)rig->run.gap_ns->max / 1e6,
	       (double)window_ns / 1e6);
	assert_true(rig->run.gap_ns->max >= STALL_NS);
	assert_true(rig->run.lateness_ns->max >= STALL_NS - window_ns);
	assert_true(hist_quantile(rig->run.lateness_ns, 500000) < median_ns);
}

static void on_a_stepped_clock_frames_are_late_by_its_step(void **state)
{
	static struct rig rig;
	struct truth_clock clock = {.now_ns = 12345, .step_ns = 100};
	const struct sim_options options = {.ports.kind = PORTS_MEMORY,
					    .pace = {.is_on = true,
						     .dilation_milli = 1000,
						     .clock = truth_clock_read,
						     .clock_context = &clock}};
	run_paced(&options, &rig);
	// The reading that lets a window go is late by less than a step, the one after it by one
	// more.
	assert_true(rig.run.lateness_ns->min >= 100 && rig.run.lateness_ns->max < 200);
	assert_true(rig.run.gap_ns->min == 100 && rig.run.gap_ns->max == 100);
	world_instance_free(&rig.world_instance);
}

static void a_clock_that_jumps_changes_nothing_and_the_lateness_says_so(void **state)
{
	static struct rig rig;
	struct truth_clock clock = {.step_ns = 100000, .jump_every = 1500, .jump_ns = STALL_NS};
	const struct sim_options options = {.ports.kind = PORTS_MEMORY,
					    .pace = {.is_on = true,
						     .dilation_milli = 10000000, // 10 us per ns
						     .clock = truth_clock_read,
						     .clock_context = &clock}};
	run_paced(&options, &rig);
	assert_in_range(clock.jumps, 3, 6);
	check_stalls(&rig, options.pace.dilation_milli, 2 * clock.step_ns);
	world_instance_free(&rig.world_instance);
}

static void sleep_ns(int64_t ns)
{
	const struct timespec time = {ns / 1000000000, ns % 1000000000};
	nanosleep(&time, NULL);
}

// Stalls the driver the first two times that it is called.
static bool stall(void *context, const struct world *world, const struct run *so_far)
{
	uint32_t *calls = context;
	if ((*calls)++ < 2)
		sleep_ns(STALL_NS);
	return true;
}

static void stalls_of_50_ms_change_nothing_and_the_lateness_says_so(void **state)
{
	static struct rig rig;
	uint32_t calls = 0;
	const struct sim_options options = {.ports.kind = PORTS_MEMORY,
					    .progress = stall,
					    .progress_context = &calls,
					    .pace = {.is_on = true, .dilation_milli = 7000000}};
	run_paced(&options, &rig);
	assert_true(calls >= 2);
	check_stalls(&rig, options.pace.dilation_milli,
		     INT64_MAX); // a busy machine stalls the rest as well
	world_instance_free(&rig.world_instance);
}
