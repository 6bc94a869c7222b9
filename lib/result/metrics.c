// SPDX-License-Identifier: Apache-2.0
// A result as lines of figures: metrics, and CSV. What could not be measured is in both, with its
// reason, and is no number in either. Metrics are in what OpenMetrics 1.0 and Prometheus' text have
// in common: gauges alone, texts as labels of gauges that are 1.

#include <weft/result/metrics.h>

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/result/figure_table.h>
#include <weft/result/report_escape.h>

// From a result to its leaves.

#define FLATTEN_PATH_BYTES 160
#define FLATTEN_LABELS_MAX 12

struct flatten_label {
	const char *key, *value;
};

// One number, flag, text, or null.
struct flatten_leaf {
	const char *path; // "messages[].p99_ns", as docs/result.md has it
	const json_t *value;
	const char *reason;   // of a null, or NULL where none is given
	uint32_t label_count; // words of the elements of lists on the way, which tell them apart
	struct flatten_label labels[FLATTEN_LABELS_MAX];
};

struct walk {
	void (*take)(const struct flatten_leaf *leaf, void *context);
	void *context;
	struct flatten_leaf leaf;
	char path[FLATTEN_PATH_BYTES];
	char indexes[FLATTEN_LABELS_MAX][24];
};

static void walk_object(struct walk *walk, const json_t *object, bool has_labels);

static bool is_reason(const char *key)
{
	size_t length = strlen(key);
	return length > 7 && strcmp(key + length - 7, "_reason") == 0;
}

static void add_label(struct walk *walk, const char *key, const char *value)
{
	struct flatten_leaf *leaf = &walk->leaf;
	if (leaf->label_count < FLATTEN_LABELS_MAX)
		leaf->labels[leaf->label_count++] = (struct flatten_label){key, value};
}

// The words of an element, or its place in the list where it has none.
static void label_element(struct walk *walk, const json_t *element, size_t index)
{
	const char *key;
	json_t *value;
	uint32_t first = walk->leaf.label_count;
	json_object_foreach((json_t *)element, key, value)
	{
		if (json_is_string(value) && !is_reason(key))
			add_label(walk, key, json_string_value(value));
	}
	uint32_t depth = first < FLATTEN_LABELS_MAX ? first : FLATTEN_LABELS_MAX - 1;
	snprintf(walk->indexes[depth], sizeof(walk->indexes[depth]), "%zu", index);
	add_label(walk, "index", walk->indexes[depth]);
}

static void walk_list(struct walk *walk, const json_t *list)
{
	const json_t *each;
	size_t i, used = strlen(walk->path);
	uint32_t labels = walk->leaf.label_count;
	snprintf(walk->path + used, sizeof(walk->path) - used, "[]");
	json_array_foreach(list, i, each)
	{
		if (!json_is_object(each))
			continue;
		label_element(walk, each, i);
		walk_object(walk, each, true);
		walk->leaf.label_count = labels;
	}
}

static void walk_leaf(struct walk *walk, const json_t *object, const char *key, const json_t *value)
{
	char name[96];
	snprintf(name, sizeof(name), "%s_reason", key);
	walk->leaf.path = walk->path;
	walk->leaf.value = value;
	walk->leaf.reason = json_string_value(json_object_get(object, name));
	walk->take(&walk->leaf, walk->context);
}

static void walk_object(struct walk *walk, const json_t *object, bool has_labels)
{
	const char *key;
	json_t *value;
	size_t used = strlen(walk->path);
	json_object_foreach((json_t *)object, key, value)
	{
		if (is_reason(key) || (has_labels && json_is_string(value)))
			continue;
		snprintf(walk->path + used, sizeof(walk->path) - used, "%s%s", used > 0 ? "." : "",
			 key);
		if (json_is_object(value))
			walk_object(walk, value, false);
		else if (json_is_array(value))
			walk_list(walk, value);
		else
			walk_leaf(walk, object, key, value);
		walk->path[used] = '\0';
	}
}

// Calls `take` for each leaf, in the order of the result, but for numbers that are elements of a
// list themselves (series, NICs of a job), for reasons, and for words that are labels.
static void flatten_walk(const json_t *result,
			 void (*take)(const struct flatten_leaf *leaf, void *context),
			 void *context)
{
	struct walk walk = {.take = take, .context = context};
	walk_object(&walk, result, false);
}

#define NAME_BYTES (2 * FLATTEN_PATH_BYTES)
#define REASON_NONE "not of this run"

// ---------------------------------------------------------------- OpenMetrics

// Samples by the name of their metric: all of one name have to stand together. Each says of which
// run it is, so that those of several can be in one database.
struct metrics {
	const char *scenario, *digest; // NULL: there is none
	json_t *families;	       // name: [text of a sample]
	json_t *helps;		       // name: path
};

