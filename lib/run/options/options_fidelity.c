// SPDX-License-Identifier: Apache-2.0
// The words of a schedule: --fidelity model and what goes with it.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/options.h>
#include <weft/run/outcome.h>

#define PPB_PER_PERCENT 10000000
#define SLOW_PERCENT_MAX 1000

// "2.5", in percent, with nothing behind it.
static int take_percent(uint32_t *ret_ppb, const char *word, double max)
{
	char *end;
	double percent = strtod(word, &end);
	bool is_plain = word[0] != '\0' && strspn(word, "0123456789.") == strlen(word);
	if (!is_plain || *end != '\0' || !(percent > 0 && percent <= max))
		return -EINVAL;
	*ret_ppb = (uint32_t)(percent * PPB_PER_PERCENT + 0.5);
	return 0;
}

// "3:2.5": stage and percent; "gpu17:2.5": GPU and percent.
int options_take_slow(void *context, const char *word, struct refusal *refusal)
{
	struct options *options = context;
	static const char gpu[] = "gpu";
	char *end;
	const char *number = word;
	options->slow = word;
	bool is_gpu = strncmp(word, gpu, strlen(gpu)) == 0;
	number += is_gpu ? strlen(gpu) : 0;
	unsigned long index = strtoul(number, &end, 10);
	bool is_number = number[0] >= '0' && number[0] <= '9' && *end == ':' && index < (1u << 30);
	if (!is_number || take_percent(&options->slow_ppb, end + 1, SLOW_PERCENT_MAX) < 0)
		return outcome_bad_word(
			refusal,
			"--slow is a stage (or gpu and its number), a colon, and a percentage "
			"up to 1000, not",
			word);
	*(is_gpu ? &options->slow_gpu : &options->slow_stage) = (uint32_t)index;
	return 0;
}

int options_take_jitter(void *context, const char *word, struct refusal *refusal)
{
	struct options *options = context;
	options->jitter = word;
	return jitter_parse(&options->jitter_choice, word, refusal);
}
