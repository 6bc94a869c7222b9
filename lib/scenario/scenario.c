// SPDX-License-Identifier: Apache-2.0
// Reads a scenario: YAML text and assignments of the command line to struct scenario. This file is
// the order of the steps; keys are in scenario_keys.c, units in scenario_value.c, YAML in
// scenario_document.c, lists in scenario_list.c, what must fit together in scenario_check.c.

#include <string.h>

#include "scenario_presets.h"
#include "scenario_reader.h"

#define PATH_BYTES 64
#define FAULT_WORDS "--fault" // the file that faults of the command line are in
#define TAP_WORDS "--tap"

// `sample=off` takes back what the file says of a sample, but not what other assignments say.
static int forget_sample(struct reader *reader)
{
	const struct scenario_key *keys = scenario_keys();
	int off = scenario_key_find("sample");
	if (!reader->is_given[off] || !reader->key_marks[off].is_set)
		return 0;
	for (int i = 0; keys[i].path != NULL; i++) {
		if (strncmp(keys[i].path, "sample.", 7) != 0 || !reader->is_given[i])
			continue;
		if (reader->key_marks[i].is_set)
			return reader_refuse(reader, reader->key_marks[i],
					     "%s has no effect here; assignment %u says sample=off",
					     keys[i].path, reader->key_marks[off].line);
		reader->is_given[i] = false;
	}
	return 0;
}

