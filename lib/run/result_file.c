// SPDX-License-Identifier: Apache-2.0
// Results, found and read.

#include <weft/run/result_file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/files.h>

#define RESULT_BYTES_MAX ((size_t)1 << 30)

static int refuse_absent(struct refusal *refusal, const char *path, int error)
{
	char text[128];
	snprintf(text, sizeof(text), "cannot be read: %s", strerror(error));
	return refuse_file(refusal, -error, path, text);
}

static int find(struct result_file *ret, const char *name, struct refusal *refusal)
{
	static const char *const names[] = {"result.json", "study.json", "book.json"};
	struct stat about;
	snprintf(ret->path, sizeof(ret->path), "%s", name);
	if (stat(name, &about) != 0)
		return refuse_absent(refusal, name, errno);
	if (!S_ISDIR(about.st_mode))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int length = snprintf(ret->path, sizeof(ret->path), "%s/%s", name, names[i]);
		if (length >= (int)sizeof(ret->path))
			return refuse_absent(refusal, name, ENAMETOOLONG);
		if (lstat(ret->path, &about) == 0) // a link that leads nowhere is one, too
			return 0;
	}
	return refuse_file(refusal, -ENOENT, name,
			   "there is no result.json, study.json or book.json in this folder");
}

static const char *name_of(const struct result_file *file)
{
	const char *slash = strrchr(file->path, '/');
	return slash == NULL ? file->path : slash + 1;
}

static void take_folder(struct result_file *file)
{
	size_t length = (size_t)(name_of(file) - file->path);
	if (length == 0)
		strcpy(file->folder, ".");
	else
		snprintf(file->folder, sizeof(file->folder), "%.*s",
			 (int)(length == 1 ? 1 : length - 1), file->path);
}

static int read_text(const struct result_file *file, const char *path, const char *name,
		     size_t bytes_max, char **ret_text, size_t *ret_bytes, struct refusal *refusal)
{
	int rc = file_read(path, bytes_max, ret_text, ret_bytes, refusal);
	if (rc < 0 || file->is_lone)
		return rc;
	rc = manifest_match(&file->manifest, file->folder, name, *ret_text, *ret_bytes, refusal);
	if (rc < 0)
		free(*ret_text);
	return rc;
}

static int note_file(const struct result_file *file, const char *name, struct refusal *refusal)
{
	char path[sizeof(file->path)];
	snprintf(path, sizeof(path), "%.3800s/%.255s", file->folder, name);
	int one = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int error = one < 0 ? errno : files_note_input(one);
	if (one >= 0)
		close(one);
	return error != 0 ? refuse_absent(refusal, path, error) : 0;
}

// The manifest was held against every file of the result: it was read, and all of them were.
static int note_files(const struct result_file *file, struct refusal *refusal)
{
	int rc = file->is_lone ? 0 : note_file(file, MANIFEST_NAME, refusal);
	for (uint32_t i = 0; rc == 0 && i < file->manifest.files.count; i++)
		rc = note_file(file, file->manifest.files.rows[i].name, refusal);
	return rc;
}

int result_file_read(struct result_file *ret, const char *name, bool is_lone,
		     struct refusal *refusal)
{
	char *text;
	size_t bytes;
	*ret = (struct result_file){.is_lone = is_lone};
	int rc = find(ret, name, refusal);
	if (rc < 0)
		return rc;
	take_folder(ret);
	if (!is_lone)
		rc = manifest_check(&ret->manifest, ret->folder, refusal);
	if (rc == 0)
		rc = note_files(ret, refusal);
	if (rc == 0)
		rc = read_text(ret, ret->path, name_of(ret), RESULT_BYTES_MAX, &text, &bytes,
			       refusal);
	if (rc < 0)
		return rc;
	rc = result_parse(&ret->result, ret->path, text, bytes, refusal);
	free(text);
	return rc;
}

void result_file_free(struct result_file *file)
{
	result_free(file->result);
	manifest_free(&file->manifest);
	file->result = NULL;
}

int result_file_beside(const struct result_file *file, const char *name, size_t bytes_max,
		       char path[4096], char **ret_text, size_t *ret_bytes, struct refusal *refusal)
{
	int length = snprintf(path, 4096, "%s/%s", file->folder, name);
	return length >= 4096
		? refuse_absent(refusal, name, ENAMETOOLONG)
		: read_text(file, path, name, bytes_max, ret_text, ret_bytes, refusal);
}
