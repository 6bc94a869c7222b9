// SPDX-License-Identifier: Apache-2.0
// The words of weft tune. Those that make a study what it is are kept with it; how it is run
// (--jobs,
// --json) may differ from call to call.

#include "call.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/run/outcome.h>
#include <weft/tune/report.h>

#define JOBS_AT_ONCE_MAX 64
#define PARTS_MAX 1000
#define SPACE_FILE_BYTES_MAX ((size_t)1 << 16)

enum {
	OPT_KNOB = 256,
	OPT_AIM,
	OPT_LIMIT,
	OPT_OVER,
	OPT_TIMEOUTS,
	OPT_WHOLE_RUNS,
	OPT_FRONT,
	OPT_ENGINE,
	OPT_BUDGET,
	OPT_SEED,
	OPT_SEARCH_SEEDS,
	OPT_RACE_SEEDS,
	OPT_FRESH_SEEDS,
	OPT_SET,
	OPT_HOLDOUT,
	OPT_OFF,
	OPT_PARTS,
	OPT_SCREEN,
	OPT_SPACE, // becomes --knob and --off
	OPT_STUDY, // from here on: of the call, not of the study
	OPT_PART,
	OPT_AS,
	OPT_FOR,
	OPT_ROUNDED,
	OPT_CURVES,
	OPT_OUT,
	OPT_FORCE,
	OPT_JOBS,
	OPT_JSON,
	OPT_QUIET,
	OPT_VERSION
};

static const struct option longs[] = {
	{"knob", required_argument, NULL, OPT_KNOB},
	{"aim", required_argument, NULL, OPT_AIM},
	{"limit", required_argument, NULL, OPT_LIMIT},
	{"over", required_argument, NULL, OPT_OVER},
	{"timeouts", no_argument, NULL, OPT_TIMEOUTS},
	{"whole-runs", no_argument, NULL, OPT_WHOLE_RUNS},
	{"front", no_argument, NULL, OPT_FRONT},
	{"engine", required_argument, NULL, OPT_ENGINE},
	{"budget", required_argument, NULL, OPT_BUDGET},
	{"seed", required_argument, NULL, OPT_SEED},
	{"search-seeds", required_argument, NULL, OPT_SEARCH_SEEDS},
	{"race-seeds", required_argument, NULL, OPT_RACE_SEEDS},
	{"fresh-seeds", required_argument, NULL, OPT_FRESH_SEEDS},
	{"holdout", required_argument, NULL, OPT_HOLDOUT},
	{"set", required_argument, NULL, OPT_SET},
	{"off", required_argument, NULL, OPT_OFF},
	{"screen", required_argument, NULL, OPT_SCREEN},
	{"parts", required_argument, NULL, OPT_PARTS},
	{"space", required_argument, NULL, OPT_SPACE},
	{"study", required_argument, NULL, OPT_STUDY},
	{"part", required_argument, NULL, OPT_PART},
	{"as", required_argument, NULL, OPT_AS},
	{"for", required_argument, NULL, OPT_FOR},
	{"rounded", no_argument, NULL, OPT_ROUNDED},
	{"curves", required_argument, NULL, OPT_CURVES},
	{"out", required_argument, NULL, OPT_OUT},
	{"force", no_argument, NULL, OPT_FORCE},
	{"jobs", required_argument, NULL, OPT_JOBS},
	{"json", no_argument, NULL, OPT_JSON},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static const char *const verbs[] = {
	[VERB_RUN] = "run",	  [VERB_RESUME] = "resume", [VERB_SHOW] = "show",
	[VERB_BEST] = "best",	  [VERB_PARETO] = "pareto", [VERB_AB] = "ab",
	[VERB_MERGE] = "merge",	  [VERB_EXPORT] = "export", [VERB_IMPORT] = "import",
	[VERB_REPORT] = "report",
};
#define VERB_COUNT (sizeof(verbs) / sizeof(*verbs))

static int take_number(uint64_t *ret, const char *option, const char *word, uint64_t min,
		       uint64_t max, struct refusal *refusal)
{
	size_t digits = strspn(word, "0123456789");
	uint64_t value = digits > 0 && digits < 19 ? strtoull(word, NULL, 10) : UINT64_MAX;
	if (word[digits] == '\0' && value >= min && value <= max) {
		*ret = value;
		return 0;
	}
	snprintf(refusal->file, sizeof(refusal->file), "%s", option);
	snprintf(refusal->text, sizeof(refusal->text),
		 "wants a whole number from %" PRIu64 " to %" PRIu64 ", not '%.100s'", min, max,
		 word);
	return -EINVAL;
}

static int take_count(uint32_t *ret, const char *option, const char *word, uint32_t min,
		      uint32_t max, struct refusal *refusal)
{
	uint64_t value = 0;
	int rc = take_number(&value, option, word, min, max, refusal);
	*ret = (uint32_t)value;
	return rc;
}

static int take_over(struct words *options, const char *word, struct refusal *refusal)
{
	static const char *const words[] = {
		[TUNE_OVER_MEAN] = "mean", [TUNE_OVER_WORST] = "worst", [TUNE_OVER_CVAR] = "cvar"};
	for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(words[i], word) == 0) {
			options->aim.over = (enum tune_over)i;
			return 0;
		}
	return outcome_bad_word(refusal, "--over is mean, worst or cvar, not", word);
}

