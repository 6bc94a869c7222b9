// SPDX-License-Identifier: Apache-2.0
// Collectives whose stated error is too large for a time, or whose time no line can keep.

#include <stdio.h>
#include <string.h>

#include <weft/result/figures.h>

static uint32_t count_of(const struct report_input *input, const char *reason)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < input->world->outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, input->world, i);
		count += one.is_finished && one.reason != NULL &&
			(reason == NULL || strcmp(one.reason, reason) == 0);
	}
	return count;
}

uint32_t report_imprecise(const struct report_input *input)
{
	return count_of(input, NULL);
}

// The first fault that begins or ends in what was left out of a collective.
static const char *fault_left_out(const struct world *world)
{
	for (uint32_t i = 0; i < world->outcome->collective_count; i++) {
		const uint32_t fault = world->outcome->collectives[i].fault_left_out;
		if (fault > 0)
			return scenario_fault_name(world->scenario->faults[fault - 1].kind);
	}
	return "";
}

bool report_imprecise_say(FILE *to, const char *program, const struct report_input *input)
{
	const struct world *world = input->world;
	uint32_t count = report_imprecise(input), all = world->outcome->collective_count;
	if (count > 0 && count_of(input, FAULT_LEFT_OUT) > 0)
		fprintf(to,
			"weft %s: %u of %u collectives have no time: a fault (%s) begins or ends "
			"while steps would run that the sample leaves out; run without a sample\n",
			program, count, all, fault_left_out(world));
	else if (count > 0)
		fprintf(to, "weft %s: %u of %u collectives have no time: %s; raise %s\n", program,
			count, all,
			count_of(input, BELOW_IDEAL) == 0
				? "their stated error is above 10 %"
				: "it would be below the least time of their lines",
			world->plan.sample.is_on
				? "sample.steps (--sample steps=N)"
				: "fast_forward.fill, or run without fast_forward.steady");
	return count > 0;
}
