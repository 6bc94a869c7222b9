// SPDX-License-Identifier: Apache-2.0
// The leaves of a result, one after the other: what tables of one figure a line are made of.
#pragma once

#include <jansson.h>
#include <stdint.h>

#define FLATTEN_PATH_BYTES 160
#define FLATTEN_LABELS_MAX 12

struct flatten_label {
	const char *key, *value;
};

// One number, flag, text, or null.
struct flatten_leaf {
	const char *path; // "messages[].p99_ns", as docs/result.md has it
	const json_t *value;
	const char *reason;   // of a null, or NULL where none is given
	uint32_t label_count; // words of the elements of lists on the way, which tell them apart
	struct flatten_label labels[FLATTEN_LABELS_MAX];
};

// Calls `take` for each leaf, in the order of the result, but for numbers that are elements of a
// list themselves (series, NICs of a job), for reasons, and for words that are labels.
void flatten_walk(const json_t *result,
		  void (*take)(const struct flatten_leaf *leaf, void *context), void *context);
