// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/check.h>
#include <weft/core/near_word.h>
#include <weft/result/report_escape.h>

#include <weft/run/outcome.h>

#define FIRST_SPEAKS_S 10

static FILE *terminal;

// Before main(): so that no program can forget it. What programs print on names of others; see
// report_escape.h. Without memory for it nothing could be printed, or run.
__attribute__((constructor)) static void begin(void)
{
	FILE *out = escape_open(stdout), *err = escape_open(stderr);
	terminal = stderr;
	if (out == NULL || err == NULL)
		return;
	setvbuf(stderr, NULL, _IOFBF, BUFSIZ); // flushed after each message, which then is one
	setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	setvbuf(err, NULL, _IONBF, 0);
	stdout = out;
	stderr = err;
}

FILE *outcome_terminal(void)
{
	return terminal;
}

void outcome_bar(const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vfprintf(terminal, format, values);
	va_end(values);
	fflush(terminal);
}

// A file that grows beyond its limit is an error of whoever writes it, printed with its name, and
// no end of the program. Here, because each program has this file and no call of it comes first.
__attribute__((constructor)) static void outcome_begin(void)
{
	signal(SIGXFSZ, SIG_IGN);
}

int outcome_bad_word(struct refusal *refusal, const char *what, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s '%.100s' (--help lists the options)",
		 what, word);
	return -EINVAL;
}

int outcome_bad_name(struct refusal *refusal, const char *what, const struct near_word *near_word)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s '%.100s'", what, near_word->asked);
	if (!near_word_append(near_word, refusal->text, sizeof(refusal->text)))
		return outcome_bad_word(refusal, what, near_word->asked);
	return -EINVAL;
}

int outcome_bad_line(struct refusal *refusal, const char *what)
{
	snprintf(refusal->text, sizeof(refusal->text), "%s (--help lists the options)", what);
	return -EINVAL;
}

int outcome_once(struct refusal *refusal, const char **to, const char *option, const char *word)
{
	char what[96];
	snprintf(what, sizeof(what), "%.64s is given twice", option);
	if (*to != NULL)
		return outcome_bad_line(refusal, what);
	if (word[0] == '\0')
		return outcome_bad_word(refusal, "an empty value for", option);
	*to = word;
	return 0;
}

int outcome_status(int rc)
{
	switch (rc) {
	case -EINTR:
	case -EDOM: // measured, but too far from sure
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
	char *file = escape_text(refusal->file), *text = escape_text(refusal->text);
	char line[16] = "", column[16] = "";
	bool has_file = file[0] != '\0';
	if (refusal->line > 0)
		snprintf(line, sizeof(line), "%u:", refusal->line);
	if (refusal->column > 0)
		snprintf(column, sizeof(column), "%u:", refusal->column);
	fprintf(stderr, "weft %s: %s%s%s%s%s%s\n", program, file, has_file ? ":" : "", line, column,
		has_file || refusal->line > 0 ? " " : "", text);
	free(file);
	free(text);
	return outcome_status(rc);
}

int outcome_refused_beside(const char *program, const struct refusal *refusal, int rc)
{
	sleep(FIRST_SPEAKS_S);
	return outcome_refused(program, refusal, rc);
}

int outcome_end(const char *program, int status)
{
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return status;
	fprintf(stderr, "weft %s: cannot write to the standard output\n", program);
	return EXIT_ENVIRONMENT;
}
