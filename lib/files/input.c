// SPDX-License-Identifier: Apache-2.0
// Files that programs read, whole. Every input comes through here, so that all of them are held to
// the same: a plain file, at once, in UTF-8 where it is text.

#include <weft/files/files.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_input(struct refusal *refusal, const char *path, int code, const char *what,
			const char *why)
{
	refusal_name(refusal, path);
	refusal->line = refusal->column = 0; // of another file, if any
	snprintf(refusal->text, sizeof(refusal->text), "%s%s", what, why);
	return -code;
}

// A path that leads nowhere is one error for those above, whatever stands in its way.
static int refuse_error(struct refusal *refusal, const char *path, int error)
{
	bool is_nowhere = error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
	int code = is_nowhere ? ENOENT : error == ENOMEM ? ENODEV : error; // the system's memory
	return refuse_input(refusal, path, code, "cannot be read: ", strerror(error));
}

// What is no plain file can block for ever, never end, or do something when it is opened.
static int check_kind(mode_t mode, const char *path, struct refusal *refusal)
{
	const char *kind = S_ISDIR(mode) ? "a folder"
		: S_ISFIFO(mode)	 ? "a pipe"
		: S_ISSOCK(mode)	 ? "a socket"
					 : "a device";
	if (S_ISREG(mode))
		return 0;
	return refuse_input(refusal, path, S_ISDIR(mode) ? EISDIR : EINVAL,
			    "a file is needed, and this is ", kind);
}

// Looked at by its name first, since opening a device can do something; then again, since the name
// can be another file's by now. Without waiting: a pipe waits for its writer.
static int open_plain(int *ret, const char *path, struct refusal *refusal)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return refuse_error(refusal, path, errno);
	int rc = check_kind(status.st_mode, path, refusal);
	if (rc < 0)
		return rc;
	*ret = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*ret < 0 || fstat(*ret, &status) != 0)
		rc = refuse_error(refusal, path, errno);
	else
		rc = check_kind(status.st_mode, path, refusal);
	if (rc < 0 && *ret >= 0)
		close(*ret);
	return rc;
}

// Reads to the file's end, into memory that grows, with room for one byte more. An errno, or 0.
static int read_whole(int from, size_t bytes_max, char **text, size_t *bytes)
{
	for (size_t room = 1 << 16;; room *= 2) {
		char *moved = realloc(*text, room);
		if (moved == NULL)
			return ENOMEM;
		*text = moved;
		ssize_t got = 1;
		while (*bytes < room && got > 0) {
			got = read(from, moved + *bytes, room - *bytes);
			if (got < 0)
				return errno;
			*bytes += (size_t)got;
		}
		if (*bytes > bytes_max)
			return EFBIG;
		if (*bytes < room)
			return 0;
	}
}

// Editors put a byte order mark before text. In UTF-8 it says nothing and is left out; in UTF-16 it
// says that no reader of ours could make sense of the rest.
static int take_mark(const char *path, char *text, size_t *bytes, struct refusal *refusal)
{
	if (*bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return refuse_input(refusal, path, EINVAL,
				    "this is UTF-16 text: ", "save it as UTF-8");
	if (*bytes < 3 || memcmp(text, "\xef\xbb\xbf", 3) != 0)
		return 0;
	*bytes -= 3;
	memmove(text, text + 3, *bytes);
	return 0;
}

static file_seen_fn *file_seen;
static void *file_seen_context;

void file_watch(file_seen_fn *seen, void *context)
{
	file_seen = seen;
	file_seen_context = context;
}

// What is too large is refused before its first byte is read. A file whose size is not known, or
// that grows, meets the same limit while it is read.
static int check_size(int from, const char *path, size_t bytes_max, struct refusal *refusal)
{
	struct stat status;
	char why[96];
	if (fstat(from, &status) != 0 || (uint64_t)status.st_size <= bytes_max)
		return 0;
	snprintf(why, sizeof(why), "%llu bytes, and at most %llu are read (%llu MiB)",
		 (unsigned long long)status.st_size, (unsigned long long)bytes_max,
		 (unsigned long long)(bytes_max >> 20));
	return refuse_input(refusal, path, EFBIG, "the file has ", why);
}

static int read_file(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
		     bool is_input, struct refusal *refusal)
{
	int from = -1, rc = open_plain(&from, path, refusal);
	if (rc < 0)
		return rc;
	rc = check_size(from, path, bytes_max, refusal);
	if (rc < 0) {
		close(from);
		return rc;
	}
	char *text = NULL;
	size_t bytes = 0;
	int error = is_input ? files_note_input(from) : 0;
	if (error == 0)
		error = read_whole(from, bytes_max, &text, &bytes);
	close(from);
	if (error == 0 && is_input && file_seen != NULL)
		file_seen(file_seen_context, path, text, bytes);
	rc = error != 0 ? refuse_error(refusal, path, error)
			: take_mark(path, text, &bytes, refusal);
	if (rc < 0) {
		free(text);
		return rc;
	}
	text[bytes] = '\0';
	*ret_text = text;
	*ret_bytes = bytes;
	return 0;
}

int file_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
	      struct refusal *refusal)
{
	return read_file(path, bytes_max, ret_text, ret_bytes, true, refusal);
}

int file_read_back(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
		   struct refusal *refusal)
{
	return read_file(path, bytes_max, ret_text, ret_bytes, false, refusal);
}

void file_beside(const char *scenario, const char *name, char *ret, size_t bytes)
{
	const char *slash = strrchr(scenario, '/');
	int length = snprintf(ret, bytes, "%.*s%s", slash == NULL ? 0 : (int)(slash + 1 - scenario),
			      scenario, name);
	bool is_beside = name[0] != '/' && access(name, F_OK) != 0 && (size_t)length < bytes &&
		access(ret, F_OK) == 0;
	if (!is_beside)
		snprintf(ret, bytes, "%s", name);
}
