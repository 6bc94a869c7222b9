// SPDX-License-Identifier: Apache-2.0
// The stated error of a sampled ring holds: random rings run whole and as a sample of their steps.
// In at least 95 of 100 the whole time lies within the stated error of the sample's time, or the
// sample gives no time.

#include "sampled_world.h"

#include <math.h>

#define CASES 40

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
	if (is_stated && of->whole_ps < rig_ideal_ps(&rig))
		fail_msg("below the least time: %s", text->at);
	world_instance_free(&rig.world_instance);
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
