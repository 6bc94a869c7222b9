// SPDX-License-Identifier: Apache-2.0
// Steady states of rings that lie in several processes: all jump at the same window, over the same
// steps, and the run is that of one process with jumps, to the packet. The processes are threads
// here, each with a world of its own.

#include <weft/scenario/world_fast_forward.h>

#include "../sanitized.h"
#include "thread_ranks.h"
#include "truth.h"

#define RANKS_MAX 4

static struct rig truth, rigs[RANKS_MAX];

static void assert_same_skips(const char *name, const struct world_fast_forward *is,
			      const struct world_fast_forward *should)
{
	if (memcmp(is, should, sizeof(*is)) == 0)
		return;
	fail_msg("%s: %llu jumps over %llu steps, %lld ps, %llu packets; should be %llu, %llu, "
		 "%lld, %llu",
		 name, (unsigned long long)is->jumps, (unsigned long long)is->steps,
		 (long long)is->time_ps, (unsigned long long)is->packets,
		 (unsigned long long)should->jumps, (unsigned long long)should->steps,
		 (long long)should->time_ps, (unsigned long long)should->packets);
}

// Runs it by one process and by `count`. Returns what was jumped over.
static struct world_fast_forward hold(const char *yaml, const char *const *sets, uint32_t count)
{
	const char *all[RIG_SETS_MAX] = {"fast_forward.steady=true"};
	char name[128];
	for (uint32_t i = 0; sets != NULL && sets[i] != NULL; i++)
		all[i + 1] = sets[i];
	snprintf(name, sizeof(name), "%s, %u ranks", sets == NULL ? "as it is" : sets[0], count);
	rig_run(&truth, yaml, all);
	assert_int_equal(truth.run.end, RUN_DONE);
	thread_ranks_run(rigs, yaml, all, count);
	truth_same(name, &rigs[0], &truth);
	struct world_fast_forward should = *truth.world_instance.world.skipped;
	assert_same_skips(name, rigs[0].world_instance.world.skipped, &should);
	for (uint32_t i = 0; i < truth.outcome->collective_count; i++) {
		struct outcome_collective a = rigs[0].outcome->collectives[i];
		struct outcome_collective b = truth.outcome->collectives[i];
		truth_count(name, "time of a collective", (uint64_t)a.whole_ps,
			    (uint64_t)b.whole_ps);
		truth_count(name, "its error", (uint64_t)a.whole_error_ps,
			    (uint64_t)b.whole_error_ps);
		truth_count(name, "its steps that were skipped", a.steps_skipped, b.steps_skipped);
	}
	for (uint32_t i = 1; i < count; i++) {
		const struct world_fast_forward *other = rigs[i].world_instance.world.skipped;
		truth_count(name, "jumps of another rank", other->jumps, should.jumps);
		truth_count(name, "its time that was skipped", (uint64_t)other->time_ps,
			    (uint64_t)should.time_ps);
		truth_count(name, "its windows", rigs[i].run.windows, truth.run.windows);
	}
	thread_ranks_free(rigs, count);
	world_instance_free(&truth.world_instance);
	return should;
}

#define RING \
	"name: ring\nfabric: {topology: clos, nics: 32, nics_per_host: 1, planes: 2, " \
	"link_rate: 100Gb/s, nics_per_t0: 8, t1_count: 8}\ntransport: {evs: 64}\n" \
	"traffic: {kind: ring, collective: reduce_scatter, bytes: 8MiB, channels: 2}\n" \
	"fast_forward: {block: 4, fill: 3, tolerance: 4%}\n"

// With sanitizers one is enough.
static size_t cases(size_t all)
{
	return is_sanitized() ? 1 : all;
}

static void rings_jump_as_in_one_process(void **)
{
	static const char *const kinds[][7] = {
		{"traffic.bytes=8MiB", NULL},
		{"traffic.collective=all_reduce", NULL},
		{"transport.qps_per_connection=2", "traffic.bytes=16MiB", NULL},
		{"fabric.nics_per_host=4", "scaleup.rate=900GB/s", "traffic.bytes=32MiB", NULL},
		{"traffic.jobs=2", "traffic.placement=spread", "fast_forward.block=2",
		 "fast_forward.fill=2", "fast_forward.tolerance=7%",
		 NULL}, // two rings in all processes
		{"traffic.jobs=2", "traffic.placement=packed", "fast_forward.block=2",
		 "fast_forward.fill=2", "fast_forward.tolerance=7%", NULL}, // one here, one there
	};
	for (size_t i = 0; i < cases(sizeof(kinds) / sizeof(*kinds)); i++) {
		struct world_fast_forward skip = hold(RING, kinds[i], 2 + (uint32_t)i % 3);
		printf("%s: %llu jumps over %llu steps\n", kinds[i][0],
		       (unsigned long long)skip.jumps, (unsigned long long)skip.steps);
		assert_true(skip.jumps >= 1 && skip.steps >= 4 && skip.packets > 0);
	}
}

// The same gathers and reduces again and again, between computations.
static const char job[] =
	"name: job\nfabric: {topology: clos, nics: 128, nics_per_host: 8, planes: 2, link_rate: "
	"100Gb/s, nics_per_t0: 16, t1_count: 16}\nscaleup: {rate: 900GB/s, delay: 3us}\n"
	"sample: {groups: 1}\ntraffic: {kind: model, model: llama-small, channels: 2}\n"
	"fast_forward: {block: 4, fill: 3, tolerance: 4%}\n";

static void whole_collectives_are_jumped_over_by_all(void **)
{
	if (cases(2) == 2) // longer, and nothing of its own to sanitize
		assert_true(hold(job, NULL, 3).collectives >= 1);
}

// What lies in one process alone keeps all from jumping.
static void a_fault_at_one_rank_holds_all_back(void **)
{
	struct world_fast_forward skip = hold(
		RING "faults: [{kind: slow, at: {nic: 3, plane: 0}, rate: 50%, from: 900us, until: "
		     "1100us}]\n",
		NULL, 2);
	assert_int_equal(skip.jumps, 0);
	assert_true(skip.refused[FAST_FORWARD_FAULT] >= 1);
}
