// SPDX-License-Identifier: Apache-2.0
// A quarter, half and all of the groups of a job whose trunks are as fast as its NICs agree: on how
// long its collectives take, on the step that follows from them, and on the 99th percentile of
// message latency. Without the load of the groups that are left out they could not: a message would
// take two thirds of its time.
// Tolerance: the stated errors for collectives, 1 % for the step, 12 % for the percentile. A
// quarter of 8 T1 switches are 2; of 4 it would be one, where collectives come out a sixth too
// long.

#include "../rig.h"

#include <weft/world_step.h>

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
	double step_ms;
	double p99_us;
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

static struct found run(const char *groups, const char *seed)
{
	static struct rig rig;
	struct found found = {0};
	double sum = 0, count = 0;
	rig_run(&rig, job,
		(const char *const[]){groups, "sample.steps=4", "sample.fill=2", seed, NULL});
	assert_int_equal(rig.run.end, RUN_DONE);
	for (uint32_t i = 0; i < rig.outcome->collective_count; i++) {
		const struct outcome_collective *of = &rig.outcome->collectives[i];
		const struct bucket *bucket = &rig.stage.world.job.buckets[of->bucket];
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
	found.p99_us = (double)hist_quantile(&rig.outcome->message_ns[PAIR_ACROSS_T1], 990000) /
		1e3;
	stage_free(&rig.stage);
	return found;
}

static void parts_of_the_groups_agree_with_all(void **)
{
	static const char *const parts[] = {"sample.groups=1", "sample.groups=2"};
	static const char *const seeds[] = {"seed=1", "seed=2", "seed=3"};
	for (size_t s = 0; s < sizeof(seeds) / sizeof(*seeds); s++) {
		struct found all = run("sample.groups=4", seeds[s]);
		printf("all: %.4f ms +- %.4f, step %.3f ms, p99 %.1f us\n", all.cell_ms,
		       all.error_ms, all.step_ms, all.p99_us);
		for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
			struct found part = run(parts[i], seeds[s]);
			double off = part.cell_ms > all.cell_ms ? part.cell_ms - all.cell_ms
								: all.cell_ms - part.cell_ms;
			double step = part.step_ms / all.step_ms, p99 = part.p99_us / all.p99_us;
			printf("%s: %.4f ms +- %.4f, step %.3f ms, p99 %.1f us\n", parts[i],
			       part.cell_ms, part.error_ms, part.step_ms, part.p99_us);
			assert_true(off <= part.error_ms + all.error_ms);
			assert_true(step > 0.99 && step < 1.01);
			assert_true(p99 > 0.88 && p99 < 1.12);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_of_the_groups_agree_with_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
