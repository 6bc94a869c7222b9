// SPDX-License-Identifier: Apache-2.0
// Which key of the table a misspelt path was meant to be.

#include "scenario_keys.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 64

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t least = a < b ? a : b;
	return least < c ? least : c;
}

// Edits (insert, delete, replace) that turn one path into the other; both shorter than PATH_BYTES.
static uint32_t edit_distance(const char *a, const char *b)
{
	uint32_t row[PATH_BYTES + 1];
	uint32_t columns = (uint32_t)strlen(b);
	for (uint32_t j = 0; j <= columns; j++)
		row[j] = j;
	for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
		uint32_t diagonal = row[0];
		row[0] = i;
		for (uint32_t j = 1; j <= columns; j++) {
			uint32_t above = row[j];
			uint32_t swap = diagonal + (a[i - 1] != b[j - 1]);
			row[j] = min3(above + 1, row[j - 1] + 1, swap);
			diagonal = above;
		}
	}
	return row[columns];
}

static const char *last_word(const char *path)
{
	const char *point = strrchr(path, '.');
	return point == NULL ? path : point + 1;
}

const char *key_nearest(const struct key_table *table, const char *path)
{
	const char *const *sections = table->sections;
	const struct scenario_key *keys = table->keys;
	const char *nearest = NULL;
	size_t length = strlen(path);
	uint32_t least = 4; // more edits than that are no misspelling
	if (length >= PATH_BYTES)
		return NULL;
	for (int i = 0; sections[i] != NULL; i++) {
		uint32_t edits = edit_distance(path, sections[i]);
		if (edits < 3 && 2 * edits < strlen(sections[i])) // `time` is no `wire`
			return sections[i];
	}
	for (int i = 0; keys[i].path != NULL; i++) {
		size_t other = strlen(keys[i].path);
		if ((other > length ? other - length : length - other) >= least)
			continue; // each is an edit
		uint32_t edits = edit_distance(path, keys[i].path);
		if (edits < least && edits < strlen(last_word(keys[i].path))) {
			least = edits;
			nearest = keys[i].path;
		}
	}
	if (least <= 1)
		return nearest;
	for (int i = 0; keys[i].path != NULL; i++)
		if (strcmp(last_word(keys[i].path), last_word(path)) == 0)
			return keys[i].path; // right word, wrong section
	return nearest;
}

const struct scenario_key *scenario_key_of(const char *path, struct refusal *refusal)
{
	int index = scenario_key_find(path);
	const char *nearest = index < 0 ? key_nearest(&scenario_table, path) : NULL;
	const struct scenario_key *key = index < 0 ? NULL : &scenario_keys()[index];
	if (key != NULL && !scenario_key_is_element(key))
		return key;
	snprintf(refusal->text, sizeof(refusal->text), "there is no key `%.80s`%s%s%s", path,
		 nearest != NULL ? "; did you mean `" : "", nearest != NULL ? nearest : "",
		 nearest != NULL ? "`?" : "");
	return NULL;
}
