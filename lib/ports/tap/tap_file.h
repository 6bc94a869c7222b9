// SPDX-License-Identifier: Apache-2.0
// A file that a run writes as it goes. What the system refuses on the way is remembered and told
// when the file is closed: the run goes on. Nothing is buffered here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>

struct tap_file {
	const char *path; // as the user named it; NULL = there is no such file
	uint64_t bytes;	  // that were written
	int descriptor;
	int error; // errno of the first write that failed; nothing is written after it
	bool is_regular;
	bool is_new; // made by tap_file_open()
};

// Opens `path`, which must outlive the file; one that is there keeps its content until
// tap_file_empty(). Errors of files_check_output(), else -errno with file and reason.
int tap_file_open(struct tap_file *ret, const char *path, struct refusal *refusal);

// Takes away what an earlier run left in it.
void tap_file_empty(struct tap_file *file);

// Closes the file and leaves the folder as it was before tap_file_open().
void tap_file_abandon(struct tap_file *file);

// Whether it may grow by `bytes` without being larger than `bytes_max`.
bool tap_file_has_room(const struct tap_file *file, size_t bytes, int64_t bytes_max);

void tap_file_write(struct tap_file *file, const void *bytes, size_t count);

// -EIO with file and reason when anything could not be written.
int tap_file_close(struct tap_file *file, struct refusal *refusal);
