// SPDX-License-Identifier: Apache-2.0
// A quarter, half and all of the groups of a job whose trunks are as fast as its NICs agree: on how
// long its collectives take, on the step that follows from them, and on quantiles of message
// latency. Without the load of the groups that are left out they could not: a message would take
// two thirds of its time. Tolerance: the stated errors, of both sides. The step's is what it
// becomes longer when collectives are longer by theirs. A quarter of 8 T1 switches are 2; of 4 it
// is one, where collectives come out a sixth too long, and there is no quantile.

#include <errno.h>

#include "../rig.h"
#include <weft/result/figures.h>

#include <weft/world/world_step.h>

static const char job[] =
	"name: sampling\n"
	"fabric: {topology: clos, nics: 32, nics_per_host: 8, planes: 4, link_rate: 100Gb/s, "
	"nics_per_t0: 8, t1_count: 8}\n"
	"scaleup: {rate: 900GB/s, delay: 3us}\n"
	"traffic: {kind: model, model: llama-small, channels: 4, chunk: 2MiB, slices: 2, credits: "
	"4}\n";

#define CELL_BYTES 23601152u // a cell in the middle: each stage has some

struct found {
	double cell_ms, error_ms; // of a gather or reduce of a whole cell; the largest error stated
	double step_ms, step_error_ms;
	struct latency latency; // of messages across T1
};

// The step when collectives are longer than their closed forms by as much as those that ran.
static double step_ms(const struct scenario *scenario, double cell_ps)
{
	static struct world_step world;
	static _Alignas(64) uint8_t memory[1 << 20];
	struct refusal refusal;
	struct arena arena;
	struct step *step;
	struct step_times times;
	assert_int_equal(world_step(&world, scenario, NULL, &refusal), 0);
	double closed_ps = (double)ring_time_ps(&world.setup.dense, CELL_BYTES);
	world.setup.collective_ppb = (int64_t)((cell_ps / closed_ps - 1) * 1e9);
	memset(memory, 0, sizeof(memory));
	arena_init(&arena, memory, sizeof(memory));
	assert_int_equal(step_create(&step, &arena, &world.plan, &refusal), 0);
	step_run(step, &world.setup, &times, NULL);
	return (double)times.step_ps / 1e9;
}

static struct found run(const char *groups, const char *seed, const char *switches)
{
	static struct rig rig;
	struct found found = {0};
	double sum = 0, count = 0;
	rig_run(&rig, job,
		(const char *const[]){groups, "sample.steps=4", "sample.fill=2", seed, switches,
				      NULL});
	assert_int_equal(rig.run.end, RUN_DONE);
	for (uint32_t i = 0; i < rig.outcome->collective_count; i++) {
		const struct outcome_collective *of = &rig.outcome->collectives[i];
		const struct bucket *bucket = &rig.world_instance.world.job.buckets[of->bucket];
		if (bucket->bytes != CELL_BYTES)
			continue;
		sum += (double)of->whole_ps * bucket->siblings;
		count += bucket->siblings;
		if ((double)of->whole_error_ps / 1e9 > found.error_ms)
			found.error_ms = (double)of->whole_error_ps / 1e9;
	}
	assert_true(count > 0);
	found.cell_ms = sum / count / 1e9;
	found.step_ms = step_ms(&rig.scenario, sum / count);
	found.step_error_ms = step_ms(&rig.scenario, sum / count + found.error_ms * 1e9) -
		found.step_ms;
	const struct report_input input = {.world = &rig.world_instance.world};
	message_latency(&found.latency, &input, PAIR_ACROSS_T1);
	world_instance_free(&rig.world_instance);
	return found;
}

static void print(const char *what, const struct found *found)
{
	printf("%s: %.4f ms +- %.4f, step %.3f ms +- %.3f, p50 %.1f us +- %.1f, p99 %.1f us +- "
	       "%.1f\n",
	       what, found->cell_ms, found->error_ms, found->step_ms, found->step_error_ms,
	       (double)found->latency.p50_ns.value / 1e3,
	       (double)found->latency.p50_error_ns.value / 1e3,
	       (double)found->latency.p99_ns.value / 1e3,
	       (double)found->latency.p99_error_ns.value / 1e3);
}

static void agree(const char *what, double one, double one_error, double other, double other_error)
{
	double off = one > other ? one - other : other - one;
	if (off > one_error + other_error)
		fail_msg("%s: %g +- %g and %g +- %g", what, one, one_error, other, other_error);
}

static void agree_on(const char *what, const struct figure *one, const struct figure *one_error,
		     const struct figure *other, const struct figure *other_error)
{
	assert_null(one->reason);
	assert_null(other->reason);
	agree(what, (double)one->value, (double)one_error->value, (double)other->value,
	      (double)other_error->value);
}

