// SPDX-License-Identifier: Apache-2.0
// What weft bench says when it cannot do what it is asked for.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/result/report_escape.h>

#include "bench.h"

int say_refusal(const struct refusal *refusal, int status)
{
	outcome_refused("bench", refusal, -EINVAL);
	return status;
}

int bad_word(const char *what, const char *word)
{
	char *shown = escape_text(word);
	fprintf(stderr, "weft bench: %s '%s' (weft bench --help lists the options)\n", what, shown);
	free(shown);
	return EXIT_BAD_INPUT;
}
