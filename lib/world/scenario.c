// SPDX-License-Identifier: Apache-2.0
// Reads a scenario: YAML text and assignments of the command line to struct scenario. This file is
// the order of the steps; keys are in scenario_keys.c, units in scenario_value.c, YAML in
// scenario_document.c, lists in scenario_list.c, what must fit together in scenario_check.c.

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weft/check.h>

#include "scenario_draft.h"

#define PATH_BYTES 64

int draft_refuse(struct draft *draft, struct mark mark, const char *format, ...)
{
	struct refusal *refusal = draft->refusal;
	va_list arguments;
	snprintf(refusal->file, sizeof(refusal->file), "%s", mark.is_set ? "--set" : draft->path);
	refusal->line = mark.line;
	refusal->column = mark.column;
	va_start(arguments, format);
	vsnprintf(refusal->text, sizeof(refusal->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

bool draft_is_given(const struct draft *draft, const char *path)
{
	int index = scenario_key_find(path);
	check(index >= 0);
	return draft->is_given[index];
}

struct mark draft_mark(const struct draft *draft, const char *path)
{
	return draft_is_given(draft, path) ? draft->value_marks[scenario_key_find(path)]
					   : draft->root;
}

int draft_store(struct draft *draft, void *base, const struct scenario_key *key,
		const struct scalar *scalar, struct mark mark)
{
	struct refusal reason;
	int rc = value_store(base, key, scalar, &reason);
	if (rc != 0)
		return draft_refuse(draft, mark, "%s: %s", key->path, reason.text);
	return 0;
}

// Whether the table's default of this key can be read as a value.
static bool has_default(const struct scenario_key *key)
{
	bool is_nothing = strcmp(key->value, "-") == 0 || strcmp(key->unit, "list") == 0;
	return !is_nothing && !scenario_key_is_required(key) && !scenario_key_is_element(key);
}

void scenario_defaults(struct scenario *ret)
{
	struct refusal refusal;
	memset(ret, 0, sizeof(*ret));
	for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++) {
		const struct scalar value = {key->value, strlen(key->value), true};
		if (has_default(key)) {
			int rc = value_store(ret, key, &value, &refusal);
			check(rc == 0); // the table keeps to its own rules
		}
	}
	ret->traffic.flows = ret->flows;
	ret->fabric.graph.names = ret->node_names;
	ret->fabric.graph.links = ret->graph_links;
	ret->fabric.thin_kept = 1;
	ret->fabric.thin_of = 1;
}

// `sample=off` takes back what the file says of a sample, but not what other assignments say.
static int forget_sample(struct draft *draft)
{
	const struct scenario_key *keys = scenario_keys();
	int off = scenario_key_find("sample");
	if (!draft->is_given[off] || !draft->key_marks[off].is_set)
		return 0;
	for (int i = 0; keys[i].path != NULL; i++) {
		if (strncmp(keys[i].path, "sample.", 7) != 0 || !draft->is_given[i])
			continue;
		if (draft->key_marks[i].is_set)
			return draft_refuse(draft, draft->key_marks[i],
					    "%s has no effect here; assignment %u says sample=off",
					    keys[i].path, draft->key_marks[off].line);
		draft->is_given[i] = false;
	}
	return 0;
}

// Reads one assignment, "fabric.planes=4", the `number`th of the command line.
static int read_assignment(struct draft *draft, const char *text, uint32_t number)
{
	const struct mark mark = {number, 1, true};
	const char *equals = strchr(text, '=');
	char path[PATH_BYTES];
	if (equals == NULL || equals == text || equals - text >= PATH_BYTES)
		return draft_refuse(draft, mark,
				    "an assignment is key=value, as in fabric.planes=4");
	memcpy(path, text, (size_t)(equals - text));
	path[equals - text] = '\0';
	int index = scenario_key_find(path);
	if (index < 0) {
		const char *nearest = scenario_key_nearest(path);
		const struct scalar name = {path, strlen(path), true};
		char quoted[SCALAR_QUOTE_BYTES];
		scalar_quote(quoted, &name);
		return draft_refuse(draft, mark, "there is no key %s%s%s%s", quoted,
				    nearest == NULL ? "" : "; did you mean ",
				    nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?");
	}
	const struct scenario_key *key = &scenario_keys()[index];
	if (strcmp(key->unit, "list") == 0 || scenario_key_is_element(key))
		return draft_refuse(draft, mark,
				    "%s belongs to a list; lists are set in the file only", path);
	if (draft->is_given[index] && draft->key_marks[index].is_set)
		return draft_refuse(draft, mark, "%s is set twice; it was first in assignment %u",
				    path, draft->key_marks[index].line);
	draft->is_given[index] = true;
	draft->key_marks[index] = mark;
	draft->value_marks[index] = (struct mark){number, (uint32_t)(equals - text) + 2, true};
	const struct scalar value = {equals + 1, strlen(equals + 1), true};
	return draft_store(draft, draft->scenario, key, &value, draft->value_marks[index]);
}

static int read_assignments(struct draft *draft, const char *const *sets, uint32_t set_count)
{
	for (uint32_t i = 0; i < set_count; i++) {
		struct mark mark = {i + 1, 1, true};
		int rc = document_check_text(draft, sets[i], strlen(sets[i]), mark);
		if (rc == 0)
			rc = read_assignment(draft, sets[i], i + 1);
		if (rc != 0)
			return rc;
	}
	return forget_sample(draft);
}

// The steps after loading. Lists come late: their checks need the fabric's figures.
static int read_draft(struct draft *draft, yaml_document_t *document, const char *const *sets,
		      uint32_t set_count)
{
	int rc = document_read(draft, document);
	if (rc == 0)
		rc = read_assignments(draft, sets, set_count);
	if (rc == 0)
		rc = draft_check_use(draft);
	if (rc != 0)
		return rc;
	draft_settle(draft);
	rc = draft_check(draft);
	if (rc == 0)
		rc = draft_read_lists(draft, document);
	return rc;
}

int scenario_parse(struct scenario *ret, const char *path, const char *text, size_t bytes,
		   const char *const *sets, uint32_t set_count, struct refusal *refusal)
{
	struct draft draft = {.scenario = ret, .refusal = refusal, .path = path};
	yaml_document_t document;
	draft.root = (struct mark){1, 1, false};
	scenario_defaults(ret);
	if (strlen(path) >= sizeof(ret->path))
		return draft_refuse(&draft, (struct mark){0, 0, false},
				    "the file's path is longer than %zu bytes",
				    sizeof(ret->path) - 1);
	strcpy(ret->path, path);
	int rc = document_check_text(&draft, text, bytes, draft.root);
	if (rc == 0)
		rc = document_load(&draft, &document, text, bytes);
	if (rc != 0)
		return rc;
	rc = read_draft(&draft, &document, sets, set_count);
	yaml_document_delete(&document);
	return rc;
}
