// SPDX-License-Identifier: Apache-2.0
// manifest.json of a result folder: digests, and writing it. SHA-256 is libcrypto's.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/core/check.h>
#include <weft/core/check_memory.h>
#include <weft/result/put.h>
#include <weft/result/report_manifest.h>

#define MANIFEST_KIND "manifest"
#define MANIFEST_SCHEMA 1
#define MANIFEST_PATH_BYTES 4096

#define PIECE_BYTES ((size_t)1 << 16)

// ---------------------------------------------------------------- digests

static void in_letters(const unsigned char *sum, unsigned bytes, char ret[MANIFEST_DIGEST_BYTES])
{
	check(2 * bytes + 1 == MANIFEST_DIGEST_BYTES);
	for (unsigned i = 0; i < bytes; i++)
		snprintf(&ret[2 * i], 3, "%02x", sum[i]);
}

static void manifest_digest_of(const char *text, size_t bytes, char ret[MANIFEST_DIGEST_BYTES])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	int done = EVP_Digest(text, bytes, sum, &length, EVP_sha256(), NULL);
	check_memory(done == 1);
	in_letters(sum, length, ret);
}

// Digest and length of the rest of an open file. -errno.
static int manifest_digest(int file, char ret[MANIFEST_DIGEST_BYTES], uint64_t *ret_bytes)
{
	static char piece[PIECE_BYTES];
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	ssize_t got = 0;
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	check_memory(context != NULL);
	bool is_good = EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
	*ret_bytes = 0;
	while (is_good && (got = read(file, piece, sizeof(piece))) > 0) {
		is_good = EVP_DigestUpdate(context, piece, (size_t)got) == 1;
		*ret_bytes += (uint64_t)got;
	}
	int code = got < 0 ? -errno : 0;
	is_good = is_good && EVP_DigestFinal_ex(context, sum, &length) == 1;
	EVP_MD_CTX_free(context);
	check_memory(is_good);
	if (code < 0)
		return code;
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
	check_memory(is_good);
}

static EVP_MD_CTX *begin_digest(void)
{
	EVP_MD_CTX *ret = EVP_MD_CTX_new();
	check_memory(ret != NULL && EVP_DigestInit_ex(ret, EVP_sha256(), NULL) == 1);
	return ret;
}

static void end_digest(EVP_MD_CTX *of, char ret[MANIFEST_DIGEST_BYTES])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	int done = EVP_DigestFinal_ex(of, sum, &length);
	check_memory(done == 1);
	EVP_MD_CTX_free(of);
	in_letters(sum, length, ret);
}

// What a run is known by: the digest of all rows of its manifest; `inputs` may be NULL.
static void manifest_run_of(const struct manifest_rows *files, const struct manifest_rows *inputs,
			    char ret[MANIFEST_DIGEST_BYTES])
{
	EVP_MD_CTX *of = begin_digest();
	for (uint32_t i = 0; i < files->count; i++)
		digest_row(of, &files->rows[i]);
	for (uint32_t i = 0; inputs != NULL && i < inputs->count; i++)
		digest_row(of, &inputs->rows[i]);
	end_digest(of, ret);
}

// What ties a row to its run: a file that came here with its row from another one has another.
static void manifest_seal_of(const struct manifest_row *row, const char *run,
			     char ret[MANIFEST_DIGEST_BYTES])
{
	EVP_MD_CTX *of = begin_digest();
	digest_row(of, row);
	int done = EVP_DigestUpdate(of, run, strlen(run));
	check_memory(done == 1);
	end_digest(of, ret);
}

// Opens a plain file of a folder; of a link, a folder, a FIFO: -ELOOP. -errno.
static int manifest_open(int folder, const char *name)
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

// Adds an empty row with a name of its own. NULL: no memory.
static struct manifest_row *manifest_add(struct manifest_rows *rows, const char *name)
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

// Says what is wrong with the file `name` ("": the folder itself). Returns `code`.
static int manifest_refuse(struct refusal *refusal, int code, const char *dir, const char *name,
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

// A folder held against its manifest.

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
	refusal_name(refusal, reading->path);
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
		return refuse(reading->refusal, -ENODEV, "not enough memory");
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
		return refuse_text(reading, "is not a list, or too long", 0);
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
		return refuse_text(reading, "this is not a manifest of weft", 0);
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