// Reads one assignment, "fabric.planes=4", the `number`th of the command line.
static int read_assignment(struct reader *reader, const char *text, uint32_t number)
{
	const struct mark mark = {number, 1, true};
	const char *equals = strchr(text, '=');
	char path[PATH_BYTES];
	if (equals == NULL || equals == text || equals - text >= PATH_BYTES)
		return reader_refuse(reader, mark,
				     "an assignment is key=value, as in fabric.planes=4");
	memcpy(path, text, (size_t)(equals - text));
	path[equals - text] = '\0';
	int index = scenario_key_find(path);
	if (index < 0) {
		const char *nearest = key_nearest(&scenario_table, path);
		const struct scalar name = {path, strlen(path), true};
		char quoted[SCALAR_QUOTE_BYTES];
		scalar_quote(quoted, &name);
		return reader_refuse(reader, mark, "there is no key %s%s%s%s", quoted,
				     nearest == NULL ? "" : "; did you mean ",
				     nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
	}
	const struct scenario_key key = key_named(&scenario_table, index, path);
	bool is_list = strcmp(key.unit, "list") == 0;
	if (is_list || scenario_key_is_element(&key))
		return reader_refuse(reader, mark, "%s is %s list; lists are set in the file only",
				     path, is_list ? "a" : "in a");
	if (reader->is_given[index] && reader->key_marks[index].is_set && !reader->is_preset[index])
		return reader_refuse(reader, mark, "%s is set twice; it was first in assignment %u",
				     path, reader->key_marks[index].line);
	reader->is_given[index] = true;
	reader->is_preset[index] = false;
	reader->key_marks[index] = mark;
	reader->value_marks[index] = (struct mark){number, (uint32_t)(equals - text) + 2, true};
	const struct scalar value = {equals + 1, strlen(equals + 1), true};
	return reader_store(reader, reader->scenario, &key, &value, reader->value_marks[index]);
}

static int read_assignments(struct reader *reader, const struct scenario_source *source)
{
	const char *const *sets = source->sets;
	int rc = reader_apply_preset(reader);
	reader_note_use(reader);
	for (uint32_t i = 0; i < source->set_count && rc == 0; i++) {
		struct mark mark = {i + 1, 1, true};
		if (i > 0 && i == source->common_count) { // what is common to all runs, too
			rc = reader_apply_preset(reader);
			reader_note_use(reader);
		}
		if (rc == 0)
			rc = document_check_text(reader, sets[i], strlen(sets[i]), mark);
		if (rc == 0)
			rc = read_assignment(reader, sets[i], i + 1);
	}
	if (rc == 0)
		rc = reader_apply_preset(reader);
	return rc == 0 ? forget_sample(reader) : rc;
}

// Traffic for a file that describes a fabric alone.
static int fill_traffic(struct reader *reader, const struct scenario_source *source)
{
	int rc = 0;
	if (!source->is_fabric_alone || reader_is_given(reader, "traffic.kind"))
		return 0;
	rc = read_assignment(reader, "traffic.kind=permutation", source->set_count + 1);
	return rc == 0 && !reader_is_given(reader, "traffic.bytes")
		? read_assignment(reader, "traffic.bytes=1MB", source->set_count + 2)
		: rc;
}

// The name of a scenario that has none: that of its file.
static void name_by_file(struct scenario *scenario)
{
	const char *slash = strrchr(scenario->path, '/');
	const char *file = slash != NULL ? slash + 1 : scenario->path, *end = strrchr(file, '.');
	if (end != NULL && end > file &&
	    (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0 || strcmp(end, ".json") == 0))
		snprintf(scenario->name, sizeof(scenario->name), "%.*s", (int)(end - file), file);
}

#define ELEMENT_TEXT_BYTES 1024

// A list whose elements the command line can add.
struct word_list {
	const char *option; // in errors, the file that its elements are in
	const char *example;
	read_element_fn *read;
	uint32_t count_max;
};

static const struct word_list fault_list = {FAULT_WORDS, "{kind: loss, at: all, probability: 1%}",
					    reader_read_fault, SCENARIO_FAULTS_MAX};
static const struct word_list tap_list = {TAP_WORDS, "{at: {nic: 3}, direction: down}",
					  reader_read_tap, SCENARIO_TAPS_MAX};

// Reads element `index` of the list, word `number` of the command line, counted from 1: a document
// of its own. It is put on the line of that number, so that every error has its place.
static int read_word(struct reader *reader, const struct word_list *list, const char *text,
		     uint32_t number, uint32_t index)
{
	char lines[SCENARIO_FAULTS_MAX + ELEMENT_TEXT_BYTES];
	const struct mark mark = {number, 1, false};
	yaml_document_t document;
	size_t bytes = strlen(text);
	if (index == list->count_max)
		return reader_refuse(reader, mark, "%ss: there are more than %u", list->option + 2,
				     list->count_max);
	if (bytes >= ELEMENT_TEXT_BYTES || strpbrk(text, "\r\n") != NULL || text[0] != '{')
		return reader_refuse(reader, mark,
				     "a %s is a YAML map on one line of less than %u bytes, as in "
				     "%s",
				     list->option + 2, ELEMENT_TEXT_BYTES, list->example);
	memset(lines, '\n', number - 1);
	memcpy(lines + number - 1, text, bytes + 1);
	int rc = document_check_text(reader, text, bytes, mark);
	if (rc == 0)
		rc = document_load(reader, &document, lines, number - 1 + bytes);
	if (rc != 0 && reader->refusal->line > number) { // libyaml's end is the line behind
		reader->refusal->line = number;
		reader->refusal->column = (uint32_t)bytes + 1;
	}
	if (rc != 0)
		return rc;
	rc = list->read(reader, &document, yaml_document_get_root_node(&document), index);
	yaml_document_delete(&document);
	return rc;
}

// Reads the elements of the command line behind those of the file, of which there are `index`.
static int read_words(struct reader *reader, const struct word_list *list, const char *const *words,
		      uint32_t count, uint32_t index)
{
	int rc = 0;
	if (count > 0)
		reader->path = list->option;
	for (uint32_t i = 0; rc == 0 && i < count; i++)
		rc = read_word(reader, list, words[i], i + 1, index + i);
	return rc;
}

void scenario_fault_location(const struct scenario *scenario, uint32_t index,
			     struct refusal *refusal)
{
	if (refusal == NULL)
		return;
	refusal->line = scenario->fault_lines[index];
	if (index >= scenario->file_fault_count)
		memcpy(refusal->file, FAULT_WORDS, sizeof(FAULT_WORDS));
}

void scenario_tap_location(const struct scenario *scenario, uint32_t index, struct refusal *refusal)
{
	refusal->line = scenario->tap_lines[index];
	if (index >= scenario->file_tap_count)
		memcpy(refusal->file, TAP_WORDS, sizeof(TAP_WORDS));
}

// The steps after loading. Lists come late: their checks need the fabric's figures.
static int read_reader(struct reader *reader, yaml_document_t *document,
		       const struct scenario_source *source)
{
	int rc = document_read(reader, document, reader->scenario);
	if (rc == 0)
		rc = read_assignments(reader, source);
	if (rc == 0)
		rc = fill_traffic(reader, source);
	if (rc != 0)
		return rc;
	rc = reader_check_preset(reader);
	if (rc == 0)
		rc = reader_check_use(reader);
	if (rc == 0) {
		reader_settle(reader);
		rc = reader_check(reader);
	}
	reader->scenario->is_contradiction = rc != 0;
	if (rc == 0)
		rc = reader_read_lists(reader, document);
	if (rc == 0)
		reader_note_preset(reader);
	struct scenario *scenario = reader->scenario;
	scenario->file_fault_count = scenario->fault_count;
	scenario->file_tap_count = scenario->tap_count;
	if (rc == 0)
		rc = read_words(reader, &fault_list, source->faults, source->fault_count,
				scenario->fault_count);
	return rc == 0 ? read_words(reader, &tap_list, source->taps, source->tap_count,
				    scenario->tap_count)
		       : rc;
}

int scenario_read(struct scenario *ret, const struct scenario_source *source,
		  struct refusal *refusal)
{
	struct reader reader = {.table = &scenario_table,
				.scenario = ret,
				.refusal = refusal,
				.path = source->path,
				.common_count = source->common_count};
	yaml_document_t document;
	reader.root = (struct mark){1, 1, false};
	if (strlen(source->path) >= sizeof(ret->path))
		return reader_refuse(&reader, (struct mark){0, 0, false},
				     "the file's path is longer than %zu bytes",
				     sizeof(ret->path) - 1);
	int rc = document_check_text(&reader, source->text, source->bytes, reader.root);
	if (rc == 0)
		rc = document_load(&reader, &document, source->text, source->bytes);
	if (rc != 0)
		return rc;
	scenario_defaults(ret);
	strcpy(ret->path, source->path);
	rc = read_reader(&reader, &document, source);
	ret->has_rto = reader_is_given(&reader, "transport.rto");
	if (!reader_is_given(&reader, "name"))
		name_by_file(ret);
	ret->has_watch_links = reader_is_given(&reader, "watch.links");
	yaml_document_delete(&document);
	return rc;
}

int scenario_parse(struct scenario *ret, const char *path, const char *text, size_t bytes,
		   const char *const *sets, uint32_t set_count, struct refusal *refusal)
{
	const struct scenario_source source = {
		.path = path, .text = text, .bytes = bytes, .sets = sets, .set_count = set_count};
	return scenario_read(ret, &source, refusal);
}
