// SPDX-License-Identifier: Apache-2.0
#include <weft/run/trace_files.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/engine/engine.h>

#define FILE_BYTES_MAX ((size_t)1 << 29)
#define GROUPS_FILE "comm_group.json"

struct reading {
	struct trace_set *set;
	enum trace_format format;
	struct refusal *refusal;
	trace_file_visit *visit; // is given each text in place of the set; or NULL
	void *context;
};

// Takes the place of a packed text.
static int unpack(struct reading *reading, const char *path, char **text, size_t *bytes)
{
	char *packed = *text;
	if (!trace_is_packed(*text, *bytes))
		return 0;
	int rc = trace_unpack(text, bytes, packed, *bytes, reading->refusal);
	if (rc < 0) {
		*text = packed;
		refusal_name(reading->refusal, path);
		return rc;
	}
	free(packed);
	return 0;
}

static int take_text(struct reading *reading, const char *path, const char *text, size_t bytes)
{
	struct refusal *refusal = reading->refusal;
	enum trace_format format = reading->format;
	int rc = 0;
	if (format == TRACE_FORMAT_COUNT)
		rc = trace_recognise(&format, text, bytes, refusal);
	if (rc == 0 && reading->set->rank_count == 0)
		reading->set->format = reading->format = format;
	if (rc == 0)
		return trace_set_add(reading->set, path, text, bytes, refusal);
	refusal_name(refusal, path);
	return rc;
}

// astra-sim's list of groups.
static bool is_groups(const char *path)
{
	const char *name = strrchr(path, '/');
	return strcmp(name == NULL ? path : name + 1, GROUPS_FILE) == 0;
}

static int read_one(struct reading *reading, const char *path)
{
	char *text;
	size_t bytes;
	int rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, reading->refusal);
	if (rc < 0)
		return rc;
	rc = unpack(reading, path, &text, &bytes);
	if (rc == 0 && reading->visit != NULL)
		rc = reading->visit(reading->context, path, text, bytes, reading->refusal);
	else if (rc == 0 && is_groups(path))
		rc = trace_set_groups(reading->set, path, text, bytes, reading->refusal);
	else if (rc == 0)
		rc = take_text(reading, path, text, bytes);
	free(text);
	return rc;
}

// ---------------------------------------------------------------- folders

static int is_trace(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

// The list of groups, then "x.2.et" before "x.10.et".
static int by_version(const struct dirent **a, const struct dirent **b)
{
	bool is_first = is_groups((*a)->d_name), is_second = is_groups((*b)->d_name);
	return is_first || is_second ? is_second - is_first : versionsort(a, b);
}

static int read_folder(struct reading *reading, const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_trace, by_version), rc = 0;
	if (count < 0) {
		rc = -errno;
		refusal_name(reading->refusal, folder);
		return refuse(reading->refusal, rc, "the folder cannot be read");
	}
	if (count == 0) {
		free(entries);
		refusal_name(reading->refusal, folder);
		return refuse(reading->refusal, -EINVAL, "there is no file in the folder");
	}
	for (int i = 0; i < count; i++) {
		char path[TRACE_PATH_BYTES];
		int length = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (rc == 0 && length >= (int)sizeof(path))
			rc = refuse(reading->refusal, -EINVAL,
				    "a path has at most % letters in a folder of traces",
				    sizeof(path) - 1);
		if (rc == 0)
			rc = read_one(reading, path);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int read_paths(struct reading *reading, char *const *paths, uint32_t count)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		struct stat status;
		bool is_folder = stat(paths[i], &status) == 0 && S_ISDIR(status.st_mode);
		rc = is_folder ? read_folder(reading, paths[i]) : read_one(reading, paths[i]);
	}
	return rc;
}

int trace_files_each(char *const *paths, uint32_t count, trace_file_visit *visit, void *context,
		     struct refusal *refusal)
{
	struct reading reading = {.refusal = refusal, .visit = visit, .context = context};
	return read_paths(&reading, paths, count);
}

int trace_files_read(struct trace_set *ret, char *const *paths, uint32_t count,
		     enum trace_format format, bool skips_damaged, uint64_t memory_bytes_max,
		     struct refusal *refusal)
{
	struct reading reading = {.set = ret, .format = format, .refusal = refusal};
	trace_set_init(ret, TRACE_FORMAT_CHAKRA);
	ret->skips_damaged = skips_damaged;
	ret->memory_bytes_max = memory_bytes_max;
	int rc = read_paths(&reading, paths, count);
	if (rc == 0 && ret->rank_count == 0) {
		rc = refuse(refusal, -EINVAL, "there is no trace in the folder");
		refusal_name(refusal, paths[count - 1]);
	}
	return rc;
}

void trace_files_warn(const char *program, const struct trace_set *set)
{
	const struct refusal *first = &set->first_skipped;
	char line[16] = "";
	if (set->skipped == 0)
		return;
	if (first->line > 0)
		snprintf(line, sizeof(line), ":%u", first->line);
	fprintf(stderr, "weft %s: warning: %s%s: %s: left out, with %llu more\n", program,
		first->file, line, first->text, (unsigned long long)(set->skipped - 1));
}
