// SPDX-License-Identifier: Apache-2.0
// Words of the command line that are names, or one of several things.

#include <math.h>
#include <string.h>

#include "goodput.h"
#include <weft/core/near_word.h>
#include <weft/run/outcome.h>

#define RATE_MAX 1e9

int take_checkpoint(void *context, const char *word, struct refusal *refusal)
{
	static const struct option_row row = {.name = "checkpoint", .kind = OPTION_TIME_S};
	struct call *call = context;
	call->is_auto = strcmp(word, "auto") == 0;
	return call->is_auto ? 0 : option_take(&row, &call->numbers.checkpoint_s, word, refusal);
}

int take_rates(void *context, const char *word, struct refusal *refusal)
{
	struct call *call = context;
	struct near_word near_word = near_word_of(word);
	for (const struct rates *at = rates_all; at->name != NULL; at++) {
		if (strcmp(at->name, word) == 0) {
			call->rates = at;
			return 0;
		}
		near_word_see(&near_word, at->name);
	}
	return outcome_bad_name(refusal, "--rates is a name of --list, not", &near_word);
}

int take_recovery(void *context, const char *word, struct refusal *refusal)
{
	struct call *call = context;
	struct near_word near_word = near_word_of(word);
	for (const struct recovery *at = recoveries; at->name != NULL; at++) {
		if (strcmp(at->name, word) == 0) {
			call->recovery = at;
			return 0;
		}
		near_word_see(&near_word, at->name);
	}
	return outcome_bad_name(refusal, "--recovery is a name of --list, not", &near_word);
}

// "network=40"
int take_rate(void *context, const char *word, struct refusal *refusal)
{
	struct call *call = context;
	static const struct option_row row = {
		.name = "rate COMPONENT=RATE", .kind = OPTION_REAL, .high = RATE_MAX};
	size_t length = strcspn(word, "=");
	char name[NEAR_WORD_BYTES];
	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	struct near_word near_word = near_word_of(name);
	for (uint32_t i = 0; components[i].name != NULL; i++) {
		near_word_see(&near_word, components[i].name);
		if (strlen(components[i].name) != length ||
		    memcmp(components[i].name, word, length) != 0 || word[length] != '=')
			continue;
		if (!isnan(call->rate_of[i]))
			return outcome_bad_word(refusal, "given twice: --rate", word);
		return option_take(&row, &call->rate_of[i], word + length + 1, refusal);
	}
	return outcome_bad_name(refusal, "--rate is COMPONENT=RATE; --list has no component",
				&near_word);
}
