// SPDX-License-Identifier: Apache-2.0
// A result that a run wrote, read again.
#pragma once

#include <stddef.h>

#include <weft/refusal.h>

struct result_file {
	char path[4096]; // what was read
	char *text;	 // ends with a NUL beyond its bytes
	size_t bytes;
};

// Reads the file `name`, or of a folder its result.json, or else its study.json or book.json.
// -errno with a reason. result_file_free() gives the text back, also when nothing was read.
int result_file_read(struct result_file *ret, const char *name, struct refusal *refusal);
void result_file_free(struct result_file *file);
