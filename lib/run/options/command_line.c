// SPDX-License-Identifier: Apache-2.0
// A command line by the rows of its program: each word is found, or refused; then what
// was given is held against what it goes with.

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/near_word.h>
#include <weft/run/command_line.h>
#include <weft/run/outcome.h>

#include "weft_version.h"

#define FIRST 256 // what getopt calls the first row

// One reading.
struct reading {
	const struct command_line *line;
	struct option longs[COMMAND_LINE_ROWS_MAX + 3];
	char letters[2 * COMMAND_LINE_ROWS_MAX + 4];
	uint32_t count;
	const char *given[COMMAND_LINE_ROWS_MAX]; // each row's last word; NULL: it was not given
	bool wants_help, wants_version;
	int argc;
	char **argv;
	struct refusal *refusal;
};

const struct option_row *option_find(const struct option_row *rows, const char *name)
{
	for (; rows->name != NULL; rows++)
		if (strcmp(rows->name, name) == 0)
			return rows;
	return NULL;
}

static void begin(struct reading *reading)
{
	struct option *at = reading->longs;
	char *letter = reading->letters;
	*letter++ = ':'; // a missing value is another error than an unknown option
	*letter++ = 'h';
	for (const struct option_row *row = reading->line->rows; row->name != NULL; row++) {
		check(reading->count < COMMAND_LINE_ROWS_MAX);
		if (row->name[0] != '\0')
			*at++ = (struct option){
				row->name, row->value != NULL ? required_argument : no_argument,
				NULL, FIRST + (int)reading->count};
		if (row->letter != 0)
			*letter++ = row->letter;
		if (row->letter != 0 && row->value != NULL)
			*letter++ = ':';
		reading->count++;
	}
	*at++ = (struct option){"help", no_argument, NULL, 'h'};
	*at++ = (struct option){"version", no_argument, NULL, 'v' + FIRST * 2};
	*at = (struct option){NULL, 0, NULL, 0};
	optind = 0; // from the beginning: a verb may have read before
	opterr = 0;
}

static const struct option_row *row_of(const struct reading *reading, int option)
{
	const struct option_row *rows = reading->line->rows;
	if (option >= FIRST && option < FIRST + (int)reading->count)
		return &rows[option - FIRST];
	for (; rows->name != NULL; rows++)
		if (rows->letter == option && option != 0)
			return rows;
	return NULL;
}

static int refuse_unknown(const struct reading *reading)
{
	char *text = reading->refusal->text;
	const char *word = reading->argv[optind - 1];
	int length = (int)strcspn(word, "=");
	if (optopt >= FIRST || optopt == 'h') {
		snprintf(text, REFUSAL_TEXT_BYTES, "%.*s takes no value (--help lists the options)",
			 length, word);
	} else if (optopt != 0) {
		snprintf(text, REFUSAL_TEXT_BYTES, "unknown option -%c (--help lists the options)",
			 optopt);
	} else {
		char name[NEAR_WORD_BYTES];
		snprintf(name, sizeof(name), "%.*s", length - 2, word + 2);
		struct near_word near_word = near_word_of(name);
		for (const struct option *at = reading->longs; at->name != NULL; at++)
			near_word_see(&near_word, at->name);
		snprintf(text, REFUSAL_TEXT_BYTES, "unknown option %.*s%s%s%s",
			 length < 100 ? length : 100, word,
			 near_word.found[0] != '\0' ? "; did you mean --" : "", near_word.found,
			 near_word.found[0] != '\0' ? "?" : " (--help lists the options)");
	}
	return -EINVAL;
}

static int refuse_missing(const struct reading *reading)
{
	const struct option_row *row = row_of(reading, optopt);
	snprintf(reading->refusal->text, REFUSAL_TEXT_BYTES,
		 "%s needs a value: %s (--help lists the options)", reading->argv[optind - 1],
		 row->value);
	return -EINVAL;
}

static int take(struct reading *reading, void *to, int option)
{
	const struct option_row *row = row_of(reading, option);
	char what[96];
	if (option == 'h')
		reading->wants_help = true;
	if (option == 'v' + FIRST * 2)
		reading->wants_version = true;
	if (option == '?')
		return refuse_unknown(reading);
	if (option == ':')
		return refuse_missing(reading);
	if (row == NULL)
		return 0;
	const char **given = &reading->given[row - reading->line->rows];
	snprintf(what, sizeof(what), "--%s is given twice", row->name);
	if (*given != NULL && row->value != NULL && !row->is_many)
		return outcome_bad_line(reading->refusal, what);
	*given = row->value != NULL ? optarg : "";
	int rc = reading->line->note != NULL
		? reading->line->note(to, row, optarg, reading->refusal)
		: 0;
	return rc < 0 ? rc : option_take(row, to, optarg, reading->refusal);
}

// ---------------------------------------------------------------- what goes with what

// Whether an option of a list was given; `name` is at "pcap|log" or "depth=sample".
static bool is_given(const struct reading *reading, const char *name, size_t length)
{
	const struct option_row *rows = reading->line->rows;
	size_t own = strcspn(name, "=|;");
	for (uint32_t i = 0; i < reading->count; i++) {
		const char *word = reading->given[i];
		if (word == NULL || strlen(rows[i].name) != own ||
		    memcmp(rows[i].name, name, own) != 0)
			continue;
		return own == length ||
			(strlen(word) == length - own - 1 &&
			 memcmp(word, name + own + 1, length - own - 1) == 0);
	}
	return false;
}

