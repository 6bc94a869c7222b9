// SPDX-License-Identifier: Apache-2.0
// Folders.

#include <weft/run/folder.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/engine/engine.h>
#include <weft/files/staging.h>

// Makes each folder on the way that is not there.
static int make_all(const char *path)
{
	char part[PATH_MAX];
	size_t length = strlen(path);
	if (length >= sizeof(part))
		return ENAMETOOLONG;
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0777) != 0 && errno != EEXIST)
			return errno;
	}
	return 0;
}

// An empty folder, or one with an earlier result of the same kind.
static bool is_ours(const char *path, const char *mark, int *ret_error)
{
	DIR *folder = opendir(path);
	if (folder == NULL) {
		*ret_error = errno;
		return false;
	}
	bool is_empty = true, has_result = false;
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		is_empty = false;
		has_result |= strcmp(entry->d_name, mark) == 0;
	}
	closedir(folder);
	*ret_error = 0;
	return is_empty || has_result;
}

int folder_make(const char *path, const char *mark, struct refusal *refusal)
{
	int error = make_all(path);
	if (error != 0)
		return refuse_file(refusal, -error, path, strerror(error));
	bool ours = is_ours(path, mark, &error);
	if (error == 0 && access(path, W_OK | X_OK) != 0) // refused now, not after the run
		error = errno;
	if (error != 0)
		return refuse_file(refusal, -error, path, strerror(error));
	if (!ours)
		return refuse_file(refusal, -ENOTEMPTY, path,
				   "holds other files: give an empty or a new folder to --out");
	return staging_lock(path, refusal);
}

void folder_list_line(FILE *to, int width, const char *name, const char *text)
{
	int at = fprintf(to, "%-*s", width, name), room = LIST_COLUMNS;
	while (*text != '\0') {
		int length = (int)strcspn(text, " ");
		if (at + 1 + length > room && at > width)
			at = fprintf(to, "\n%*s", width, "") - 1;
		at += fprintf(to, " %.*s", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

static int list_one(void *to, const char *name)
{
	static struct scenario scenario; // large: kept off the stack
	struct data_file file;
	struct refusal refusal = {0};
	const char *description = "(cannot be read)";
	if (data_file_read(&file, DATA_PATH_SCENARIOS, name, &refusal) == 0) {
		if (scenario_parse(&scenario, file.path, file.text, file.bytes, NULL, 0,
				   &refusal) == 0)
			description = scenario.description;
		free(file.text);
	}
	folder_list_line(to, 26, name, description);
	return 0;
}

void folder_list_scenarios(FILE *to)
{
	if (data_path_each(DATA_PATH_SCENARIOS, list_one, to) < 0)
		fprintf(to, "no scenarios are installed\n");
}
