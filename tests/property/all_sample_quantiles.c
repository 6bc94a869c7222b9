// SPDX-License-Identifier: Apache-2.0
// The stated errors of a sample's quantiles hold: random rings, one or several beside each other,
// run whole and as a sample of their steps and groups. Of each of the median, p95 and p99 of
// messages, by class, at least 95 of 100 lie within the stated error, or are not given.

#include "sampled_world.h"

#include <math.h>

#include <weft/result/figures.h>

#define CASES 40

enum { P50, P95, P99, QUANTILES };

struct quantiles {
	struct latency of[PAIR_CLASS_COUNT];
	uint32_t groups;
	bool is_done, is_sampled;
};

static struct quantiles run(const struct text *text, const char *const *sets)
{
	static struct rig rig;
	struct quantiles ret = {0};
	rig_run(&rig, text->at, sets);
	const struct report_input input = {.world = &rig.world_instance.world};
	for (int pair = 0; pair < PAIR_CLASS_COUNT; pair++)
		message_latency(&ret.of[pair], &input, (enum pair_class)pair);
	ret.groups = rig.world_instance.world.job.group_count;
	ret.is_done = rig.run.end == RUN_DONE;
	const struct job *job = &rig.world_instance.world.job;
	ret.is_sampled = job->ring.steps_max > 0 ||
		job->group_count < rig.world_instance.world.plan.groups_all;
	world_instance_free(&rig.world_instance);
	return ret;
}

struct tally {
	uint32_t judged[QUANTILES], held[QUANTILES], worlds;
};

static void judge(struct tally *tally, uint64_t seed, const struct quantiles *part,
		  const struct quantiles *whole, const char *what)
{
	for (int pair = 0; pair < PAIR_CLASS_COUNT; pair++) {
		const struct latency *a = &part->of[pair], *b = &whole->of[pair];
		const struct figure *const of[QUANTILES][3] = {
			{&a->p50_ns, &a->p50_error_ns, &b->p50_ns},
			{&a->p95_ns, &a->p95_error_ns, &b->p95_ns},
			{&a->p99_ns, &a->p99_error_ns, &b->p99_ns}};
		for (int i = 0; i < QUANTILES; i++) {
			if (of[i][0]->reason != NULL || of[i][2]->reason != NULL)
				continue;
			double off = (double)of[i][0]->value - (double)of[i][2]->value;
			bool holds = fabs(off) <= (double)of[i][1]->value;
			tally->judged[i]++;
			tally->held[i] += holds;
			if (!holds)
				printf("%llu: pair %d, quantile %d: %lld +- %lld ns for %lld, %s\n",
				       (unsigned long long)seed, pair, i,
				       (long long)of[i][0]->value, (long long)of[i][1]->value,
				       (long long)of[i][2]->value, what);
		}
	}
}

static void one_world(struct tally *tally, uint64_t seed)
{
	struct rng rng = {rng_mix(seed ^ 0x7175616e74)};
	struct text text = {.used = 0};
	char steps[32], fill[32], groups[32], jobs[32], what[128];
	uint32_t ranks;
	add(&text, "seed: %llu\n", (unsigned long long)seed);
	draw_fabric(&text, &rng, &ranks);
	uint32_t count = 1u << pick(&rng, 0, 2);
	while (ranks / count < 8)
		count /= 2;
	draw_ring(&text, &rng, ranks / count);
	snprintf(jobs, sizeof(jobs), "traffic.jobs=%u", count);
	snprintf(steps, sizeof(steps), "sample.steps=%u", pick(&rng, 4, ranks / count / 2));
	snprintf(fill, sizeof(fill), "sample.fill=%u", pick(&rng, 2, 8));
	uint32_t kept = pick(&rng, 1, count);
	if (strstr(text.at, "topology: rail") != NULL)
		kept = count; // fewer are refused
	snprintf(groups, sizeof(groups), "sample.groups=%u", kept);
	bool has_steps = pick(&rng, 0, 3) > 0;
	const char *const whole_sets[] = {count > 1 ? jobs : NULL, NULL};
	const char *part_sets[6] = {groups};
	uint32_t at = 1;
	if (count > 1)
		part_sets[at++] = jobs;
	if (has_steps) {
		part_sets[at++] = steps;
		part_sets[at++] = fill;
	}
	snprintf(what, sizeof(what), "%s %s %s %s", jobs, groups, has_steps ? steps : "all steps",
		 fill);
	struct quantiles part = run(&text, part_sets);
	if (!part.is_sampled || !part.is_done)
		return;
	struct quantiles whole = run(&text, whole_sets);
	tally->worlds++;
	judge(tally, seed, &part, &whole, what);
}

static void stated_errors_of_quantiles_hold(void **)
{
	static const char *const names[QUANTILES] = {"median", "p95", "p99"};
	uint64_t first = number("WEFT_QUANTILES_FIRST", 1),
		 count = number("WEFT_QUANTILES_COUNT", CASES);
	struct tally tally = {0};
	for (uint64_t seed = first; seed < first + count; seed++) {
		seed_begin("WEFT_QUANTILES", seed);
		one_world(&tally, seed);
	}
	seeds_end();
	for (int i = 0; i < QUANTILES; i++)
		printf("%s: %u of %u held\n", names[i], tally.held[i], tally.judged[i]);
	printf("%u worlds\n", tally.worlds);
	assert_true(tally.worlds > count / 3);
	for (int i = 0; i < QUANTILES; i++)
		assert_true(tally.held[i] * 100 >= tally.judged[i] * 95);
}
