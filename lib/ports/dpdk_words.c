// SPDX-License-Identifier: Apache-2.0
// Words for DPDK's start, as the command line has them: in one word, between spaces.

#include <weft/ports/dpdk.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse_text(struct refusal *refusal, const char *format, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), format, word);
	return -EINVAL;
}

int dpdk_words_cut(struct dpdk_words *ret, const char *text, struct refusal *refusal)
{
	ret->count = 0;
	if (strlen(text) >= sizeof(ret->text))
		return refuse_text(refusal, "--eal is too long: '%.60s...'", text);
	strcpy(ret->text, text);
	char *rest = ret->text;
	for (char *word; (word = strtok_r(rest, " \t", &rest)) != NULL;) {
		if (ret->count == DPDK_WORDS_MAX)
			return refuse_text(refusal, "--eal has too many words, at '%.60s'", word);
		ret->at[ret->count++] = word;
	}
	if (ret->count == 0)
		return refuse_text(refusal, "--eal has no words: '%.60s'", text);
	return 0;
}
