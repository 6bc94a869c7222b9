// SPDX-License-Identifier: Apache-2.0
// The words of a schedule: --depth model and what goes with it.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define STEPS_MAX 10000
#define PPB_PER_PERCENT 10000000
#define SLOW_PERCENT_MAX 1000
#define JITTER_PERCENT_MAX 50

static int bad(struct refusal *refusal, const char *what, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s '%.100s' (--help lists the options)",
		 what, word);
	return -EINVAL;
}

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

// "3:2.5": stage and percent.
static int take_slow(struct options *options, struct refusal *refusal)
{
	char *end;
	const char *word = options->slow;
	if (word == NULL)
		return 0;
	unsigned long stage = strtoul(word, &end, 10);
	bool is_stage = word[0] >= '0' && word[0] <= '9' && *end == ':' && stage < (1u << 20);
	if (!is_stage || take_percent(&options->slow_ppb, end + 1, SLOW_PERCENT_MAX) < 0)
		return bad(refusal, "--slow is a stage, a colon, and a percentage up to 1000, not",
			   word);
	options->slow_stage = (uint32_t)stage;
	return 0;
}

static int take_jitter(struct options *options, struct refusal *refusal)
{
	if (options->jitter != NULL &&
	    take_percent(&options->jitter_ppb, options->jitter, JITTER_PERCENT_MAX) < 0)
		return bad(refusal, "--jitter is a percentage up to 50, not", options->jitter);
	return 0;
}

static int take_steps(struct options *options, struct refusal *refusal)
{
	const char *word = options->steps;
	char *end;
	options->step_count = 1;
	if (word == NULL)
		return 0;
	unsigned long count = strtoul(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end != '\0' || count < 2 || count > STEPS_MAX)
		return bad(refusal, "--steps is 2 to 10000, not", word);
	if (options->jitter == NULL)
		return bad(refusal, "steps without --jitter are all alike: --steps", word);
	options->step_count = (uint32_t)count;
	return 0;
}

// What a schedule has no use for.
static int check_others(const struct options *options, struct refusal *refusal)
{
	const struct {
		bool is_given;
		const char *name;
	} others[] = {
		{options->trace != NULL, "--trace"},	   {options->sample != NULL, "--sample"},
		{options->out != NULL, "--out"},	   {options->pcap != NULL, "--pcap"},
		{options->log != NULL, "--log"},	   {options->seeds != NULL, "--seeds"},
		{options->jobs != NULL, "--jobs"},	   {options->sweep_count > 0, "--sweep"},
		{options->wants_footprint, "--footprint"}, {options->is_quiet, "--quiet"},
	};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (others[i].is_given)
			return bad(refusal, "--depth model sends no packets; it takes no",
				   others[i].name);
	return 0;
}

int options_depth(struct options *options, struct refusal *refusal)
{
	const char *words[] = {options->order, options->slow, options->jitter, options->steps,
			       options->measured};
	options->slow_stage = UINT32_MAX;
	if (options->depth != NULL && strcmp(options->depth, "model") != 0 &&
	    strcmp(options->depth, "sample") != 0)
		return bad(refusal, "--depth is model or sample, not", options->depth);
	options->is_model = options->depth != NULL && strcmp(options->depth, "model") == 0;
	for (int i = 0; i < 5 && !options->is_model; i++)
		if (words[i] != NULL)
			return bad(refusal,
				   "--order, --slow, --jitter, --steps, --measured need --depth "
				   "model:",
				   words[i]);
	if (!options->is_model)
		return 0;
	int rc = check_others(options, refusal);
	if (rc == 0)
		rc = take_slow(options, refusal);
	if (rc == 0)
		rc = take_jitter(options, refusal);
	return rc == 0 ? take_steps(options, refusal) : rc;
}
