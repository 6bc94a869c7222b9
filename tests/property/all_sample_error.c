// SPDX-License-Identifier: Apache-2.0
// The stated error of a sampled ring holds: random rings run whole and as a sample of their steps.
// In at least 95 of 100 the whole time lies within the stated error of the sample's time, or the
// sample gives no time.

#include "../random_world.h"

#include <math.h>

#include <weft/world/world_ideal.h>

#define CASES 40

// Hosts of one GPU on a Clos, hosts of several beside it, rails, losses, or RoCE.
static void draw_fabric(struct text *text, struct rng *rng, uint32_t *ret_ranks)
{
	static const uint32_t sizes[] = {8, 16, 24, 32, 48, 64, 96, 128};
	static const uint32_t rates[] = {100, 200, 400, 800};
	uint32_t nics = sizes[pick(rng, 0, 7)], planes = 1u << pick(rng, 0, 3);
	uint32_t rate = rates[pick(rng, 0, 3)], per_t0 = nics / (1u << pick(rng, 0, 2));
	uint32_t t1 = per_t0 / (1u << pick(rng, 0, 1)), delay = 100 * pick(rng, 1, 20);
	uint32_t kind = pick(rng, 0, 5);
	add(text, "name: sample-error\nfabric: {nics: %u, planes: %u, link_rate: %uGb/s, ", nics,
	    planes, rate);
	if (kind == 0)
		add(text, "topology: rail, nics_per_host: 4, t1_count: %u, ", t1 > 1 ? t1 / 2 : 1);
	else
		add(text, "nics_per_t0: %u, t1_count: %u, ", per_t0, t1);
	bool has_hosts = kind == 0 || (kind == 1 && per_t0 % 4 == 0);
	if (kind == 1 && has_hosts)
		add(text, "nics_per_host: 4, ");
	add(text, "trunk_delay: %uns}\n", delay);
	if (has_hosts)
		add(text, "scaleup: {rate: %uGB/s}\n", 100 * pick(rng, 1, 9));
	if (kind == 2)
		add(text, "faults: [{kind: loss, at: all, probability: 0.0%u%%}]\n",
		    pick(rng, 1, 9));
	if (kind == 3)
		add(text,
		    "transport: {kind: rc, qps_per_connection: %u}\ncc: {algorithm: fixed}\n"
		    "queue: {bytes: 32MiB}\n",
		    1u << pick(rng, 0, 3));
	*ret_ranks = nics;
}

static void draw_ring(struct text *text, struct rng *rng, uint32_t ranks)
{
	static const char *const kinds[] = {"reduce_scatter", "all_gather", "all_reduce"};
	uint32_t packets_max = 400000, loops = 1u << pick(rng, 0, 1);
	uint32_t channels = 1u << pick(rng, 0, 4), chunk_kib = 16u << pick(rng, 0, 7);
	uint32_t slices = pick(rng, 1, 2), credits = slices * (1u << pick(rng, 1, 3));
	const char *kind = kinds[pick(rng, 0, 2)];
	uint64_t bytes = (uint64_t)channels * chunk_kib * 1024 * ranks * loops;
	bytes = bytes / 8 * pick(rng, 1, 8);
	while (bytes * ranks / 4096 > packets_max)
		bytes /= 2;
	add(text,
	    "traffic: {kind: ring, collective: %s, bytes: %lluB, channels: %u, chunk: %uKiB, ",
	    kind, (unsigned long long)bytes, channels, chunk_kib);
	add(text, "slices: %u, credits: %u}\n", slices, credits);
}

// Whether lines could have carried the ring in the time that is stated.
static bool is_possible(const struct rig *rig, ps_t whole_ps)
{
	static const size_t bytes = (size_t)16 << 20;
	struct refusal refusal = {0};
	struct ideal_time ideal;
	struct arena arena;
	void *memory = memory_reserve(bytes);
	assert_non_null(memory);
	arena_init(&arena, memory, bytes);
	if (ideal_scenario(&ideal, &arena, rig->stage.world.scenario, &refusal) < 0)
		fail_msg("%s", refusal.text);
	memory_release(memory, bytes);
	return whole_ps >= ideal.ps;
}

struct time {
	double whole_us, error_us;
	bool is_done, is_sampled;
};

static struct time run(const struct text *text, const char *steps, const char *fill)
{
	static struct rig rig;
	struct time ret = {0};
	const char *sets[] = {steps, fill, NULL};
	rig_run(&rig, text->at, steps == NULL ? NULL : sets);
	const struct outcome_collective *of = &rig.outcome->collectives[0];
	ret = (struct time){(double)of->whole_ps / PS_PER_US,
			    (double)of->whole_error_ps / PS_PER_US, rig.run.end == RUN_DONE,
			    of->whole_error_ps > 0};
	bool is_stated = of->whole_error_ps <= of->whole_ps / 10;
	if (is_stated && !is_possible(&rig, of->whole_ps))
		fail_msg("below the least time: %s", text->at);
	stage_free(&rig.stage);
	return ret;
}

static void stated_errors_hold(void **)
{
	uint64_t first = number("WEFT_SAMPLE_FIRST", 1), count = number("WEFT_SAMPLE_COUNT", CASES);
	uint32_t judged = 0, held = 0;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct rng rng = {rng_mix(seed)};
		seed_begin("WEFT_SAMPLE", seed);
		struct text text = {.used = 0};
		char steps[32], fill[32];
		uint32_t ranks;
		add(&text, "seed: %llu\n", (unsigned long long)seed);
		draw_fabric(&text, &rng, &ranks);
		draw_ring(&text, &rng, ranks);
		snprintf(steps, sizeof(steps), "sample.steps=%u", pick(&rng, 4, ranks / 2));
		snprintf(fill, sizeof(fill), "sample.fill=%u", pick(&rng, 2, 8));
		struct time part = run(&text, steps, fill);
		if (!part.is_sampled)
			continue;
		struct time whole = run(&text, NULL, NULL);
		double off = part.whole_us / whole.whole_us - 1,
		       stated = part.error_us / part.whole_us;
		bool holds = fabs(part.whole_us - whole.whole_us) <= part.error_us;
		printf("%llu: %.1f us, %.1f +- %.1f: %+.2f %% of %.2f %%%s %s %s\n%s\n",
		       (unsigned long long)seed, whole.whole_us, part.whole_us, part.error_us,
		       off * 100, stated * 100,
		       holds		      ? ""
			       : stated > 0.1 ? " REFUSED"
					      : " OUT",
		       steps, fill, holds ? "" : text.at);
		if (stated > 0.1)
			continue;
		judged++;
		held += holds;
	}
	seeds_end();
	printf("%u of %u held\n", held, judged);
	assert_true(judged > count / 4);
	assert_true(held * 100 >= judged * 95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stated_errors_hold)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
