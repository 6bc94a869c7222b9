// SPDX-License-Identifier: Apache-2.0
// Which key of the table a misspelt path was meant to be.

#include "scenario_keys.h"

#include <stdio.h>
#include <string.h>

#include <weft/core/edit_distance.h>

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
	if (length >= EDIT_DISTANCE_BYTES)
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
