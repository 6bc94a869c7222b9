// SPDX-License-Identifier: Apache-2.0
// weft scaling: arguments, and who prints.

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "scaling.h"
#include "weft_version.h"

enum { EXIT_BAD_INPUT = 2, EXIT_ENVIRONMENT = 3, EXIT_NOT_VALID = 5 };
enum {
	OPT_RACKS = 256,
	OPT_REFERENCE,
	OPT_JITTER,
	OPT_SEEDS,
	OPT_SEED,
	OPT_SET,
	OPT_DEPTH,
	OPT_SAMPLE,
	OPT_SVG,
	OPT_JSON,
	OPT_CSV,
	OPT_VERSION
};

#define RACKS_MAX 1000000
#define SEEDS_MAX 1000
#define JITTER_PERCENT_MAX 50
#define PPB_PER_PERCENT 10000000

static const struct option longs[] = {
	{"racks", required_argument, NULL, OPT_RACKS},
	{"reference", required_argument, NULL, OPT_REFERENCE},
	{"jitter", required_argument, NULL, OPT_JITTER},
	{"seeds", required_argument, NULL, OPT_SEEDS},
	{"seed", required_argument, NULL, OPT_SEED},
	{"set", required_argument, NULL, OPT_SET},
	{"depth", required_argument, NULL, OPT_DEPTH},
	{"sample", required_argument, NULL, OPT_SAMPLE},
	{"svg", required_argument, NULL, OPT_SVG},
	{"json", no_argument, NULL, OPT_JSON},
	{"csv", no_argument, NULL, OPT_CSV},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int refuse_word(struct call *call, const char *what, const char *word)
{
	snprintf(call->refusal.text, sizeof(call->refusal.text),
		 "%s '%.100s' (--help lists the options)", what, word);
	return -EINVAL;
}

// ---------------------------------------------------------------- words

// Remembers a word that may be given once.
static int once(struct call *call, const char **to, const char *option)
{
	if (*to != NULL)
		return refuse_word(call, "given twice:", option);
	*to = optarg;
	return 0;
}

static int add_set(struct call *call, const char *word)
{
	if (call->set_count == SETS_MAX)
		return refuse_word(call, "at most 60 --set, not", word);
	if (strncmp(word, "fabric.nics=", 12) == 0)
		return refuse_word(call, "--racks says how many NICs there are, not --set", word);
	call->sets[call->set_count++] = word;
	return 0;
}

static int take(struct call *call, int option)
{
	switch (option) {
	case OPT_RACKS:
		return once(call, &call->racks_text, "--racks");
	case OPT_REFERENCE:
		return once(call, &call->reference_text, "--reference");
	case OPT_JITTER:
		return once(call, &call->jitter_text, "--jitter");
	case OPT_SEEDS:
		return once(call, &call->seeds_text, "--seeds");
	case OPT_SEED:
		return once(call, &call->seed_text, "--seed");
	case OPT_DEPTH:
		return once(call, &call->depth_text, "--depth");
	case OPT_SAMPLE:
		return once(call, &call->sample_text, "--sample");
	case OPT_SVG:
		return once(call, &call->svg, "--svg");
	case OPT_SET:
		return add_set(call, optarg);
	case OPT_JSON:
		call->is_json = true;
		return 0;
	case OPT_CSV:
		call->is_csv = true;
		return 0;
	case OPT_VERSION:
		call->wants_version = true;
		return 0;
	default:
		call->wants_help = true;
		return 0;
	}
}

// ---------------------------------------------------------------- what they say

// Digits from `word` on; *end is behind them. 0 when there are none, or more than `max`.
static uint32_t count_of(const char *word, const char **end, uint32_t max)
{
	size_t digits = strspn(word, "0123456789");
	unsigned long value = digits > 0 && digits < 10 ? strtoul(word, NULL, 10) : 0;
	*end = word + digits;
	return value <= max ? (uint32_t)value : 0;
}

static struct point *point_of(struct call *call, uint32_t racks)
{
	for (uint32_t i = 0; i < call->point_count; i++)
		if (call->points[i].racks == racks)
			return &call->points[i];
	return NULL;
}

static int take_racks(struct call *call)
{
	const char *at = call->racks_text;
	if (at == NULL)
		return refuse_word(call, "no racks given:", "--racks");
	for (;; at++) {
		uint32_t racks = count_of(at, &at, RACKS_MAX);
		if (racks == 0 || (*at != '\0' && *at != ','))
			return refuse_word(call,
					   "--racks is a list of numbers from 1 to 1000000 with "
					   "commas between, not",
					   call->racks_text);
		if (point_of(call, racks) != NULL)
			return refuse_word(call, "a number is given twice: --racks",
					   call->racks_text);
		if (call->point_count == POINTS_MAX)
			return refuse_word(call, "at most 64 numbers of racks, not",
					   call->racks_text);
		call->points[call->point_count++].racks = racks;
		if (*at == '\0')
			return 0;
	}
}

// The smallest when none is named.
static int take_reference(struct call *call)
{
	const char *word = call->reference_text, *end;
	call->reference = &call->points[0];
	for (uint32_t i = 1; i < call->point_count; i++)
		if (call->points[i].racks < call->reference->racks)
			call->reference = &call->points[i];
	if (word == NULL)
		return 0;
	uint32_t racks = count_of(word, &end, RACKS_MAX);
	call->reference = *end == '\0' && racks > 0 ? point_of(call, racks) : NULL;
	return call->reference != NULL
		? 0
		: refuse_word(call, "--reference is one of the numbers of --racks, not", word);
}

static int take_seeds(struct call *call)
{
	const char *end = "";
	if (call->seeds_text == NULL)
		return 0;
	call->seed_count = count_of(call->seeds_text, &end, SEEDS_MAX);
	if (*end != '\0' || call->seed_count < 2)
		return refuse_word(call, "--seeds is 2 to 1000, not", call->seeds_text);
	return 0;
}

// Dice of a schedule are its jitter.
static int check_model_seeds(struct call *call)
{
	if (call->jitter_text == NULL && call->seeds_text != NULL)
		return refuse_word(call, "steps without --jitter are all alike: --seeds",
				   call->seeds_text);
	if (call->jitter_text == NULL && call->seed_text != NULL)
		return refuse_word(call, "has no effect without --jitter:", "--seed");
	if (call->jitter_text != NULL && call->seeds_text == NULL)
		return refuse_word(call, "one step says nothing of a spread; --seeds goes with",
				   "--jitter");
	return 0;
}

static int take_jitter(struct call *call)
{
	const char *word = call->jitter_text;
	char *behind;
	if (word == NULL)
		return 0;
	double percent = strtod(word, &behind);
	bool is_plain = word[0] != '\0' && strspn(word, "0123456789.") == strlen(word);
	if (!is_plain || *behind != '\0' || !(percent > 0 && percent <= JITTER_PERCENT_MAX))
		return refuse_word(call, "--jitter is a percentage up to 50, not", word);
	call->jitter_ppb = (uint32_t)(percent * PPB_PER_PERCENT + 0.5);
	return call->jitter_ppb > 0 ? 0 : refuse_word(call, "too little: --jitter", word);
}

static int take_depth(struct call *call)
{
	const char *word = call->depth_text != NULL ? call->depth_text : "model";
	call->is_sample = strcmp(word, "sample") == 0;
	if (!call->is_sample && strcmp(word, "model") != 0)
		return refuse_word(call, "--depth is model or sample, not", word);
	if (call->is_sample && call->jitter_text != NULL)
		return refuse_word(call, "packets have dice of their own; --depth sample takes no",
				   "--jitter");
	if (!call->is_sample && call->sample_text != NULL)
		return refuse_word(call, "needs --depth sample:", "--sample");
	int rc = call->is_sample ? 0 : check_model_seeds(call);
	if (rc == 0)
		rc = take_jitter(call);
	return rc == 0 ? take_seeds(call) : rc;
}

static int parse(struct call *call, int argc, char **argv)
{
	int option, rc;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return refuse_word(call,
					   "unknown option or missing value:", argv[optind - 1]);
		if ((rc = take(call, option)) < 0)
			return rc;
	}
	if (call->wants_help || call->wants_version)
		return 0;
	if (optind == argc)
		return refuse_word(call, "no scenario given: weft", "scaling");
	call->scenario_name = argv[optind++];
	if (optind < argc)
		return refuse_word(call, "one scenario at a time; what is", argv[optind]);
	if (call->is_json && call->is_csv)
		return refuse_word(call, "--json does not go with", "--csv");
	rc = take_racks(call);
	if (rc == 0)
		rc = take_reference(call);
	return rc == 0 ? take_depth(call) : rc;
}

