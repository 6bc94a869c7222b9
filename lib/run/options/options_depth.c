// SPDX-License-Identifier: Apache-2.0
// The words of a schedule: --depth model and what goes with it.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/options.h>

#define STEPS_MAX 10000
#define PPB_PER_PERCENT 10000000
#define SLOW_PERCENT_MAX 1000

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

// "3:2.5": stage and percent; "gpu17:2.5": GPU and percent.
static int take_slow(struct options *options, struct refusal *refusal)
{
	static const char gpu[] = "gpu";
	char *end;
	const char *word = options->slow, *number = word;
	if (word == NULL)
		return 0;
	bool is_gpu = strncmp(word, gpu, strlen(gpu)) == 0;
	number += is_gpu ? strlen(gpu) : 0;
	unsigned long index = strtoul(number, &end, 10);
	bool is_number = number[0] >= '0' && number[0] <= '9' && *end == ':' && index < (1u << 30);
	if (!is_number || take_percent(&options->slow_ppb, end + 1, SLOW_PERCENT_MAX) < 0)
		return bad(refusal,
			   "--slow is a stage (or gpu and its number), a colon, and a percentage "
			   "up to 1000, not",
			   word);
	*(is_gpu ? &options->slow_gpu : &options->slow_stage) = (uint32_t)index;
	return 0;
}

static int take_jitter(struct options *options, struct refusal *refusal)
{
	if (options->jitter == NULL)
		return 0;
	return jitter_parse(&options->jitter_choice, options->jitter, refusal);
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
	if (options->jitter == NULL && options->record_rank == NULL)
		return bad(refusal, "steps without --jitter are all alike: --steps", word);
	options->step_count = (uint32_t)count;
	return 0;
}

struct word {
	bool is_given;
	const char *name;
};

static int refuse_given(const struct word *words, size_t count, const char *why,
			struct refusal *refusal)
{
	for (size_t i = 0; i < count; i++)
		if (words[i].is_given)
			return bad(refusal, why, words[i].name);
	return 0;
}

// What a step has no use for, whatever its depth.
static int check_others(const struct options *options, struct refusal *refusal)
{
	const struct word others[] = {
		{options->trace != NULL, "--trace"},	   {options->pcap != NULL, "--pcap"},
		{options->log != NULL, "--log"},	   {options->seeds != NULL, "--seeds"},
		{options->jobs != NULL, "--jobs"},	   {options->sweep_count > 0, "--sweep"},
		{options->wants_footprint, "--footprint"},
	};
	return refuse_given(others, sizeof(others) / sizeof(*others),
			    "--depth works out one step; it takes no", refusal);
}

static int check_model(const struct options *options, struct refusal *refusal)
{
	const struct word others[] = {{options->sample != NULL, "--sample"},
				      {options->wants_terms, "--explain"},
				      {options->is_quiet, "--quiet"}};
	return refuse_given(others, 3, "--depth model sends no packets; it takes no", refusal);
}

static int check_sample(const struct options *options, struct refusal *refusal)
{
	const struct word others[] = {{options->measured != NULL, "--measured"}};
	return refuse_given(others, 1, "--depth sample measures its collectives; it takes no",
			    refusal);
}

static int check_full(const struct options *options, struct refusal *refusal)
{
	const struct word others[] = {{options->wants_terms, "--explain"},
				      {options->measured != NULL, "--measured"},
				      {options->steps != NULL, "--steps"}};
	return refuse_given(others, 3, "--depth full and all take no", refusal);
}

static int check_none(const struct options *options, struct refusal *refusal)
{
	const char *words[] = {options->order, options->slow, options->jitter, options->steps,
			       options->measured};
	for (int i = 0; i < 5; i++)
		if (words[i] != NULL)
			return bad(refusal,
				   "--order, --slow, --jitter, --steps, --measured need --depth "
				   "model:",
				   words[i]);
	return options->wants_terms ? bad(refusal, "it needs --depth sample:", "--explain") : 0;
}

static int take_depth(struct options *options, struct refusal *refusal)
{
	static const char *const names[] = {
		[DEPTH_MODEL] = "model",
		[DEPTH_SAMPLE] = "sample",
		[DEPTH_FULL] = "full",
		[DEPTH_ALL] = "all",
	};
	if (options->depth == NULL)
		return 0;
	for (int i = DEPTH_MODEL; i <= DEPTH_ALL; i++)
		if (strcmp(options->depth, names[i]) == 0)
			options->depth_kind = (enum depth_kind)i;
	if (options->depth_kind == DEPTH_NONE)
		return bad(refusal, "--depth is model, sample, full or all, not", options->depth);
	return 0;
}

int options_depth(struct options *options, struct refusal *refusal)
{
	int (*const steps[])(struct options *, struct refusal *) = {take_slow, take_jitter,
								    take_steps};
	int rc = take_depth(options, refusal);
	options->slow_stage = options->slow_gpu = UINT32_MAX;
	if (rc < 0 || options->depth_kind == DEPTH_NONE)
		return rc < 0 ? rc : check_none(options, refusal);
	rc = check_others(options, refusal);
	if (rc == 0 && options->depth_kind == DEPTH_MODEL)
		rc = check_model(options, refusal);
	if (rc == 0 && (options->depth_kind == DEPTH_SAMPLE || options->depth_kind == DEPTH_ALL))
		rc = check_sample(options, refusal);
	if (rc == 0 && (options->depth_kind == DEPTH_FULL || options->depth_kind == DEPTH_ALL))
		rc = check_full(options, refusal);
	for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(*steps); i++)
		rc = steps[i](options, refusal);
	return rc;
}
