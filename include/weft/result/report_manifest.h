// SPDX-License-Identifier: Apache-2.0
// manifest.json of a result folder: bytes and SHA-256 of every file that a run wrote, and of every
// file that it read. Written last, checked by every reader: it finds files that were cut, changed,
// swapped or lost. It is no signature: who can write the folder can write a manifest, too.
// Fields: docs/result.md.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

#define MANIFEST_NAME "manifest.json"
#define MANIFEST_DIGEST_BYTES 65  // SHA-256 in hexadecimal, and a NUL
#define MANIFEST_FILES_MAX 100000 // in one folder

// A file: of the folder by its name, or one that was read, as it was named.
struct manifest_row {
	char *name;
	uint64_t bytes;
	char digest[MANIFEST_DIGEST_BYTES];
	char seal[MANIFEST_DIGEST_BYTES]; // of a file of the folder: over the above and the run
};

struct manifest_rows {
	struct manifest_row *rows;
	uint32_t count;
	bool has_no_memory; // a row could not be kept
};

struct manifest {
	struct manifest_rows files, inputs;
	char run[MANIFEST_DIGEST_BYTES]; // over all rows; "": none is given, and no seals
};

#ifdef __cplusplus
extern "C" {
#endif

// Takes a file that was read into `rows` (struct manifest_rows): its name, and the digest of
// `text`. The same file with the same bytes is taken once. For file_watch() of files.h.
void manifest_take(void *rows, const char *path, const char *text, size_t bytes);
void manifest_rows_free(struct manifest_rows *rows);

// Writes manifest.json into the folder `dir`: all plain files there but itself, hidden ones
// and the pages of weft report, and `inputs` (NULL: none). `weft` is the version that wrote them.
// -errno with a reason; then the folder has the manifest that it had.
int manifest_write(const char *dir, const struct manifest_rows *inputs, const char *weft,
		   struct refusal *refusal);

// Reads manifest.json of the folder `dir` and holds the folder against it. -EINVAL with the file at
// fault and what is wrong: the manifest is missing or is none, a file of it is missing, cut,
// longer, changed or no plain file (a link, a folder), or a file that readers take is not in it.
// Other files that somebody put there are left alone. Inputs are not looked for: a result moves
// between machines. The caller frees *ret, also of a refusal.
int manifest_check(struct manifest *ret, const char *dir, struct refusal *refusal);
void manifest_free(struct manifest *manifest);

// The fields alone, of a text that was read from `path`: for tests and fuzzing. Errors as above.
int manifest_parse(struct manifest *ret, const char *path, const char *text, size_t bytes,
		   struct refusal *refusal);

// Holds what was read of the file `name` in folder `dir` against the manifest: so that what is
// judged is what was checked. -EINVAL with a reason.
int manifest_match(const struct manifest *manifest, const char *dir, const char *name,
		   const char *text, size_t bytes, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