// ---------------------------------------------------------------- output

// Says why, once, and gives the exit status of a refusal.
static int say_refusal(const struct call *call, int rc)
{
	const struct refusal *refusal = &call->refusal;
	bool has_place = refusal->file[0] != '\0' || refusal->line > 0;
	fputs("weft scaling: ", stderr);
	if (refusal->file[0] != '\0')
		fprintf(stderr, "%s:", refusal->file);
	if (refusal->line > 0)
		fprintf(stderr, "%u:", refusal->line);
	if (refusal->column > 0)
		fprintf(stderr, "%u:", refusal->column);
	fprintf(stderr, "%s%s\n", has_place ? " " : "", refusal->text);
	if (rc == -EINTR)
		return EXIT_NOT_VALID;
	bool is_input = rc == -EINVAL || rc == -ENOENT || rc == -ENOMEM || rc == -EISDIR ||
		rc == -EFBIG;
	return is_input ? EXIT_BAD_INPUT : EXIT_ENVIRONMENT;
}

// Draws into the file that --svg names.
static int draw(struct call *call)
{
	FILE *file = fopen(call->svg, "w");
	if (file != NULL) {
		int rc = svg_draw(file, call);
		if (fclose(file) == 0 && rc == 0)
			return 0;
	}
	int error = errno == 0 ? EIO : errno;
	snprintf(call->refusal.file, sizeof(call->refusal.file), "%s", call->svg);
	snprintf(call->refusal.text, sizeof(call->refusal.text), "cannot write: %s",
		 strerror(error));
	return error == ENOENT || error == EISDIR ? -error : -EIO;
}

static int show(struct call *call)
{
	int rc = points_run(call);
	if (rc == 0 && call->svg != NULL)
		rc = draw(call);
	if (rc < 0)
		return say_refusal(call, rc);
	if (call->is_json)
		json_print(stdout, call);
	else if (call->is_csv)
		csv_print(stdout, call);
	else
		table_print(stdout, call);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct call call; // large: kept off the stack
	int rc = parse(&call, argc, argv), status = EXIT_SUCCESS;
	if (rc < 0)
		return say_refusal(&call, rc);
	if (call.wants_help)
		fputs(help_text, stdout);
	else if (call.wants_version)
		puts(WEFT_VERSION_TEXT);
	else
		status = show(&call);
	points_free(&call);
	if (fflush(stdout) == 0 && ferror(stdout) == 0)
		return status;
	fputs("weft scaling: cannot write to the standard output\n", stderr);
	return EXIT_ENVIRONMENT;
}
