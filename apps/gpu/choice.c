// SPDX-License-Identifier: Apache-2.0
// The command line of weft gpu.

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "help.h"
#include "weft-gpu_options.h"
#include <weft/run/outcome.h>

// A whole number from the head of *word on, which moves behind it; -1: there is none.
static int64_t take_number(const char **word)
{
	int64_t value = isdigit((unsigned char)**word) ? 0 : -1;
	for (; isdigit((unsigned char)**word) && value < INT32_MAX; (*word)++)
		value = value * 10 + (**word - '0');
	return value;
}

static int take_device(void *context, const char *word, struct refusal *refusal)
{
	struct choice *choice = context;
	const char *at = word;
	int64_t index = take_number(&at);
	if (strcmp(word, "none") == 0)
		return 0;
	if (index < 0 || *at != '\0')
		return outcome_bad_word(refusal, "--device is none or a number, not", word);
	choice->device_index = (uint32_t)index;
	return 0;
}

static const struct option_row option_rows[] = {GPU_OPTIONS(struct choice), {NULL}};
static const struct command_line arguments = {.help = help_text, .rows = option_rows};

int choice_parse(struct choice *ret, int argc, char **argv, struct refusal *refusal)
{
	*ret = (struct choice){.device_index = DEVICE_NONE, .timeout_s = 30, .scale_by = 1};
	int rc = command_line_read(&arguments, ret, argc, argv, refusal);
	if (rc != 0)
		return rc;
	return ret->link != NULL || ret->play_count > 0 || ret->wants_probe
		? 0
		: outcome_bad_line(refusal, "no link to a run given: --link is needed");
}

// ---------------------------------------------------------------- ranks

// "3" or "2-5" at the head of *word.
static bool take_range(const char **word, int64_t *ret_first, int64_t *ret_last)
{
	*ret_first = *ret_last = take_number(word);
	if (*ret_first >= 0 && **word == '-') {
		(*word)++;
		*ret_last = take_number(word);
	}
	bool is_end = **word == '\0' || (**word == ',' && (*word)[1] != '\0');
	*word += **word == ',';
	return *ret_first >= 0 && *ret_last >= *ret_first && is_end;
}

static int take_list(const char *list, uint32_t rank_count, bool *wanted, struct refusal *refusal)
{
	int64_t first, last;
	for (const char *word = list; *word != '\0';) {
		if (!take_range(&word, &first, &last))
			return outcome_bad_word(
				refusal, "--ranks is all, or numbers and ranges as 0-3,6, not",
				list);
		for (int64_t rank = first; rank <= last; rank++) {
			if (rank >= rank_count)
				return refuse(refusal, -EINVAL,
					      "--ranks: there is no rank %: the run has %", rank,
					      rank_count);
			if (wanted[rank])
				return refuse(refusal, -EINVAL, "--ranks: rank % is given twice",
					      rank);
			wanted[rank] = true;
		}
	}
	return 0;
}

int choice_ranks(const char *list, uint32_t rank_count, uint32_t **ret, uint32_t *ret_count,
		 struct refusal *refusal)
{
	bool is_all = list == NULL || strcmp(list, "all") == 0;
	bool *wanted = calloc(rank_count, sizeof(bool));
	uint32_t *ranks = calloc(rank_count, sizeof(*ranks));
	int rc = wanted == NULL || ranks == NULL
		? refuse(refusal, -ENODEV, "no memory for % ranks", rank_count)
		: 0;
	if (rc == 0 && !is_all)
		rc = take_list(list, rank_count, wanted, refusal);
	*ret_count = 0;
	for (uint32_t rank = 0; rc == 0 && rank < rank_count; rank++)
		if (is_all || wanted[rank])
			ranks[(*ret_count)++] = rank;
	free(wanted);
	if (rc < 0)
		free(ranks);
	else
		*ret = ranks;
	return rc;
}
