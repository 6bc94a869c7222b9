// SPDX-License-Identifier: Apache-2.0
// What writing and checking a manifest share.
#pragma once

#include <weft/result/report_manifest.h>

#define MANIFEST_KIND "manifest"
#define MANIFEST_SCHEMA 1
#define MANIFEST_PATH_BYTES 4096

// Opens a plain file of a folder; of a link, a folder, a FIFO: -ELOOP. -errno.
int manifest_open(int folder, const char *name);

// Digest and length of the rest of an open file. -errno.
int manifest_digest(int file, char ret[MANIFEST_DIGEST_BYTES], uint64_t *ret_bytes);
void manifest_digest_of(const char *text, size_t bytes, char ret[MANIFEST_DIGEST_BYTES]);

// What a run is known by: the digest of all rows of its manifest; `inputs` may be NULL.
void manifest_run_of(const struct manifest_rows *files, const struct manifest_rows *inputs,
		     char ret[MANIFEST_DIGEST_BYTES]);

// What ties a row to its run: a file that came here with its row from another one has another.
void manifest_seal_of(const struct manifest_row *row, const char *run,
		      char ret[MANIFEST_DIGEST_BYTES]);

// Adds an empty row with a name of its own. NULL: no memory.
struct manifest_row *manifest_add(struct manifest_rows *rows, const char *name);

// Says what is wrong with the file `name` ("": the folder itself). Returns `code`.
int manifest_refuse(struct refusal *refusal, int code, const char *dir, const char *name,
		    const char *text);
