// SPDX-License-Identifier: Apache-2.0
// What weft bench says when it cannot do what it is asked for.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/result/report_escape.h>

#include "bench.h"

int say_refusal(const struct refusal *refusal, int status)
{
	outcome_refused("bench", refusal, -EINVAL);
	return status;
}

int bad_word(const char *what, const char *word)
{
	return bad_name(what, &(struct near_word){.asked = word});
}

int bad_name(const char *what, const struct near_word *near_word)
{
	char meant[NEAR_WORD_BYTES + 24] = "";
	char *shown = escape_text(near_word->asked);
	if (!near_word_append(near_word, meant, sizeof(meant)))
		strcpy(meant, " (weft bench --help lists the options)");
	fprintf(stderr, "weft bench: %s '%s'%s\n", what, shown, meant);
	free(shown);
	return EXIT_BAD_INPUT;
}