static int take_engine(struct words *options, const char *word, struct refusal *refusal)
{
	options->engine = search_engine(word);
	if (options->engine == NULL) {
		size_t used = (size_t)snprintf(refusal->text, sizeof(refusal->text),
					       "there is no engine '%.40s'; there are:", word);
		for (const struct search_engine *one = search_engines(); one->name != NULL; one++)
			used += (size_t)snprintf(refusal->text + used, sizeof(refusal->text) - used,
						 " %s", one->name);
		return -EINVAL;
	}
	if (options->engine->run != NULL)
		return 0;
	snprintf(refusal->text, sizeof(refusal->text),
		 "this build has no NLopt, which engine %s is of; install libnlopt-dev and build "
		 "again",
		 word);
	return -ENOTSUP;
}

static int take_set(struct words *options, const char *word, struct refusal *refusal)
{
	if (options->set_count == SETS_MAX)
		return outcome_bad_word(refusal, "too many --set, at", word);
	options->sets[options->set_count++] = word;
	return 0;
}

static int take_off(struct words *options, const char *word, struct refusal *refusal)
{
	if (options->off_count == TUNE_OFF_MAX || strlen(word) >= TUNE_VALUE_BYTES)
		return outcome_bad_word(refusal, "too many, or too long a, --off, at", word);
	options->off[options->off_count++] = word;
	return 0;
}

static int take_holdout(struct words *options, const char *word, struct refusal *refusal)
{
	if (options->holdout_count == TUNE_SCENARIOS_MAX)
		return outcome_bad_word(refusal, "too many --holdout, at", word);
	options->holdouts[options->holdout_count++] = word;
	return 0;
}

// Words that make the study what it is.
static int take_of_study(struct words *options, int option, const char *word,
			 struct refusal *refusal)
{
	switch (option) {
	case OPT_KNOB:
		return tune_space_add(&options->space, word, refusal);
	case OPT_AIM:
		return tune_aim_goal(&options->aim, word, refusal);
	case OPT_LIMIT:
		return tune_aim_limit(&options->aim, word, refusal);
	case OPT_OVER:
		return take_over(options, word, refusal);
	case OPT_TIMEOUTS:
		options->aim.may_time_out = true;
		return 0;
	case OPT_FRONT:
		options->aim.is_front = true;
		return 0;
	case OPT_WHOLE_RUNS:
		options->is_whole = true;
		return 0;
	case OPT_ENGINE:
		return take_engine(options, word, refusal);
	case OPT_BUDGET:
		return take_number(&options->budget, "--budget", word, 1, 100000000, refusal);
	case OPT_SEED:
		options->has_seed = true;
		return take_number(&options->seed, "--seed", word, 0, UINT32_MAX, refusal);
	case OPT_SEARCH_SEEDS:
		return take_count(&options->search_seeds, "--search-seeds", word, 1,
				  TUNE_BLOCKS_MAX, refusal);
	case OPT_RACE_SEEDS:
		return take_count(&options->race_seeds, "--race-seeds", word, 2, TUNE_BLOCKS_MAX,
				  refusal);
	case OPT_FRESH_SEEDS:
		return take_count(&options->fresh_seeds, "--fresh-seeds", word, 2, TUNE_BLOCKS_MAX,
				  refusal);
	case OPT_HOLDOUT:
		return take_holdout(options, word, refusal);
	case OPT_OFF:
		return take_off(options, word, refusal);
	case OPT_SCREEN:
		return take_count(&options->screen, "--screen", word, 0, 32, refusal);
	case OPT_PARTS:
		return take_count(&options->parts, "--parts", word, 1, PARTS_MAX, refusal);
	default:
		return take_set(options, word, refusal);
	}
}