// Prometheus asks for base units with whole names, and keeps some last words for kinds of metrics
// of its own (promtool check metrics).
static const struct {
	const char *word, *name;
	double factor;
	bool is_last; // the word is taken at the end alone
} words[] = {
	{"ps", "seconds", 1e-12, false}, {"ns", "seconds", 1e-9, false},
	{"us", "seconds", 1e-6, false},	 {"ms", "seconds", 1e-3, false},
	{"s", "seconds", 1, false},	 {"bps", "bytes_per_second", 0.125, false},
	{"count", "number", 1, true},	 {"total", "all", 1, true},
	{"sum", "whole", 1, true},	 {"bucket", "part", 1, true},
};

// Writes a word of a name as Prometheus has it. Returns what a value is to be multiplied by.
static double put_word(char ret[NAME_BYTES], const char *word, bool is_last)
{
	size_t used = strlen(ret);
	bool is_rate = used > 4 && strcmp(ret + used - 4, "_per") == 0;
	const char *name = word;
	double factor = 1;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(word, words[i].word) != 0 || (words[i].is_last && !is_last))
			continue;
		name = is_rate ? "second" : words[i].name;
		factor = words[i].factor;
	}
	snprintf(ret + used, NAME_BYTES - used, "_%s", name);
	return factor;
}

// "messages[].p99_ns" to "weft_messages_p99_seconds", for values times 1e-9.
static double name_of(char ret[NAME_BYTES], const char *path)
{
	char word[NAME_BYTES];
	double factor = 1;
	snprintf(ret, NAME_BYTES, "weft");
	while (*path != '\0') {
		size_t length = 0;
		for (; *path != '\0' && *path != '.' && *path != '_'; path++)
			if (isalnum((unsigned char)*path) && length + 1 < sizeof(word))
				word[length++] = (char)tolower((unsigned char)*path);
		word[length] = '\0';
		path += *path != '\0';
		if (length > 0)
			factor *= put_word(ret, word, *path == '\0');
	}
	return factor;
}

