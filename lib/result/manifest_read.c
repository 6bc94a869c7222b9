// SPDX-License-Identifier: Apache-2.0
// A folder held against its manifest.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manifest.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)

// ---------------------------------------------------------------- the fields

// A list of rows that is being read.
struct reading {
	const char *path, *key; // of the list
	struct refusal *refusal;
	bool is_of_folder; // its names are of files in the folder
};

static int refuse_text(const struct reading *reading, const char *what, size_t at)
{
	struct refusal *refusal = reading->refusal;
	snprintf(refusal->file, sizeof(refusal->file), "%.255s", reading->path);
	refusal->line = refusal->column = 0;
	if (reading->key == NULL)
		snprintf(refusal->text, sizeof(refusal->text), "%s", what);
	else
		snprintf(refusal->text, sizeof(refusal->text), "%s[%zu] %s", reading->key, at,
			 what);
	return -EINVAL;
}

// A name that leads out of the folder, or to what is no file of a result.
static bool is_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
		strlen(name) <= 255 && strcmp(name, MANIFEST_NAME) != 0;
}

static bool is_digest(const char *text)
{
	return strlen(text) + 1 == MANIFEST_DIGEST_BYTES &&
		strspn(text, "0123456789abcdef") + 1 == MANIFEST_DIGEST_BYTES;
}

static int read_row(struct manifest_rows *to, const struct reading *reading, json_t *value,
		    size_t at)
{
	const char *name, *digest, *seal = "", *key = reading->is_of_folder ? "name" : "path";
	json_int_t bytes;
	if (json_unpack(value, reading->is_of_folder ? "{s:s, s:I, s:s, s?s!}" : "{s:s, s:I, s:s!}",
			key, &name, "bytes", &bytes, "sha256", &digest, "seal", &seal))
		return refuse_text(reading,
				   reading->is_of_folder ? "needs name, bytes and sha256 alone"
							 : "needs path, bytes and sha256 alone",
				   at);
	if (bytes < 0 || !is_digest(digest) || (seal[0] != '\0' && !is_digest(seal)))
		return refuse_text(reading, "has no such bytes or no SHA-256", at);
	if (reading->is_of_folder && !is_name(name))
		return refuse_text(reading, "names no file of this folder", at);
	if (reading->is_of_folder && to->count > 0 &&
	    strcmp(to->rows[to->count - 1].name, name) >= 0)
		return refuse_text(reading, "is listed twice, or not in order of names", at);
	struct manifest_row *row = manifest_add(to, name);
	if (row == NULL)
		return refuse(reading->refusal, -ENODEV, "the system gives no memory");
	row->bytes = (uint64_t)bytes;
	strcpy(row->digest, digest);
	strcpy(row->seal, seal);
	return 0;
}