static int take_of_call(struct words *options, int option, const char *word,
			struct refusal *refusal)
{
	switch (option) {
	case OPT_STUDY:
		return outcome_once(refusal, &options->study, "--study", word);
	case OPT_AS:
		return outcome_once(refusal, &options->format, "--as", word);
	case OPT_FOR:
		return outcome_once(refusal, &options->from, "--for", word);
	case OPT_ROUNDED:
		options->is_round = true;
		return 0;
	case OPT_CURVES:
		return take_count(&options->curves, "--curves", word, 2, TUNE_CURVE_POINTS_MAX,
				  refusal);
	case OPT_OUT:
		return outcome_once(refusal, &options->page, "--out", word);
	case OPT_FORCE:
		files_force();
		return 0;
	case OPT_PART:
		return take_count(&options->part, "--part", word, 1, PARTS_MAX, refusal);
	case OPT_JOBS:
		return take_count(&options->jobs, "--jobs", word, 1, JOBS_AT_ONCE_MAX, refusal);
	case OPT_JSON:
		options->is_json = true;
		return 0;
	case OPT_QUIET:
		options->is_quiet = true;
		return 0;
	case OPT_VERSION:
		options->wants_version = true;
		return 0;
	default:
		options->wants_help = true;
		return 0;
	}
}

// ---------------------------------------------------------------- the study's words

static int note_word(struct words *options, const char *first, const char *second,
		     struct refusal *refusal)
{
	size_t used = strlen(options->command);
	int more = snprintf(options->command + used, sizeof(options->command) - used, "%s%s\n",
			    first, second);
	if (used + (size_t)more >= sizeof(options->command))
		return outcome_bad_line(refusal, "the words of this study are too long together");
	if (strchr(second, '\n') != NULL)
		return outcome_bad_word(refusal, "a line end in", second);
	return 0;
}

static const struct option *long_of(int option)
{
	const struct option *at = longs;
	while (at->val != option)
		at++;
	return at;
}

static int take_option(struct words *options, int option, const char *word,
		       struct refusal *refusal);

// tune_word_fn: a word of a space's file, as if it stood on the command line.
static int take_space_word(void *context, const char *option, const char *word,
			   struct refusal *refusal)
{
	struct words *options = context;
	size_t bytes = strlen(word) + 1;
	if (bytes > sizeof(options->space_text) - options->space_bytes)
		return outcome_bad_line(refusal, "spaces are too long together");
	char *copy = options->space_text + options->space_bytes;
	memcpy(copy, word, bytes);
	options->space_bytes += bytes;
	return take_option(options, strcmp(option, "off") == 0 ? OPT_OFF : OPT_KNOB, copy, refusal);
}

