// SPDX-License-Identifier: Apache-2.0
// Whether what was given has an effect, and what is needed was given.

#include <stdio.h>
#include <string.h>

#include "scenario_reader.h"

// The place of the section that `key` would stand in: the first of its keys that was given, so that
// "missing" has a line; else the file's beginning.
static struct mark section_mark(const struct reader *reader, const struct scenario_key *key)
{
	const struct scenario_key *keys = scenario_keys();
	const char *point = strchr(key->path, '.');
	struct mark mark = reader->root;
	if (point == NULL)
		return mark;
	size_t length = (size_t)(point - key->path) + 1;
	bool is_found = false;
	for (int i = 0; keys[i].path != NULL; i++) {
		bool is_here = reader->is_given[i] && !reader->key_marks[i].is_set &&
			strncmp(keys[i].path, key->path, length) == 0;
		if (is_here && (!is_found || reader->key_marks[i].line < mark.line)) {
			mark = reader->key_marks[i];
			is_found = true;
		}
	}
	return mark;
}

// Of a word, those that there are.
static int refuse_needed(struct reader *reader, const struct scenario_key *key)
{
	char list[160] = "";
	for (uint32_t i = 0; key->words != NULL && key->words[i] != NULL; i++) {
		size_t used = strlen(list);
		snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "; it may be: " : ", ",
			 key->words[i]);
	}
	return reader_refuse(reader, section_mark(reader, key), "%s is missing%s", key->path, list);
}

// First what every scenario needs: the use of other keys depends on it.
static int check_needed(struct reader *reader)
{
	const struct scenario_key *keys = scenario_keys();
	for (int i = 0; keys[i].path != NULL; i++)
		if (keys[i].use == USE_ALWAYS && !reader->is_given[i] &&
		    scenario_key_is_required(&keys[i]) && !scenario_key_is_element(&keys[i]))
			return refuse_needed(reader, &keys[i]);
	return 0;
}

// The key would have none with rccc, but who sets it wants to compare, and is told what can be.
static bool asks_rccc_for_htsim(const struct reader *reader, const struct scenario_key *key)
{
	const struct cc_config *cc = &reader->scenario->transport.cc;
	const struct cc_ops *ops = cc_find(cc->name);
	return strcmp(key->path, "cc.htsim") == 0 && cc->is_htsim && ops->is_credit_alone;
}

static int check_key_use(struct reader *reader, int index)
{
	const struct scenario_key *key = &scenario_keys()[index];
	bool holds = scenario_use_holds(key->use, reader->scenario);
	char needs[USE_NAME_BYTES];
	scenario_use_write(needs, sizeof(needs), key->use);
	if (holds && scenario_key_is_required(key) && !reader->is_given[index])
		return reader_refuse(reader, section_mark(reader, key),
				     "%s is missing; %s needs it", key->path, needs);
	if (!holds && reader->is_given[index] && asks_rccc_for_htsim(reader, key))
		return reader_refuse(reader, reader->key_marks[index],
				     "cc.htsim: beside cc.algorithm %s weft is not htsim: "
				     "all-to-all, hot spots and flows that start one after the "
				     "other differ by 5 to 39 %%, acknowledgements of permutations "
				     "by 6 %% (docs/validation.md); leave it out to run "
				     "permutations and incasts, which agree",
				     reader->scenario->transport.cc.name);
	if (!holds && reader->is_given[index])
		return reader_refuse(reader, reader->key_marks[index],
				     "%s has no effect here; it needs %s", key->path, needs);
	return 0;
}

void reader_note_use(struct reader *reader)
{
	const struct scenario_key *keys = scenario_keys();
	for (int i = 0; keys[i].path != NULL; i++)
		reader->is_used[i] |= reader->is_given[i] &&
			scenario_use_holds(keys[i].use, reader->scenario);
}

bool reader_is_own(const struct reader *reader, struct mark mark)
{
	return mark.is_set && mark.line > reader->common_count;
}

// Takes back a key of the file that had an effect there, and has none beside the assignments: who
// asks for no trimming need not care how the file would have trimmed. Who compares with htsim must
// hear that the run no longer does.
static bool forget_moot(struct reader *reader, int index)
{
	const struct scenario_key *key = &scenario_keys()[index];
	bool is_of_file = reader->is_used[index] &&
		!reader_is_own(reader, reader->key_marks[index]);
	if (!reader->is_given[index] || !(is_of_file || reader->is_preset[index]) ||
	    asks_rccc_for_htsim(reader, key) || scenario_use_holds(key->use, reader->scenario))
		return false;
	reader_forget(reader, index);
	return true;
}

// Until nothing changes: what is taken back may be what others were for.
static void forget_all_moot(struct reader *reader)
{
	const struct scenario_key *keys = scenario_keys();
	bool is_changed = true;
	while (is_changed) {
		is_changed = false;
		for (int i = 0; keys[i].path != NULL; i++)
			if (!scenario_key_is_element(&keys[i]))
				is_changed |= forget_moot(reader, i);
	}
}

int reader_check_use(struct reader *reader)
{
	const struct scenario_key *keys = scenario_keys();
	int rc = check_needed(reader);
	forget_all_moot(reader);
	for (int i = 0; keys[i].path != NULL && rc == 0; i++)
		if (!scenario_key_is_element(&keys[i]))
			rc = check_key_use(reader, i);
	return rc;
}