static int read_rows(struct manifest_rows *to, const struct reading *reading, json_t *list)
{
	size_t at;
	json_t *value;
	if (!json_is_array(list) || json_array_size(list) > MANIFEST_FILES_MAX)
		return refuse_text(reading, "is no list, or too long", 0);
	json_array_foreach(list, at, value)
	{
		int rc = read_row(to, reading, value, at);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_fields(struct manifest *ret, struct reading *reading, json_t *root)
{
	const char *kind, *weft, *run = "";
	json_int_t schema;
	json_t *files, *inputs;
	if (json_unpack(root, "{s:s, s:I, s:s, s?s, s:o, s:o!}", "kind", &kind, "schema", &schema,
			"weft", &weft, "run", &run, "files", &files, "inputs", &inputs) != 0 ||
	    strcmp(kind, MANIFEST_KIND) != 0 || (run[0] != '\0' && !is_digest(run)))
		return refuse_text(reading, "this is no manifest of weft", 0);
	if (schema != MANIFEST_SCHEMA)
		return refuse_text(reading,
				   "the fields of this manifest are of another version "
				   "than 1",
				   0);
	strcpy(ret->run, run);
	reading->key = "files";
	reading->is_of_folder = true;
	int rc = read_rows(&ret->files, reading, files);
	reading->key = "inputs";
	reading->is_of_folder = false;
	return rc < 0 ? rc : read_rows(&ret->inputs, reading, inputs);
}

int manifest_parse(struct manifest *ret, const char *path, const char *text, size_t bytes,
		   struct refusal *refusal)
{
	json_error_t error;
	struct reading reading = {.path = path, .refusal = refusal};
	*ret = (struct manifest){0};
	json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL) {
		int rc = refuse_text(&reading, error.text, 0);
		refusal->line = error.line > 0 ? (uint32_t)error.line : 0;
		return rc;
	}
	int rc = read_fields(ret, &reading, root);
	json_decref(root);
	return rc;
}

void manifest_free(struct manifest *manifest)
{
	manifest_rows_free(&manifest->files);
	manifest_rows_free(&manifest->inputs);
}

// ---------------------------------------------------------------- the folder

static const struct manifest_row *row_of(const struct manifest *manifest, const char *name)
{
	size_t low = 0, high = manifest->files.count; // in order of names
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(manifest->files.rows[middle].name, name);
		if (order == 0)
			return &manifest->files.rows[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static const char *found_for(int code)
{
	if (code == -ENOENT)
		return "is in the manifest, but not here: the result is not whole";
	if (code == -ELOOP)
		return "is a link, a folder or a device; the run wrote a plain file";
	return strerror(-code);
}

// What a file is whose bytes are not those of `row`.
static int refuse_bytes(const struct manifest *manifest, const char *dir,
			const struct manifest_row *row, uint64_t bytes, const char *digest,
			struct refusal *refusal)
{
	char text[REFUSAL_TEXT_BYTES];
	for (uint32_t i = 0; i < manifest->files.count; i++) {
		const struct manifest_row *other = &manifest->files.rows[i];
		if (strcmp(other->digest, digest) != 0 || strcmp(row->digest, digest) == 0)
			continue;
		snprintf(text, sizeof(text), "has the bytes of %.200s: files were swapped",
			 other->name);
		return manifest_refuse(refusal, -EINVAL, dir, row->name, text);
	}
	if (bytes != row->bytes)
		snprintf(text, sizeof(text), "%s: it has %llu bytes, the run wrote %llu",
			 bytes < row->bytes ? "was cut" : "has grown", (unsigned long long)bytes,
			 (unsigned long long)row->bytes);
	else
		snprintf(text, sizeof(text), "was changed: its SHA-256 is not the manifest's");
	return manifest_refuse(refusal, -EINVAL, dir, row->name, text);
}

static int check_row(const struct manifest *manifest, const char *dir, int folder,
		     const struct manifest_row *row, struct refusal *refusal)
{
	char digest[MANIFEST_DIGEST_BYTES];
	uint64_t bytes;
	int file = manifest_open(folder, row->name), code = file;
	if (file >= 0) {
		code = manifest_digest(file, digest, &bytes);
		close(file);
	}
	if (code < 0)
		return manifest_refuse(refusal, -EINVAL, dir, row->name, found_for(code));
	return bytes == row->bytes && strcmp(digest, row->digest) == 0
		? 0
		: refuse_bytes(manifest, dir, row, bytes, digest, refusal);
}

// Names that readers take from a folder although nothing names them.
static bool is_taken(const char *name)
{
	static const char *const names[] = {"result.json",  "study.json", "book.json",
					    "step.json",    "study.csv",  "runs.csv",
					    "series.csv",   "bypass.csv", "flows.csv",
					    "flow_evs.csv", "cables.csv", "trace.json"};
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return name[0] != '.' && length > 4 && strcmp(name + length - 4, ".hdr") == 0;
}

// That all rows are of one run. A manifest without seals, made by hand, says nothing of it.
static int check_seals(const struct manifest *manifest, const char *dir, struct refusal *refusal)
{
	char seal[MANIFEST_DIGEST_BYTES] = "", run[MANIFEST_DIGEST_BYTES];
	for (uint32_t i = 0; i < manifest->files.count; i++) {
		const struct manifest_row *row = &manifest->files.rows[i];
		if (manifest->run[0] != '\0')
			manifest_seal_of(row, manifest->run, seal);
		if (strcmp(seal, row->seal) != 0)
			return manifest_refuse(refusal, -EINVAL, dir, row->name,
					       "and its row in the manifest are of another run");
	}
	manifest_run_of(&manifest->files, &manifest->inputs, run);
	if (manifest->run[0] != '\0' && strcmp(run, manifest->run) != 0)
		return manifest_refuse(refusal, -EINVAL, dir, MANIFEST_NAME,
				       "has not the rows that its run wrote: some are missing, or "
				       "of another run");
	return 0;
}

static int check_folder(const struct manifest *manifest, const char *dir, DIR *folder,
			struct refusal *refusal)
{
	for (uint32_t i = 0; i < manifest->files.count; i++) {
		int rc = check_row(manifest, dir, dirfd(folder), &manifest->files.rows[i], refusal);
		if (rc < 0)
			return rc;
	}
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (is_taken(entry->d_name) && row_of(manifest, entry->d_name) == NULL)
			return manifest_refuse(refusal, -EINVAL, dir, entry->d_name,
					       "is not in the manifest: it is of another run");
	return 0;
}

// The text of the manifest in *ret, the caller's to free.
static int read_text(int folder, char **ret, size_t *ret_bytes)
{
	struct stat about;
	int file = manifest_open(folder, MANIFEST_NAME);
	if (file < 0)
		return file;
	int code = fstat(file, &about) != 0 ? -errno : 0;
	if (code == 0 && about.st_size > (off_t)TEXT_BYTES_MAX)
		code = -EFBIG;
	size_t bytes = code == 0 ? (size_t)about.st_size : 0;
	*ret = code == 0 ? malloc(bytes + 1) : NULL;
	if (code == 0 && *ret == NULL)
		code = -ENOMEM;
	if (code == 0 && read(file, *ret, bytes) != (ssize_t)bytes)
		code = -EIO;
	close(file);
	*ret_bytes = bytes;
	return code;
}

int manifest_check(struct manifest *ret, const char *dir, struct refusal *refusal)
{
	char path[MANIFEST_PATH_BYTES], *text = NULL;
	size_t bytes;
	*ret = (struct manifest){0};
	DIR *folder = opendir(dir);
	if (folder == NULL)
		return manifest_refuse(refusal, -EINVAL, dir, "", strerror(errno));
	int rc = read_text(dirfd(folder), &text, &bytes);
	if (rc < 0)
		rc = manifest_refuse(refusal, -EINVAL, dir, MANIFEST_NAME,
				     rc == -ENOENT ? "is missing, and a run writes it last: the "
						     "result is not whole, or a file of it was "
						     "taken out of its folder"
						   : found_for(rc));
	snprintf(path, sizeof(path), "%s/" MANIFEST_NAME, dir);
	if (rc == 0)
		rc = manifest_parse(ret, path, text, bytes, refusal);
	if (rc == 0)
		rc = check_folder(ret, dir, folder, refusal);
	if (rc == 0)
		rc = check_seals(ret, dir, refusal);
	free(text);
	closedir(folder);
	return rc;
}

int manifest_match(const struct manifest *manifest, const char *dir, const char *name,
		   const char *text, size_t bytes, struct refusal *refusal)
{
	char digest[MANIFEST_DIGEST_BYTES];
	const struct manifest_row *row = row_of(manifest, name);
	if (row == NULL)
		return manifest_refuse(refusal, -EINVAL, dir, name,
				       "is not in the manifest: it is of another run");
	manifest_digest_of(text, bytes, digest);
	return bytes == row->bytes && strcmp(digest, row->digest) == 0
		? 0
		: refuse_bytes(manifest, dir, row, bytes, digest, refusal);
}
