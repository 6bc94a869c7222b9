// SPDX-License-Identifier: Apache-2.0
// weft validate: what weft claims to agree with, line by line. Arguments and the table; the claims
// are in closed.c and htsim.c.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/result/report_escape.h>

#include "help.h"
#include "validate.h"
#include "weft-validate_options.h"
#include <weft/run/outcome.h>

#define MATRICES_MAX 10
#define PER_MATRIX 4
#define PER_MATRIX_DIFFERENCES 1 // pairs of one seed need fewer

static int bad_input(const char *text, const char *value)
{
	char *shown = escape_text(value), meant[NEAR_WORD_BYTES + 24] = "";
	if (!near_word_append(bar_meant(), meant, sizeof(meant)))
		strcpy(meant, "; see weft validate --help");
	fprintf(stderr, "weft validate: %s `%s`%s\n", text, shown, meant);
	free(shown);
	return EXIT_BAD_INPUT;
}

static const struct option_row option_rows[] = {VALIDATE_OPTIONS(struct choice), {NULL}};
static const struct command_line arguments = {.help = help_text, .rows = option_rows};

static int check_choice(struct choice *choice, struct refusal *refusal)
{
	if (choice->per_matrix == 0)
		choice->per_matrix = choice->differences ? PER_MATRIX_DIFFERENCES : PER_MATRIX;
	if (choice->data == NULL)
		return 0;
	return access(choice->data, R_OK | X_OK) == 0
		? htsim_check(choice, refusal)
		: outcome_bad_word(refusal,
				   "--data is a folder with htsim's results; there is none at",
				   choice->data);
}

static int say_refusal(const struct refusal *refusal, int rc)
{
	int status = outcome_refused("validate", refusal, rc);
	return rc == -EIO ? EXIT_MISSED : status; // a case that does not come to its end
}

static int show_differences(const struct choice *choice)
{
	struct refusal refusal = {0};
	int rows = differences_run(choice, &refusal);
	if (rows < 0)
		return say_refusal(&refusal, rows);
	return rows > 0 ? 0 : bad_input("no row of htsim begins with", choice->only);
}

typedef int part_fn(const struct choice *choice, struct claims *claims, struct refusal *refusal);

// Counts the cases of all parts, then runs them.
static int run_parts(const struct choice *choice, struct claims *claims, struct refusal *refusal)
{
	static part_fn *const parts[] = {closed_run, paths_run,	  collectives_run, links_run,
					 queues_run, control_run, htsim_run,	   further_run,
					 larger_run, rings_run};
	static const size_t own = 6, all = sizeof(parts) / sizeof(*parts);
	size_t count = choice->data != NULL ? all : own; // the others are held against its files
	struct claims none = {0};
	int rc = 0;
	bar_count(true);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = parts[i](choice, &none, refusal);
	bar_count(false);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = parts[i](choice, claims, refusal);
	bar_clear();
	return rc;
}

static int validate(int argc, char **argv)
{
	struct choice choice = {.matrices = MATRICES_MAX};
	struct claims claims = {0};
	struct refusal refusal = {0};
	int rc = command_line_read(&arguments, &choice, argc, argv, &refusal);
	if (rc == COMMAND_LINE_DONE)
		return EXIT_SUCCESS;
	if (rc == 0)
		rc = check_choice(&choice, &refusal);
	if (rc < 0)
		return say_refusal(&refusal, rc);
	if (choice.differences)
		return show_differences(&choice);
	rc = run_parts(&choice, &claims, &refusal);
	if (rc < 0)
		return say_refusal(&refusal, rc);
	if (claims.inside + claims.outside + claims.left_out == 0)
		return bad_input("no case begins with", choice.only == NULL ? "" : choice.only);
	if (choice.data == NULL)
		puts("htsim's rows are not compared: name the folder with its results by --data");
	printf("%u inside, %u outside", claims.inside, claims.outside);
	printf(claims.left_out > 0 ? ", %u rows not compared\n" : "\n", claims.left_out);
	if (claims.inside + claims.outside == 0 && claims.left_out > 0)
		return bad_input("no case can be compared that begins with",
				 choice.only == NULL ? "" : choice.only);
	return claims.outside > 0;
}

int main(int argc, char **argv)
{
	return outcome_end("validate", validate(argc, argv));
}