static void put_escaped(FILE *to, const char *text)
{
	char *shown = escape_text(text);
	for (const char *at = shown; *at != '\0'; at++)
		fprintf(to, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
	free(shown);
}

static void put_label(FILE *to, const char **gap, const char *key, const char *value)
{
	if (value == NULL)
		return;
	fprintf(to, "%s%s=\"", *gap, key);
	put_escaped(to, value);
	fputc('"', to);
	*gap = ",";
}

// {scenario="incast",digest="25f08ed7e3f07ebe",pair="same_t0",index="1"}, and one more label where
// `value` is given.
static void put_labels(FILE *to, const struct metrics *metrics, const struct flatten_leaf *leaf,
		       const char *key, const char *value)
{
	const char *gap = "{";
	put_label(to, &gap, "scenario", metrics->scenario);
	put_label(to, &gap, "digest", metrics->digest);
	for (uint32_t i = 0; i < leaf->label_count; i++)
		put_label(to, &gap, leaf->labels[i].key, leaf->labels[i].value);
	put_label(to, &gap, key, value);
	if (*gap == ',')
		fputc('}', to);
}

// NULL: the table of figures has none.
static const struct figure_row *row_of(const char *path)
{
	const char *dot = strrchr(path, '.');
	size_t length = dot != NULL ? (size_t)(dot - path) : 0;
	for (uint32_t i = 0; dot != NULL && i < figure_count(); i++) {
		const struct figure_row *row = figure_at(i);
		if (strlen(row->section) == length && strncmp(row->section, path, length) == 0 &&
		    strcmp(row->key, dot + 1) == 0)
			return row;
	}
	return NULL;
}

// The words of the table of figures and the field; where it has none the field alone, which
// docs/result.md explains.
static void put_help(FILE *to, const char *name, const char *path)
{
	const struct figure_row *row = row_of(path);
	fprintf(to, "# HELP %s ", name);
	if (strcmp(name, "weft_unavailable") == 0)
		fputs("figures that there are none of, and why", to);
	else if (row == NULL || (row->label == NULL && *row->meaning == '\0'))
		fputs(path, to);
	else if (row->label == NULL)
		fprintf(to, "%s: %s", path, row->meaning);
	else if (*row->meaning == '\0')
		fprintf(to, "%s (%s)", row->label, path);
	else
		fprintf(to, "%s: %s (%s)", row->label, row->meaning, path);
	fputc('\n', to);
}

static void keep(struct metrics *metrics, const char *name, const char *path, char *line)
{
	json_t *list = json_object_get(metrics->families, name);
	if (list == NULL) {
		list = json_array();
		json_object_set_new(metrics->families, name, list);
		json_object_set_new(metrics->helps, name, json_string(path));
	}
	int failed = json_array_append_new(list, json_string(line));
	check(failed == 0);
	free(line);
}

static void put_number(FILE *to, const json_t *value, double factor)
{
	if (json_is_integer(value) && factor == 1)
		fprintf(to, " %lld\n", (long long)json_integer_value(value));
	else if (json_is_number(value))
		fprintf(to, " %.12g\n", json_number_value(value) * factor);
	else
		fprintf(to, " %d\n", json_is_true(value));
}

static void take_metric(const struct flatten_leaf *leaf, void *context)
{
	struct metrics *metrics = context;
	char name[NAME_BYTES], *line = NULL;
	size_t bytes;
	double factor = name_of(name, leaf->path);
	FILE *to = open_memstream(&line, &bytes);
	check_memory(to != NULL);
	if (json_is_null(leaf->value)) {
		struct flatten_leaf with = *leaf;
		if (with.label_count < FLATTEN_LABELS_MAX)
			with.labels[with.label_count++] = (struct flatten_label){"metric", name};
		fputs("weft_unavailable", to);
		put_labels(to, metrics, &with, "reason",
			   leaf->reason != NULL ? leaf->reason : REASON_NONE);
		fputs(" 1\n", to);
		strcpy(name, "weft_unavailable");
	} else if (json_is_string(leaf->value)) {
		strcat(name, "_info");
		fputs(name, to);
		put_labels(to, metrics, leaf, "value", json_string_value(leaf->value));
		fputs(" 1\n", to);
	} else {
		fputs(name, to);
		put_labels(to, metrics, leaf, NULL, NULL);
		put_number(to, leaf->value, factor);
	}
	check(fclose(to) == 0);
	keep(metrics, name, leaf->path, line);
}

int metrics_write(FILE *to, const json_t *result)
{
	struct metrics metrics = {.scenario = json_string_value(json_object_get(
					  json_object_get(result, "scenario"), "name")),
				  .digest = json_string_value(json_object_get(
					  json_object_get(result, "run"), "digest")),
				  .families = json_object(),
				  .helps = json_object()};
	const char *name;
	json_t *list;
	const json_t *each;
	size_t i;
	errno = 0;
	flatten_walk(result, take_metric, &metrics);
	json_object_foreach(metrics.families, name, list)
	{
		fprintf(to, "# TYPE %s gauge\n", name);
		put_help(to, name, json_string_value(json_object_get(metrics.helps, name)));
		json_array_foreach(list, i, each) fputs(json_string_value(each), to);
	}
	fputs("# EOF\n", to);
	json_decref(metrics.families);
	json_decref(metrics.helps);
	return ferror(to) != 0 || fflush(to) != 0 ? -EIO : 0;
}

// ---------------------------------------------------------------- CSV

static const char *unit_of(const char *path)
{
	static const char *const ends[][2] = {
		{"_bytes_per_s", "byte/s"},
		{"_per_s", "1/s"},
		{"_bps", "bit/s"},
		{"_ps", "ps"},
		{"_ns", "ns"},
		{"_s", "s"},
		{"bytes", "byte"},
		{"bytes_max", "byte"},
	};
	size_t length = strlen(path);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i][0]);
		if (length > end && strcmp(path + length - end, ends[i][0]) == 0)
			return ends[i][1];
	}
	return "";
}

static void take_line(const struct flatten_leaf *leaf, void *context)
{
	FILE *to = context;
	char where[512] = "";
	size_t used = 0;
	for (uint32_t i = 0; i < leaf->label_count && used < sizeof(where); i++)
		used += (size_t)snprintf(where + used, sizeof(where) - used, "%s%s=%s",
					 i > 0 ? " " : "", leaf->labels[i].key,
					 leaf->labels[i].value);
	fprintf(to, "%s,", leaf->path);
	escape_cell(to, where);
	fputc(',', to);
	if (json_is_integer(leaf->value))
		fprintf(to, "%lld", (long long)json_integer_value(leaf->value));
	else if (json_is_real(leaf->value))
		fprintf(to, "%.12g", json_real_value(leaf->value));
	else if (json_is_string(leaf->value))
		escape_cell(to, json_string_value(leaf->value));
	else if (!json_is_null(leaf->value))
		fprintf(to, "%d", json_is_true(leaf->value));
	bool is_number = json_is_number(leaf->value);
	fprintf(to, ",%s,", is_number ? unit_of(leaf->path) : "");
	if (json_is_null(leaf->value)) {
		snprintf(where, sizeof(where), "unavailable: %s",
			 leaf->reason != NULL ? leaf->reason : REASON_NONE);
		escape_cell(to, where);
	}
	fputc('\n', to);
}

int metrics_csv(FILE *to, const json_t *result)
{
	errno = 0;
	fputs("field,where,value,unit,reason\n", to);
	flatten_walk(result, take_line, to);
	return ferror(to) != 0 || fflush(to) != 0 ? -EIO : 0;
}
