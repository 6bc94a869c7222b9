// SPDX-License-Identifier: Apache-2.0
// After the start a run over ring ports makes no system call and allocates nothing. A child builds
// the world, then has the kernel kill it at any system call (seccomp) but those that a run makes at
// its two ends, runs, and says how it went; malloc is watched meanwhile. A child that makes a call
// in the middle of its run shows that the watch works. DPDK starts in each child anew.

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../rig.h"
#include "quiet.h"

// How a child ends.
enum word { FINE, REFUSED, NOT_DONE, OTHER_DIGEST, ALLOCATES, NO_FILTER };

// ---------------------------------------------------------------- a child

static const char yaml[] =
	"name: quiet\n"
	"fabric: {topology: clos, nics: 32, nics_per_host: 2, nics_per_t0: 8, t1_count: 4, planes: "
	"2, link_rate: 100Gb/s}\n"
	"scaleup: {rate: 900GB/s, delay: 1us}\n"
	"queue: {bytes: 40000B}\n"
	"transport: {evs: 32, rto: 80us}\n"
	"traffic: {kind: ring, collective: all_reduce, ranks: 32, bytes: 4MiB, channels: 2}\n"
	"faults: [{kind: loss, at: all, probability: 0.5%}]\n"
	"limits: {packets: 30000, memory: 512MiB}\n";

static bool say_nothing(void *context, const struct world *world, const struct run *so_far)
{
	return true;
}

static bool make_a_call(void *context, const struct world *world, const struct run *so_far)
{
	syscall(SYS_getppid);
	return true;
}

static bool allocate(void *context, const struct world *world, const struct run *so_far)
{
	void *volatile block = malloc(10);
	free(block);
	return true;
}

// Memory for DPDK, more than the frames of this world take.
static const char *const words[] = {"-m", "300"};

static int run_quietly(uint32_t lanes, run_progress_fn *progress)
{
	static struct rig truth, rig;
	const struct sim_options options = {
		.progress = progress,
		.lanes = lanes,
		.pace = {.is_on = true, .dilation_milli = 1000, .clock = dpdk_clock_ns},
		.ports = {.kind = PORTS_RING,
			  .dpdk = {.words = words, .word_count = 2, .lanes = lanes}}};
	rig_run(&truth, yaml, NULL);
	if (rig_build_with(&rig, yaml, NULL, &options) < 0) {
		fprintf(stderr, "refused: %s\n", rig.refusal.text);
		return REFUSED;
	}
	if (!forbid_calls(lanes > 1))
		return NO_FILTER;
	is_watching = true;
	sim_run(rig.world_instance.sim, &rig.run);
	is_watching = false;
	if (rig.run.end != RUN_DONE || rig.run.dropped[DROP_RANDOM_LOSS] == 0)
		return NOT_DONE;
	if (rig.run.digest != truth.run.digest || rig.run.payload_bytes_wrong > 0)
		return OTHER_DIGEST;
	return calls == 0 ? FINE : ALLOCATES;
}

// The status of a child that runs so.
static int status_of(uint32_t lanes, run_progress_fn *progress)
{
	int status;
	fflush(NULL);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(run_quietly(lanes, progress));
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void check_fine(int status)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		fail_msg("the run made a system call");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), FINE);
}

// ---------------------------------------------------------------- tests

static void the_watches_see_a_call_and_an_allocation(void **state)
{
	int status = status_of(1, make_a_call);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
	status = status_of(1, allocate);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ALLOCATES);
}

static void a_run_over_ring_ports_makes_no_call(void **state)
{
	check_fine(status_of(1, NULL));
	check_fine(status_of(1, say_nothing));
}

static void two_lanes_make_none_but_to_wake_each_other(void **state)
{
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) != 0 || CPU_COUNT(&set) < 2) {
		printf("one CPU: skipped\n");
		skip();
	}
	int status = status_of(2, make_a_call);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
	check_fine(status_of(2, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_watches_see_a_call_and_an_allocation),
		cmocka_unit_test(a_run_over_ring_ports_makes_no_call),
		cmocka_unit_test(two_lanes_make_none_but_to_wake_each_other),
	};
	if (!can_forbid_calls()) {
		printf("skipped: this kernel, or this CPU, has no seccomp filter\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