static int take_space(struct words *options, const char *name, struct refusal *refusal)
{
	char path[SCENARIO_PATH_BYTES], *text;
	size_t bytes;
	int rc = data_path_find(DATA_PATH_SPACES, name, path, sizeof(path), refusal);
	if (rc == 0)
		rc = file_read(path, SPACE_FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = tune_space_read(path, text, bytes, take_space_word, options, refusal);
	free(text);
	return rc;
}

static int take_option(struct words *options, int option, const char *word, struct refusal *refusal)
{
	char name[40];
	if (option == OPT_SPACE)
		return take_space(options, word, refusal);
	if (option >= OPT_STUDY || option == 'h')
		return take_of_call(options, option, word, refusal);
	if (option == OPT_AIM && options->verb == VERB_PARETO && !options->is_read)
		return tune_aim_goal(&options->front, word, refusal);
	const struct option *found = long_of(option);
	snprintf(name, sizeof(name), "--%s%s", found->name, found->has_arg ? "=" : "");
	int rc = note_word(options, name, found->has_arg ? word : "", refusal);
	return rc < 0 ? rc : take_of_study(options, option, word, refusal);
}

static int take_scenario(struct words *options, const char *word, struct refusal *refusal)
{
	if (options->scenario_count == TUNE_SCENARIOS_MAX)
		return outcome_bad_word(refusal, "too many scenarios, at", word);
	for (uint32_t i = 0; i < options->scenario_count; i++)
		if (strcmp(options->scenarios[i], word) == 0)
			return outcome_bad_word(refusal, "this scenario is given twice:", word);
	options->scenarios[options->scenario_count++] = word;
	return note_word(options, word, "", refusal);
}

static int check_whole(const struct words *options, struct refusal *refusal)
{
	if (options->scenario_count == 0)
		return outcome_bad_line(refusal, "no scenario given");
	if (options->scenario_count + options->holdout_count > TUNE_SCENARIOS_MAX)
		return outcome_bad_line(refusal, "too many scenarios: 16 with the hold-outs");
	if (options->space.count == 0)
		return outcome_bad_line(
			refusal,
			"nothing to tune: give a space with --space, or knobs with --knob");
	if (options->aim.is_front && options->aim.goal_count < 2)
		return outcome_bad_line(refusal, "--front needs two or more of --aim");
	if (options->part > options->parts)
		return outcome_bad_line(refusal, "--part counts from 1 to what --parts says");
	if (options->race_seeds < options->search_seeds)
		return outcome_bad_line(refusal,
					"--race-seeds may not be less than --search-seeds");
	return 0;
}

int words_of_study(struct words *options, char *words, struct refusal *refusal)
{
	char *rest;
	int rc = 0;
	options->command[0] = '\0';
	options->is_read = true;
	for (char *word = strtok_r(words, "\n", &rest); rc == 0 && word != NULL;
	     word = strtok_r(NULL, "\n", &rest)) {
		const struct option *found = longs;
		size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
		while (length > 0 && found->name != NULL &&
		       (strlen(found->name) != length ||
			strncmp(found->name, word + 2, length) != 0))
			found++;
		if (length == 0)
			rc = take_scenario(options, word, refusal);
		else if (found->name == NULL || found->val >= OPT_STUDY)
			rc = outcome_bad_word(refusal, "this study has a word that is none:", word);
		else
			rc = take_option(options, found->val,
					 word + 2 + length + (found->has_arg != 0), refusal);
	}
	return rc < 0 ? rc : check_whole(options, refusal);
}

// ---------------------------------------------------------------- the command line

// What stands behind a verb that is given a study.
static int take_studies(struct words *options, int argc, char **argv, struct refusal *refusal)
{
	int wanted = options->verb == VERB_AB ? 2 : 1, given = argc - optind;
	if (options->command[0] != '\0' || options->part > 0)
		return outcome_bad_line(refusal,
					"a study that is there has its own settings; give --jobs, "
					"--json and --quiet alone");
	if (options->verb == VERB_MERGE && given < 2)
		return outcome_bad_line(refusal, "a study to join the parts in, and the parts");
	if (options->verb != VERB_MERGE && given != wanted)
		return outcome_bad_line(refusal,
					wanted == 2 ? "two studies are needed: files"
						    : "one study is needed: a file");
	options->more = (const char *const *)argv + optind + 1;
	options->more_count = (uint32_t)given - 1;
	return outcome_once(refusal, &options->study, "--study", argv[optind]);
}

// --as and --for belong to export and import alone.
static int check_format(const struct words *options, struct refusal *refusal)
{
	bool is_wanted = options->verb == VERB_EXPORT || options->verb == VERB_IMPORT;
	if (is_wanted && options->format == NULL)
		return outcome_bad_line(refusal,
					"--as says for what: mrc, dcqcn, sonic, cumulus or nccl");
	if (!is_wanted && options->format != NULL)
		return outcome_bad_line(refusal, "--as goes with export and import alone");
	if (options->verb != VERB_EXPORT && options->from != NULL)
		return outcome_bad_line(refusal, "--for goes with export alone");
	return 0;
}

// --curves, --out and --force belong to report alone; what is printed has no file.
static int check_report(const struct words *options, struct refusal *refusal)
{
	bool has_file = options->page != NULL || files_are_forced();
	if (options->verb != VERB_REPORT && (options->curves > 0 || has_file))
		return outcome_bad_line(refusal,
					"--curves, --out and --force go with report alone");
	if (options->is_json && has_file)
		return outcome_bad_line(
			refusal, "--out and --force are of the page that --json does not write");
	return 0;
}

static int take_words(struct words *options, int argc, char **argv, struct refusal *refusal)
{
	int rc = check_format(options, refusal);
	if (rc == 0)
		rc = check_report(options, refusal);
	if (rc < 0)
		return rc;
	if (options->verb != VERB_RUN)
		return take_studies(options, argc, argv, refusal);
	for (; rc == 0 && optind < argc; optind++)
		rc = take_scenario(options, argv[optind], refusal);
	return rc < 0 ? rc : check_whole(options, refusal);
}

int words_parse(struct words *ret, int argc, char **argv, struct refusal *refusal)
{
	bool seen[OUTCOME_OPTIONS_MAX] = {false};
	int option, rc = 0;
	*ret = (struct words){.engine = search_engine("cmaes"),
			      .budget = 600,
			      .search_seeds = 3,
			      .race_seeds = 6,
			      .fresh_seeds = 20,
			      .screen = TUNE_SCREEN_AUTO,
			      .parts = 1,
			      .jobs = 1};
	for (uint32_t i = 0; argc > 1 && i < VERB_COUNT; i++)
		if (strcmp(argv[1], verbs[i]) == 0) {
			ret->verb = (enum verb)i;
			argv++;
			argc--;
			break;
		}
	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?')
			return outcome_bad_word(
				refusal, "unknown option or missing value:", argv[optind - 1]);
		if (option != OPT_KNOB && option != OPT_AIM && option != OPT_LIMIT &&
		    option != OPT_HOLDOUT && option != OPT_OFF && option != OPT_SPACE &&
		    option != OPT_SET)
			rc = outcome_first(refusal, seen, longs, option);
		if (rc == 0)
			rc = take_option(ret, option, optarg, refusal);
		if (rc < 0)
			return rc;
	}
	return ret->wants_help || ret->wants_version ? 0 : take_words(ret, argc, argv, refusal);
}
