// SPDX-License-Identifier: Apache-2.0
// Collectives whose stated error is too large for a time.

#include <stdio.h>

#include "figures.h"

uint32_t report_imprecise(const struct report_input *input)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < input->world->outcome->collective_count; i++) {
		struct collective one;
		collective_of(&one, input->world, i);
		count += one.is_finished && one.reason != NULL;
	}
	return count;
}

bool report_imprecise_say(FILE *to, const char *program, const struct report_input *input)
{
	uint32_t count = report_imprecise(input);
	if (count > 0)
		fprintf(to,
			"weft %s: %u of %u collectives have no time: their stated error is above "
			"10 %%; raise %s\n",
			program, count, input->world->outcome->collective_count,
			input->world->plan.sample.is_on ? "sample.steps (--sample steps=N)"
							: "skip.fill, or run without skip.steady");
	return count > 0;
}
