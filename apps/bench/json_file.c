// SPDX-License-Identifier: Apache-2.0
// Where --json goes: a file that is whole or not there, or standard output.

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/files/files.h>

#include "bench.h"

#define PATH_BYTES 4096

static int say_errno(const char *what, const char *path, int status)
{
	fprintf(stderr, "weft bench: %s %s: %s\n", what, path, strerror(errno));
	return status;
}

static bool is_stream(const char *path)
{
	return strcmp(path, "-") == 0;
}

// The folder that `path` lies in.
static void folder_of(const char *path, char *ret, size_t bytes)
{
	const char *slash = strrchr(path, '/');
	if (slash == NULL)
		snprintf(ret, bytes, ".");
	else
		snprintf(ret, bytes, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

int json_file_check(const char *path)
{
	char folder[PATH_BYTES];
	struct refusal refusal = {0};
	if (path == NULL || is_stream(path))
		return 0;
	if (path[0] == '\0' || strlen(path) > PATH_BYTES - 8)
		return bad_word("--json wants a file, not", path);
	if (files_check_output(path, &refusal) < 0)
		return say_refusal(&refusal, EXIT_BAD_INPUT);
	folder_of(path, folder, sizeof(folder));
	return access(folder, W_OK) == 0 ? 0 : say_errno("cannot write to", folder, EXIT_BAD_INPUT);
}

static int write_stream(const json_t *out, FILE *stream)
{
	if (json_dumpf(out, stream, JSON_ENSURE_ASCII | JSON_INDENT(2)) != 0 ||
	    fputc('\n', stream) == EOF)
		return -EIO;
	return fflush(stream) == 0 ? 0 : -EIO;
}

static int write_file(const json_t *out, const char *path)
{
	struct atomic_file atomic_file;
	struct refusal refusal = {0};
	int rc = atomic_file_begin(&atomic_file, path, &refusal);
	if (rc == 0)
		rc = atomic_file_end(&atomic_file, write_stream(out, atomic_file.to), &refusal);
	if (rc == 0)
		return 0;
	fprintf(stderr, "weft bench: %s: %s\n", refusal.file, refusal.text);
	return EXIT_ENVIRONMENT;
}

int json_file_write(json_t *out, const char *path)
{
	if (out == NULL) {
		fprintf(stderr, "weft bench: no memory for the JSON\n");
		return EXIT_ENVIRONMENT;
	}
	int status = is_stream(path) ? (write_stream(out, stdout) == 0 ? 0 : EXIT_ENVIRONMENT)
				     : write_file(out, path);
	json_decref(out);
	return status;
}
