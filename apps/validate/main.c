// SPDX-License-Identifier: Apache-2.0
// weft validate: what weft claims to agree with, line by line. Arguments and the table; the claims
// are in closed.c and htsim.c.

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/result/report_visible.h>

#include "help.h"
#include "validate.h"
#include "weft_version.h"
#include <weft/run/outcome.h>

#define MATRICES_MAX 10
#define PER_MATRIX 4
#define PER_MATRIX_DIFFERENCES 1 // pairs of one seed need fewer

enum {
	OPT_DATA = 256,
	OPT_ONLY,
	OPT_MATRICES,
	OPT_RUNS,
	OPT_DIFFERENCES,
	OPT_VERSION,
};

static const struct option long_options[] = {
	{"data", required_argument, NULL, OPT_DATA},
	{"only", required_argument, NULL, OPT_ONLY},
	{"matrices", required_argument, NULL, OPT_MATRICES},
	{"runs", required_argument, NULL, OPT_RUNS},
	{"differences", no_argument, NULL, OPT_DIFFERENCES},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int bad_input(const char *text, const char *value)
{
	char *shown = visible_text(value);
	fprintf(stderr, "weft validate: %s `%s`; see weft validate --help\n", text, shown);
	free(shown);
	return EXIT_BAD_INPUT;
}

// A whole number from 1 to `max`; 0 when it is none.
static uint32_t count_of(const char *text, uint32_t max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);
	bool is_whole = text[0] >= '0' && text[0] <= '9' && *end == '\0';
	return is_whole && value >= 1 && value <= max ? (uint32_t)value : 0;
}

// 0 to go on, else the exit status plus 1.
static int read_options(int argc, char **argv, struct choice *choice)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	struct refusal refusal = {0};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		int rc = option == '?' ? 0 : outcome_first(&refusal, seen, long_options, option);
		if (rc < 0)
			return 1 + outcome_refused("validate", &refusal, rc);
		switch (option) {
		case OPT_DATA:
			choice->data = optarg;
			break;
		case OPT_ONLY:
			choice->only = optarg;
			break;
		case OPT_MATRICES:
			choice->matrices = count_of(optarg, MATRICES_MAX);
			if (choice->matrices == 0)
				return 1 + bad_input("--matrices is 1 to 10, not", optarg);
			break;
		case OPT_RUNS:
			choice->per_matrix = count_of(optarg, HTSIM_PER_MATRIX_MAX);
			if (choice->per_matrix == 0)
				return 1 + bad_input("--runs is 1 to 1000, not", optarg);
			break;
		case OPT_DIFFERENCES:
			choice->differences = true;
			break;
		case 'h':
			fputs(help_text, stdout);
			return 1;
		case OPT_VERSION:
			puts(WEFT_VERSION_TEXT);
			return 1;
		default:
			return 1 +
				bad_input("unknown option, or one without its value:",
					  argv[optind - 1]);
		}
	}
	if (optind < argc)
		return 1 + bad_input("unexpected argument", argv[optind]);
	if (choice->data != NULL && access(choice->data, R_OK | X_OK) != 0)
		return 1 +
			bad_input("--data is a folder with htsim's results; there is none at",
				  choice->data);
	if (choice->differences && choice->data == NULL)
		return 1 + bad_input("matrices are needed: --data DIR beside", "--differences");
	if (choice->per_matrix == 0)
		choice->per_matrix = choice->differences ? PER_MATRIX_DIFFERENCES : PER_MATRIX;
	return 0;
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

static int validate(int argc, char **argv)
{
	struct choice choice = {.matrices = MATRICES_MAX};
	struct claims claims = {0};
	struct refusal refusal = {0};
	int rc = read_options(argc, argv, &choice);
	if (rc != 0)
		return rc - 1;
	if (choice.data != NULL)
		rc = htsim_check(&choice, &refusal);
	if (rc < 0)
		return say_refusal(&refusal, rc);
	if (choice.differences)
		return show_differences(&choice);
	printf("%-38s %14s %12s %10s %-8s %-7s %s\n", "case", "expected", "measured", "tolerance",
	       "unit", "inside?", "source; tolerance from");
	rc = closed_run(&choice, &claims, &refusal);
	if (rc == 0)
		rc = paths_run(&choice, &claims, &refusal);
	if (rc == 0)
		rc = collectives_run(&choice, &claims, &refusal);
	if (rc == 0)
		rc = links_run(&choice, &claims, &refusal);
	if (rc == 0)
		rc = queues_run(&choice, &claims, &refusal);
	if (rc == 0)
		rc = control_run(&choice, &claims, &refusal);
	if (rc == 0 && choice.data != NULL)
		rc = htsim_run(&choice, &claims, &refusal);
	if (rc == 0 && choice.data != NULL)
		rc = further_run(&choice, &claims, &refusal);
	if (rc == 0 && choice.data != NULL)
		rc = larger_run(&choice, &claims, &refusal);
	if (rc == 0 && choice.data != NULL)
		rc = rings_run(&choice, &claims, &refusal);
	if (rc < 0)
		return say_refusal(&refusal, rc);
	if (choice.data == NULL)
		puts("htsim's rows are not compared: name the folder with its results by --data");
	printf("%u inside, %u outside", claims.inside, claims.outside);
	printf(claims.left_out > 0 ? ", %u rows not compared\n" : "\n", claims.left_out);
	if (claims.inside + claims.outside == 0 && claims.left_out > 0)
		return bad_input("no case can be compared that begins with",
				 choice.only == NULL ? "" : choice.only);
	if (claims.inside + claims.outside == 0)
		return bad_input("no case begins with", choice.only == NULL ? "" : choice.only);
	return claims.outside > 0;
}

int main(int argc, char **argv)
{
	return outcome_end("validate", validate(argc, argv));
}
