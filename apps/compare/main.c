// SPDX-License-Identifier: Apache-2.0
// weft compare: arguments and files. What differs and what is noise is in lib/study.

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/study/report_contrast.h>

#include "help.h"
#include "weft_version.h"
#include <weft/run/outcome.h>
#include <weft/run/result_file.h>

enum { OPT_ALL = 256, OPT_WITHIN, OPT_JSON, OPT_NO_MANIFEST, OPT_VERSION };

static const struct option longs[] = {
	{"all", no_argument, NULL, OPT_ALL},
	{"within", required_argument, NULL, OPT_WITHIN},
	{"json", no_argument, NULL, OPT_JSON},
	{"no-manifest", no_argument, NULL, OPT_NO_MANIFEST},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

// Everything one call of the program holds.
struct call {
	const char *names[2];
	double within; // a share; negative: not asked
	bool is_all, is_json, is_lone, wants_help, wants_version;
	struct result_file files[2];
	struct contrast contrast;
	struct refusal refusal;
};

static int take_within(struct call *call, const char *word)
{
	char *end;
	double value = strtod(word, &end);
	if (strspn(word, "0123456789.") != strlen(word) || word[0] == '\0' || *end != '\0')
		return outcome_bad_word(&call->refusal, "a percentage is needed, not", word);
	call->within = value / 100;
	return 0;
}

static int take(struct call *call, int option)
{
	switch (option) {
	case OPT_ALL:
		call->is_all = true;
		return 0;
	case OPT_WITHIN:
		return take_within(call, optarg);
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_NO_MANIFEST:
		call->is_lone = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

static int parse(struct call *call, int argc, char **argv)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(&call->refusal, "unknown option or missing value:",
						argv[optind - 1]);
		if ((rc = outcome_first(&call->refusal, seen, longs, option)) < 0)
			return rc;
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	if (argc - optind != 2)
		return outcome_bad_line(&call->refusal,
					"two results are compared, no fewer or more");
	call->names[0] = argv[optind];
	call->names[1] = argv[optind + 1];
	return call->is_all && call->is_json
		? outcome_bad_word(&call->refusal, "JSON has all rows; has no effect:", "--all")
		: 0;
}

static int compare(struct call *call)
{
	for (int i = 0; i < 2; i++) {
		int rc = result_file_read(&call->files[i], call->names[i], call->is_lone,
					  &call->refusal);
		if (rc < 0)
			return rc;
	}
	return contrast_of(&call->contrast, call->files[0].result, call->files[1].result,
			   &call->refusal);
}

static int show(struct call *call)
{
	int rc = compare(call);
	if (rc < 0)
		return outcome_refused("compare", &call->refusal, rc);
	if (!call->is_json)
		contrast_show(stdout, &call->contrast, call->is_all);
	else if (contrast_json(stdout, &call->contrast) < 0)
		return EXIT_ENVIRONMENT;
	if (call->contrast.is_partial)
		return EXIT_NOT_VALID;
	const char *beyond = call->within < 0 ? NULL
					      : contrast_beyond(&call->contrast, call->within);
	if (beyond != NULL)
		fprintf(stderr, "weft compare: too far apart: %s\n", beyond);
	return beyond == NULL ? EXIT_SUCCESS : EXIT_MISSED;
}

int main(int argc, char **argv)
{
	static struct call call = {.within = -1};
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return outcome_refused("compare", &call.refusal, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = show(&call);
	contrast_free(&call.contrast);
	for (int i = 0; i < 2; i++)
		result_file_free(&call.files[i]);
	return outcome_end("compare", status);
}
