// SPDX-License-Identifier: Apache-2.0
// The shipped profiles, listed.

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <weft/files/files.h>
#include <weft/verdict/report_verdict.h>

#include "profiles.h"
#include <weft/run/folder.h>

#define PROFILE_BYTES_MAX ((size_t)1 << 20)

static int is_profile(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);
	return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int list_one(FILE *to, const char *folder, const char *file, struct refusal *refusal)
{
	static struct profile profile; // large: kept off the stack
	char path[PATH_MAX + 1024], *text;
	size_t bytes;
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	int rc = file_read(path, PROFILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = profile_parse(&profile, path, text, bytes, refusal);
	free(text);
	if (rc == 0)
		folder_list_line(to, 20, profile.name, profile.description);
	return rc;
}

int profiles_list(FILE *to, struct refusal *refusal)
{
	char folder[PATH_MAX + 512];
	for (unsigned i = 0; data_path_folder(DATA_PATH_PROFILES, i) != NULL; i++) {
		struct dirent **entries;
		snprintf(folder, sizeof(folder), "%s", data_path_folder(DATA_PATH_PROFILES, i));
		int count = scandir(folder, &entries, is_profile, alphasort), rc = 0;
		if (count < 0)
			continue;
		for (int each = 0; each < count; each++) {
			if (rc == 0)
				rc = list_one(to, folder, entries[each]->d_name, refusal);
			free(entries[each]);
		}
		free(entries);
		return rc;
	}
	return refuse(refusal, -ENODEV, "the folder of shipped profiles is not there");
}
