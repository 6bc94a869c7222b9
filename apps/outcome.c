// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "outcome.h"

int outcome_bad_word(struct refusal *refusal, const char *what, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s '%.100s' (--help lists the options)",
		 what, word);
	return -EINVAL;
}

int outcome_once(struct refusal *refusal, const char **to, const char *option, const char *word)
{
	if (*to != NULL)
		return outcome_bad_word(refusal, "given twice:", option);
	if (word[0] == '\0')
		return outcome_bad_word(refusal, "an empty value for", option);
	*to = word;
	return 0;
}

int outcome_status(int rc)
{
	switch (rc) {
	case -EINTR:
		return EXIT_NOT_VALID;
	case -ECONNRESET:
	case -EPROTO: // what the peer wrote cannot be
		return EXIT_PEER_LOST;
	case -EINVAL:
	case -ENOENT:
	case -ENOMEM:
	case -EISDIR:
	case -EFBIG:
	case -EOVERFLOW:
	case -ENOTEMPTY:
		return EXIT_BAD_INPUT;
	default:
		return EXIT_ENVIRONMENT;
	}
}

int outcome_refused(const char *program, const struct refusal *refusal, int rc)
{
	bool has_place = refusal->file[0] != '\0' || refusal->line > 0;
	fprintf(stderr, "weft %s: ", program);
	if (refusal->file[0] != '\0')
		fprintf(stderr, "%s:", refusal->file);
	if (refusal->line > 0)
		fprintf(stderr, "%u:", refusal->line);
	if (refusal->column > 0)
		fprintf(stderr, "%u:", refusal->column);
	fprintf(stderr, "%s%s\n", has_place ? " " : "", refusal->text);
	return outcome_status(rc);
}

int outcome_end(const char *program, int status)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return status;
	fprintf(stderr, "weft %s: cannot write to the standard output\n", program);
	return EXIT_ENVIRONMENT;
}
