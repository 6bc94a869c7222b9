// SPDX-License-Identifier: Apache-2.0
// Results, found and read.

#include "result_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <weft/drive_files.h>

#define RESULT_BYTES_MAX ((size_t)1 << 30)

static int find(struct result_file *ret, const char *name, struct refusal *refusal)
{
	static const char *const names[] = {"result.json", "study.json", "book.json"};
	struct stat about;
	snprintf(ret->path, sizeof(ret->path), "%s", name);
	if (stat(name, &about) != 0 || !S_ISDIR(about.st_mode))
		return 0; // reading it will say why
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(ret->path, sizeof(ret->path), "%s/%s", name, names[i]);
		if (stat(ret->path, &about) == 0)
			return 0;
	}
	snprintf(refusal->file, sizeof(refusal->file), "%s", name);
	return refuse(refusal, -ENOENT,
		      "there is no result.json, study.json or book.json in this folder", 0, 0, 0);
}

int result_file_read(struct result_file *ret, const char *name, struct refusal *refusal)
{
	ret->text = NULL;
	int rc = find(ret, name, refusal);
	return rc < 0 ? rc
		      : file_read(ret->path, RESULT_BYTES_MAX, &ret->text, &ret->bytes, refusal);
}

void result_file_free(struct result_file *file)
{
	free(file->text);
	file->text = NULL;
}
