// SPDX-License-Identifier: Apache-2.0
// Which verbs there are, and what their command lines share.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/outcome.h>

#include "help.h"
#include "verbs.h"
#include "weft_version.h"

static const struct verb verbs[] = {
	{"anonymize", anonymize_run}, {"capture", capture_run},
	{"diff", diff_run},	      {"gen", gen_run},
	{"replay", replay_run},	      {"send", send_run},
};

const struct verb *verb_find(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

// The short options are those of `longs` that have a letter.
static void find_letters(const struct option *longs, char ret[64])
{
	size_t used = 0;
	for (; longs->name != NULL && used < 61; longs++) {
		if (longs->val > 255)
			continue;
		ret[used++] = (char)longs->val;
		if (longs->has_arg == required_argument)
			ret[used++] = ':';
	}
	ret[used] = '\0';
}

static int check_words(int argc, char **argv, int paths, struct refusal *refusal)
{
	if (argc - optind > paths)
		return outcome_bad_word(refusal, "one word too many:", argv[optind + paths]);
	return argc - optind == paths ? 0 : outcome_bad_line(refusal, "no capture given");
}

int verb_parse(int argc, char **argv, const struct option *longs, verb_take_fn *take, void *context,
	       int paths, struct refusal *refusal)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	char letters[64];
	int option, rc;
	find_letters(longs, letters);
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(
				refusal, "unknown option or missing value:", argv[optind - 1]);
		if ((rc = outcome_first(refusal, seen, longs, option)) < 0)
			return rc;
		if (option == 'h' || option == VERB_VERSION) {
			puts(option == 'h' ? help_text : WEFT_VERSION_TEXT);
			return VERB_DONE;
		}
		if ((rc = take(context, option, optarg, refusal)) < 0)
			return rc;
	}
	return check_words(argc, argv, paths, refusal);
}

int verb_refused(const struct refusal *refusal, int rc)
{
	return outcome_refused("pcap", refusal, rc);
}
