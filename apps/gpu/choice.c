// SPDX-License-Identifier: Apache-2.0
// The command line of weft gpu.

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include <weft/run/outcome.h>

#define PATIENCE_S 30u

enum {
	OPT_LINK = 256,
	OPT_PLAY,
	OPT_SCALE,
	OPT_BARRIER,
	OPT_LOAD,
	OPT_PAYLOAD,
	OPT_RANKS,
	OPT_DEVICE,
	OPT_PATIENCE,
	OPT_JSON,
	OPT_PROBE,
	OPT_VERSION
};

static const struct option longs[] = {
	{"link", required_argument, NULL, OPT_LINK},
	{"play", required_argument, NULL, OPT_PLAY},
	{"scale", required_argument, NULL, OPT_SCALE},
	{"payload", required_argument, NULL, OPT_PAYLOAD},
	{"load", required_argument, NULL, OPT_LOAD},
	{"barrier", no_argument, NULL, OPT_BARRIER},
	{"ranks", required_argument, NULL, OPT_RANKS},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"patience", required_argument, NULL, OPT_PATIENCE},
	{"json", no_argument, NULL, OPT_JSON},
	{"probe", no_argument, NULL, OPT_PROBE},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// A whole number from the head of *word on, which moves behind it; -1: there is none.
static int64_t take_number(const char **word)
{
	int64_t value = isdigit((unsigned char)**word) ? 0 : -1;
	for (; isdigit((unsigned char)**word) && value < INT32_MAX; (*word)++)
		value = value * 10 + (**word - '0');
	return value;
}

static int take_play(struct choice *choice, const char *word, struct refusal *refusal)
{
	if (choice->play_count == PLAYS_MAX)
		return outcome_bad_word(refusal, "more than 64 records; the last is", word);
	return outcome_once(refusal, &choice->plays[choice->play_count++], "--play", word);
}

static int take(struct choice *choice, int option, const char *word, struct refusal *refusal)
{
	switch (option) {
	case OPT_LINK:
		return outcome_once(refusal, &choice->link, "--link", word);
	case OPT_PLAY:
		return take_play(choice, word, refusal);
	case OPT_SCALE:
		return outcome_once(refusal, &choice->scale, "--scale", word);
	case OPT_PAYLOAD:
		return outcome_once(refusal, &choice->payload, "--payload", word);
	case OPT_LOAD:
		return outcome_once(refusal, &choice->load_word, "--load", word);
	case OPT_BARRIER:
		choice->has_barrier = true;
		return 0;
	case OPT_RANKS:
		return outcome_once(refusal, &choice->ranks, "--ranks", word);
	case OPT_DEVICE:
		return outcome_once(refusal, &choice->device, "--device", word);
	case OPT_PATIENCE:
		return outcome_once(refusal, &choice->patience, "--patience", word);
	case OPT_JSON:
		choice->is_json = true;
		return 0;
	case OPT_PROBE:
		choice->wants_probe = true;
		return 0;
	case OPT_VERSION:
		choice->wants_version = true;
		return 0;
	default:
		choice->wants_help = true;
		return 0;
	}
}

// A number from 1 to `max`, and nothing behind it; `otherwise` where there is no word.
static int read_number(uint32_t *ret, const char *word, uint32_t otherwise, uint32_t max,
		       const char *what, struct refusal *refusal)
{
	const char *at = word;
	*ret = otherwise;
	if (word == NULL)
		return 0;
	int64_t value = take_number(&at);
	if (value < 1 || value > max || *at != '\0')
		return outcome_bad_word(refusal, what, word);
	*ret = (uint32_t)value;
	return 0;
}

static int read_words(struct choice *choice, struct refusal *refusal)
{
	const char *device = choice->device;
	choice->device_index = DEVICE_NONE;
	if (device != NULL && strcmp(device, "none") != 0) {
		int64_t index = take_number(&device);
		if (index < 0 || *device != '\0')
			return outcome_bad_word(refusal, "--device is none or a number, not",
						choice->device);
		choice->device_index = (uint32_t)index;
	}
	if (choice->payload != NULL && strcmp(choice->payload, "host") != 0 &&
	    strcmp(choice->payload, "device") != 0)
		return outcome_bad_word(refusal, "--payload is host or device, not",
					choice->payload);
	while (choice->load_word != NULL && choice->load < GPU_LOAD_COUNT &&
	       strcmp(choice->load_word, gpu_load_names[choice->load]) != 0)
		choice->load++;
	if (choice->load == GPU_LOAD_COUNT)
		return outcome_bad_word(refusal, "--load is spin, copy or matrix, not",
					choice->load_word);
	int rc = read_number(&choice->patience_s, choice->patience, PATIENCE_S, 86400,
			     "--patience is a number of seconds from 1 to 86400, not", refusal);
	return rc < 0 ? rc
		      : read_number(&choice->scale_by, choice->scale, 1, 1000000,
				    "--scale is a number from 1 to 1000000, not", refusal);
}

static int check_together(const struct choice *choice, struct refusal *refusal)
{
	if (choice->wants_help || choice->wants_version)
		return 0;
	bool has_source = choice->link != NULL || choice->play_count > 0;
	if (choice->wants_probe &&
	    (has_source || choice->ranks != NULL || choice->device != NULL ||
	     choice->patience != NULL || choice->is_json || choice->scale != NULL ||
	     choice->load_word != NULL || choice->payload != NULL || choice->has_barrier))
		return outcome_bad_word(refusal,
					"it only looks, and takes no other option:", "--probe");
	if (!choice->wants_probe && !has_source)
		return outcome_bad_line(refusal, "no link to a run given: --link is needed");
	if (choice->play_count == 0 && (choice->scale != NULL || choice->has_barrier))
		return outcome_bad_word(
			refusal,
			"with a run its scenario and --gpu-barrier say this; it needs --play:",
			choice->scale != NULL ? "--scale" : "--barrier");
	if (choice->play_count > 0 &&
	    (choice->link != NULL || choice->ranks != NULL || choice->patience != NULL))
		return outcome_bad_word(
			refusal,
			"there is no run; it takes no --link, --ranks, --patience:", "--play");
	return 0;
}

int choice_parse(struct choice *ret, int argc, char **argv, struct refusal *refusal)
{
	*ret = (struct choice){0};
	opterr = 0;
	for (int option; (option = getopt_long(argc, argv, "h", longs, NULL)) != -1;) {
		if (option == '?')
			return outcome_bad_word(
				refusal, "unknown option or missing value:", argv[optind - 1]);
		int rc = take(ret, option, optarg != NULL ? optarg : "", refusal);
		if (rc < 0)
			return rc;
	}
	if (optind < argc)
		return outcome_bad_word(refusal, "this takes options only; what is", argv[optind]);
	int rc = read_words(ret, refusal);
	return rc < 0 ? rc : check_together(ret, refusal);
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
				return refuse(refusal, -EINVAL, "--ranks: rank % twice", rank);
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