// "--pcap or --fidelity sample" of "pcap|depth=sample".
static void write_list(char *ret, size_t bytes, const char *list, size_t length)
{
	size_t used = 0;
	ret[0] = '\0';
	for (const char *at = list; at < list + length; at += strcspn(at, "|;") + 1) {
		size_t word = strcspn(at, "|;"), own = strcspn(at, "=|;");
		const char *behind = at + word < list + length &&
				strchr(at + word + 1, '|') != NULL &&
				strchr(at + word + 1, '|') < list + length
			? ", "
			: " or ";
		used += (size_t)snprintf(ret + used, bytes - used, "--%.*s%s%.*s%s", (int)own, at,
					 own < word ? " " : "",
					 own < word ? (int)(word - own - 1) : 0, at + own + 1,
					 at + word < list + length ? behind : "");
		check(used < bytes);
	}
}

// One of each group of `needs`.
static int check_needs(const struct reading *reading, const struct option_row *row)
{
	char what[320], list[224];
	for (const char *group = row->needs; group != NULL;) {
		size_t length = strcspn(group, ";");
		bool has = false;
		for (const char *at = group; at < group + length; at += strcspn(at, "|;") + 1)
			has |= is_given(reading, at, strcspn(at, "|;"));
		write_list(list, sizeof(list), group, length);
		snprintf(what, sizeof(what), "--%s needs %s", row->name, list);
		if (!has)
			return outcome_bad_line(reading->refusal, what);
		group = group[length] == ';' ? group + length + 1 : NULL;
	}
	return 0;
}

static int check_excludes(const struct reading *reading, const struct option_row *row)
{
	char what[320], list[224];
	const char *end = row->excludes + strlen(row->excludes);
	for (const char *at = row->excludes; at < end; at += strcspn(at, "|") + 1) {
		size_t length = strcspn(at, "|");
		write_list(list, sizeof(list), at, length);
		snprintf(what, sizeof(what), "--%s has no effect with %s", row->name, list);
		if (is_given(reading, at, length))
			return outcome_bad_line(reading->refusal, what);
	}
	return 0;
}

// Beside `name`, and its value, no other word may stand.
static int check_alone(const struct reading *reading, const struct option_row *row,
		       const char *name)
{
	char what[96];
	bool is_first = reading->argc > 1 && strcmp(reading->argv[1], name) == 0;
	int own = 1 + (row->value != NULL && strchr(reading->argv[1], '=') == NULL);
	snprintf(what, sizeof(what), "%s goes alone; unexpected argument", name);
	return reading->argc <= 1 + own
		? 0
		: outcome_bad_word(reading->refusal, what, reading->argv[is_first ? 1 + own : 1]);
}

// Beside row `sole` no other has an effect.
static int check_sole(const struct reading *reading, const struct option_row *sole)
{
	const struct option_row *rows = reading->line->rows;
	char what[128];
	for (uint32_t i = 0; i < reading->count; i++) {
		snprintf(what, sizeof(what), "--%s has no effect with --%s", rows[i].name,
			 sole->name);
		if (reading->given[i] != NULL && &rows[i] != sole)
			return outcome_bad_line(reading->refusal, what);
	}
	return 0;
}

static int check_rows(const struct reading *reading)
{
	const struct option_row *rows = reading->line->rows;
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < reading->count; i++) {
		char name[64];
		snprintf(name, sizeof(name), "--%s", rows[i].name);
		if (reading->given[i] == NULL)
			continue;
		if (rows[i].is_alone)
			rc = check_alone(reading, &rows[i], name);
		if (rc == 0 && rows[i].is_sole)
			rc = check_sole(reading, &rows[i]);
		if (rc == 0 && rows[i].needs != NULL)
			rc = check_needs(reading, &rows[i]);
		if (rc == 0 && rows[i].excludes != NULL)
			rc = check_excludes(reading, &rows[i]);
	}
	return rc;
}

static bool is_alone(const struct reading *reading)
{
	for (uint32_t i = 0; i < reading->count; i++)
		if (reading->given[i] != NULL && reading->line->rows[i].is_alone)
			return true;
	return false;
}

// A word too many may be a scenario, where a program takes that by an option.
static int refuse_word(const struct reading *reading, const char *word)
{
	bool has_scenario = false;
	for (uint32_t i = 0; i < reading->count; i++)
		has_scenario |= strcmp(reading->line->rows[i].name, "scenario") == 0;
	return outcome_bad_word(reading->refusal,
				has_scenario ? "--scenario names the scenario; unexpected argument"
					     : "unexpected argument",
				word);
}

static int check_words(const struct reading *reading)
{
	const struct command_line *line = reading->line;
	uint32_t count = (uint32_t)(reading->argc - optind);
	char what[64];
	if (count > line->most)
		return refuse_word(reading, reading->argv[optind + (int)line->most]);
	snprintf(what, sizeof(what), "no %s given", line->noun);
	return count < line->least && !is_alone(reading) ? outcome_bad_line(reading->refusal, what)
							 : 0;
}

int command_line_read(const struct command_line *line, void *to, int argc, char **argv,
		      struct refusal *refusal)
{
	struct reading reading = {.line = line, .argc = argc, .argv = argv, .refusal = refusal};
	int option, rc = 0;
	begin(&reading);
	while (rc == 0 &&
	       (option = getopt_long(argc, argv, reading.letters, reading.longs, NULL)) != -1)
		rc = take(&reading, to, option);
	if (rc < 0)
		return rc;
	if (reading.wants_help || reading.wants_version) {
		if (line->help != NULL)
			fputs(reading.wants_help ? line->help : WEFT_VERSION_TEXT "\n", stdout);
		return COMMAND_LINE_DONE;
	}
	rc = check_rows(&reading);
	return rc == 0 ? check_words(&reading) : rc;
}
