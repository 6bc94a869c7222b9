// SPDX-License-Identifier: Apache-2.0
// The words of weft tune. Those that make a study what it is are kept with it; how it is run
// (--jobs,
// --json) may differ from call to call.

#include "call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/near_word.h>
#include <weft/files/files.h>
#include <weft/run/outcome.h>
#include <weft/tune/report.h>

#include "help.h"
#include "weft-tune_options.h"

#define PARTS_MAX 1000

static const char *const verbs[] = {
	[VERB_RUN] = "run",	  [VERB_RESUME] = "resume", [VERB_SHOW] = "show",
	[VERB_BEST] = "best",	  [VERB_PARETO] = "pareto", [VERB_AB] = "ab",
	[VERB_MERGE] = "merge",	  [VERB_EXPORT] = "export", [VERB_IMPORT] = "import",
	[VERB_REPORT] = "report",
};
#define VERB_COUNT (sizeof(verbs) / sizeof(*verbs))

static int take_knob(void *context, const char *word, struct refusal *refusal)
{
	return tune_space_add(&((struct words *)context)->space, word, refusal);
}

static int take_limit(void *context, const char *word, struct refusal *refusal)
{
	return tune_aim_limit(&((struct words *)context)->aim, word, refusal);
}

// Figures of pareto are no aims of the study that it reads.
static bool is_of_front(const struct words *options)
{
	return options->verb == VERB_PARETO && !options->is_read;
}

static int take_aim(void *context, const char *word, struct refusal *refusal)
{
	struct words *options = context;
	return tune_aim_goal(is_of_front(options) ? &options->front : &options->aim, word, refusal);
}

static int take_engine(void *context, const char *word, struct refusal *refusal)
{
	struct words *options = context;
	options->engine = search_engine(word);
	if (options->engine == NULL) {
		struct near_word near_word = near_word_of(word);
		size_t used = (size_t)snprintf(refusal->text, sizeof(refusal->text),
					       "there is no engine '%.40s'; there are:", word);
		for (const struct search_engine *one = search_engines(); one->name != NULL; one++) {
			used += (size_t)snprintf(refusal->text + used, sizeof(refusal->text) - used,
						 " %s", one->name);
			near_word_see(&near_word, one->name);
		}
		near_word_append(&near_word, refusal->text, sizeof(refusal->text));
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

static int take_off(void *context, const char *word, struct refusal *refusal)
{
	struct words *options = context;
	if (options->off_count == TUNE_OFF_MAX || strlen(word) >= TUNE_VALUE_BYTES)
		return outcome_bad_word(refusal, "too many --off, or one that is too long:", word);
	options->off[options->off_count++] = word;
	return 0;
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
		return outcome_bad_word(refusal, "a line end is not allowed in", second);
	return 0;
}

static option_take_fn take_space;
static const struct option_row option_rows[] = {TUNE_OPTIONS(struct words), {NULL}};

// Whether an option makes the study what it is: those before --as, but for --space, whose words are
// noted in its place, and --part.
static bool is_of_study(const struct option_row *row)
{
	return row < option_find(option_rows, "as") && strcmp(row->name, "space") != 0 &&
		strcmp(row->name, "part") != 0;
}

// option_note_fn: keeps it with the study.
static int note_option(void *context, const struct option_row *row, const char *word,
		       struct refusal *refusal)
{
	struct words *options = context;
	char name[40];
	bool is_figure = strcmp(row->name, "aim") == 0 && is_of_front(options);
	if (!is_of_study(row) || is_figure)
		return 0;
	snprintf(name, sizeof(name), "--%s%s", row->name, row->value != NULL ? "=" : "");
	return note_word(options, name, row->value != NULL ? word : "", refusal);
}

static int take_option(struct words *options, const struct option_row *row, const char *word,
		       struct refusal *refusal)
{
	int rc = note_option(options, row, word, refusal);
	return rc < 0 ? rc : option_take(row, options, row->value != NULL ? word : NULL, refusal);
}

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
	return take_option(options, option_find(option_rows, option), copy, refusal);
}

static int take_space(void *options, const char *name, struct refusal *refusal)
{
	struct data_file file;
	int rc = data_file_read(&file, DATA_PATH_SPACES, name, refusal);
	if (rc < 0)
		return rc;
	rc = tune_space_read(file.path, file.text, file.bytes, take_space_word, options, refusal);
	free(file.text);
	return rc;
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
		size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
		char name[40];
		snprintf(name, sizeof(name), "%.*s", (int)(length < 39 ? length : 39), word + 2);
		const struct option_row *row = option_find(option_rows, name);
		if (length == 0)
			rc = take_scenario(options, word, refusal);
		else if (row == NULL || !is_of_study(row))
			rc = outcome_bad_word(refusal, "this study has an unknown word:", word);
		else
			rc = take_option(options, row, word + 2 + length + (row->value != NULL),
					 refusal);
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
					"a study that exists has its own settings; only --jobs, "
					"--json and --quiet may be given");
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
					"--curves, --out and --force go with report alone; "
					"--study names the file of a study");
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

int words_parse(struct words *ret, int argc, char **argv, bool is_silent, struct refusal *refusal)
{
	const struct command_line arguments = {.help = is_silent ? NULL : help_text,
					       .rows = option_rows,
					       .noun = "scenario",
					       .most = UINT32_MAX,
					       .note = note_option};
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
	int rc = command_line_read(&arguments, ret, argc, argv, refusal);
	return rc == 0 ? take_words(ret, argc, argv, refusal) : rc;
}
