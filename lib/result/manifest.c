// SPDX-License-Identifier: Apache-2.0
// manifest.json of a result folder: digests, and writing it. SHA-256 is libcrypto's.

#include "manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/evp.h>

#include <weft/core/check.h>

#include <weft/result/put.h>

#define PIECE_BYTES ((size_t)1 << 16)

// ---------------------------------------------------------------- digests

static void in_letters(const unsigned char *sum, unsigned bytes, char ret[MANIFEST_DIGEST_BYTES])
{
	check(2 * bytes + 1 == MANIFEST_DIGEST_BYTES);
	for (unsigned i = 0; i < bytes; i++)
		snprintf(&ret[2 * i], 3, "%02x", sum[i]);
}

void manifest_digest_of(const char *text, size_t bytes, char ret[MANIFEST_DIGEST_BYTES])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	int done = EVP_Digest(text, bytes, sum, &length, EVP_sha256(), NULL);
	check(done == 1); // it fails only without memory
	in_letters(sum, length, ret);
}

int manifest_digest(int file, char ret[MANIFEST_DIGEST_BYTES], uint64_t *ret_bytes)
{
	static char piece[PIECE_BYTES];
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	ssize_t got = 0;
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (context == NULL)
		return -ENOMEM;
	bool is_good = EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
	*ret_bytes = 0;
	while (is_good && (got = read(file, piece, sizeof(piece))) > 0) {
		is_good = EVP_DigestUpdate(context, piece, (size_t)got) == 1;
		*ret_bytes += (uint64_t)got;
	}
	int code = got < 0 ? -errno : 0;
	is_good = is_good && EVP_DigestFinal_ex(context, sum, &length) == 1;
	EVP_MD_CTX_free(context);
	if (code < 0 || !is_good)
		return code < 0 ? code : -ENOMEM;
	in_letters(sum, length, ret);
	return 0;
}

// Adds to the digest of `of`, which ends with a line for each row.
static void digest_row(EVP_MD_CTX *of, const struct manifest_row *row)
{
	char bytes[24];
	int length = snprintf(bytes, sizeof(bytes), "\n%llu\n", (unsigned long long)row->bytes);
	bool is_good = EVP_DigestUpdate(of, row->name, strlen(row->name)) == 1 &&
		EVP_DigestUpdate(of, bytes, (size_t)length) == 1 &&
		EVP_DigestUpdate(of, row->digest, strlen(row->digest)) == 1 &&
		EVP_DigestUpdate(of, "\n", 1) == 1;
	check(is_good);
}

static EVP_MD_CTX *begin_digest(void)
{
	EVP_MD_CTX *ret = EVP_MD_CTX_new();
	check(ret != NULL && EVP_DigestInit_ex(ret, EVP_sha256(), NULL) == 1);
	return ret;
}

static void end_digest(EVP_MD_CTX *of, char ret[MANIFEST_DIGEST_BYTES])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	int done = EVP_DigestFinal_ex(of, sum, &length);
	check(done == 1);
	EVP_MD_CTX_free(of);
	in_letters(sum, length, ret);
}

void manifest_run_of(const struct manifest_rows *files, const struct manifest_rows *inputs,
		     char ret[MANIFEST_DIGEST_BYTES])
{
	EVP_MD_CTX *of = begin_digest();
	for (uint32_t i = 0; i < files->count; i++)
		digest_row(of, &files->rows[i]);
	for (uint32_t i = 0; inputs != NULL && i < inputs->count; i++)
		digest_row(of, &inputs->rows[i]);
	end_digest(of, ret);
}

void manifest_seal_of(const struct manifest_row *row, const char *run,
		      char ret[MANIFEST_DIGEST_BYTES])
{
	EVP_MD_CTX *of = begin_digest();
	digest_row(of, row);
	int done = EVP_DigestUpdate(of, run, strlen(run));
	check(done == 1);
	end_digest(of, ret);
}

int manifest_open(int folder, const char *name)
{
	struct stat about;
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (file < 0)
		return -errno;
	int code = fstat(file, &about) != 0 ? -errno : S_ISREG(about.st_mode) ? 0 : -ELOOP;
	if (code < 0)
		close(file);
	return code < 0 ? code : file;
}

// ---------------------------------------------------------------- rows

struct manifest_row *manifest_add(struct manifest_rows *rows, const char *name)
{
	uint32_t count = rows->count;
	char *copy = strdup(name);
	if (copy != NULL && (count & (count - 1)) == 0) { // a power of two, or none: full
		size_t room = count == 0 ? 1 : 2 * (size_t)count;
		struct manifest_row *more = realloc(rows->rows, room * sizeof(*more));
		rows->rows = more != NULL ? more : rows->rows;
		if (more == NULL) {
			free(copy);
			copy = NULL;
		}
	}
	rows->has_no_memory |= copy == NULL;
	if (copy == NULL)
		return NULL;
	rows->rows[count] = (struct manifest_row){.name = copy};
	return &rows->rows[rows->count++];
}

void manifest_rows_free(struct manifest_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		free(rows->rows[i].name);
	free(rows->rows);
	*rows = (struct manifest_rows){0};
}

