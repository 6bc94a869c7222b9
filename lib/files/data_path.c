// SPDX-License-Identifier: Apache-2.0
// Scenarios, jobs and profiles that are shipped, by name.

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/files/files.h>

// Relative to the folder of the program: a build folder inside the source tree, an installation's
// libexec and bin.
static const char *const places[] = {"../../apps", "../../share/weft", "../share/weft"};

// What is shipped, each kind in a folder of its own.
static const struct {
	const char *folder, *noun, *list_command;
} kinds[] = {
	[DATA_PATH_SCENARIOS] = {"scenarios", "scenario", "weft sim --list"},
	[DATA_PATH_PROFILES] = {"profiles", "profile", "weft verdict --list"},
	[DATA_PATH_MODELS] = {"models", "job", "weft plan --list"},
	[DATA_PATH_SPACES] = {"spaces", "space", "weft help tune"},
};

#define PLACES (sizeof(places) / sizeof(places[0]))

const char *data_path_folder(enum data_path data_path, unsigned index)
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

static bool is_path(const char *name)
{
	size_t length = strlen(name);
	return strchr(name, '/') != NULL || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

static int is_shipped(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

// Appends the names of what is shipped to a text, as many as it holds.
static void list_names(enum data_path data_path, char *text, size_t bytes)
{
	char more[64];
	struct dirent **entries;
	int count = -1;
	snprintf(more, sizeof(more), " ... (%s has all)", kinds[data_path].list_command);
	for (unsigned i = 0; count < 0 && i < PLACES; i++)
		count = scandir(data_path_folder(data_path, i), &entries, is_shipped, alphasort);
	bool is_full = false;
	for (int i = 0; i < count; i++) {
		size_t used = strlen(text), length = strlen(entries[i]->d_name) - 5;
		if (!is_full && used + 1 + length + strlen(more) + 1 > bytes) {
			snprintf(text + used, bytes - used, "%s", more);
			is_full = true;
		}
		if (!is_full)
			snprintf(text + used, bytes - used, " %.*s", (int)length,
				 entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
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
		snprintf(path, sizeof(path), "%s/%s.yaml", data_path_folder(data_path, i), name);
		char real[PATH_MAX];
		if (realpath(path, real) != NULL && strlen(real) < path_bytes) {
			strcpy(ret_path, real);
			return 0;
		}
	}
	snprintf(refusal->text, sizeof(refusal->text),
		 "no %s '%.64s' is shipped; there are:", kinds[data_path].noun, name);
	list_names(data_path, refusal->text, sizeof(refusal->text));
	return -ENOENT;
}
