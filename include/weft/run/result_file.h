// SPDX-License-Identifier: Apache-2.0
// A result that a run wrote, read again: its folder is held against its manifest first.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <weft/core/refusal.h>
#include <weft/result/report_manifest.h>
#include <weft/result/report_result.h>

struct result_file {
	char path[4096]; // what was read
	char folder[4096];
	struct result *result;
	struct manifest manifest;
	bool is_lone; // no manifest was asked for
};

// Reads the file `name`, or of a folder its result.json, or else its study.json or book.json. The
// folder has to have a manifest that holds (manifest_check()), and the file to be in it; not so
// with `is_lone`, for a file that was copied out of its folder. -errno with a reason.
// result_file_free() gives back what was read, also when nothing was.
int result_file_read(struct result_file *ret, const char *name, bool is_lone,
		     struct refusal *refusal);
void result_file_free(struct result_file *file);

// Reads a file of at most `bytes_max` bytes beside it, checked likewise; the caller frees
// *ret_text, which ends with a NUL. Writes its path into `path`.
int result_file_beside(const struct result_file *file, const char *name, size_t bytes_max,
		       char path[4096], char **ret_text, size_t *ret_bytes,
		       struct refusal *refusal);

// Reads the acceptance profile at a path, or the shipped one of that name. -errno with a reason.
struct profile;
int profile_read(struct profile *ret, const char *name, struct refusal *refusal);

// One run of a book, whose fabric its page draws.

struct example {
	struct result_file file;
	char *cables; // cables.csv, or NULL
};

// Reads that of the folder `from`/`folder`, the folder of a case. A case without a run that holds,
// or whose links were not counted, is no example: then `cables` is NULL.
void example_read(struct example *ret, const char *from, const char *folder);
void example_free(struct example *example);
