// SPDX-License-Identifier: Apache-2.0
// The book that a folder holds already. A call goes on with its own; that of another call is
// replaced only with --force.

#include "acceptance.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/result/report_manifest.h>

#define ACCEPTANCE_BYTES_MAX ((size_t)64 << 20)

static bool is_list(const json_t *list, const char *const words[], uint32_t count)
{
	if (json_array_size(list) != count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const char *word = json_string_value(json_array_get(list, i));
		if (word == NULL || strcmp(word, words[i]) != 0)
			return false;
	}
	return true;
}

static bool is_word(const json_t *root, const char *key, const char *word)
{
	const char *there = json_string_value(json_object_get(root, key));
	return there != NULL && strcmp(there, word) == 0;
}

static bool has_case(const struct acceptance *acceptance, const json_t *one)
{
	for (uint32_t i = 0; i < acceptance->case_count; i++)
		if (is_word(one, "name", acceptance->cases[i].of->name))
			return true;
	return false;
}

// What is not as in this call; NULL: nothing, so this call goes on with it.
static const char *other_of(const struct acceptance *acceptance, const json_t *root)
{
	const json_t *cases = json_object_get(root, "cases"), *one;
	size_t i;
	if (!is_word(root, "scenario", acceptance->fabric_file.path))
		return "its scenario is another one";
	if (!is_word(root, "with", acceptance->with) ||
	    json_is_true(json_object_get(root, "quick")) != acceptance->is_quick)
		return "its --with or --quick is another one";
	if (!is_list(json_object_get(root, "sets"), acceptance->sets, acceptance->set_count) ||
	    !is_list(json_object_get(root, "faults"), acceptance->faults, acceptance->fault_count))
		return "its --set or --fault is another one";
	json_array_foreach(cases, i,
			   one) if (!has_case(acceptance, one)) return "it has more cases";
	return NULL;
}

int earlier_check(struct acceptance *acceptance)
{
	char path[ACCEPTANCE_PATH_BYTES], *text;
	struct refusal unread = {0};
	size_t bytes;
	snprintf(path, sizeof(path), "%s/%s", acceptance->out, ACCEPTANCE_MARK);
	if (files_are_forced() ||
	    file_read_back(path, ACCEPTANCE_BYTES_MAX, &text, &bytes, &unread) < 0)
		return 0;
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
	const char *other = other_of(acceptance, root);
	json_decref(root);
	free(text);
	if (other == NULL)
		return 0;
	snprintf(acceptance->refusal.file, sizeof(acceptance->refusal.file), "%.255s",
		 acceptance->out);
	snprintf(acceptance->refusal.text, sizeof(acceptance->refusal.text),
		 "holds the report of another call (%s); --force replaces it", other);
	return -EINVAL;
}

// Whether a run read a file: its text is among the inputs of the run's manifest.
static bool has_read(const struct manifest *manifest, const char *path)
{
	struct manifest_rows own = {0};
	struct refusal unread;
	char *text;
	size_t bytes;
	bool is_there = false;
	if (file_read_back(path, ACCEPTANCE_BYTES_MAX, &text, &bytes, &unread) < 0)
		return false;
	manifest_take(&own, path, text, bytes);
	for (uint32_t i = 0; own.count > 0 && i < manifest->inputs.count; i++)
		is_there |= strcmp(manifest->inputs.rows[i].digest, own.rows[0].digest) == 0;
	manifest_rows_free(&own);
	free(text);
	return is_there;
}

int earlier_check_run(struct acceptance *acceptance, const char *home,
		      const struct manifest *manifest)
{
	char path[ACCEPTANCE_PATH_BYTES];
	snprintf(path, sizeof(path), "%s/cases/%s/scenario.yaml", acceptance->out, home);
	if (has_read(manifest, path))
		return 0;
	snprintf(acceptance->refusal.file, sizeof(acceptance->refusal.file), "%.255s", path);
	snprintf(acceptance->refusal.text, sizeof(acceptance->refusal.text),
		 "the run beside it is of another case: it did not read this scenario");
	return -EINVAL;
}
