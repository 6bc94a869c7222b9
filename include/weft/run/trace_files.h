// SPDX-License-Identifier: Apache-2.0
// The files of a trace: read, unpacked, recognised.
#pragma once

#include <weft/trace/trace.h>

// Reads files, or the files of folders, as the ranks of one set. `format` TRACE_FORMAT_COUNT: the
// first file tells. Damaged records are left out where that is asked for, see trace_set. `ret`
// needs trace_set_free() in any case. -errno with a reason.
int trace_files_read(struct trace_set *ret, char *const *paths, uint32_t count,
		     enum trace_format format, bool skips_damaged, uint64_t memory_bytes_max,
		     struct refusal *refusal);

// Gives `visit` the text of each file, unpacked, until one does not return 0.
typedef int trace_file_visit(void *context, const char *path, const char *text, size_t bytes,
			     struct refusal *refusal);
int trace_files_each(char *const *paths, uint32_t count, trace_file_visit *visit, void *context,
		     struct refusal *refusal);

// Says on stderr, as program `program` of weft, which records were left out; nothing when none was.
void trace_files_warn(const char *program, const struct trace_set *set);
