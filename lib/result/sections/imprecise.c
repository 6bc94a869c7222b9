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

bool report_imprecise_say(FILE *to, const char *program, const struct report_input *input)
{
	uint32_t count = report_imprecise(input), short_ones = count_of(input, BELOW_IDEAL);
	if (count > 0)
		fprintf(to, "weft %s: %u of %u collectives have no time: %s; raise %s\n", program,
			count, input->world->outcome->collective_count,
			short_ones == 0 ? "their stated error is above 10 %"
					: "it would be below the least time of their lines",
			input->world->plan.sample.is_on ? "sample.steps (--sample steps=N)"
							: "skip.fill, or run without skip.steady");
	return count > 0;
}
