// SPDX-License-Identifier: Apache-2.0
// A result in memory, for the files of this room.
#pragma once

#include <jansson.h>

#include <weft/result/report_result.h>

struct result {
	json_t *fields;
	enum result_kind kind;
	bool is_partial;
	char path[4096];
};

// Takes fields without a look at them: what has no schema here, as an analysis of a capture, and
// tests of what is made of single fields. NULL: no memory.
struct result *result_unchecked(json_t *fields, const char *path);
