// SPDX-License-Identifier: Apache-2.0
// Second names of keys: those of the MRC controller structure (mrc_ctl.h), where they are not the
// key's own. Values have the key's units, whatever the structure's are.
#include <string.h>

#include "scenario_keys.h"
#include "scenario_words.h"

static const struct scenario_name names[] = {
	{"cc.adjust_bytes_threshold", "cc.adjust_bytes", NULL},
	{"cc.adjust_period_threshold", "cc.adjust_period", NULL},
	{"cc.disable_qa", "cc.quick_adapt", flag_words}, // the other way round, as the field is
	{"cc.max_cwnd", "cc.max_window", NULL},
	{NULL, NULL, NULL},
};

const struct scenario_name *scenario_names(void)
{
	return names;
}

const struct scenario_name *scenario_name_find(const char *path)
{
	for (const struct scenario_name *name = names; name->name != NULL; name++)
		if (strcmp(name->name, path) == 0)
			return name;
	return NULL;
}

struct scenario_key key_named(const struct key_table *table, int index, const char *path)
{
	struct scenario_key key = table->keys[index];
	const struct scenario_name *name = table == &scenario_table ? scenario_name_find(path)
								    : NULL;
	if (name != NULL)
		key.path = name->name;
	if (name != NULL && name->words != NULL)
		key.words = name->words;
	return key;
}