void manifest_take(void *context, const char *path, const char *text, size_t bytes)
{
	struct manifest_rows *rows = context;
	char digest[MANIFEST_DIGEST_BYTES];
	manifest_digest_of(text, bytes, digest);
	for (uint32_t i = 0; i < rows->count; i++)
		if (strcmp(rows->rows[i].name, path) == 0 &&
		    strcmp(rows->rows[i].digest, digest) == 0)
			return;
	struct manifest_row *row = manifest_add(rows, path);
	if (row == NULL)
		return;
	row->bytes = bytes;
	strcpy(row->digest, digest);
}

// ---------------------------------------------------------------- writing

int manifest_refuse(struct refusal *refusal, int code, const char *dir, const char *name,
		    const char *text)
{
	char path[MANIFEST_PATH_BYTES + 256];
	size_t length = (size_t)snprintf(path, sizeof(path), "%s%s%s", dir,
					 *name == '\0' ? "" : "/", name);
	if (length >= sizeof(path))
		length = sizeof(path) - 1; // what fitted
	size_t left = length < sizeof(refusal->file) ? 0 : length - sizeof(refusal->file) + 4;
	snprintf(refusal->file, sizeof(refusal->file), "%s%.252s", left > 0 ? "..." : "",
		 path + left);
	refusal->line = refusal->column = 0;
	snprintf(refusal->text, sizeof(refusal->text), "%s", text);
	return code;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct manifest_row *)a)->name,
		      ((const struct manifest_row *)b)->name);
}

// What weft report makes of a result, at any time, and nobody reads.
static bool is_page(const char *name)
{
	static const char *const names[] = {"report.html", "metrics.txt", "result.csv"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

// Any other plain file that is not hidden is one of the result; nothing can be forgotten so.
static int take_entry(struct manifest_rows *to, int folder, const char *name)
{
	struct stat about;
	if (name[0] == '.' || strcmp(name, MANIFEST_NAME) == 0 || is_page(name) ||
	    fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode))
		return 0;
	if (to->count == MANIFEST_FILES_MAX)
		return -EFBIG;
	int file = manifest_open(folder, name);
	if (file < 0)
		return file;
	struct manifest_row *row = manifest_add(to, name);
	int code = row == NULL ? -ENOMEM : manifest_digest(file, row->digest, &row->bytes);
	close(file);
	return code;
}

static int take_files(struct manifest_rows *to, const char *dir)
{
	int code = 0;
	DIR *folder = opendir(dir);
	if (folder == NULL)
		return -errno;
	for (struct dirent *entry; code == 0 && (entry = readdir(folder)) != NULL;)
		code = take_entry(to, dirfd(folder), entry->d_name);
	closedir(folder);
	if (code == 0 && to->count > 0)
		qsort(to->rows, to->count, sizeof(*to->rows), by_name);
	return code;
}

static void put_rows(json_t *to, const char *key, const char *name,
		     const struct manifest_rows *rows, const char *run)
{
	char seal[MANIFEST_DIGEST_BYTES];
	json_t *array = array_in(to, key);
	for (uint32_t i = 0; rows != NULL && i < rows->count; i++) {
		json_t *row = row_in(array);
		put_text(row, name, rows->rows[i].name);
		put_count(row, "bytes", rows->rows[i].bytes);
		put_text(row, "sha256", rows->rows[i].digest);
		if (run != NULL) {
			manifest_seal_of(&rows->rows[i], run, seal);
			put_text(row, "seal", seal);
		}
	}
}

static int put_file(const char *path, const struct manifest_rows *files,
		    const struct manifest_rows *inputs, const char *weft)
{
	char run[MANIFEST_DIGEST_BYTES];
	FILE *to = fopen(path, "wx");
	if (to == NULL)
		return -errno;
	json_t *root = json_object();
	put_text(root, "kind", MANIFEST_KIND);
	put_count(root, "schema", MANIFEST_SCHEMA);
	put_text(root, "weft", weft);
	manifest_run_of(files, inputs, run);
	put_text(root, "run", run);
	put_rows(root, "files", "name", files, run);
	put_rows(root, "inputs", "path", inputs, NULL);
	errno = 0;
	bool has_failed = json_dumpf(root, to, JSON_ENSURE_ASCII | JSON_INDENT(1)) != 0 ||
		fputc('\n', to) == EOF;
	has_failed |= fflush(to) != 0;
	int code = !has_failed ? 0 : errno != 0 ? -errno : -EIO;
	json_decref(root);
	return fclose(to) != 0 && code == 0 ? -errno : code;
}

int manifest_write(const char *dir, const struct manifest_rows *inputs, const char *weft,
		   struct refusal *refusal)
{
	char path[MANIFEST_PATH_BYTES], first[MANIFEST_PATH_BYTES];
	struct manifest_rows files = {0};
	int length = snprintf(first, sizeof(first), "%s/." MANIFEST_NAME ".%ld", dir,
			      (long)getpid());
	int code = length < (int)sizeof(first) ? take_files(&files, dir) : -ENAMETOOLONG;
	if (code == 0 && inputs != NULL && inputs->has_no_memory)
		code = -ENOMEM;
	if (code == 0) {
		unlink(first); // of a process that had our number and was killed
		code = put_file(first, &files, inputs, weft);
		snprintf(path, sizeof(path), "%s/" MANIFEST_NAME, dir);
		if (code == 0 && rename(first, path) != 0)
			code = -errno;
		if (code < 0)
			unlink(first);
	}
	manifest_rows_free(&files);
	return code == 0 ? 0 : manifest_refuse(refusal, code, dir, MANIFEST_NAME, strerror(-code));
}
