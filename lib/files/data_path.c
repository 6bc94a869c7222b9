// SPDX-License-Identifier: Apache-2.0
// Scenarios, jobs and profiles that are shipped, by name.

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/core/near_word.h>
#include <weft/files/files.h>

// Relative to the folder of the program: a build folder inside the source tree, an installation's
// libexec and bin.
static const char *const places[] = {"../../apps", "../../share/weft", "../share/weft"};

// What is shipped, each kind in a folder of its own, and how long such a file may be.
static const struct {
	const char *folder, *noun, *list_command;
	size_t bytes_max;
} kinds[] = {
	[DATA_PATH_SCENARIOS] = {"scenarios", "scenario", "weft sim --list", 1 << 20},
	[DATA_PATH_PROFILES] = {"profiles", "profile", "weft verdict --list", 1 << 20},
	[DATA_PATH_MODELS] = {"models", "job", "weft plan --list", 1 << 20},
	[DATA_PATH_SPACES] = {"spaces", "space", "weft help tune", 1 << 16},
};

#define REFUSAL_NAMES_BYTES 200 // of a refusal that lists names: two lines and a half

#define PLACES (sizeof(places) / sizeof(places[0]))

static const char *folder_of(enum data_path data_path, unsigned index)
{
	static char folder[PATH_MAX + 64];
	char own[PATH_MAX];
	if (index >= PLACES)
		return NULL;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	own[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(own, '/');
	if (slash != NULL)
		*slash = '\0';
	snprintf(folder, sizeof(folder), "%s/%s/%s", own, places[index], kinds[data_path].folder);
	return folder;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);
	return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static bool is_path(const char *name)
{
	return strchr(name, '/') != NULL || ends_in(name, ".yaml") || ends_in(name, ".yml") ||
		ends_in(name, ".json");
}

static int is_shipped(const struct dirent *entry)
{
	return ends_in(entry->d_name, ".yaml");
}

int data_path_each(enum data_path data_path, int (*visit)(void *context, const char *name),
		   void *context)
{
	struct dirent **entries;
	int count = -1, rc = 0;
	for (unsigned i = 0; count < 0 && i < PLACES; i++)
		count = scandir(folder_of(data_path, i), &entries, is_shipped, alphasort);
	if (count < 0)
		return -ENOENT;
	for (int i = 0; i < count; i++) {
		entries[i]->d_name[strlen(entries[i]->d_name) - 5] = '\0';
		if (rc == 0)
			rc = visit(context, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

// A list of names, as many as it holds, then what to ask for all.
struct name_list {
	char *text, more[64];
	size_t bytes;
};

static int append_name(void *context, const char *name)
{
	struct name_list *list = context;
	size_t used = strlen(list->text), length = strlen(name) + strlen(list->more) + 1;
	bool is_full = used + 1 + length > list->bytes;
	snprintf(list->text + used, list->bytes - used, is_full ? "%s" : " %s",
		 is_full ? list->more : name);
	return is_full;
}

static int see_name(void *context, const char *name)
{
	near_word_see(context, name);
	return 0;
}

// Whether all letters and digits of `asked` stand in `name`, in that order, from the first one on.
static bool is_short_of(const char *asked, const char *name)
{
	bool is_first = true;
	for (; *asked != '\0'; asked++) {
		if (!isalnum((unsigned char)*asked))
			continue;
		while (*name != '\0' && *name != *asked && !is_first)
			name++;
		if (*name++ != *asked)
			return false;
		is_first = false;
	}
	return true;
}

// The shortest name that is longer for what was asked, as llama-3.1-8b-fsdp-h100 for llama3-8b.
static int see_longer(void *context, const char *name)
{
	struct near_word *near_word = context;
	size_t length = strlen(name);
	if (length < near_word->least && is_short_of(near_word->asked, name)) {
		near_word->least = (uint32_t)length;
		strcpy(near_word->found, name);
	}
	return 0;
}

// A name whose first part is misspelt, as clso for clos-131072.
static int see_begin(void *context, const char *name)
{
	struct near_word *near_word = context;
	char begin[NEAR_WORD_BYTES];
	uint32_t before = near_word->least;
	snprintf(begin, sizeof(begin), "%.*s", (int)strcspn(name, "-"), name);
	near_word_see(near_word, begin);
	if (near_word->least < before)
		snprintf(near_word->found, sizeof(near_word->found), "%s", name);
	return 0;
}

#define MEANT_MAX 3

// What a name that is not shipped may have been meant to be.
struct meant {
	const char *asked;
	char found[MEANT_MAX][NEAR_WORD_BYTES];
	uint32_t count;
};

// The shortest name that begins as was asked, but for what is neither letter nor digit, and that is
// not one of those found with more behind it.
static int see_family(void *context, const char *name)
{
	struct meant *meant = context;
	char *found = meant->found[meant->count];
	const char *asked = meant->asked, *at = name;
	size_t length = strlen(name);
	for (; *asked != '\0'; asked++) {
		if (!isalnum((unsigned char)*asked))
			continue;
		while (*at != '\0' && !isalnum((unsigned char)*at))
			at++;
		if (*at++ != *asked)
			return 0;
	}
	for (uint32_t i = 0; i < meant->count; i++)
		if (strncmp(meant->found[i], name, strlen(meant->found[i])) == 0)
			return 0;
	if (length < NEAR_WORD_BYTES && (found[0] == '\0' || length < strlen(found)))
		strcpy(found, name);
	return 0;
}

// A misspelt name, else a few that begin so, else a part of one, else one that begins nearly so.
static struct meant meant_by(enum data_path data_path, const char *name)
{
	struct meant ret = {.asked = name};
	struct near_word near_word = near_word_of(name);
	data_path_each(data_path, see_name, &near_word);
	bool is_long = near_word.found[0] == '\0' && strlen(name) >= 4;
	for (bool is_more = is_long; is_more && ret.count < MEANT_MAX; ret.count += is_more) {
		data_path_each(data_path, see_family, &ret);
		is_more = ret.found[ret.count][0] != '\0';
	}
	if (ret.count > 0)
		return ret;
	if (is_long) {
		near_word.least = NEAR_WORD_BYTES;
		data_path_each(data_path, see_longer, &near_word);
	}
	if (is_long && near_word.found[0] == '\0') {
		near_word = near_word_of(name);
		data_path_each(data_path, see_begin, &near_word);
	}
	ret.count = near_word.found[0] != '\0';
	strcpy(ret.found[0], near_word.found);
	return ret;
}

static void append_meant(const struct meant *meant, enum data_path data_path, char *text,
			 size_t bytes)
{
	for (uint32_t i = 0; i < meant->count; i++) {
		size_t used = strlen(text);
		const char *before = i == 0    ? "; did you mean "
			: i + 1 < meant->count ? ", "
					       : " or ";
		snprintf(text + used, bytes - used, "%s%s", before, meant->found[i]);
	}
	size_t used = strlen(text);
	snprintf(text + used, bytes - used, "? (%s has all)", kinds[data_path].list_command);
}

int data_path_find(enum data_path data_path, const char *name, char *ret_path, size_t path_bytes,
		   struct refusal *refusal)
{
	char path[PATH_MAX + 512];
	if (is_path(name)) {
		snprintf(ret_path, path_bytes, "%s", name);
		return 0;
	}
	for (unsigned i = 0; i < PLACES; i++) {
		snprintf(path, sizeof(path), "%s/%s.yaml", folder_of(data_path, i), name);
		char real[PATH_MAX];
		if (realpath(path, real) != NULL && strlen(real) < path_bytes) {
			strcpy(ret_path, real);
			return 0;
		}
	}
	struct meant meant = meant_by(data_path, name);
	snprintf(refusal->text, sizeof(refusal->text), "no %s '%.64s' is shipped",
		 kinds[data_path].noun, name);
	if (meant.count > 0) {
		append_meant(&meant, data_path, refusal->text, sizeof(refusal->text));
		return -ENOENT;
	}
	snprintf(refusal->text, sizeof(refusal->text),
		 "no %s '%.64s' is shipped; there are:", kinds[data_path].noun, name);
	struct name_list list = {.text = refusal->text, .bytes = REFUSAL_NAMES_BYTES};
	snprintf(list.more, sizeof(list.more), " ... (%s has all)", kinds[data_path].list_command);
	if (data_path_each(data_path, append_name, &list) < 0)
		snprintf(refusal->text, sizeof(refusal->text),
			 "no %s '%.64s': the shipped ones are not where this program looks, in "
			 "../../apps and ../share/weft beside it; a file of your own is "
			 "./%.64s.yaml",
			 kinds[data_path].noun, name, name);
	return -ENOENT;
}

int data_file_read(struct data_file *ret, enum data_path data_path, const char *name,
		   struct refusal *refusal)
{
	int rc = data_path_find(data_path, name, ret->path, sizeof(ret->path), refusal);
	return rc < 0 ? rc
		      : file_read(ret->path, kinds[data_path].bytes_max, &ret->text, &ret->bytes,
				  refusal);
}
