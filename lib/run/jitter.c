// SPDX-License-Identifier: Apache-2.0
// Jitter from the command line.

#include <weft/run/jitter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/engine/engine.h>
#include <weft/run/outcome.h>

#define PPB_PER_PERCENT 10000000
#define PERCENT_MAX 50
#define LIST_BYTES_MAX ((size_t)1 << 22)

const char *jitter_kind_text(enum jitter_kind kind)
{
	static const char *const names[] = {
		[JITTER_UNIFORM] = "uniform",
		[JITTER_NORMAL] = "normal",
		[JITTER_LOGNORMAL] = "lognormal",
		[JITTER_LIST] = "list",
	};
	return names[kind];
}

// "2.5", in percent, with nothing behind it.
static bool take_percent(uint32_t *ret_ppb, const char *word)
{
	char *end;
	double percent = strtod(word, &end);
	bool is_plain = word[0] != '\0' && strspn(word, "0123456789.") == strlen(word);
	if (!is_plain || *end != '\0' || !(percent > 0 && percent <= PERCENT_MAX))
		return false;
	*ret_ppb = (uint32_t)(percent * PPB_PER_PERCENT + 0.5);
	return *ret_ppb > 0;
}

int jitter_parse(struct jitter *ret, const char *word, struct refusal *refusal)
{
	static const char list[] = "list:";
	static const char *const kinds[] = {
		[JITTER_UNIFORM] = "uniform:",
		[JITTER_NORMAL] = "normal:",
		[JITTER_LOGNORMAL] = "lognormal:",
	};
	const char *number = word;
	*ret = (struct jitter){0};
	if (strncmp(word, list, strlen(list)) == 0) {
		*ret = (struct jitter){JITTER_LIST, 0, word + strlen(list)};
		return ret->list[0] != '\0' ? 0
					    : outcome_bad_word(refusal, "it needs a file:", word);
	}
	for (int i = JITTER_UNIFORM; i <= JITTER_LOGNORMAL; i++) {
		if (strncmp(word, kinds[i], strlen(kinds[i])) != 0)
			continue;
		ret->kind = (enum jitter_kind)i;
		number = word + strlen(kinds[i]);
	}
	if (!take_percent(&ret->ppb, number))
		return outcome_bad_word(
			refusal,
			"--jitter is a percentage up to 50, or normal: or lognormal: and one, "
			"or list: and a file, not",
			word);
	return 0;
}

int jitter_take(struct step_setup *setup, const struct jitter *jitter, struct refusal *refusal)
{
	static uint64_t list[JITTER_LIST_MAX];
	char *text;
	size_t bytes;
	setup->jitter_kind = jitter->kind;
	setup->jitter_ppb = jitter->ppb;
	if (jitter->list == NULL)
		return 0;
	int rc = file_read(jitter->list, LIST_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = jitter_list_parse(list, JITTER_LIST_MAX, text, bytes, &setup->jitter_count, refusal);
	free(text);
	setup->jitter_list = list;
	if (rc < 0)
		refusal_name(refusal, jitter->list);
	return rc;
}