static void compare(const struct found *part, const struct found *all)
{
	const struct latency *a = &part->latency, *b = &all->latency;
	agree("collective", part->cell_ms, part->error_ms, all->cell_ms, all->error_ms);
	agree("step", part->step_ms, part->step_error_ms, all->step_ms, all->step_error_ms);
	agree_on("p50", &a->p50_ns, &a->p50_error_ns, &b->p50_ns, &b->p50_error_ns);
	agree_on("p95", &a->p95_ns, &a->p95_error_ns, &b->p95_ns, &b->p95_error_ns);
	agree_on("p99", &a->p99_ns, &a->p99_error_ns, &b->p99_ns, &b->p99_error_ns);
	// an error that is as large as what it is the error of says nothing
	assert_true(a->p99_error_ns.value * 3 < a->p99_ns.value);
	assert_true(part->step_error_ms < 0.01 * part->step_ms);
}

static void parts_of_the_groups_agree_with_all(void **)
{
	static const char *const parts[] = {"sample.groups=1", "sample.groups=2"};
	static const char *const seeds[] = {"seed=1", "seed=2", "seed=3", "seed=4", "seed=5"};
	for (size_t s = 0; s < sizeof(seeds) / sizeof(*seeds); s++) {
		struct found all = run("sample.groups=4", seeds[s], "fabric.t1_count=8");
		print("all", &all);
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			struct found part = run(parts[i], seeds[s], "fabric.t1_count=8");
			print(parts[i], &part);
			compare(&part, &all);
		}
	}
}

// One group of four leaves one T1 switch of four: the median would be a third too long.
static void one_switch_of_several_gives_no_quantile(void **)
{
	struct found found = run("sample.groups=1", "seed=1", "fabric.t1_count=4");
	assert_string_equal(found.latency.p50_ns.reason, NOT_IN_SAMPLE);
	assert_string_equal(found.latency.p99_ns.reason, NOT_IN_SAMPLE);
	found = run("sample.groups=2", "seed=1", "fabric.t1_count=4");
	assert_null(found.latency.p99_ns.reason);
}

// 262,145 bytes of each rank on four channels: the first has a byte behind a full chunk, a loop
// more than the others. One byte: the others have nothing.
static void later_channels_may_have_a_loop_less(void **)
{
	static const char *const sizes[] = {"traffic.bytes=2097160B", "traffic.bytes=8B"};
	static const char ring[] =
		"name: loops\n"
		"fabric: {topology: clos, nics: 8, nics_per_t0: 4, t1_count: 4}\n"
		"traffic: {kind: ring, collective: all_gather, bytes: 1MB, channels: 4, chunk: "
		"64KiB}\n"
		"sample: {steps: 3, fill: 2}\n";
	static struct rig rig;
	for (size_t i = 0; i < 2; i++) {
		rig_run(&rig, ring, (const char *const[]){sizes[i], NULL});
		assert_int_equal(rig.run.end, RUN_DONE);
		const struct outcome_collective *of = &rig.outcome->collectives[0];
		assert_true(of->whole_ps > of->end_ps - of->start_ps);
		world_instance_free(&rig.world_instance);
	}
}

// Told as of what runs whole: the least time of a sample is worked out before its hosts are built.
static void hosts_that_nothing_joins_are_refused(void **)
{
	static const char *const samples[] = {"sample.steps=3", "fast_forward.steady=true"};
	static const char model[] = "name: apart\n"
				    "fabric: {nics: 64, nics_per_host: 8, nics_per_t0: 16, "
				    "t1_count: 4}\n"
				    "traffic: {kind: model, model: llama-small}\n";
	static struct rig rig;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(rig_build(&rig, model, (const char *const[]){samples[i], NULL}),
				 -EINVAL);
		assert_non_null(strstr(rig.refusal.text, "nothing joins them"));
	}
}

// One of two groups met half the load of the job there: 3.80 ms for 7.58 before.
static void groups_that_load_rails_are_not_left_out(void **)
{
	static const char rails[] =
		"name: rails\n"
		"fabric: {topology: rail, nics: 24, nics_per_host: 4, t1_count: 1}\n"
		"scaleup: {rate: 700GB/s}\n"
		"traffic: {kind: ring, collective: all_reduce, bytes: 1MiB, jobs: 2}\n";
	static struct rig rig;
	assert_int_equal(rig_build(&rig, rails, (const char *const[]){"sample.groups=1", NULL}),
			 -EINVAL);
	assert_non_null(strstr(rig.refusal.text, "leaves out groups (1 of 2 run)"));
	rig_run(&rig, rails, (const char *const[]){"sample.groups=2", "sample.steps=4", NULL});
	assert_int_equal(rig.run.end, RUN_DONE);
	world_instance_free(&rig.world_instance);
}
